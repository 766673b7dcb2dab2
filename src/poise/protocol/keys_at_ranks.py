"""The keys at given ranks among many, found in memory that does not grow with their number.

Rows are put in the order of their keys (:mod:`poise.protocol.random_order`). Where the order is
cut at some ranks, every row can tell by its own key between which cuts it lies: nobody needs the
whole order. The keys are computed twice, some at a time: first the upper bits are counted, then
only the keys that share their upper bits with a key that is looked for are kept and sorted.
Both can be done by many machines at once, since a key depends on the number of its row alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Keys", "Spread", "here", "keys_at_ranks"]

Keys = Callable[[int, int], NDArray[np.uint64]]
"""The keys of rows ``start`` to ``stop - 1``."""
Found = TypeVar("Found")
Span = tuple[int, int]

_KEYS_AT_ONCE = 1 << 20  # 8 MB
_KEYS_IN_A_TASK = 1 << 24  # half a second of a core: fewer are not worth a message
_FEWEST_BITS, _MOST_BITS = 8, 24  # 2**24 counts take 128 MB
_KEYS_PER_COUNT_BITS = 8  # about 2**8 keys share the upper bits that are counted
_FEW_TASKS = 32  # whose counts take less than a few seconds to send


class Spread(Protocol):
    """Calls a function on ranges of rows, perhaps on many machines."""

    def __call__(
        self, function: Callable[[int, int], Found], spans: Sequence[Span], /
    ) -> Iterable[Found]:
        """Return what the function found in each range, in order."""
        ...


def here(function: Callable[[int, int], Found], spans: Sequence[Span]) -> Iterable[Found]:
    """Call a function on ranges of rows in this process.

    Examples
    --------
    >>> list(here(range, [(0, 2), (2, 3)]))
    [range(0, 2), range(2, 3)]
    """
    return (function(*span) for span in spans)


def keys_at_ranks(
    keys: Keys, count: int, ranks: NDArray[np.int64], spread: Spread = here
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the keys, and the numbers of the rows, that stand at these ranks of the order.

    Parameters
    ----------
    keys : callable
        Gives the keys of a range of rows.
    count : int
        Number of rows; of equal keys that of the smaller row number comes first.
    ranks : ndarray of int
        Ascending, each from 0 to ``count - 1``.
    spread : Spread
        Looks at the keys of many rows.

    Examples
    --------
    >>> drawn = np.array([30, 10, 20, 10], dtype=np.uint64)
    >>> keys_at_ranks(lambda start, stop: drawn[start:stop], 4, np.array([1, 3]))
    (array([10, 30], dtype=uint64), array([3, 0]))
    """
    bits = _counted_bits(count)
    spans = _spans(count)
    if len(spans) <= 1:
        spread = here
    sizes = np.zeros(1 << bits, dtype=np.int64)
    for counts in spread(_Counts(keys, bits), spans):
        sizes += counts
    ends = np.cumsum(sizes)
    wanted = np.unique(np.searchsorted(ends, ranks, side="right"))
    found, rows = _joined(spread(_KeysIn(keys, bits, wanted), spans))
    # The keys before those that were kept: all those of smaller upper bits.
    skipped = (ends - sizes)[wanted] - np.concatenate([[0], np.cumsum(sizes[wanted])[:-1]])
    places = ranks - skipped[np.searchsorted(ends[wanted], ranks, side="right")]
    order = np.lexsort((rows, found))[places]
    return found[order], rows[order]


def _counted_bits(count: int) -> int:
    return min(max(count.bit_length() - _KEYS_PER_COUNT_BITS, _FEWEST_BITS), _MOST_BITS)


def _spans(count: int) -> list[Span]:
    """Cut all rows into ranges, one for each task.

    Every task sends as many counts, so that more tasks count faster and send for longer. With the
    square root below both take about as long.
    """
    most = max(_FEW_TASKS, math.isqrt(count >> 21))
    tasks = min(-(-count // _KEYS_IN_A_TASK), most)
    return [(k * count // tasks, (k + 1) * count // tasks) for k in range(tasks)]


def _blocks(keys: Keys, start: int, stop: int) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    for first in range(start, stop, _KEYS_AT_ONCE):
        yield first, keys(first, min(first + _KEYS_AT_ONCE, stop))


@dataclass(frozen=True)
class _Counts:
    """Counts the upper bits of the keys of a range of rows."""

    keys: Keys
    bits: int

    def __call__(self, start: int, stop: int) -> NDArray[np.integer]:
        shift = np.uint64(64 - self.bits)
        sizes = np.zeros(1 << self.bits, dtype=np.int64)
        for _, some in _blocks(self.keys, start, stop):
            sizes += np.bincount((some >> shift).astype(np.int64), minlength=len(sizes))
        return sizes.astype(np.uint32) if stop - start < 1 << 32 else sizes  # half to send


@dataclass(frozen=True)
class _KeysIn:
    """Picks the keys with these upper bits in a range of rows, and their rows."""

    keys: Keys
    bits: int
    wanted: NDArray[np.int64]

    def __call__(self, start: int, stop: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        is_wanted = np.zeros(1 << self.bits, dtype=np.bool_)
        is_wanted[self.wanted] = True
        shift = np.uint64(64 - self.bits)
        picked = []
        for first, some in _blocks(self.keys, start, stop):
            inside = np.flatnonzero(is_wanted[some >> shift])
            picked.append((some[inside], first + inside))
        return _joined(picked)


def _joined(
    picked: Iterable[tuple[NDArray[np.uint64], NDArray[np.int64]]],
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    none = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int64)
    found, rows = zip(none, *picked, strict=True)
    return np.concatenate(found), np.concatenate(rows)
