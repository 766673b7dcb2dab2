"""How far some rows can move an average over bags.

A bag is b of n rows, drawn without replacement. Take k rows, k₊ of them with sign +1 and
k₋ with sign -1, and let Z be the sum of the signs of those that are in the bag. Theorem L
(:mod:`poise.theory.subbagging`) needs M_k, the largest E|Z - EZ| over the splits k₊ + k₋ = k.

T = the number of the k rows that are in the bag is hypergeometric, and so is H = the
number of those with sign +1, given T = t; Z = 2H - t. With x = (t + EZ)/2 and m = ⌊x⌋,

    E[|Z - EZ| given t] = 4 E(H - x)_+ - 2 (E H - x),
    E(H - x)_+ = (k₊ - m)(t - m) P(H = m)/k + (E H - x) P(H > m),

because h(k₋ - t + h) P(H = h) falls by k(h - E H) P(H = h) from h to h + 1. P(H <= m) for one split
follows from the split before it: P(H <= m) grows by P(H = m)(t - m)/(k - k₊) when k₊ + 1 becomes
k₊, and m falls by one at most. So all splits together cost two probabilities for each
(k₊, t), and n = 1,000 takes hundredths of a second.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.scalars import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from poise.theory.binomial_law import Floats
    from poise.theory.scalars import FloatOrArray

    Ints = NDArray[np.int64]

__all__ = ["bag_mad", "bag_reach", "checked_bag", "mean_deviation", "reach"]

# Counts of the k rows in a bag that are less likely than e^-60 add nothing to 12 digits.
_LEAST_LOG_PROBABILITY = -60.0


def bag_mad(n: ArrayLike, b: ArrayLike, k: ArrayLike) -> FloatOrArray:
    """Compute M_k, the largest mean absolute deviation of k signed bag memberships.

    The largest E|Z - EZ| over k₊ + k₋ = k, where Z is the number of bag members among k₊ rows
    minus the number among k₋ others, and the bag holds b of n rows (Theorem L). M_k/k is
    non-increasing in k.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training rows.
    b : int or array of int, from 1 to n - 1
        Rows in a bag.
    k : int or array of int, from 1 to n
        Rows that carry a sign.

    Returns
    -------
    float or ndarray of float

    Examples
    --------
    >>> bag_mad(4, 1, 2)  # ±1 with probability 1/4 each, otherwise 0
    0.5
    """
    return plain(np.asarray(_each_deviation(*_checked(n, b, k)), dtype=np.float64))


def bag_reach(n: ArrayLike, b: ArrayLike, k: ArrayLike) -> FloatOrArray:
    """Compute M_k / (2(1 - p)k): how far k removals can all move a bagged prediction.

    If k rows each change the average over all bags by more than ε when they are
    removed, then ε is below the width of the base fits' range times this number
    (Theorem L). It is non-increasing in k, and non-decreasing in b.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training rows.
    b : int or array of int, from 1 to n - 1
        Rows in a bag; p = b/n.
    k : int or array of int, from 1 to n
        How many rows move the prediction.

    Returns
    -------
    float or ndarray of float

    Examples
    --------
    >>> bag_reach(8, 6, 1)  # one row: the share of the bags that hold it
    0.75
    """
    return plain(np.asarray(_each_reach(*_checked(n, b, k)), dtype=np.float64))


def checked_bag(n: Ints, b: ArrayLike, name: str = "b") -> Ints:
    """Check that a bag leaves at least one row out."""
    sizes = arguments.count(name, b, minimum=1)
    if np.any(sizes >= n):
        raise ArgumentError(
            f"{name} must be at most n - 1 = {int(np.min(n)) - 1}, got {int(np.max(sizes))}: "
            "a bag must leave out at least one row"
        )
    return sizes


def _checked(n: ArrayLike, b: ArrayLike, k: ArrayLike) -> tuple[Ints, Ints, Ints]:
    rows = arguments.count("n", n, minimum=2)
    moved = arguments.count("k", k, minimum=1)
    if np.any(moved > rows):
        raise ArgumentError(f"k must be at most n, got {int(np.max(moved))}")
    return rows, checked_bag(rows, b), moved


def reach(n: int, b: int, k: int) -> float:
    """Compute :func:`bag_reach` of checked integers; it is infinite for k = 0."""
    if k < 1:
        return float("inf")
    return mean_deviation(n, b, k) * n / (2 * (n - b) * k)


@lru_cache(maxsize=4096)
def mean_deviation(n: int, b: int, k: int) -> float:
    """Compute :func:`bag_mad` of checked integers."""
    inside = np.arange(max(0, b + k - n), min(b, k) + 1)
    log_law = _log_choose(k, inside) + _log_choose(n - k, b - inside)
    log_law -= log_law.max()
    kept = log_law > _LEAST_LOG_PROBABILITY
    with np.errstate(under="ignore"):
        inside, law = inside[kept], np.exp(log_law[kept].astype(np.float64))
    # By symmetry only splits with at least as many + as - need to be looked at.
    plus = np.arange(k, (k - 1) // 2, -1)[:, None]
    given = _given_members(plus, inside, b * (2 * plus - k), n, k)
    with np.errstate(under="ignore"):
        return float(np.max(given @ law) / law.sum())


@np.errstate(under="ignore")
def _given_members(plus: Ints, inside: Ints, centre: Ints, n: int, k: int) -> Floats:
    """Compute E|Z - EZ| given the members among the k rows, for each split and each count.

    ``centre`` is n·EZ, an integer, so that floors are exact.
    """
    doubled = inside * n + centre  # 2n times x
    m = doubled // (2 * n)
    drift = inside * plus / k - doubled / (2 * n)  # E H - x
    before, falls = m[:-1], m[:-1] - m[1:]
    gain = (inside - before) / (k - plus[1:]) - falls
    steps = gain * _hypergeometric(before, plus[1:], inside, k)
    at_most = np.cumsum(np.vstack([m[:1] >= inside, steps]), axis=0)
    atom = (plus - m) * (inside - m) * _hypergeometric(m, plus, inside, k) / k
    deviation: Floats = 4 * (atom + drift * (1 - at_most)) - 2 * drift
    return deviation


@np.errstate(under="ignore")
def _hypergeometric(h: Ints, plus: Ints, drawn: Ints, k: int) -> Floats:
    """Compute P(H = h) for ``drawn`` of k rows, of which ``plus`` count."""
    log = _log_choose(plus, h) + _log_choose(k - plus, drawn - h) - _log_choose(k, drawn)
    return np.exp(log.astype(np.float64))


def _log_choose(n: ArrayLike, k: Ints) -> NDArray[np.longdouble]:
    """Compute the logarithm of the number of k-subsets of n; -inf where there is none."""
    n = np.asarray(n)
    # A power of two, so that few tables are made.
    logs = _log_factorials(1 << int(np.max(n, initial=0)).bit_length())
    possible = (k >= 0) & (k <= n)
    safe = np.where(possible, k, 0)
    return np.where(possible, logs[n] - logs[safe] - logs[n - safe], -np.inf)


@lru_cache(maxsize=64)
def _log_factorials(largest: int) -> NDArray[np.longdouble]:
    """List log 0!, …, log n! in extended precision: differences of thousands lose digits."""
    return np.cumsum(np.log(np.maximum(np.arange(largest + 1, dtype=np.longdouble), 1)))


_each_deviation = np.vectorize(mean_deviation, otypes=[np.float64])
_each_reach = np.vectorize(reach, otypes=[np.float64])
