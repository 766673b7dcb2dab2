"""Results on the terminal: width, colours and tables.

If stdout is not a terminal, nothing is wrapped: a paragraph is one line, and so is a row
of a table. Words are never cut.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from poise.cli.option_words import in_options
from poise.errors import printable
from poise.results.text.summary import in_words

if TYPE_CHECKING:
    from poise.results import Profile, Trials
    from poise.results.conditional_result import ConditionalResult
    from poise.results.judged_result import JudgedResult

__all__ = [
    "VERDICT_STYLES",
    "print_columns",
    "print_facts",
    "print_paragraphs",
    "print_profile",
    "print_result",
    "print_table",
    "print_trials",
]

_NO_TERMINAL = 1_000_000  # characters in a line, if there is no terminal
VERDICT_STYLES = {
    "stable": "bold green",
    "unstable": "bold red",
    "inconclusive": "bold yellow",
    "not certified stable": "bold yellow",
}


class _Screen(Console):
    """A console that raises an error if its pipe is closed."""

    def render_str(self, text: str, *args: Any, **named: Any) -> Text:
        """Write control characters as escapes, in tables too."""
        return super().render_str(printable(text), *args, **named)

    def on_broken_pipe(self) -> None:
        """Raise an error; rich would exit with the status that means "not stable" here."""
        raise BrokenPipeError


def screen() -> Console:
    """Return a console for the present stdout."""
    width = None if sys.stdout.isatty() else _NO_TERMINAL
    return _Screen(markup=False, highlight=False, emoji=False, width=width)


def print_paragraphs(text: str) -> None:
    """Print paragraphs, wrapped, without empty lines between them."""
    screen().print(text)


def print_result(result: JudgedResult | ConditionalResult) -> None:
    """Print a verdict, its summary and the numbers behind it."""
    out = screen()
    print_headline(result)
    for paragraph in result.describe().rest:
        out.print()
        out.print(_in_options(paragraph))
    out.print()
    print_facts(result.facts())


def _in_options(paragraph: str) -> str:
    """Replace keywords by options where they are named: in a warning and in advice."""
    return in_options(paragraph) if paragraph.startswith(("Warning: ", "Next: ")) else paragraph


def print_headline(result: JudgedResult | ConditionalResult) -> None:
    """Print the verdict in one sentence."""
    headline = Text(result.describe().headline)  # without control characters
    headline.stylize(VERDICT_STYLES[result.verdict.value], 0, len(result.verdict.value))
    screen().print(headline)


def print_trials(trials: Trials) -> None:
    """Print what was measured, and how large the changes were."""
    for paragraph in in_words(trials.warnings):
        screen().print(_in_options(paragraph))
    print_facts(trials.facts())
    screen().print()


def print_facts(facts: dict[str, str]) -> None:
    """Print names and values, one pair per line."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(min_width=_longest_word(facts.values()))
    for name, value in facts.items():
        table.add_row(name, value)
    screen().print(table, crop=False)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows under headings; the first column is a name, the others are aligned right."""
    cells = [[Text(printable(str(cell))) for cell in row] for row in rows]
    print_columns(columns, cells, align="right")


def print_columns(
    columns: Sequence[str], rows: Sequence[Sequence[Text]], align: Literal["left", "right"] = "left"
) -> None:
    """Print rows under headings; the first column is aligned left, the others by ``align``.

    No column is narrower than its longest word. If a terminal is too narrow for this, it
    wraps the lines itself.
    """
    table = Table(box=None, padding=(0, 3, 0, 0), pad_edge=False, header_style="bold")
    for position, name in enumerate(columns):
        least = _longest_word([name, *(row[position].plain for row in rows)])
        table.add_column(name, justify=align if position else "left", min_width=least)
    for row in rows:
        table.add_row(*row)
    screen().print(table, crop=False)


def _longest_word(texts: Iterable[str]) -> int:
    return max((cell_len(word) for text in texts for word in text.split()), default=1)


def print_profile(profile: Profile, wanted: Sequence[float] = ()) -> None:
    """Print what the band says at the ``wanted`` ε, or at a readable number of its steps."""
    print_paragraphs(profile.statement() + "\n")
    shown = print_steps(profile, wanted)
    if not wanted and shown < len(profile.epsilon):
        print_paragraphs(f"\n{shown} of {len(profile.epsilon):,} steps; --json has all.")


def print_steps(profile: Profile, wanted: Sequence[float] = ()) -> int:
    """Print the table alone; return how many rows it has."""
    table = profile.table(wanted)
    print_table(table.columns, table.rows)
    return len(table.rows)
