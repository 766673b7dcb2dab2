"""One task for a program, written as two CSV files or as one JSON line."""

from __future__ import annotations

import json
from dataclasses import dataclass

from poise.algorithms.program.rows_as_text import Cell, Columns, height
from poise.errors import DataError

__all__ = ["Task", "to_csv", "to_json"]

_NEEDS_QUOTES = frozenset(',"\r\n')


@dataclass(frozen=True)
class Task:
    """Train on ``train``, whose last column is the response; predict the rows of ``test``."""

    train: Columns
    test: Columns
    seed: int

    @property
    def response(self) -> str:
        """Name of the response, the last column of ``train``."""
        return next(reversed(self.train))

    @property
    def n_predictions(self) -> int:
        """Number of rows to predict."""
        return height(self.test)


def to_csv(columns: Columns) -> str:
    """Write a header and one line per row.

    A missing value is ``NA``: R and pandas recognise it, and a table of one column has no
    blank lines, which they would skip. Floats have as many digits as are needed to read
    back the same bits.

    Examples
    --------
    >>> print(to_csv({"size": [0.1, None], "town": ["Bath, UK", ""]}), end="")
    size,town
    0.1,"Bath, UK"
    NA,""
    """
    fields = [[_field(cell) for cell in cells] for cells in columns.values()]
    lines = [",".join(map(_quoted, columns)), *map(",".join, zip(*fields, strict=True)), ""]
    return "\n".join(lines)


def _field(cell: Cell) -> str:
    if cell is None:
        return "NA"
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    return _quoted(cell) if isinstance(cell, str) else repr(cell)


def _quoted(text: str) -> str:
    """Quote text only if it would otherwise be read as another value."""
    if text in ("", "NA") or not _NEEDS_QUOTES.isdisjoint(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def to_json(task: Task, request: int) -> bytes:
    """Write one request as one line, column by column, as data frames are built.

    Examples
    --------
    >>> task = Task({"x1": [0.5, None], "y": [1.0, 2.0]}, {"x1": [0.25]}, seed=7)
    >>> print(to_json(task, request=1).decode(), end="")
    {"id":1,"seed":7,"response":"y","train":{"x1":[0.5,null],"y":[1.0,2.0]},"test":{"x1":[0.25]}}
    """
    message = {
        "id": request,
        "seed": task.seed,
        "response": task.response,
        "train": task.train,
        "test": task.test,
    }
    try:
        line = json.dumps(message, allow_nan=False, separators=(",", ":"))
    except ValueError:
        raise DataError(
            "the rows hold an infinite value, which JSON cannot express; replace it, or use "
            "mode='one-shot'"
        ) from None
    return line.encode() + b"\n"
