"""How stable an average over bags is, whatever is bagged (Theorems K and L).

Subbagging fits a base algorithm to bags of b of the n rows, drawn without replacement, and
averages. Base fits ignore the order of their rows (or each bag is shuffled) and lie in a range of
width W. f is the average over all bags, f^{∖i} that over the bags without row i, d_i = f − f^{∖i}
at one point, p = b/n. Everything holds for every data set and every point.

- Theorem K (Soloff, Barber & Willett, 2024): Σ ‖d_i‖² ≤ V np/((n − 1)(1 − p)), V the variance of
  the base fits over bags: at most W²/4 for numbers, 1 − 1/L for L class probabilities.
- Theorem L: at most k° rows have |d_i| > ε, k° = max{k : W·M_k/(2(1 − p)k) > ε}, M_k the largest
  mean deviation of k signed bag memberships. Sharper; computed for n ≤ 1,000.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import checks
from poise.errors import ArgumentError
from poise.theory.binomial_law import NOISE, Floats, floor, plain
from poise.theory.counts import first_beyond

Ints = NDArray[np.int64]

EXACT_UP_TO = 1000  # rows; beyond, Theorem K stands in for L
# Counts of the k rows in a bag that are less likely than e^-60 add nothing to 12 digits.
_LEAST_LOG_PROBABILITY = -60.0


def bag_delta(n: ArrayLike, b: ArrayLike, eps: ArrayLike, width: ArrayLike = 1.0) -> Any:
    """Compute the δ of subbagging for every distribution (Theorem K).

    W²p/(4(n − 1)(1 − p)ε²), at most 1: at most this share of the n removals changes a prediction
    by ε or more, with all bags. A δ of 1 does not mean that the algorithm is unstable: then the
    theorem says nothing.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training rows.
    b : int or array of int, from 1 to n - 1
        Rows in a bag.
    eps : float or array, at least 0
        Allowed change.
    width : float or array, positive
        Width of the range of the base fits, in the units of ``eps``.

    Returns
    -------
    float, or ndarray where an argument is an array

    Examples
    --------
    >>> bag_delta(145, 56, 0.2)
    0.027309...
    """
    rows, size = checked_bag(n, b)
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        share = size / (4 * (rows - 1) * (rows - size) * _relative(eps, width) ** 2)
    return plain(np.minimum(share, 1.0))


def largest_bag(n: ArrayLike, eps: ArrayLike, delta: ArrayLike, width: ArrayLike = 1.0) -> Any:
    """Compute the largest bag that is (ε, δ)-stable by Theorem K, with all bags.

    ⌊nt/(1 + t)⌋, at most n − 1, with t = 4(n − 1)δε²/W².

    Parameters
    ----------
    n, eps, width
        As in :func:`bag_delta`.
    delta : float or array in [0, 1)
        Allowed share of removals that change more.

    Returns
    -------
    int, or ndarray where an argument is an array
        Rows in a bag; 0 if not even bags of one row will do.

    See Also
    --------
    largest_admissible_bag : may allow a larger one.

    Examples
    --------
    >>> largest_bag(100, 0.1, 0.1), largest_bag(17, 0.05, 0.2, 10)
    (28, 0)
    """
    rows = checks.counts("n", n, 2)
    with np.errstate(over="ignore", under="ignore"):
        t = 4 * (rows - 1) * checks.deltas(delta) * _relative(eps, width) ** 2
        share = np.where(np.isinf(t), 1.0, t / (1 + np.where(np.isinf(t), 0.0, t)))
    return plain(np.minimum(floor(rows * share), rows - 1))


def bag_mad(n: ArrayLike, b: ArrayLike, k: ArrayLike) -> Any:
    """Compute M_k, the largest mean absolute deviation of k signed bag memberships (Theorem L).

    The largest E|Z − EZ| over k₊ + k₋ = k, where Z is the number of bag members among k₊ rows minus
    the number among k₋ others. M_k/k is non-increasing in k.

    Parameters
    ----------
    n, b
        As in :func:`bag_delta`.
    k : int or array of int, from 1 to n
        Rows that carry a sign.

    Returns
    -------
    float, or ndarray where an argument is an array

    Examples
    --------
    >>> bag_mad(4, 1, 2)  # ±1 with probability 1/4 each, otherwise 0
    0.5
    """
    return plain(
        np.vectorize(_mean_deviation, otypes=[np.float64])(*checked_bag(n, b), _moved(n, k))
    )


def bag_reach(n: ArrayLike, b: ArrayLike, k: ArrayLike) -> Any:
    """Compute M_k / (2(1 − p)k): how far k removals can all move a bagged prediction (Theorem L).

    If each of k removals changes the average over all bags by more than ε, then ε is below W times
    this number. It is non-increasing in k and non-decreasing in b.

    Parameters
    ----------
    n, b
        As in :func:`bag_delta`.
    k : int or array of int, from 1 to n
        How many rows move the prediction.

    Returns
    -------
    float, or ndarray where an argument is an array

    Examples
    --------
    >>> bag_reach(8, 6, 1)  # one row: the share of the bags that hold it
    0.75
    """
    return plain(np.vectorize(reach, otypes=[np.float64])(*checked_bag(n, b), _moved(n, k)))


def bag_count(n: ArrayLike, b: ArrayLike, eps: ArrayLike, width: ArrayLike = 1.0) -> Any:
    """Bound the number of rows whose removal can change a prediction by more than ε (Theorem L).

    At most k° rows, whatever the base algorithm, the data and the point, with all bags; subbagging
    is (ε, k°/n)-stable for every distribution. Linear programmes for small n show that the bound
    is often, but not always, attained.

    Parameters
    ----------
    n, b, eps, width
        As in :func:`bag_delta`.

    Returns
    -------
    int, or ndarray where an argument is an array

    Examples
    --------
    >>> bag_count(100, 39, 0.1), bag_count(100, 40, 0.1)
    (10, 11)
    """

    def count(n: int, b: int, relative: float) -> int:
        return largest(int(n), lambda k: _exceeds(reach(n, b, k), relative))

    return plain(np.vectorize(count, otypes=[np.int64])(*checked_bag(n, b), _relative(eps, width)))


def largest_admissible_bag(n: int, eps: float, delta: float, width: float = 1.0) -> int:
    """Find the largest bag that is (ε, δ)-stable by Theorem L, or by K beyond 1,000 rows.

    The largest b with k°(b) ≤ δn, with all bags.

    Parameters
    ----------
    n, eps, delta, width
        As in :func:`largest_bag`; one number each.

    Returns
    -------
    int
        Rows in a bag; 0 if not even bags of one row will do.

    Examples
    --------
    >>> largest_admissible_bag(100, 0.1, 0.1), largest_bag(100, 0.1, 0.1)
    (39, 28)
    """
    rows, relative = checks.count("n", n, 2), float(_relative(eps, width))
    allowed = int(floor(checks.deltas(delta) * rows))
    if rows > EXACT_UP_TO:
        return int(largest_bag(rows, eps, delta, width))
    if allowed == rows:
        return rows - 1
    # k° is non-decreasing in b: bags of b + 1 rows can do what the averages of theirs of b do.
    return largest(rows - 1, lambda b: not _exceeds(reach(rows, b, allowed + 1), relative))


# Theorem L: the mean deviation of signed memberships.
#
# T of the k rows are in the bag, and H of these have sign +1 (both hypergeometric): Z = 2H − T.
# Given T = t, with x = (t + EZ)/2 and m = ⌊x⌋,
#     E|Z − EZ| = 4 E(H − x)₊ − 2(EH − x),
#     E(H − x)₊ = (k₊ − m)(t − m) P(H = m)/k + (EH − x) P(H > m).
# P(H ≤ m) for one split k₊ + k₋ follows from the split before it, so all splits together cost two
# probabilities for each (k₊, t).


@lru_cache(maxsize=4096)
def _mean_deviation(n: int, b: int, k: int) -> float:
    inside = np.arange(max(0, b + k - n), min(b, k) + 1)
    log_law = _log_choose(k, inside) + _log_choose(n - k, b - inside)
    log_law -= log_law.max()
    kept = log_law > _LEAST_LOG_PROBABILITY
    inside, law = inside[kept], np.exp(log_law[kept].astype(np.float64))
    # By symmetry only splits with at least as many + as − need to be looked at.
    plus = np.arange(k, (k - 1) // 2, -1)[:, None]
    given = _given_members(plus, inside, b * (2 * plus - k), n, k)
    with np.errstate(under="ignore"):
        return float(np.max(given @ law) / law.sum())


@np.errstate(under="ignore")
def _given_members(plus: Ints, inside: Ints, centre: Ints, n: int, k: int) -> Floats:
    """Compute E|Z − EZ| given T, for each split and each T; ``centre`` is n·EZ, an integer."""
    doubled = inside * n + centre  # 2n times x
    m = doubled // (2 * n)
    drift = inside * plus / k - doubled / (2 * n)  # EH − x
    before, falls = m[:-1], m[:-1] - m[1:]
    gain = (inside - before) / (k - plus[1:]) - falls
    steps = gain * _hypergeometric(before, plus[1:], inside, k)
    at_most = np.cumsum(np.vstack([m[:1] >= inside, steps]), axis=0)
    atom = (plus - m) * (inside - m) * _hypergeometric(m, plus, inside, k) / k
    return np.asarray(4 * (atom + drift * (1 - at_most)) - 2 * drift)


def _hypergeometric(h: Ints, plus: Ints, drawn: Ints, k: int) -> Floats:
    """Compute P(H = h) for ``drawn`` of k rows, of which ``plus`` count."""
    log = _log_choose(plus, h) + _log_choose(k - plus, drawn - h) - _log_choose(k, drawn)
    return np.exp(log.astype(np.float64))


def _log_choose(n: ArrayLike, k: Ints) -> NDArray[np.longdouble]:
    """Compute the logarithm of the number of k-subsets of n; -inf where there is none."""
    n = np.asarray(n)
    logs = _log_factorials(1 << int(np.max(n, initial=0)).bit_length())  # few tables are made
    possible = (k >= 0) & (k <= n)
    safe = np.where(possible, k, 0)
    return np.where(possible, logs[n] - logs[safe] - logs[n - safe], -np.inf)


@lru_cache(maxsize=64)
def _log_factorials(largest: int) -> NDArray[np.longdouble]:
    """List log 0!, …, log n! in extended precision: differences of thousands lose digits."""
    return np.cumsum(np.log(np.maximum(np.arange(largest + 1, dtype=np.longdouble), 1)))


def reach(n: int, b: int, k: int) -> float:
    """Compute :func:`bag_reach` of checked integers."""
    return _mean_deviation(int(n), int(b), int(k)) * n / (2 * (n - b) * k)


def checked_bag(n: ArrayLike, b: ArrayLike, name: str = "b") -> tuple[Ints, Ints]:
    """Return the counts; a bag must leave out at least one row."""
    rows, sizes = checks.counts("n", n, 2), checks.counts(name, b, 1)
    if np.any(sizes >= rows):
        rule = "must be at most n - 1, so that each bag leaves out at least one row"
        raise ArgumentError(rule, argument=name, got=int(np.max(sizes)))
    return rows, sizes


def _moved(n: ArrayLike, k: ArrayLike) -> Ints:
    rows = checks.counts("k", k, 1)
    if np.any(rows > np.asarray(n)):
        raise ArgumentError("must be at most n", argument="k", got=int(np.max(rows)))
    return rows


def _relative(eps: ArrayLike, width: ArrayLike) -> Floats:
    tolerated = checks.reals("eps", eps, "a finite number >= 0", 0, math.inf, ")")
    breadth = checks.reals("width", width, "a finite number > 0", 0, math.inf, "()")
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(tolerated / breadth)


def _exceeds(value: float, limit: float) -> bool:
    """Say whether a value is above a limit by more than rounding errors."""
    return bool(value > limit * (1 + NOISE))


def largest(high: int, holds: Callable[[int], bool]) -> int:
    """Find the largest of 1 … ``high`` for which ``holds``; 0 if there is none."""
    return first_beyond(0, lambda count: not holds(count), high + 1) - 1
