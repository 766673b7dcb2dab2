"""Answers on the terminal: colours and wrapped lines there, plain lines anywhere else."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
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

    What stands ``beside`` it is printed as JSON only. What cannot be saved is printed all the same.
    """
    several = isinstance(answer, Mapping)
    together = several and hasattr(answer, "to_latex")  # they share a level
    answers = getattr(answer, "answers", answer).values() if several else [answer]
    if output.details or (output.latex and not together):
        _require_verdicts(answers)
    try:
        output.write(answer)
    finally:
        doubts = list(dict.fromkeys(text for each in answers for text in each.warnings))
        warned.doubts.extend(doubts)  # a file tells its own only here
        if output.as_json or not (output.quiet or output.latex):
            warned.shown(doubts)
        if several:
            _print_several(answer, output, together)
        else:
            _print(answer, output, beside)
    verdict = None if several else getattr(answer, "verdict", None)
    return Exit.of_verdict(verdict) if verdict else Exit.STABLE


def _print(answer: Any, output: Output, beside: Mapping[str, object]) -> None:
    if output.as_json:
        print_json({**as_dict(answer), **beside})
    elif output.quiet:
        click.echo(in_a_word(answer))
    elif output.latex:
        click.echo(answer.to_latex())
    else:
        paragraphs(in_full(answer) if output.details else str(answer))


def _print_several(found: Any, output: Output, together: bool) -> None:
    """Print answers that share a level, or stand side by side: they have no joint verdict."""
    from poise.results.sentences import ASKED_AFTER
    from poise.results.tables import table

    answers = getattr(found, "answers", found)
    judged = all(hasattr(each, "verdict") for each in answers.values())
    if output.as_json:
        print_json({name: as_dict(each) for name, each in answers.items()})
    elif output.quiet:
        paragraphs("\n".join(f"{in_a_word(each)}\t{name}" for name, each in answers.items()))
    elif output.latex:
        click.echo(found.to_latex() if together else table(found).latex())
    elif output.details or not (together or judged):
        full = in_full if output.details else str
        paragraphs("\n\n".join(f"{name}: {full(each)}" for name, each in answers.items()))
    else:
        after = not together and any(each.asked == "after" for each in answers.values())
        paragraphs("\n".join([str(found if together else table(found)), *[ASKED_AFTER] * after]))


def _require_verdicts(answers: Iterable[Any]) -> None:
    if any(not hasattr(each, "verdict") for each in answers):
        raise click.UsageError("--latex and --details need a verdict: give --epsilon and --delta.")


def in_full(result: Any) -> str:
    """Return the lines of a result and its details, below warnings that are told once."""
    details = result.details().splitlines()[len(result.warnings) :]
    return "\n".join([str(result), "", *details])


def in_a_word(answer: Any) -> str:
    """Return a verdict, or the one limit of what was measured: of the change, or of its chance."""
    if hasattr(answer, "verdict"):
        return str(answer.verdict)
    change = answer.epsilon_upper(answer.delta)
    return at_most(answer.delta_upper() if change is None else change)


def as_dict(answer: Any) -> dict[str, Any]:
    """Return what a file would hold, without the changes."""
    from poise.results.file import to_dict

    return to_dict(answer)


def print_json(content: object) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False))
