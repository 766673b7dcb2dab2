"""The place of each row in the order in which trials read rows.

Trials read rows in the order of keys: random ones, the row numbers where rows stay as they are,
or the ranks of the groups. Of equal keys the smaller row number comes first. Every partition
computes the keys of its own rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poise.errors import RecordError
from poise.protocol.keys_at_ranks import Spread, keys_at_ranks
from poise.protocol.random_order import KEYS
from poise.protocol.randomness import Randomness

__all__ = ["GroupPlaces", "KeyPlaces", "NumberPlaces", "RowPlaces"]

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]


class RowPlaces(Protocol):
    """The keys by which rows are put in order."""

    @property
    def reads_rows(self) -> bool:
        """Whether keys depend on what is in the rows, and not only on their numbers."""
        ...

    def of(self, partition: Any, first: int) -> Words:
        """Return the keys of the rows of a partition, before which so many others come."""
        ...

    def at(self, positions: Numbers, spread: Spread) -> tuple[Words, Numbers]:
        """Return the smallest (key, row number) at each of these ascending positions."""
        ...


@dataclass(frozen=True)
class KeyPlaces:
    """Rows in random order.

    Parameters
    ----------
    randomness, role : Randomness, str
        Where the keys come from.
    count : int
        Number of rows.
    """

    reads_rows = False

    randomness: Randomness
    role: str
    count: int

    def __post_init__(self) -> None:
        if self.randomness.rows != KEYS:
            raise RecordError(
                "this journal was begun by an older version, whose order of rows needs all of them "
                "in one place; begin a new journal"
            )

    def of(self, partition: Any, first: int) -> Words:
        """Return the keys of the rows of a partition."""
        return self.randomness.keys(self.role, first, first + len(partition))

    def at(self, positions: Numbers, spread: Spread) -> tuple[Words, Numbers]:
        """Return the key and the number of the row at each of these positions."""
        return keys_at_ranks(self._keys, self.count, positions, spread)

    def _keys(self, start: int, stop: int) -> Words:
        return self.randomness.keys(self.role, start, stop)


@dataclass(frozen=True)
class NumberPlaces:
    """Rows that stay in their order."""

    reads_rows = False

    def of(self, partition: Any, first: int) -> Words:
        """Return the numbers of the rows."""
        return np.arange(first, first + len(partition), dtype=np.uint64)

    def at(self, positions: Numbers, spread: Spread) -> tuple[Words, Numbers]:
        """Return the positions: they are the numbers."""
        return positions.astype(np.uint64), np.zeros_like(positions)


@dataclass(frozen=True)
class GroupPlaces:
    """Rows group by group; positions count groups.

    Parameters
    ----------
    column : str
        The column of labels.
    labels : sequence
        All labels, in the order in which they first appear.
    order : ndarray of int or None
        The groups in the order in which trials read them.
    """

    reads_rows = True

    column: Any
    labels: Sequence[Any]
    order: Numbers | None = None
    _ranks: dict[Any, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ranks = range(len(self.labels)) if self.order is None else np.argsort(self.order).tolist()
        object.__setattr__(self, "_ranks", dict(zip(self.labels, ranks, strict=True)))

    def of(self, partition: Any, first: int) -> Words:
        """Return the rank of the group of each row."""
        import pandas as pd

        codes, labels = pd.factorize(np.asarray(partition[self.column]))
        ranks = np.array([self._ranks[label] for label in labels.tolist()], dtype=np.uint64)
        return ranks[codes]

    def at(self, positions: Numbers, spread: Spread) -> tuple[Words, Numbers]:
        """Return the positions: they are the ranks."""
        return positions.astype(np.uint64), np.zeros_like(positions)
