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
    from poise.results import CompareResult
    from poise.results.advice import Advice
    from poise.theory.question_menu import Menu

__all__ = ["print_advice", "print_comparison", "print_findings", "print_menu", "print_words"]

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


def print_comparison(result: CompareResult) -> None:
    """Print what was compared, one line per algorithm, and what they mean together."""
    print_paragraphs(result.headline() + "\n")
    table = result.table()
    print_words(table.columns, table.rows)
    print_paragraphs("\n" + result.meaning())


def print_findings(report: CheckReport) -> None:
    """Print a line per check, and a remedy per finding."""
    print_paragraphs(report.headline() + "\n")
    table = report.table()
    print_words(table.columns, table.rows)
    for finding in report.findings:
        if finding.remedy:
            print_paragraphs(f"\n{finding.check}: {in_options(finding.remedy)}.")


def print_menu(menu: Menu) -> None:
    """Print what rows can answer, and what the columns mean."""
    from poise.results.text.question_menu_table import menu_headline, menu_meaning, menu_table

    print_paragraphs(menu_headline(menu) + "\n")
    table = menu_table(menu)
    print_table(table.columns, table.rows)
    print_paragraphs("\n" + menu_meaning(menu))


def print_advice(advice: Advice) -> None:
    """Print the menu, remarks about the data, and the commands that ask the questions."""
    print_paragraphs(advice.headline() + "\n")
    table = advice.table()
    print_table(table.columns, table.rows)
    print_paragraphs("\n" + "\n".join(advice.paragraphs()) + "\n\nWhat can be asked")
    for question, call in advice.questions.items():
        screen().print(f"{question}\n    {call}", soft_wrap=True)  # to be copied in one piece
