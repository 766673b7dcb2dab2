"""What averages over bags promise, whatever is bagged: Theorems K and L; sets of labels: M.

Subbagging fits a base algorithm to bags of b of the n rows, drawn without replacement, and
averages. Base fits ignore the order of their rows (or each bag is shuffled) and lie in a range of
width W. f is the average over all bags, f^{∖i} that over the bags without row i, d_i = f − f^{∖i}
at one point, p = b/n. Everything holds for every data set and every point.

- Theorem K (Soloff, Barber & Willett, 2024): Σ ‖d_i‖² ≤ V np/((n − 1)(1 − p)), V the variance of
  the base fits over bags: at most W²/4 for numbers, 1 − 1/L for L class probabilities.
- Theorem L: at most k° rows have |d_i| > ε, k° = max{k : W·M_k/(2(1 − p)k) > ε}, M_k the largest
  mean deviation of k signed bag memberships. Sharper; computed for n ≤ 1,000.
- Theorem M: the label with the largest score can change when scores move by a hair. The inflated
  argmax (Soloff, Barber & Willett, 2024) returns every label that wins clearly for some scores
  within ε, and the inflated top-k returns k − 1 certain labels and the inflated argmax of the rest.
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
    by ε or more, with all bags. A δ of 1 says nothing; it does not mean unstable.

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

    ⌊nt/(1 + t)⌋, at most n − 1, with t = 4(n − 1)δε²/W²; 0 if not even bags of one row will do. The
    parameters are those of :func:`bag_delta`; δ is the allowed share of removals that change more.

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


def bag_reach(n: ArrayLike, b: ArrayLike, k: ArrayLike) -> Any:
    """Compute M_k / (2(1 − p)k): how far k removals can all move a bagged prediction (Theorem L).

    M_k is the largest E|Z − EZ| over k₊ + k₋ = k, where Z is the number of bag members among k₊
    rows minus the number among k₋ others. If each of k removals changes the average over all bags
    by more than ε, then ε is below W times this number. It never rises in k and never falls in b.

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
    is often, but not always, attained. The parameters are those of :func:`bag_delta`.

    Examples
    --------
    >>> bag_count(100, 39, 0.1), bag_count(100, 40, 0.1)
    (10, 11)
    """

    def count(n: int, b: int, relative: float) -> int:
        return largest(int(n), lambda k: reach(n, b, k) > relative * (1 + NOISE))

    return plain(np.vectorize(count, otypes=[np.int64])(*checked_bag(n, b), _relative(eps, width)))


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
    tolerated = checks.reals("eps", eps, "a finite number >= 0")
    breadth = checks.reals("width", width, "a finite number > 0")
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(tolerated / breadth)


def largest(high: int, holds: Callable[[int], bool]) -> int:
    """Find the largest of 1 … ``high`` for which ``holds``; 0 if there is none."""
    return first_beyond(0, lambda count: not holds(count), high + 1) - 1


# Theorem M: sets of labels.


def distance_to_winner(w: ArrayLike, i: int, eps: float) -> float:
    """Compute how far the scores ``w`` are from scores that label i wins by at least ε/√2.

    The Euclidean distance from w to {v : v_i ≥ v_j + ε/√2 for all j ≠ i}, with i a position in w.

    Examples
    --------
    >>> distance_to_winner([0.52, 0.79, 0.41, 0.35, 0.77], 4, 0.3)
    0.164142...
    """
    scores, label = _scores(w, one=True), checks.count("i", i)
    if label >= scores.size:
        raise ArgumentError(
            f"must be a position in w, at most {scores.size - 1}", argument="i", got=i
        )
    return float(_distance(scores[None, :], label, checks.positive("eps", eps))[0])


def inflated_top(w: ArrayLike, k: int, eps: float) -> list[int]:
    """List the labels of the inflated top-k; k = 1 is the inflated argmax (Theorem M).

    The k − 1 largest of the scores ``w`` (ties by position), and every label of the rest whose
    :func:`distance_to_winner` among the rest is below ε. If two score vectors are less than ε
    apart, their lists share at least k labels. A list does not say which label is right, and may
    hold all of them.

    Examples
    --------
    >>> inflated_top([0.52, 0.79, 0.41, 0.35, 0.77], 1, 0.3)
    [1, 4]
    """
    return [int(label) for label in np.flatnonzero(inflated_mask(_scores(w, one=True), k, eps))]


def inflated_mask(scores: ArrayLike, k: int, eps: float) -> NDArray[np.bool_]:
    """Mark the :func:`inflated_top` of each row of scores, one per label along the last axis.

    Examples
    --------
    >>> inflated_mask([[0.52, 0.79], [0.0, 1.0]], 1, 0.5).tolist()
    [[True, True], [False, True]]
    """
    values, inflation = _scores(scores), checks.positive("eps", eps)
    n_labels, certain = values.shape[-1], checks.count("k", k, 1) - 1
    if certain >= n_labels:
        raise ArgumentError(
            f"must be at most the number of labels, {n_labels}", argument="k", got=k
        )
    table = values.reshape(-1, n_labels)
    order = np.argsort(-table, axis=1, kind="stable")
    rest = np.take_along_axis(table, order[:, certain:], axis=1)
    chosen = np.ones(table.shape, dtype=np.bool_)
    for label in range(rest.shape[1]):
        chosen[:, certain + label] = _distance(rest, label, inflation) < inflation
    mask = np.empty_like(chosen)
    np.put_along_axis(mask, order, chosen, axis=1)
    return mask.reshape(values.shape)


@np.errstate(under="ignore")
def _distance(table: Floats, label: int, inflation: float) -> Floats:
    """Compute the distance of each row to the nearest scores that ``label`` wins clearly.

    They lower the j largest others to a common level ℓ_j and lift the label to ℓ_j + ε/√2; j is the
    first for which the next score is no higher.
    """
    if table.shape[1] == 1:
        return np.zeros(len(table))
    margin = inflation / math.sqrt(2)
    own = table[:, label : label + 1]
    others = -np.sort(-np.delete(table, label, axis=1), axis=1)
    count = np.arange(1, others.shape[1] + 1)
    levels = (own - margin + np.cumsum(others, axis=1)) / (count + 1)
    following = np.pad(others[:, 1:], ((0, 0), (0, 1)), constant_values=-np.inf)
    first = np.argmax(following <= levels, axis=1)[:, None]
    level = np.take_along_axis(levels, first, axis=1)
    lowered = np.where(count <= first + 1, others - level, 0.0)
    squares = (level + margin - own)[:, 0] ** 2 + np.sum(lowered**2, axis=1)
    return np.where(own[:, 0] >= others[:, 0] + margin, 0.0, np.sqrt(squares))


def _scores(w: ArrayLike, one: bool = False) -> Floats:
    values = np.asarray(w, dtype=np.float64)
    if values.ndim == 0 or values.shape[-1] == 0 or (one and values.ndim > 1):
        raise ArgumentError("must hold one score per label", argument="w", got=w)
    if not np.isfinite(values).all():
        raise ArgumentError("must hold finite scores", argument="w", got=w)
    return values
