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
    packed = keys & ~lower
    packed |= np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    tied = packed[1:] ^ packed[:-1] <= lower
    packed &= lower
    order = packed.view(np.int64)
    if tied.any():
        among = np.append(tied, False) | np.append(False, tied)
        places_tied = order[among]
        order[among] = places_tied[np.lexsort((places_tied, keys[places_tied]))]
    return order
