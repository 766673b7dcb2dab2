"""Order statistics of very many changes, without a copy of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from poise.theory.binomial_law import Floats

__all__ = ["how_many_exceed", "largest"]

_FEW_CHANGES = 1 << 16  # a copy this long is cheap, and sorting it is faster than counting


def largest(values: Floats, rank: NDArray[np.int64]) -> Floats:
    """Return the ``rank``-th largest of numbers that are at least 0, for each rank.

    Parameters
    ----------
    values : array of shape (m,), at least 0; may hold infinities
        The numbers, in any order.
    rank : int array
        1 for the largest, m for the smallest. What comes before the first counts
        as infinite, and what comes after the last as 0.

    Returns
    -------
    ndarray of float
        One number for each rank.

    Examples
    --------
    >>> largest(np.array([0.5, 2.0, 1.0]), np.array([0, 1, 3, 4])).tolist()
    [inf, 2.0, 0.5, 0.0]
    """
    m, rank = values.size, np.asarray(rank)
    if m <= _FEW_CHANGES:
        steps = np.concatenate([[np.inf], np.sort(values)[::-1], [0.0]])
        return np.asarray(steps[np.clip(rank, 0, m + 1)])
    found = [_by_counting(values, int(r)) for r in rank.flat]
    return np.array(found, dtype=np.float64).reshape(rank.shape)


def _by_counting(values: Floats, rank: int) -> float:
    """Bisect for the smallest x that fewer than ``rank`` of the values exceed.

    Numbers that are not negative are in the same order as the bits that encode
    them, read as integers: after 63 halvings exactly one x is left.
    """
    low, high = 0, int(np.float64(np.inf).view(np.int64))
    while low < high:
        middle = (low + high) // 2
        if how_many_exceed(values, float(np.int64(middle).view(np.float64))) < rank:
            high = middle
        else:
            low = middle + 1
    return float(np.int64(low).view(np.float64))


def how_many_exceed(values: Floats, x: float) -> int:
    """Count the values that are strictly larger than x, block by block.

    Examples
    --------
    >>> how_many_exceed(np.array([0.5, 2.0, 1.0]), 0.5)
    2
    """
    blocks = (values[i : i + _FEW_CHANGES] for i in range(0, values.size, _FEW_CHANGES))
    return sum(int(np.count_nonzero(block > x)) for block in blocks)
