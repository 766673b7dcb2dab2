"""Groups: rows that belong together, such as those of one patient or one day."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from poise.data.tables import as_table
from poise.errors import DataError

__all__ = ["Groups", "Layout", "WholeNumbers"]

Indices = NDArray[np.int64]
Places = TypeVar("Places", int, Indices)


class WholeNumbers:
    """The array 0, 1, …, count − 1, of which only the parts that are looked at are made.

    Examples
    --------
    >>> WholeNumbers(10**15)[3:6], WholeNumbers(10**15)[7], len(WholeNumbers(5))
    (array([3, 4, 5]), 7, 5)
    """

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    @overload
    def __getitem__(self, places: slice) -> Indices: ...
    @overload
    def __getitem__(self, places: Places) -> Places: ...
    def __getitem__(self, places: slice | Places) -> Indices | Places:
        if isinstance(places, slice):
            return np.arange(*places.indices(self.count))
        return places


class Layout(NamedTuple):
    """Rows group by group: group g holds ``rows[starts[g] : starts[g + 1]]``."""

    rows: Indices
    starts: Indices


class Groups:
    """A group for every labelled row, numbered in the order in which they first appear.

    Parameters
    ----------
    labels : array, column or list
        One label per labelled row; rows with equal labels belong together.
    n_labeled : int
        Number of labelled rows.

    Examples
    --------
    >>> groups = Groups(["ann", "bob", "ann", "eve"], 4)
    >>> len(groups), groups.codes.tolist()
    (3, [0, 1, 0, 2])
    >>> groups.layout(np.array([2, 0, 1]))
    Layout(rows=array([3, 0, 2, 1]), starts=array([0, 1, 3, 4]))
    """

    def __init__(self, labels: object, n_labeled: int) -> None:
        values = np.asarray(as_table(labels, "groups").native)
        if values.ndim != 1 or len(values) != n_labeled:
            raise DataError(
                "groups must hold one label per labelled row, "
                f"got shape {values.shape} for {n_labeled} rows"
            )
        self.labels = values
        self.codes = _codes(values.tolist())

    def __len__(self) -> int:
        return int(self.codes.max()) + 1

    def layout(self, order: Indices | None = None) -> Layout:
        """List the rows group by group, in this order of groups."""
        rank = self.codes if order is None else np.argsort(order)[self.codes]
        sizes = np.bincount(rank, minlength=len(self))
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Layout(np.argsort(rank, kind="stable").astype(np.int64), starts)


def _codes(labels: list[Any]) -> Indices:
    """Replace labels of any hashable type by numbers, in order of appearance."""
    seen: dict[Any, int] = {}
    codes = np.empty(len(labels), dtype=np.int64)
    for row, label in enumerate(labels):
        if label is None or label != label:
            raise DataError(
                f"groups must not hold missing labels, got {label!r} in row {row} "
                "(counting from 0); "
                "a row without a group needs a label of its own"
            )
        codes[row] = seen.setdefault(label, len(seen))
    return codes
