"""Tables on the terminal: comparisons, checks and questions of a TOML file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

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

__all__ = ["print_advice", "print_findings", "print_menu", "print_presented", "print_words"]

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


def print_presented(headline: str, table: TextTable, meaning: str, numeric: bool = False) -> None:
    """Print a sentence, a table, and what the table means; numbers are aligned right."""
    print_paragraphs(headline + "\n")
    print_rows = print_table if numeric else print_words
    print_rows(table.columns, table.rows)
    if meaning:
        print_paragraphs("\n" + meaning)


def print_findings(report: CheckReport) -> None:
    """Print a line per check, and a remedy per finding."""
    print_presented(report.headline(), report.table(), "")
    for finding in report.findings:
        if finding.remedy:
            print_paragraphs(f"\n{finding.check}: {in_options(finding.remedy)}.")


def print_menu(menu: Menu) -> None:
    """Print what rows can answer, and what the columns mean."""
    from poise.results.text.question_menu_table import menu_headline, menu_meaning, menu_table

    print_presented(menu_headline(menu), menu_table(menu), menu_meaning(menu), numeric=True)


def print_advice(advice: Advice) -> None:
    """Print the menu, remarks about the data, and the commands that ask the questions."""
    said = "\n".join([*advice.paragraphs(), "", "What can be asked"])
    print_presented(advice.headline(), advice.table(), said, numeric=True)
    for question, call in advice.questions.items():
        screen().print(f"{question}\n    {call}", soft_wrap=True)  # to be copied in one piece
