"""Commands that are imported when called; errors are printed in one line."""

from __future__ import annotations

import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import click

from poise.cli.command_list import import_command
from poise.cli.exit_status import ExitStatus, Terminated
from poise.cli.failed_fit import failed_fit
from poise.cli.json_output import print_json_error
from poise.cli.option_words import near_options
from poise.cli.quoted_errors import around_quotes
from poise.cli.read_rows import name_lines
from poise.cli.stderr import forget_stdout, one_line, say, survive_narrow_encodings
from poise.errors import ArgumentError, PoiseError, TrialError, in_one_line

__all__ = ["LazyGroup"]


class LazyGroup(click.Group):
    """Commands with one line of help each; `--help` does not import their modules.

    Parameters
    ----------
    lazy : mapping of str to str
        The modules in ``poise.cli`` that hold a ``command``, each with its line in the
        list of commands.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of `--help`."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one command that was asked for."""
        if cmd_name not in self.lazy:
            return None
        return import_command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lazy.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the closest command to one that does not exist."""
        if not args[0].startswith("-") and args[0] not in self.lazy:
            from poise.arguments import did_you_mean

            raise click.UsageError(
                f"no command {args[0]!r}{did_you_mean(args[0], self.lazy) or '.'}", ctx
            )
        return super().resolve_command(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: object,
    ) -> Any:
        """Run a command and exit with its status; an error is printed in one line."""
        survive_narrow_encodings()
        run: Any = super().main
        given = list(sys.argv[1:] if args is None else args)
        ran = given[:]  # `poise resume` puts the arguments of the command that it runs here
        try:
            # A journal keeps the arguments, so that the run can be started again.
            with _termination_interrupts():
                status = run(
                    given, prog_name, complete_var, standalone_mode=False, obj=ran, **extra
                )
        except BaseException as error:  # also SystemExit of user code
            if not standalone_mode:
                raise
            if isinstance(error, click.Abort) and isinstance(error.__cause__, EOFError):
                error = error.__cause__  # which is for click the end of what a user types
            status = ExitStatus.of_error(error)
            command = next((word for word in ran if word in self.lazy), None)
            message = one_line(_explained(error, status, command))
            if isinstance(error, PoiseError) and not isinstance(error, TrialError):
                message = around_quotes(message, error, command)
            say(message)
            if "--json" in ran:
                print_json_error(error, message, status)
        if not standalone_mode:
            return status
        sys.exit(status)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a closed pipe (`| head`) is not an error."""
        try:
            status = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError as error:
            forget_stdout()
            return ExitStatus.of_error(error)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if isinstance(error, ArgumentError):
                name_lines(error, ctx)
            if ctx.params["traceback"]:
                traceback.print_exc()
            raise
        return status


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    """Treat SIGTERM as Ctrl-C: journals are closed, programs ended, temporary files removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


def _explained(error: BaseException, status: ExitStatus, command: str | None) -> str:
    """Return the line that explains an error."""
    if status in (ExitStatus.INTERRUPTED, ExitStatus.TERMINATED):
        return "; ".join([status.name.lower(), *_notes(error.__cause__ or error)])
    if isinstance(error, TrialError):
        return ". ".join([failed_fit(error, command), *_notes(error)])
    if isinstance(error, click.NoSuchOption):
        near = near_options(error.option_name, _options_of(error))
        error = click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx)
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "poise"
        return f"{error.format_message()} See {path} --help"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if status in (ExitStatus.USAGE, ExitStatus.PIPE_CLOSED):
        return str(error)
    if status == ExitStatus.FIT_FAILED:
        return f"user code ended the program: {in_one_line(error)}"
    return f"a defect in poise: {in_one_line(error)} (poise --traceback … shows where)"


def _options_of(error: click.NoSuchOption) -> list[str]:
    """Return the long options of the command that got an unknown option."""
    known = error.ctx.command.params if error.ctx else []
    return [name for option in known for name in option.opts if name.startswith("--")]


def _notes(error: BaseException) -> list[str]:
    """Return how to continue from the journal."""
    return list(getattr(error, "__notes__", []))
