"""How a command ends: one line on stderr and one exit status, whatever happened."""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from enum import IntEnum
from types import FrameType
from typing import Any, NoReturn, TextIO

import click

from poise.checks import did_you_mean
from poise.errors import (
    PoiseError,
    PowerWarning,
    Spell,
    TrialError,
    ValidityWarning,
    as_keyword,
    in_one_line,
    printable,
)

_ADVICE = ("Warning: ", "Next: ", "warning: ", "remark", "Column ", "Labels ")


class Exit(IntEnum):
    """The exit status of a command."""

    STABLE = 0  # or no verdict was asked for
    UNSTABLE = 1  # or a check failed, or a file is not what it claims
    USAGE = 2  # or data that cannot be used
    FIT_FAILED = 3
    NOT_REPEATED = 4
    INCONCLUSIVE = 5
    DEFECT = 70  # an error in poise itself must not look like a verdict
    INTERRUPTED = 130
    PIPE_CLOSED = 141
    TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """SIGTERM: it ends a run as Ctrl-C does, so that workers end and files are closed."""


_STATUS: tuple[tuple[Any, Exit], ...] = (
    (Terminated, Exit.TERMINATED),
    ((KeyboardInterrupt, click.Abort), Exit.INTERRUPTED),
    (TrialError, Exit.FIT_FAILED),
    (BrokenPipeError, Exit.PIPE_CLOSED),
    ((click.ClickException, PoiseError, OSError), Exit.USAGE),
    (Exception, Exit.DEFECT),
    (BaseException, Exit.FIT_FAILED),  # poise itself never calls sys.exit: user code did
)


def status_of(answer: Any) -> Exit:
    """Return the status of an answer, or of a text that says why there is none."""
    if isinstance(answer, str):
        return Exit.FIT_FAILED
    return Exit[answer.verdict.upper()] if hasattr(answer, "verdict") else Exit.STABLE


def worst(statuses: Iterable[Exit]) -> Exit:
    """Return the status of several answers: a failed fit, unstable, inconclusive, stable."""
    order = [Exit.STABLE, Exit.INCONCLUSIVE, Exit.UNSTABLE, Exit.FIT_FAILED]
    return max(statuses, key=order.index, default=Exit.STABLE)


def termination_interrupts() -> None:
    """Turn SIGTERM into an exception."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise Terminated


def say(message: str) -> None:
    """Write one line to stderr."""
    click.echo(f"poise: {printable(' '.join(message.split()))}", err=True)


def end(error: BaseException, words: Sequence[str], command: click.Context | None) -> Exit:
    """Tell an error in one line, with --json as JSON too; return the exit status."""
    status = next(status for kinds, status in _STATUS if isinstance(error, kinds))
    if status == Exit.PIPE_CLOSED:
        _forget_stdout()
        return status
    message = " ".join(told(error, command).split())
    say(message)
    if "--json" in words:
        import json

        content = {"error": type(error).__name__, "message": message, "exit_status": int(status)}
        if isinstance(error, TrialError):
            content |= {"trial": error.trial, "kind": error.kind}
        try:
            click.echo(json.dumps(content, ensure_ascii=False))
        except OSError:  # the disk is full, say: no status of a verdict
            _forget_stdout()
    if "--traceback" in words:
        traceback.print_exception(error)
    return status


def told(error: BaseException, command: click.Context | None = None) -> str:
    """Return the words for an error, with arguments written as options."""
    notes = getattr(error, "__notes__", [])
    if isinstance(error, KeyboardInterrupt | click.Abort):
        word = "terminated" if isinstance(error, Terminated) else "interrupted"
        return "; ".join([word, *notes])
    if isinstance(error, click.UsageError):
        message = error.format_message()
        if isinstance(error, click.NoSuchOption):  # click suggests what is far as well
            known = error.ctx.command.params if error.ctx else []
            names = [name for each in known for name in each.opts if name.startswith("-")]
            hint = did_you_mean(error.option_name, names)
            message = f"No such option {error.option_name!r}{hint or '.'}"
        return f"{message} See {error.ctx.command_path if error.ctx else 'poise'} --help"
    if isinstance(error, PoiseError):
        if command and (running := command.meta.get(__name__)) and running.source:
            running.source.explain(error)
        spell = spelling(command) if command else as_keyword
        if isinstance(error, TrialError):
            failed = str(error).partition(". What was measured before")[0]
            remedy = f"{spell('on_error', 'record')} counts a failed trial against 'stable' instead"
            if error.trial == 0:  # most likely, all others would fail too
                remedy = "poise --traceback … shows where"
            return f"{failed}; {remedy}"
        words = error.words(spell).replace("poise.measure ", "`poise measure` ")
        words = words.replace("poise.measure_deployed ", "`poise deployed` without --delta ")
        return ". ".join([words, *notes])
    if isinstance(error, OSError):
        return ": ".join(map(str, filter(None, (error.strerror, error.filename)))) or str(error)
    if isinstance(error, Exception):
        return f"a defect in poise: {in_one_line(error)} (poise --traceback … shows where)"
    return f"user code ended the program: {in_one_line(error)}"


def spelling(command: click.Context) -> Spell:
    """Return how a command writes arguments: as options."""
    options = {p.name: p for p in command.command.params if isinstance(p, click.Option)}

    def spell(name: str, *value: object) -> str:
        option = options.get(name)
        if option is None:
            return as_keyword(name, *value)
        written = max(option.opts, key=len)
        if option.is_flag and value:
            return written if value[0] else option.secondary_opts[0]
        return " ".join([written, *(shlex.quote(str(each)) for each in value)])

    return spell


def in_options(line: str) -> str:
    """Write the settings that a warning or an advice names as options; parameters stay."""
    context = click.get_current_context(silent=True)
    if context is None or not line.startswith(_ADVICE):
        return line
    spell, known = spelling(context), [p.name for p in context.command.params]

    def option(found: re.Match[str]) -> str:
        return spell(found[1], found[2].strip("'")) if found[1] in known else found[0]

    return re.sub(r"(?<=[\w;:] )(\w+)=('[^']*'|\w+)", option, line)


# stdout holds the answer, and nothing else


@contextmanager
def stdout_is_for_the_answer() -> Iterator[TextIO]:
    """Yield where the answer goes; what user code prints, compiled code too, goes to stderr."""
    answers = sys.stdout
    answers.flush()
    with ExitStack() as undo:
        with suppress(io.UnsupportedOperation):  # stdout is not a file here, as in tests
            out, kept = answers.fileno(), os.dup(answers.fileno())
            answers = open(kept, "w", encoding=answers.encoding, errors="replace")  # noqa: SIM115
            undo.enter_context(answers)
            undo.callback(os.dup2, kept, out)
            os.dup2(sys.stderr.fileno(), out)
        undo.enter_context(redirect_stdout(sys.stderr))
        yield answers


def _forget_stdout() -> None:
    """Discard what is left where nothing can be written."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def survive_poor_terminals() -> None:
    """Write a question mark where a terminal has no letter for ε; write nowhere if it is closed."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


class Running:
    """A command that runs: the rows that it reads, where its answer goes, and its warnings.

    Each warning is told once and in one line. What makes a level doubtful is part of the answer:
    such a warning waits until the answer is printed, and goes to stderr only if the answer did not
    show it.
    """

    answers: TextIO

    def __init__(self, ctx: click.Context) -> None:
        self.source: Any = None
        self.quiet = ctx.params.get("quiet", False)
        self.told: set[str] = set()
        self.doubts: list[str] = []
        ctx.meta[__name__] = self

    @classmethod
    def now(cls) -> Running:
        """Return the command that runs."""
        found: Running = click.get_current_context().meta[__name__]
        return found

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Keep stdout for the answer, and hear the warnings of all that is done here."""
        try:
            with stdout_is_for_the_answer() as self.answers, warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = self._hear  # type: ignore[assignment]
                yield
        finally:
            for line in self.doubts:
                self._say(line)

    def _hear(self, message: Warning | str, category: type[Warning], *place: object) -> None:
        if issubclass(category, ValidityWarning):
            self.doubts.append(str(message))
        elif not (self.quiet and issubclass(category, PowerWarning)):
            self._say(str(message))

    def _say(self, line: str) -> None:
        if line not in self.told:
            self.told.add(line)
            say(in_options(f"warning: {line}"))
