"""Answers on the terminal: colours and wrapped lines there, plain lines anywhere else."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import click

from poise.cli.errors import Exit, Warned, in_options
from poise.cli.output import Output
from poise.errors import printable
from poise.numbers import at_most

_STYLES = {"STABLE": "bold green", "UNSTABLE": "bold red", "INCONCLUSIVE": "bold yellow"}


def paragraphs(text: str) -> None:
    """Print lines of text; a terminal wraps them between words, a pipe gets them as they are."""
    text = "\n".join(in_options(line) for line in printable(text).splitlines())
    if not sys.stdout.isatty():
        click.echo(text)
        return
    from rich.console import Console
    from rich.text import Text

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would exit with 1, which means "unstable"

    screen = Screen(markup=False, highlight=False, emoji=False)
    for line in text.splitlines():
        shown = Text(line)
        word = line.partition(":")[0]
        shown.stylize(_STYLES.get(word, ""), 0, len(word))
        screen.print(shown)


def tell(
    answer: Any, output: Output, warned: Warned, beside: Mapping[str, object] = MappingProxyType({})
) -> Exit:
    """Save and print an answer in the form that was asked for; return its exit status.

    What stands ``beside`` it is printed as JSON only.
    """
    verdict = getattr(answer, "verdict", None)
    if verdict is None and (output.latex or output.details):
        raise click.UsageError("--latex and --details need a verdict: give --epsilon and --delta.")
    output.write(answer)
    warned.doubts.extend(answer.warnings)  # a file tells its own only here
    if output.as_json or not (output.quiet or output.latex):
        warned.shown(answer.warnings)
    if output.as_json:
        print_json({**as_dict(answer, output), **beside})
    elif output.quiet:
        click.echo(verdict or _limit(answer))
    elif output.latex:
        click.echo(answer.to_latex())
    else:
        paragraphs(in_full(answer) if output.details else str(answer))
    return Exit.of_verdict(verdict) if verdict else Exit.STABLE


def in_full(result: Any) -> str:
    """Return the lines of a result and its details, below warnings that are told once."""
    details = result.details().splitlines()[len(result.warnings) :]
    return "\n".join([str(result), "", *details])


def _limit(trials: Any) -> str:
    """Return the one limit of a measurement: of the change, or of the probability of one."""
    change = trials.epsilon_upper(trials.delta)
    return at_most(trials.delta_upper() if change is None else change)


def as_dict(answer: Any, output: Output) -> dict[str, Any]:
    """Return what a file would hold, without the changes."""
    from poise.results.file import to_dict

    said = to_dict(answer)
    return said | {"command": said["command"] or output.command}


def print_json(content: object) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False))
