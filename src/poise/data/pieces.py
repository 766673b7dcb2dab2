"""Rows on a cluster: each finds by itself the piece that needs it, some trials and their rows.

A row is sorted by its word: a random key, or the place of its group, above the number of the row.
Whoever knows the words at which pieces begin can tell the piece of any row, without the order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.data.randomness import Ids, Randomness, Words, numbered
from poise.data.split import Split, Units
from poise.errors import DataError

_AT_ONCE = 1 << 20  # keys
_LAST = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Order:
    """The order of the rows of a table, without a list of them.

    ``ranks`` are the places of groups by their labels, where there are groups; else rows have
    random keys, unless ``randomness`` is None.
    """

    count: int  # rows
    randomness: Randomness | None = None
    role: str = ""
    ranks: Mapping[Any, int] | None = None

    @property
    def bits(self) -> int:
        """How many lower bits of a word are the number of its row."""
        return max(self.count - 1, 1).bit_length()

    def words(self, first: int, rows: int, labels: list[Any] | None = None) -> Words:
        """Return the words of consecutive rows; rows without a place come last."""
        if self.ranks is not None:
            ranks = [self.ranks.get(label, -1) for label in labels or ()]
            keys = np.array(ranks, dtype=np.int64).view(np.uint64) << np.uint64(self.bits)
        elif self.randomness is not None:
            keys = self.randomness.keys(self.role, first, first + rows)
        else:
            keys = np.zeros(rows, dtype=np.uint64)
        return numbered(keys, first, self.count)

    def at(self, places: Ids) -> Words:
        """Return the words at which these rows, or groups, begin, in ascending order."""
        if self.ranks is not None:
            return places.astype(np.uint64) << np.uint64(self.bits)
        if self.randomness is None:
            return places.astype(np.uint64)
        inside = places < self.count
        return np.append(self._selected(places[inside]), np.full((~inside).sum(), _LAST))

    def _selected(self, places: Ids) -> Words:
        """Find the words at these places in memory that does not grow with the rows.

        All words are counted by their upper bits; those that share them with a wanted one are
        looked at again.
        """
        starts = range(0, self.count, _AT_ONCE)
        shift = np.uint64(64 - min(max(self.bits - 8, 8), 24))
        blocks = [(start, min(_AT_ONCE, self.count - start)) for start in starts]
        sizes = np.zeros(1 << int(np.uint64(64) - shift), dtype=np.int64)
        for block in blocks:
            sizes += np.bincount(self.words(*block) >> shift, minlength=len(sizes))
        ends = np.cumsum(sizes)
        cells = np.unique(np.searchsorted(ends, places, side="right"))
        wanted = np.zeros(len(sizes), dtype=np.bool_)
        wanted[cells] = True
        found = [words[wanted[words >> shift]] for words in (self.words(*b) for b in blocks)]
        kept = np.sort(np.concatenate(found))
        missing = (ends - sizes)[cells] - np.cumsum(sizes[cells]) + sizes[cells]
        return kept[places - missing[np.searchsorted(ends[cells], places, side="right")]]


@dataclass(frozen=True)
class Side:
    """One of the two tables: which of its units belong to which piece."""

    order: Order
    first: Ids  # unit of each interval
    stop: Ids
    piece: Ids
    words: tuple[Words, Words]  # at which intervals begin and end
    units: int  # in all

    @classmethod
    def of(cls, order: Order, first: Ids, stop: Ids, piece: Ids, units: int) -> Side:
        """Find the intervals by words; what lies in the other table is left out."""
        first, stop = np.clip(first, 0, units), np.clip(stop, 0, units)
        here = first < stop
        first, stop = first[here], stop[here]
        places, back = np.unique(np.append(first, stop), return_inverse=True)
        begin, end = np.split(order.at(places)[back], 2)
        return cls(order, first, stop, piece[here], (begin, end), units)

    def placed(self, part: Any, row: int, group: str | None) -> Any:
        """Keep the rows of a partition that a piece needs, with their piece and word."""
        labels = None if group is None else part[group].to_numpy().tolist()
        words = self.order.words(row, len(part), labels)
        interval = np.searchsorted(self.words[0], words, side="right") - 1
        used = np.flatnonzero((interval >= 0) & (words < np.append(self.words[1], 0)[interval]))
        kept = part.iloc[used].drop(columns=[group] if group else [])
        return kept.assign(_piece=self.piece[interval[used]], _word=words[used].view(np.int64))

    def ordered(self, part: Any, piece: int, before: int = 0) -> tuple[Any, Units]:
        """Put the rows of a piece in their order, by number; a missing one is an error.

        ``before`` are the rows of another table, which have the first numbers.
        """
        words = part["_word"].to_numpy().view(np.uint64)
        order, starts = np.argsort(words), None
        mine = zip(self.first[self.piece == piece], self.stop[self.piece == piece], strict=True)
        here = np.concatenate([np.arange(0), *(np.arange(*ends) for ends in mine)])
        numbers = (words[order] & np.uint64((1 << self.order.bits) - 1)).view(np.int64) + before
        found = len(order)
        if self.order.ranks is not None:
            groups = words[order] >> np.uint64(self.order.bits)
            starts = np.append(np.unique(groups, return_index=True)[1], found)
            found = len(starts) - 1
        if found != len(here):
            problem = "the rows of X are not the same whenever they are read"
            raise DataError(problem, remedy="give X.persist()")
        rows = part.iloc[order].drop(columns=["_piece", "_word"], errors="ignore")
        rows = rows.set_axis(numbers).copy()  # its columns lie in memory as those of one frame do
        return rows, Units(np.arange(len(rows)), starts, here, self.units)


@dataclass(frozen=True)
class Pieces:
    """Consecutive trials in pieces, and which rows of both tables belong to each."""

    first: Ids  # trial of each piece, and the end
    labeled: Side
    unlabeled: Side

    @classmethod
    def of(
        cls, split: Split, first: Ids, orders: tuple[Order, Order], units: tuple[int, int]
    ) -> Pieces:
        """Cut the trials of a split at ``first``."""
        ends = [split.width * first]
        ends += [split.trials * (split.width + t) + first for t in range(split.n_points)]
        begin = np.concatenate([each[:-1] for each in ends])
        end = np.concatenate([each[1:] for each in ends])
        piece = np.tile(np.arange(len(first) - 1), len(ends))
        here = Side.of(orders[0], begin, end, piece, units[0])
        beyond = Side.of(orders[1], begin - units[0], end - units[0], piece, units[1])
        return cls(first, here, beyond)

    def __len__(self) -> int:
        return len(self.first) - 1

    def trials(self, piece: int) -> range:
        """Return the numbers of its trials."""
        return range(int(self.first[piece]), int(self.first[piece + 1]))
