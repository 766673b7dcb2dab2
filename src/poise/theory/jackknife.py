"""Jackknife intervals of a stable algorithm (Theorem J), and their residuals and ends.

The jackknife interval is A[D](X) ± (q̂ + ε), with q̂ the ⌈(1 − a)(n + 1)⌉-th smallest leave-one-out
residual. Jackknife+ widens its own interval by 2ε on both sides. Both rest on (ε, δ)-stability at
size n, on an algorithm that ignores the order of its rows, and on one ξ for all fits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import checks
from poise.errors import ArgumentError
from poise.theory.binomial_law import Floats, floor, plain


def residual_quantile(residuals: ArrayLike, a: float) -> float:
    """Pick the ⌈(1 − a)(n + 1)⌉-th smallest of n leave-one-out residuals.

    Parameters
    ----------
    residuals : array of float, at least 2
        ``|Y_i − A[D without i](X_i)|``; nan stands for a failed fit and counts as infinite.
    a : float in [0, 1)
        Share of new points that may be missed, before the cost of stability is added.

    Returns
    -------
    float
        q̂; infinite if its rank exceeds the number of residuals.

    Examples
    --------
    >>> residual_quantile([0.3, 0.1, 0.4, 0.2], 0.2), residual_quantile([0.3, 0.1], 0.2)
    (0.4, inf)
    """
    values = _or_infinite(residuals)
    rank = _rank(values.size, a)
    return math.inf if rank > values.size else float(np.partition(values, rank - 1)[rank - 1])


def jackknife_plus_ends(predictions: ArrayLike, residuals: ArrayLike, a: float) -> Floats:
    """Find the ends of jackknife+ intervals (Barber, Candès, Ramdas & Tibshirani, 2021).

    The upper end is the ⌈(1 − a)(n + 1)⌉-th smallest of the n numbers A[D without i](x) + R_i, the
    lower end the ⌊a(n + 1)⌋-th smallest of A[D without i](x) − R_i. If A ignores the order of its
    rows (in distribution is enough), a new response lies between them with probability at least
    1 − 2a, whatever the distribution.

    Parameters
    ----------
    predictions : array of float, shape (points, n)
        What each of the n models that were fitted without one row predicts at each point.
    residuals : array of float, length n
        ``|Y_i − A[D without i](X_i)|``; nan stands for a failed fit and counts as infinite.
    a : float in [0, 1)
        Share of new points that may be missed on either side.

    Returns
    -------
    ndarray of float, shape (points, 2)
        Lower and upper ends; infinite if n rows are too few for the level.

    Examples
    --------
    >>> jackknife_plus_ends([[1.0, 1.5, 1.25, 1.0]], [0.5, 0.25, 1.0, 0.0], 0.2)
    array([[0.25, 2.25]])
    """
    table, reach = np.asarray(predictions, dtype=np.float64), _or_infinite(residuals)
    if table.ndim != 2 or table.shape[1] != reach.size:
        raise ArgumentError(
            f"must have one column for each of the {reach.size:,} residuals",
            argument="predictions",
            got=table.shape,
        )
    rank = _rank(reach.size, a)
    if rank > reach.size:
        return np.tile([-np.inf, np.inf], (len(table), 1))
    # The ⌊a(n + 1)⌋-th smallest is the rank-th largest: the same rank of the negatives.
    ends = np.stack([reach - table, reach + table])
    lower, upper = np.partition(ends, rank - 1, axis=2)[:, :, rank - 1]
    return np.stack([-lower, upper], axis=1)


def jackknife_miss(n: ArrayLike, a: ArrayLike, delta: ArrayLike, plus: bool = False) -> Any:
    """Bound the probability that a jackknife interval misses, given stability (Theorem J).

    If (A, P, n) is (ε, δ)-stable, A ignores the order of its rows and all fits share one ξ, the
    jackknife interval of half-width q̂ + ε misses a new response with probability at most
    (K + h(n(n + 1)δ))/(n + 1) ≤ a + √(2δ), where K = ⌊a(n + 1)⌋,
    h(B) = s + (B − s(s + 1)/2)/(s + 1) and s = ⌊(√(1 + 8B) − 1)/2⌋. Jackknife+ widened by 2ε on
    both sides: the same with 2δ, at most a + 2√δ.

    The probability is over training rows and new point together. Stability under another coupling
    than shared ξ gives nothing.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training rows.
    a : float or array in [0, 1)
        Share of new points that may be missed, before the cost of stability is added.
    delta : float or array in [0, 1]
        Probability of a change beyond ε.
    plus : bool
        Whether the interval is that of jackknife+.

    Returns
    -------
    float, or ndarray where an argument is an array
        At most 1.

    Examples
    --------
    >>> jackknife_miss(104, 0.2, 0.01), jackknife_miss(79, 0.2, 0.0, plus=True)
    (0.336, 0.2)
    """
    rows, unstable = checks.counts("n", n, 2), checks.probabilities("delta", delta)
    pairs = rows * (rows + 1.0) * unstable * (2 if checks.flag("plus", plus) else 1)
    full = np.floor((np.sqrt(1 + 8 * pairs) - 1) / 2)
    # Both formulas agree where a rank is just paid for, so noise in the floor is harmless.
    ranks = full + (pairs - full * (full + 1) / 2) / (full + 1)
    missed = _missed_ranks(rows, checks.deltas(a, "a"))
    return plain(np.minimum((missed + ranks) / (rows + 1), 1.0))


def jackknife_delta(n: int, a: float, miss: float, plus: bool = False) -> float:
    """Compute the largest δ for which Theorem J bounds the misses by ``miss``.

    The inverse of :func:`jackknife_miss` in δ: how stable an algorithm must be for a wanted
    coverage. Jackknife+ misses with probability at most 2a without stability, so a certificate
    helps only with δ below ``jackknife_delta(n, a, 2 * a, plus)``.

    Parameters
    ----------
    n, a, plus
        As in :func:`jackknife_miss`; one number each.
    miss : float in [0, 1]
        Largest probability of a miss.

    Returns
    -------
    float
        0 if no positive δ is small enough.

    Examples
    --------
    >>> round(jackknife_delta(104, 0.2, 0.336), 12)
    0.01
    >>> [round(jackknife_delta(100, 0.1, 0.2, plus), 6) for plus in (False, True)]
    [0.005663, 0.002832]
    """
    rows, wanted = checks.count("n", n, 2), float(checks.probabilities("miss", miss))
    missed = int(_missed_ranks(np.asarray(rows), checks.deltas(a, "a")))
    ranks = max(0.0, round(wanted * (rows + 1) - missed, 9))
    full = math.floor(ranks)
    pairs = full * (full + 1) / 2 + (full + 1) * (ranks - full)
    largest = pairs / (rows * (rows + 1) * (2 if checks.flag("plus", plus) else 1))
    return min(largest, 1.0)


def certified_miss(
    n: ArrayLike, a: ArrayLike, delta: ArrayLike, alpha: ArrayLike, plus: bool = False
) -> Any:
    """Bound P(certified and missed) for a certificate from other rows: max{α, Theorem J}.

    Stability is a fixed fact about (A, P, n). If it holds, Theorem J applies; if not, a valid test
    certifies with probability at most α. It is not the probability of a miss *given* a certificate.

    Parameters
    ----------
    n, a, delta, plus
        As in :func:`jackknife_miss`; ``delta`` is what was certified.
    alpha : float or array in (0, 1)
        Error level of the test that certified (ε, δ)-stability at size n, on other rows.

    Returns
    -------
    float, or ndarray where an argument is an array

    Examples
    --------
    >>> certified_miss(104, 0.2, 0.01, alpha=0.05)
    0.336
    """
    return plain(np.maximum(jackknife_miss(n, a, delta, plus), checks.alphas(alpha)))


def certified_miss_given_data(
    a: ArrayLike, gamma: ArrayLike, delta: ArrayLike, alpha: ArrayLike
) -> Any:
    """Bound P(certified and missed) for a certificate given the training rows: a + γ + max{δ, α}.

    For the jackknife with half-width q̂ + ε, if fresh rows certified at level α that with
    probability at least 1 − δ over a new row at most a share γ of all n leave-one-out residuals
    moves by more than ε, and A ignores the order of its rows.

    Parameters
    ----------
    a : float or array in [0, 1)
        Share of new points that may be missed, before the cost of stability is added.
    gamma : float or array in [0, 1]
        Tolerated share of the residuals.
    delta : float or array in [0, 1)
        Probability that a new row moves more than that share.
    alpha : float or array in (0, 1)
        Error level of the test.

    Returns
    -------
    float, or ndarray where an argument is an array
        At most 1.

    Examples
    --------
    >>> round(certified_miss_given_data(0.1, 0.02, 0.05, alpha=0.05), 12)
    0.17
    """
    share = checks.deltas(a, "a") + checks.probabilities("gamma", gamma)
    return plain(np.minimum(share + np.maximum(checks.deltas(delta), checks.alphas(alpha)), 1.0))


def rule_miss(
    n: int, a: float, delta: float, alpha: float, *, a_refused: float, plus: bool = False
) -> tuple[float, float]:
    """Bound P(missed) for the rule "certified: widened interval; refused: jackknife+".

    The certificate comes from other rows. If it is refused, jackknife+ is reported unwidened at
    a′ = ``a_refused`` and covers with probability at least 1 − 2a′ whatever the algorithm. So the
    rule misses with probability at most max{Theorem J, 2a′} if stability holds, and at most
    α + (1 − α)·2a′ if it does not.

    Parameters
    ----------
    n, a, delta, plus
        As in :func:`jackknife_miss`, for the interval after a certificate; one number each.
    alpha : float in (0, 1)
        Error level of the test.
    a_refused : float in [0, 1/2]
        Level of jackknife+ after a refusal.

    Returns
    -------
    tuple of two floats
        The bound if (A, P, n) is (ε, δ)-stable, and if it is not; the larger holds in any case.

    Examples
    --------
    >>> stable, unstable = rule_miss(104, 0.05, 0.001, alpha=0.05, a_refused=0.05)
    >>> stable, round(unstable, 12)
    (0.1, 0.145)
    """
    rule = "a number in [0, 1/2]: beyond, jackknife+ promises nothing"
    free = 2 * checks.number("a_refused", a_refused, rule, low=0, high=0.5)
    level = checks.alpha(alpha)
    return max(float(jackknife_miss(n, a, delta, plus)), free), level + (1 - level) * free


def _missed_ranks(n: NDArray[np.int64], a: Floats) -> NDArray[np.int64]:
    """Compute K = ⌊a(n + 1)⌋, at most n."""
    return np.minimum(floor(a * (n + 1)), n)


def _rank(n: int, a: float) -> int:
    """Compute ⌈(1 − a)(n + 1)⌉, which is n + 1 − K in decimals."""
    rows = checks.count("the number of residuals", n, 2)
    return rows + 1 - int(_missed_ranks(np.asarray(rows), checks.deltas(a, "a")))


def _or_infinite(residuals: ArrayLike) -> Floats:
    values = np.asarray(residuals, dtype=np.float64).ravel()
    return np.where(np.isnan(values), np.inf, values)
