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
    """Pick the ⌈(1 − a)(n + 1)⌉-th smallest of n leave-one-out residuals; infinite if n is less.

    The residuals are ``|Y_i − A[D without i](X_i)|``; nan stands for a failed fit and counts as
    infinite.

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
    1 − 2a, whatever the distribution. Infinite if n rows are too few for the level.

    Parameters
    ----------
    predictions : array of float, shape (points, n)
        What each of the n models that were fitted without one row predicts at each point.
    residuals, a
        As in :func:`residual_quantile`.

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
    both sides (``plus``): the same with 2δ, at most a + 2√δ. The probability is over training rows
    and new point together. Stability under another coupling than shared ξ gives nothing.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training rows.
    a : float or array in [0, 1)
        Share of new points that may be missed, before the cost of stability is added.
    delta : float or array in [0, 1]
        Probability of a change beyond ε.

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


def certified_miss(
    n: ArrayLike, a: ArrayLike, delta: ArrayLike, alpha: ArrayLike, plus: bool = False
) -> Any:
    """Bound P(certified and missed) for a certificate from other rows: max{α, Theorem J}.

    Stability is a fixed fact about (A, P, n). If it holds, Theorem J applies; if not, a valid test
    at level ``alpha`` certifies with probability at most α. It is not the probability of a miss
    *given* a certificate. The other parameters are those of :func:`jackknife_miss`.

    Examples
    --------
    >>> certified_miss(104, 0.2, 0.01, alpha=0.05)
    0.336
    """
    return plain(np.maximum(jackknife_miss(n, a, delta, plus), checks.alphas(alpha)))


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
