"""The rows with the smallest hashes: copies among them are found without bringing all together.

Equal rows have equal hashes, wherever they are. Each partition tells the smallest hashes of its
rows. Below the smallest limit of all partitions, every row of the table is known by its hash: a
random part of the different rows, and of each of these all copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.partitioned.row_fingerprint import hashes_of_rows

__all__ = ["RowsBelow", "SmallestHashes"]

Words = NDArray[np.uint64]

_HASHES_PER_PARTITION = 256  # 2 KB
_MOST_ROWS = 20_000  # that are brought together to see whether they are equal by chance
_ALL = np.uint64(np.iinfo(np.uint64).max)


def _hashes(frame: Any) -> Words:
    """Hash each row; 1 and 1.0 are equal, as they are in memory."""
    numbers = {name: "float64" for name in frame.columns if frame[name].dtype.kind in "iu"}
    return hashes_of_rows(frame.astype(numbers) if numbers else frame)


@dataclass(frozen=True)
class SmallestHashes:
    """The hashes of rows below a limit; all rows of the table with such hashes are counted.

    Attributes
    ----------
    hashes : ndarray of uint64
        In ascending order, one for each row.
    limit : uint64
        Rows with this hash, or a larger one, are not looked at.

    Examples
    --------
    >>> one = SmallestHashes(np.array([1, 4, 6], dtype=np.uint64), np.uint64(7))
    >>> two = SmallestHashes(np.array([2, 4], dtype=np.uint64), np.uint64(5))
    >>> SmallestHashes.joined([one, two]).hashes, SmallestHashes.joined([one, two]).has_equals
    (array([1, 2, 4, 4], dtype=uint64), True)
    """

    hashes: Words
    limit: np.uint64 = _ALL

    @classmethod
    def of(cls, frame: Any) -> SmallestHashes:
        """Look at the rows of a partition."""
        hashes = np.sort(_hashes(frame))
        if len(hashes) <= _HASHES_PER_PARTITION:
            return cls(hashes)
        return cls._below(hashes, hashes[_HASHES_PER_PARTITION])

    @classmethod
    def joined(cls, sketches: Sequence[SmallestHashes]) -> SmallestHashes:
        """Put the sketches of partitions, or of tables, together."""
        limit = min([_ALL, *(sketch.limit for sketch in sketches)])
        every = [np.empty(0, dtype=np.uint64), *(sketch.hashes for sketch in sketches)]
        return cls._below(np.sort(np.concatenate(every)), limit)

    @classmethod
    def _below(cls, hashes: Words, limit: np.uint64) -> SmallestHashes:
        return cls(hashes[: np.searchsorted(hashes, limit)], limit)

    @property
    def has_equals(self) -> bool:
        """Whether two rows have one hash."""
        return bool((self.hashes[1:] == self.hashes[:-1]).any())

    def of_few_rows(self) -> SmallestHashes:
        """Return a sketch of so few rows that they can be brought together."""
        if len(self.hashes) <= _MOST_ROWS:
            return self
        return self._below(self.hashes, self.hashes[_MOST_ROWS])

    @property
    def share(self) -> float:
        """The share of the different rows that is looked at."""
        return 1.0 if self.limit == _ALL else float(self.limit) / 2.0**64


@dataclass(frozen=True)
class RowsBelow:
    """Returns the rows of a partition whose hashes are below a limit; called where it lies.

    Parameters
    ----------
    limit : uint64
        The limit of a sketch.
    hashed, wanted : list of str
        The columns that were hashed, and those that are returned.
    """

    limit: np.uint64
    hashed: list[Any]
    wanted: list[Any]

    def __call__(self, partition: Any, _first: int) -> Any:
        """Choose the rows."""
        chosen = _hashes(partition[self.hashed]) < self.limit
        return partition.loc[:, self.wanted][chosen]
