"""Messages on stderr: one line per warning, and the output of fits."""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout

import click

from poise.cli.json_output import note_warning
from poise.cli.option_words import in_options
from poise.errors import PoiseWarning, ValidityWarning, printable

__all__ = [
    "fits_print_to_stderr",
    "forget_stdout",
    "one_line",
    "one_line_warnings",
    "say",
    "say_doubts",
    "survive_narrow_encodings",
]


def one_line(text: str) -> str:
    r"""Put a message on one line.

    Examples
    --------
    >>> one_line("first\n   second")
    'first second'
    """
    return " ".join(text.split())


def say(message: str) -> None:
    """Write one line to stderr."""
    click.echo(f"poise: {printable(one_line(message))}", err=True)


@contextmanager
def one_line_warnings(quiet: bool = False) -> Iterator[None]:
    """Show each distinct warning once, as one line on stderr.

    If ``quiet``, only warnings that an error level may not hold are shown.
    """
    context = click.get_current_context(silent=True)
    command = None if context is None else context.info_name

    def show(message: Warning | str, *rest: object, **named: object) -> None:
        line = one_line(str(message))
        if isinstance(message, PoiseWarning):
            line = in_options(line, command)
        new = note_warning(line)
        if new and (not quiet or isinstance(message, ValidityWarning)):
            say(f"warning: {line}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def say_doubts(doubts: Iterable[str]) -> None:
    """Write warnings about the error level to stderr, each once in a command."""
    for doubt in doubts:
        line = in_options(one_line(doubt), click.get_current_context().info_name)
        if note_warning(line):
            say(f"warning: {line}")


@contextmanager
def fits_print_to_stderr() -> Iterator[None]:
    """Keep stdout for the verdict: what an algorithm prints goes to stderr.

    The file descriptor is redirected too, for compiled code, external programs
    and worker processes.
    """
    sys.stdout.flush()
    with _descriptor_to_stderr(), redirect_stdout(sys.stderr):
        yield


@contextmanager
def _descriptor_to_stderr() -> Iterator[None]:
    try:
        out, err = sys.stdout.fileno(), sys.stderr.fileno()
    except io.UnsupportedOperation:  # stdout is not a file here, as in tests
        yield
        return
    kept = os.dup(out)
    os.dup2(err, out)
    try:
        yield
    finally:
        os.dup2(kept, out)
        os.close(kept)


def forget_stdout() -> None:
    """Discard the rest of the output after the reader has closed the pipe."""
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def survive_narrow_encodings() -> None:
    """Write a question mark where a terminal has no letter for ε, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
