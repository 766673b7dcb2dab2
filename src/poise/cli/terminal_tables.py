"""Tables on the terminal: comparisons, checks and questions of a TOML file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from rich.text import Text

from poise.cli.option_words import in_options
from poise.cli.screen import (
    VERDICT_STYLES,
    print_columns,
    print_paragraphs,
    print_table,
    screen,
)
from poise.errors import printable

if TYPE_CHECKING:
    from poise.questions.check import CheckReport
    from poise.results.advice import Advice
    from poise.results.text.table import TextTable
    from poise.theory.question_menu import Menu

__all__ = [
    "print_advice",
    "print_findings",
    "print_menu",
    "print_presented",
    "print_words",
]

_STYLES = VERDICT_STYLES | {
    "failed": "bold red",
    "ok": "green",
    "warn": "bold yellow",
    "fail": "bold red",
    "skipped": "dim",
}


def print_words(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of words under headings; verdicts and severities in their colours."""
    cells = [[Text(printable(cell), style=_STYLES.get(cell, "")) for cell in row] for row in rows]
    print_columns(columns, cells)


class _Presented(Protocol):
    """A result that is a table: a sentence above it, and what it means below."""

    def headline(self) -> str: ...
    def table(self) -> TextTable: ...
    def meaning(self) -> str: ...


# print_words for verdicts; print_table for numbers, which are aligned right
_PrintRows = Callable[[Sequence[str], Iterable[Sequence[str]]], None]


def print_presented(result: _Presented, print_rows: _PrintRows = print_words) -> None:
    """Print a sentence, a table, and what the table means."""
    _print_parts(result.headline(), result.table(), result.meaning(), print_rows)


def _print_parts(headline: str, table: TextTable, meaning: str, print_rows: _PrintRows) -> None:
    print_paragraphs(headline + "\n")
    print_rows(table.columns, table.rows)
    if meaning:
        print_paragraphs("\n" + meaning)


def print_findings(report: CheckReport) -> None:
    """Print a line per check, and a remedy per finding."""
    _print_parts(report.headline(), report.table(), "", print_words)
    for finding in report.findings:
        if finding.remedy:
            print_paragraphs(f"\n{finding.check}: {in_options(finding.remedy)}.")


def print_menu(menu: Menu) -> None:
    """Print what rows can answer, and what the columns mean."""
    from poise.results.text.question_menu_table import menu_headline, menu_meaning, menu_table

    _print_parts(menu_headline(menu), menu_table(menu), menu_meaning(menu), print_table)


def print_advice(advice: Advice) -> None:
    """Print the menu, remarks about the data, and the commands that ask the questions."""
    said = "\n".join([*advice.paragraphs(), "", "What can be asked"])
    _print_parts(advice.headline(), advice.table(), said, print_table)
    for question, call in advice.questions.items():
        screen().print(f"{question}\n    {call}", soft_wrap=True)  # to be copied in one piece
