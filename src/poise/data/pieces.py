"""Rows on a cluster: each finds by itself the piece that needs it, some trials and their rows.

A row is sorted by its word: a random key, or the place of its group, above the number of the row.
Whoever knows the words at which pieces begin can tell the piece of any row, without the order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.randomness import Ids, Randomness, Words, numbered
from poise.data.split import Units
from poise.errors import DataError

_AT_ONCE = 1 << 20  # keys
_LAST = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Order:
    """The order of the rows of a table, without a list of them.

    ``ranks`` are the places of groups by their labels, which a column ``group`` holds. Else rows
    have keys of their own, or, where nothing is random, keep their places.
    """

    rows: int
    randomness: Randomness | None
    role: str = ""
    group: str | None = None
    ranks: Mapping[Any, int] | None = None

    @property
    def bits(self) -> np.uint64:
        """How many lower bits of a word are the number of its row."""
        return np.uint64(max(self.rows - 1, 1).bit_length())

    def words(self, first: int, rows: int, labels: Sequence[Any] = ()) -> Words:
        """Return the words of consecutive rows; a group without a place comes last."""
        if self.ranks is not None:
            places = np.array([self.ranks.get(label, -1) for label in labels], dtype=np.int64)
            keys = places.view(np.uint64) << self.bits
        elif self.randomness is not None:
            keys = self.randomness.keys(self.role, first, first + rows)
        else:
            keys = np.zeros(rows, dtype=np.uint64)
        return numbered(keys, first, self.rows)

    def at(self, places: Ids) -> Words:
        """Return the words at which these rows, or groups, begin."""
        if self.ranks is not None:
            return places.astype(np.uint64) << self.bits
        if self.randomness is None:
            return places.astype(np.uint64)
        words, inside = np.full(len(places), _LAST), places < self.rows
        words[inside] = self._selected(places[inside])
        return words

    def _selected(self, places: Ids) -> Words:
        """Find the words at some places: only those whose upper bits are wanted are kept."""
        starts = range(0, self.rows, _AT_ONCE)
        blocks = [(start, min(_AT_ONCE, self.rows - start)) for start in starts]
        bits = min(max(int(self.bits) - 8, 8), 24)
        shift, sizes = np.uint64(64 - bits), np.zeros(1 << bits, dtype=np.int64)
        for block in blocks:
            sizes += np.bincount(self.words(*block) >> shift, minlength=len(sizes))
        ends = np.cumsum(sizes)
        wanted = np.zeros(len(sizes), dtype=np.bool_)
        wanted[cells := np.searchsorted(ends, places, side="right")] = True
        found = [words[wanted[words >> shift]] for words in (self.words(*b) for b in blocks)]
        left_out = ends - np.cumsum(np.where(wanted, sizes, 0))
        return np.asarray(np.sort(np.concatenate(found))[places - left_out[cells]])


@dataclass(frozen=True)
class Side:
    """Which rows of one of the two tables belong to which piece."""

    order: Order
    intervals: NDArray[np.int64]  # first unit, end and piece of each
    words: Words  # at which intervals begin, and at which they end
    units: int  # in all

    @classmethod
    def of(cls, order: Order, intervals: NDArray[np.int64], before: int) -> Side:
        """Keep the intervals in this table, which ``before`` units of another precede."""
        inside, units = intervals.copy(), order.rows if order.ranks is None else len(order.ranks)
        inside[:2] = np.clip(inside[:2] - before, 0, units)
        inside = inside[:, inside[0] < inside[1]]
        places, back = np.unique(inside[:2], return_inverse=True)
        return cls(order, inside, order.at(places)[back.reshape(2, -1)], units)

    def placed(self, part: Any, row: int) -> Any:
        """Keep the rows of a partition that a piece needs, with their piece and word."""
        group = self.order.group
        labels = () if group is None else part[group].to_numpy().tolist()
        words = self.order.words(row, len(part), labels)
        begin, end = self.words
        place = np.searchsorted(begin, words, side="right") - 1
        used = np.flatnonzero(words < np.append(end, 0)[place])
        kept = part.iloc[used].drop(columns=[group] if group else [])
        return kept.assign(_piece=self.intervals[2][place[used]], _word=words[used].view(np.int64))

    def ordered(self, part: Any, piece: int, before: int) -> tuple[Any, Units]:
        """Put the rows of a piece in their order; they are called by their numbers."""
        words, starts = part["_word"].to_numpy().view(np.uint64), None
        order = np.argsort(words)
        words = words[order]
        mine = self.intervals[:2, self.intervals[2] == piece].T
        here = np.concatenate([np.arange(0), *(np.arange(*ends) for ends in mine)])
        if self.order.ranks is not None:
            starts = np.unique(words >> self.order.bits, return_index=True)[1]
            starts = np.append(starts, len(words))
        if len(here) != (len(words) if starts is None else len(starts) - 1):
            problem = "the rows of X are not the same whenever they are read"
            raise DataError(problem, remedy="give X.persist()")
        numbers = (words & ~(_LAST << self.order.bits)).view(np.int64) + before
        rows = part.iloc[order].drop(columns=["_piece", "_word"], errors="ignore")
        rows = rows.set_axis(numbers).copy()  # its columns lie in memory as those of one frame do
        return rows, Units(np.arange(len(rows)), starts, here)
