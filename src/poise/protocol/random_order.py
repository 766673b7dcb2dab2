"""The random order of rows: that of 64-bit keys, one for each row number.

Key i is word i of a Philox stream, whose own key is a hash of (root seed, role). Philox is
counter-based: any range of keys is computed without those before it, so a cluster, a folder of
files and an array in memory agree on the order without seeing each other's rows. It passes
BigCrush, numpy has it compiled, and four keys come out of one step of its counter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "KEYS",
    "OF_GROUPS",
    "OF_LABELED",
    "OF_UNLABELED",
    "ORDERS",
    "PERMUTATION",
    "order_of_keys",
    "stream_of_keys",
]

KEYS = "keys"
PERMUTATION = "permutation"  # numpy's shuffle of all rows at once, in older files
ORDERS = (KEYS, PERMUTATION)
# The roles: what is put in order.
OF_LABELED = "order of labelled rows"
OF_UNLABELED = "order of unlabelled rows"
OF_GROUPS = "order of groups"
_KEYS_CACHED = 1 << 15  # 256 kB: so many stay in the cache of a core
_WORDS_PER_STEP = 4  # 64-bit words that Philox makes in one step of its counter


def stream_of_keys(philox_key: tuple[int, int], start: int, stop: int) -> NDArray[np.uint64]:
    """Return the keys of rows ``start`` to ``stop - 1``: these words of a Philox stream.

    Examples
    --------
    >>> bool((stream_of_keys((1, 2), 5, 9) == stream_of_keys((1, 2), 0, 9)[5:]).all())
    True
    """
    step, skipped = divmod(start, _WORDS_PER_STEP)
    philox = np.random.Philox(key=np.array(philox_key, dtype=np.uint64), counter=step)
    words = np.asarray(philox.random_raw(skipped + stop - start), dtype=np.uint64)
    return words[skipped:]


def order_of_keys(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the places of the keys in ascending order; of equal keys the first comes first.

    The upper bits of each key and its place are sorted as one number, which takes a quarter of
    the time of a sort that carries places along. The few keys with the same upper bits are
    then put in order by themselves.

    Examples
    --------
    >>> order_of_keys(np.array([30, 10, 20, 10], dtype=np.uint64))
    array([1, 3, 2, 0])
    """
    bits = np.uint64(max(len(keys) - 1, 1).bit_length())
    lower = (np.uint64(1) << bits) - np.uint64(1)
    packed = _packed(keys, ~lower)
    packed.sort()
    any_tied = _unpack(packed, lower)
    order = packed.view(np.int64)
    if any_tied:
        upper = keys[order] & ~lower
        tied = upper[1:] == upper[:-1]
        among = np.append(tied, False) | np.append(False, tied)
        places_tied = order[among]
        order[among] = places_tied[np.lexsort((places_tied, keys[places_tied]))]
    return order


def _packed(keys: NDArray[np.uint64], upper: np.uint64) -> NDArray[np.uint64]:
    """Return the upper bits of each key with its place, some keys at a time: they stay cached."""
    packed = np.empty_like(keys)
    places = np.arange(_KEYS_CACHED, dtype=np.uint64)
    for start in range(0, len(keys), _KEYS_CACHED):
        part = packed[start : start + _KEYS_CACHED]
        np.bitwise_and(keys[start : start + _KEYS_CACHED], upper, out=part)
        part |= places[: len(part)] + np.uint64(start)
    return packed


def _unpack(packed: NDArray[np.uint64], lower: np.uint64) -> bool:
    """Keep the places, and tell whether two neighbours have the same upper bits."""
    any_tied = False
    differing = np.empty(_KEYS_CACHED, dtype=np.uint64)
    for start in range(0, len(packed), _KEYS_CACHED):
        part = packed[start : start + _KEYS_CACHED + 1]
        bits = np.bitwise_xor(part[1:], part[:-1], out=differing[: len(part) - 1])
        any_tied |= bool((bits <= lower).any())
        packed[start : start + _KEYS_CACHED] &= lower
    return any_tied
