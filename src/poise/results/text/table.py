"""Rows under headings, for people: as text and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from poise.errors import printable

__all__ = ["TextTable"]


@dataclass(frozen=True)
class TextTable:
    """A few columns of words and numbers, to be written as text or HTML.

    Attributes
    ----------
    columns : sequence of str
        The headings.
    rows : sequence of sequences of str
        One cell per heading, already written as text.
    caption : str
        One line about the whole.

    Examples
    --------
    >>> print(TextTable(["model", "p"], [["Ridge()", "0.01"], ["tree", "1"]]).text())
    model    p
    Ridge()  0.01
    tree     1
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""

    def __post_init__(self) -> None:
        # A name in it may come from a file, and must not end its row.
        rows = [[printable(cell).replace("\n", " ") for cell in row] for row in self.rows]
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "caption", printable(self.caption))

    def text(self) -> str:
        """Return the table in columns of equal width, without trailing blanks."""
        lines = [self.columns, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(_line(cells, widths) for cells in lines)

    def html(self) -> str:
        """Return the table as an HTML fragment; every cell is escaped."""
        head = _row(self.columns, "th")
        body = "".join(_row(cells, "td") for cells in self.rows)
        caption = f"<caption><b>{escape(self.caption)}</b></caption>" if self.caption else ""
        return f"<table>{caption}<thead>{head}</thead><tbody>{body}</tbody></table>"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip()


def _row(cells: Sequence[Any], tag: str) -> str:
    style = " style='text-align:left'"
    return "<tr>" + "".join(f"<{tag}{style}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
