"""The command ``poise``: verdicts go to stdout, all else to stderr."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from poise import __version__
from poise.checks import did_you_mean
from poise.cli.errors import Exit, end, survive_poor_terminals, termination_interrupts
from poise.settings import COMMAND

COMMANDS = {  # by the sections of the help
    "demo": ("Start here", "Three algorithms on real data, with all three verdicts."),
    "advise": ("Start here", "What can these rows answer?"),
    "measure": ("Start here", "How large are the changes when a training row is removed?"),
    "test": ("Start here", "Is an algorithm stable? Answers with a guaranteed error level."),
    "deployed": ("Start here", "Is the model that is trained on exactly these rows stable?"),
    "show": ("Start here", "Read saved results, or ask their changes another question."),
    "check": ("Before a test", "Is an algorithm what a test takes it for? Six checks."),
    "plan": ("Before a test", "How many rows does a question need?"),
    "compare": ("Several answers", "Which of several algorithms are stable? One error level."),
    "curve": ("Several answers", "How does stability depend on the training size?"),
    "judge": ("Afterwards", "Predictions of two models, or changes, that were made elsewhere."),
    "monitor": ("Afterwards", "Rows that come in over time: look as often as you like."),
    "verify": ("Afterwards", "Is a result file what it claims? Repeats some of its trials."),
    "ui": ("Afterwards", "A page about the results in a folder."),
    "research": ("For researchers", "Audit a test; reproduce the paper."),
}
_MODULES = {  # of commands that have none of their name
    **dict.fromkeys(("test", "measure", "check", "compare", "curve"), "cli.ask"),
    "advise": "cli.plan",
    **dict.fromkeys(("verify", "judge"), "cli.show"),
    "ui": "ui.serve",
}

EPILOG = """\b
Exit status:
  0    stable, or no verdict was asked for
  1    unstable, a check failed, or a file is not what it claims
  2    wrong usage, or data that cannot be used
  3    a fit failed
  4    a result could not be repeated: other versions
  5    inconclusive: these rows cannot decide
  70   a defect in poise
  130  interrupted (143: by SIGTERM, 141: the reader of a pipe went away)
"""


class Poise(click.Group):
    """Commands that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; suggest the closest one to a name that does not exist."""
        if cmd_name.startswith("-"):
            return None
        if cmd_name not in COMMANDS:
            hint = did_you_mean(cmd_name, COMMANDS) or "."
            raise click.UsageError(f"No command {cmd_name!r}{hint}", ctx)
        module = import_module(f"poise.{_MODULES.get(cmd_name, f'cli.{cmd_name}')}")
        found: click.Command = getattr(module, cmd_name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        for section in dict.fromkeys(section for section, _ in COMMANDS.values()):
            with formatter.section(section):
                formatter.write_dl([(n, line) for n, (s, line) in COMMANDS.items() if s == section])

    def main(self, args: Sequence[str] | None = None, **named: Any) -> Any:  # type: ignore[override]
        """Run a command and end the program; a program that embeds it sees the errors."""
        if not named.get("standalone_mode", True) or "_POISE_COMPLETE" in os.environ:
            return super().main(args, **named)
        words = list(sys.argv[1:] if args is None else args)
        survive_poor_terminals()
        termination_interrupts()
        shared: dict[str, click.Context] = {}
        token = COMMAND.set(shlex.join(["poise", *words]))  # files say by which they were written
        try:  # every error ends here, before click has its own words for it
            with self.make_context("poise", words[:], obj=shared) as ctx:
                status = self.invoke(ctx)
                sys.stdout.flush()
        except click.exceptions.Exit as ended:
            status = ended.exit_code
        except BaseException as error:
            status = end(error, words, shared.get("command"))
        finally:
            COMMAND.reset(token)
        sys.exit(status)


@click.group(
    cls=Poise,
    epilog=EPILOG,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "-V", "--version", message="poise %(version)s")
@click.option("--traceback", is_flag=True, help="Show where in the code an error occurred.")
@click.pass_context
def main(ctx: click.Context, /, traceback: bool) -> int:
    """Tell whether a learning algorithm is stable.

    Do its predictions change by more than epsilon, except with a small probability delta, when
    one training row is removed? The algorithm is run as a black box, and the answer has a
    guaranteed error level. Start with `poise demo`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    return Exit.USAGE  # if no command was given
