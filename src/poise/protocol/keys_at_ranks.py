"""The keys at given ranks among many, found in memory that does not grow with their number.

Rows are put in the order of their keys (:mod:`poise.protocol.random_order`). Where the order is
cut at some ranks, every row can tell by its own key between which cuts it lies: nobody needs the
whole order. The keys are computed twice, some at a time: first the upper bits are counted, then
only the keys that share their upper bits with a key that is looked for are kept and sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["Keys", "keys_at_ranks"]

Keys = Callable[[int, int], NDArray[np.uint64]]
"""The keys of rows ``start`` to ``stop - 1``."""

_KEYS_AT_ONCE = 1 << 20  # 8 MB
_FEWEST_BITS, _MOST_BITS = 8, 24  # 2**24 counts take 128 MB
_KEYS_PER_COUNT_BITS = 8  # about 2**8 keys share the upper bits that are counted


def keys_at_ranks(
    keys: Keys, count: int, ranks: NDArray[np.int64]
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

    Examples
    --------
    >>> drawn = np.array([30, 10, 20, 10], dtype=np.uint64)
    >>> keys_at_ranks(lambda start, stop: drawn[start:stop], 4, np.array([1, 3]))
    (array([10, 30], dtype=uint64), array([3, 0]))
    """
    shift = np.uint64(64 - _counted_bits(count))
    sizes = np.zeros(1 << (64 - int(shift)), dtype=np.int64)
    for _, some in _blocks(keys, count):
        sizes += np.bincount((some >> shift).astype(np.int64), minlength=len(sizes))
    ends = np.cumsum(sizes)
    wanted = np.unique(np.searchsorted(ends, ranks, side="right"))
    found, rows = _keys_in(wanted, keys, count, shift)
    # The keys before those that were kept: all those of smaller upper bits.
    skipped = (ends - sizes)[wanted] - np.concatenate([[0], np.cumsum(sizes[wanted])[:-1]])
    places = ranks - skipped[np.searchsorted(ends[wanted], ranks, side="right")]
    order = np.lexsort((rows, found))[places]
    return found[order], rows[order]


def _counted_bits(count: int) -> int:
    return min(max(count.bit_length() - _KEYS_PER_COUNT_BITS, _FEWEST_BITS), _MOST_BITS)


def _blocks(keys: Keys, count: int) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    for start in range(0, count, _KEYS_AT_ONCE):
        yield start, keys(start, min(start + _KEYS_AT_ONCE, count))


def _keys_in(
    wanted: NDArray[np.int64], keys: Keys, count: int, shift: np.uint64
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the keys with these upper bits, and their rows."""
    is_wanted = np.zeros(1 << (64 - int(shift)), dtype=np.bool_)
    is_wanted[wanted] = True
    found, rows = [np.empty(0, dtype=np.uint64)], [np.empty(0, dtype=np.int64)]
    for start, some in _blocks(keys, count):
        here = np.flatnonzero(is_wanted[some >> shift])
        found.append(some[here])
        rows.append(start + here)
    return np.concatenate(found), np.concatenate(rows)
