"""Groups of rows that lie elsewhere: their labels and sizes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from poise.data.groups import Groups, Layout, WholeNumbers

__all__ = ["GroupSizes"]

Indices = NDArray[np.int64]


class GroupSizes(Groups):
    """The groups of a table that lies elsewhere, in the order in which they first appear.

    Parameters
    ----------
    counted : iterable of (labels, counts)
        Of each partition in order: its different labels as they appear, and their rows.

    Examples
    --------
    >>> groups = GroupSizes([(["ann", "bob"], [2, 1]), (["eve", "ann"], [1, 3])])
    >>> groups.labels.tolist(), groups.sizes.tolist()
    (['ann', 'bob', 'eve'], [5, 1, 1])
    >>> groups.layout(np.array([2, 0, 1])).starts
    array([0, 1, 6, 7])
    """

    def __init__(self, counted: Iterable[tuple[list[Any], Any]]) -> None:
        sizes: dict[Any, int] = {}
        for labels, counts in counted:
            for label, count in zip(labels, counts, strict=True):
                sizes[label] = sizes.get(label, 0) + int(count)
        self.labels = np.empty(len(sizes), dtype=object)
        self.labels[:] = list(sizes)
        self.sizes = np.array(list(sizes.values()), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.sizes)

    def layout(self, order: Indices | None = None) -> Layout:
        """Return how many rows come before each group; rows are numbered in reading order."""
        sizes = self.sizes if order is None else self.sizes[order]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Layout(cast("Indices", WholeNumbers(int(starts[-1]))), starts)
