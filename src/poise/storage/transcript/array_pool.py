"""Many small arrays stored as a few large ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.errors import RecordError

__all__ = ["NOTHING", "ArrayPool", "Reference"]

Reference = tuple[int, int, int]
"""Which column, and its first and last row but one; a column of -1 is nothing at all."""

NOTHING: Reference = (-1, 0, 0)


class ArrayPool:
    """Stacks arrays of the same type and row shape; each is found again by its reference.

    Examples
    --------
    >>> pool = ArrayPool()
    >>> first, second = pool.add(np.array([1, 2])), pool.add(np.array([3, 4, 5]))
    >>> restored = ArrayPool.from_columns(pool.columns())
    >>> restored.get(second)
    array([3, 4, 5])
    """

    def __init__(self) -> None:
        self._parts: dict[tuple[str, tuple[int, ...]], list[NDArray[Any]]] = {}
        self._lengths: dict[tuple[str, tuple[int, ...]], int] = {}
        self._columns: list[NDArray[Any]] = []

    def add(self, values: object) -> Reference:
        """Keep an array; refuse one that could only be read by running code."""
        if values is None:
            return NOTHING
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "biufcUSMm":
            kind = getattr(values, "dtype", type(values).__name__)
            raise RecordError(
                f"cannot save {kind} values: a transcript file holds plain arrays only. "
                "Replay this transcript in memory instead"
            )
        key = (values.dtype.str, values.shape[1:])
        parts = self._parts.setdefault(key, [])
        start = self._lengths.get(key, 0)
        parts.append(values)
        self._lengths[key] = start + len(values)
        return list(self._parts).index(key), start, start + len(values)

    def columns(self) -> list[NDArray[Any]]:
        """Return the stacked arrays."""
        return [np.concatenate(parts) for parts in self._parts.values()]

    @classmethod
    def from_columns(cls, columns: list[NDArray[Any]]) -> ArrayPool:
        """Return a pool to read from."""
        if not all(column.ndim for column in columns):
            raise RecordError("a column of values holds one value only")
        pool = cls()
        pool._columns = columns
        return pool

    def get(self, reference: Any) -> Any:
        """Return the array kept under a reference; refuse one that leads nowhere."""
        column, start, stop = (int(part) for part in reference)
        if column < 0:
            return None
        if column >= len(self._columns) or not 0 <= start <= stop <= len(self._columns[column]):
            raise RecordError(f"there are no values at {(column, start, stop)}")
        return self._columns[column][start:stop].copy()
