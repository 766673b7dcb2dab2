"""Rows that a procedure generated, instead of taking them from the sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.tables import as_table

__all__ = ["Made", "Rows", "SyntheticRows", "n_rows"]


@dataclass(frozen=True, slots=True)
class SyntheticRows:
    """Rows that a procedure generated; they are not in the sample.

    Examples
    --------
    >>> len(SyntheticRows(np.zeros((3, 2)), np.zeros(3)))
    3
    """

    X: Any
    y: Any = None

    def __len__(self) -> int:
        shape = getattr(self.X, "shape", None)
        return int(shape[0]) if shape else len(self.X)

    def take(self, start: int, stop: int) -> SyntheticRows:
        """Return a fresh copy of some of the rows, in the container they came in."""
        rows = slice(start, stop)
        y = None if self.y is None else as_table(self.y, "y").take(rows)
        return SyntheticRows(as_table(self.X, "X").take(rows), y)

    def copy(self) -> tuple[Any, Any]:
        """Return fresh copies of the features and responses."""
        y = None if self.y is None else as_table(self.y, "y").take(slice(0, len(self)))
        return self.points(), y

    def points(self) -> Any:
        """Return a fresh copy of the features."""
        return as_table(self.X, "X").take(slice(0, len(self)))


Rows = NDArray[np.int64] | slice | SyntheticRows
"""Rows of the sample by index (labelled first, then unlabelled), or made-up ones.

A slice has a start and a stop and takes every row between them.
"""


def n_rows(rows: Rows | None) -> int:
    """Count rows, however they are given.

    Examples
    --------
    >>> n_rows(slice(3, 7)), n_rows(np.array([5, 5])), n_rows(None)
    (4, 2, 0)
    """
    if rows is None:
        return 0
    return rows.stop - rows.start if isinstance(rows, slice) else len(rows)


Made = SyntheticRows  # the earlier name, which users' scripts have
