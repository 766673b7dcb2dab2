"""Find the piece to which a row belongs from the key of the row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poise.protocol.keys_at_ranks import Spread, here
from poise.running.shuffle.row_places import RowPlaces

__all__ = ["KeyEdges"]

Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]

_NO_PIECE = -1


@dataclass(frozen=True)
class KeyEdges:
    """The first (key, row number) of each part into which the order of rows is cut.

    Attributes
    ----------
    keys, rows : ndarray
        Of the row at each cut, in ascending order.
    pieces : ndarray of int
        The piece to which the rows before the first cut belong, then those before the second,
        and so on; -1 if no trial uses them.

    Examples
    --------
    >>> from poise.running.shuffle.row_places import NumberPlaces
    >>> edges = KeyEdges.of(NumberPlaces(), [np.array([[2, 4]]), np.array([[4, 5], [7, 9]])], 10)
    >>> edges.pieces_of(np.arange(10, dtype=np.uint64), np.arange(10)).tolist()
    [-1, -1, 0, 0, 1, -1, -1, 1, 1, -1]
    """

    keys: Words
    rows: Numbers
    pieces: Numbers

    @classmethod
    def of(
        cls, places: RowPlaces, ranges: list[Numbers], count: int, spread: Spread = here
    ) -> KeyEdges:
        """Find the cuts for pieces; of each the ranges of places are given, among so many."""
        every = np.concatenate([np.empty((0, 2), dtype=np.int64), *ranges])
        owners = np.repeat(np.arange(len(ranges)), [len(each) for each in ranges])
        positions = np.unique(every)
        pieces = np.full(len(positions) + 1, _NO_PIECE, dtype=np.int64)
        pieces[1 + np.searchsorted(positions, every[:, 0])] = owners
        inside = positions < count  # nothing comes after the last row
        keys, rows = places.at(positions[inside], spread)
        return cls(keys, rows, pieces[: 1 + int(inside.sum())])

    def only(self, first: int, last: int) -> KeyEdges:
        """Keep pieces ``first`` to ``last - 1``, and call the first of them 0."""
        kept = (self.pieces >= first) & (self.pieces < last)
        return KeyEdges(self.keys, self.rows, np.where(kept, self.pieces - first, _NO_PIECE))

    def pieces_of(self, keys: Words, rows: Numbers) -> Numbers:
        """Return the piece of each row, -1 where no trial uses it."""
        part = np.searchsorted(self.keys, keys, side="right")
        if not len(self.keys):
            return self.pieces[part]
        while True:  # of rows with the key of a cut, those of smaller numbers lie before it
            before = np.maximum(part - 1, 0)
            early = (part > 0) & (self.keys[before] == keys) & (self.rows[before] > rows)
            if not early.any():
                return self.pieces[part]
            part = part - early
