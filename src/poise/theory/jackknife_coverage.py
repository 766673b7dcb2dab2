"""The coverage of jackknife intervals of a stable algorithm (Theorem J).

The jackknife interval is A[D](X) ± (q̂ + ε), where q̂ is the ⌈(1 - a)(n + 1)⌉-th
smallest leave-one-out residual. Jackknife+ widens its own interval by 2ε on both
sides. Both rest on (ε, δ)-stability at size n, on an algorithm that ignores the
order of its rows, and on one seed ξ for all fits.

**Theorem J.** Let K = ⌊a(n + 1)⌋. Then the jackknife misses with probability at most

    (K + h(n(n + 1)δ)) / (n + 1),   h(B) = s + (B - s(s + 1)/2)/(s + 1),
    s = ⌊(√(1 + 8B) - 1)/2⌋,

which is at most a + √(2δ). For jackknife+ put 2δ for δ: at most a + 2√δ.

*Proof.* Let R̃_i be the leave-one-out residuals of all n + 1 points, which are
exchangeable, and U the number of those that are at least R̃_{n+1}, so that
P(U <= t) <= t/(n + 1). Let N count the i <= n whose residual R_i differs from R̃_i by
more than ε: each is one stability event at size n, so E N <= nδ. At least n + 1 - K of
the R_i are at most q̂; a miss makes R̃_{n+1} larger than R̃_i for all of them but N,
so U <= K + N. Under the two constraints P(U <= K + N) is largest with N = (U - K)_+ on the
lowest ranks: rank K + j costs j/(n + 1). Jackknife+ has a second count like N. ∎

The bounds without stability are those of Barber, Candès, Ramdas & Tibshirani (2021):
jackknife+ covers with probability at least 1 - 2a whatever the algorithm.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.decimals import floor
from poise.theory.scalars import plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from poise.theory.scalars import FloatOrArray, IntOrArray

__all__ = [
    "RuleMiss",
    "certified_miss",
    "certified_miss_given_data",
    "jackknife_delta",
    "jackknife_miss",
    "jackknife_plus_ends",
    "residual_quantile",
    "residual_rank",
    "rule_miss",
]


def residual_rank(n: ArrayLike, a: ArrayLike) -> IntOrArray:
    """Compute ⌈(1 - a)(n + 1)⌉, the rank of the residual that is the half-width.

    Among the leave-one-out residuals in increasing order, the first has rank 1. A rank
    of n + 1 means that n rows are too few for the level: the half-width is infinite.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training rows, each with one residual.
    a : float or array in [0, 1)
        Share of new points that may be missed, before the cost of stability is added.

    Returns
    -------
    int or ndarray of int
        The rank, from 1 to n + 1.

    Examples
    --------
    >>> residual_rank(99, 0.1), residual_rank(9, 0.05)
    (90, 10)
    """
    rows = arguments.count("n", n, minimum=2)
    # n + 1 minus the floor is the same number, and agrees with K of Theorem J.
    return plain(np.asarray(rows + 1 - _missed_ranks(rows, arguments.delta(a, "a"))))


def _missed_ranks(n: NDArray[np.int64], a: NDArray[np.float64]) -> NDArray[np.int64]:
    """Compute K = ⌊a(n + 1)⌋, at most n."""
    return np.minimum(floor(a * (n + 1)), n)


def residual_quantile(residuals: ArrayLike, a: float) -> float:
    """Pick the ⌈(1 - a)(n + 1)⌉-th smallest of n leave-one-out residuals.

    A residual that is NaN stands for a fit that failed and counts as infinite.

    Parameters
    ----------
    residuals : array of float, at least 2
        ``|Y_i - A[D without i](X_i)|``.
    a : float in [0, 1)
        Share of new points that may be missed, before the cost of stability is added.

    Returns
    -------
    float
        The residual q̂; infinite if its rank exceeds the number of residuals.

    Examples
    --------
    >>> residual_quantile([0.3, 0.1, 0.4, 0.2], 0.2), residual_quantile([0.3, 0.1], 0.2)
    (0.4, inf)
    """
    values = np.asarray(residuals, dtype=np.float64).ravel()
    rank = residual_rank(values.size, a)
    if rank > values.size:
        return float("inf")
    return float(np.sort(np.where(np.isnan(values), np.inf, values))[rank - 1])


def jackknife_plus_ends(predictions: ArrayLike, residuals: ArrayLike, a: float) -> NDArray[Any]:
    """Find the ends of jackknife+ intervals (Barber, Candès, Ramdas & Tibshirani, 2021).

    The upper end is the ⌈(1 - a)(n + 1)⌉-th smallest of the n numbers A[D without i](x) + R_i,
    the lower end the ⌊a(n + 1)⌋-th smallest of A[D without i](x) - R_i. If A ignores the order of
    its rows (in distribution is enough), a new response lies between them with probability at
    least 1 - 2a, whatever the distribution.

    Parameters
    ----------
    predictions : array of float, shape (points, n)
        What each of the n models that were fitted without one row predicts at each point.
    residuals : array of float, length n
        ``|Y_i - A[D without i](X_i)|``; NaN stands for a fit that failed and counts as infinite.
    a : float in [0, 1)
        Share of new points that may be missed on either side.

    Returns
    -------
    ndarray of float, shape (points, 2)
        Lower and upper end; both infinite if n rows are too few for the level.

    Examples
    --------
    >>> jackknife_plus_ends([[1.0, 1.5, 1.25, 1.0]], [0.5, 0.25, 1.0, 0.0], 0.2)
    array([[0.25, 2.25]])
    """
    table = np.asarray(predictions, dtype=np.float64)
    reach = np.asarray(residuals, dtype=np.float64).ravel()
    rank = int(residual_rank(reach.size, a))
    if rank > reach.size:
        return np.tile([-np.inf, np.inf], (len(table), 1))
    reach = np.where(np.isnan(reach), np.inf, reach)
    upper = np.partition(reach + table, rank - 1, axis=1)[:, rank - 1]
    # The ⌊a(n + 1)⌋-th smallest is the rank-th largest: the same rank of the negatives.
    lower = -np.partition(reach - table, rank - 1, axis=1)[:, rank - 1]
    return np.stack([lower, upper], axis=1)


def jackknife_miss(
    n: ArrayLike, a: ArrayLike, delta: ArrayLike, plus: bool = False
) -> FloatOrArray:
    """Bound the probability that a jackknife interval misses, given stability (Theorem J).

    If (A, P, n) is (ε, δ)-stable, A ignores the order of its rows and all fits share
    one seed, the jackknife interval with half-width q̂ + ε misses a new response with at
    most this probability, which is at most a + √(2δ). With ``plus`` the bound is for
    jackknife+ widened by 2ε on both sides: at most a + 2√δ.

    It is no statement about one interval: the probability is over training rows and
    new point together. It says nothing if stability holds for another notion of
    randomness than shared seeds.

    Parameters
    ----------
    n : int or array of int, at least 2
        Training rows.
    a : float or array in [0, 1)
        Share of new points that may be missed, before the cost of stability is added.
    delta : float or array in [0, 1]
        Probability of a change beyond ε.
    plus : bool, default False
        Whether the interval is that of jackknife+.

    Returns
    -------
    float or ndarray of float
        The bound, at most 1.

    Examples
    --------
    >>> jackknife_miss(104, 0.2, 0.01)
    0.336
    >>> jackknife_miss(79, 0.2, 0.0, plus=True)
    0.2
    """
    rows = arguments.count("n", n, minimum=2)
    level, unstable = arguments.delta(a, "a"), arguments.probability("delta", delta)
    pairs = rows * (rows + 1.0) * unstable * (2 if arguments.flag("plus", plus) else 1)
    full = np.floor((np.sqrt(1 + 8 * pairs) - 1) / 2)
    # Both formulas agree where a rank is just paid for, so noise in the floor is harmless.
    ranks = full + (pairs - full * (full + 1) / 2) / (full + 1)
    return plain(np.minimum((_missed_ranks(rows, level) + ranks) / (rows + 1), 1.0))


def jackknife_delta(n: int, a: float, miss: float, plus: bool = False) -> float:
    """Compute the largest δ for which Theorem J bounds the misses by ``miss``.

    The inverse of :func:`jackknife_miss` in δ: how stable an algorithm must be for a wanted
    coverage. Jackknife+ misses with probability 2a at most without stability, so a certificate
    helps only with δ below ``jackknife_delta(n, a, 2 * a, plus)``.

    Parameters
    ----------
    n, a, plus
        As in :func:`jackknife_miss`; one number each.
    miss : float in [0, 1]
        The probability of a miss that is wanted at most.

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
    rows = arguments.training_size(n)
    level = np.asarray(arguments.delta(arguments.scalar("a", a), "a"))
    wanted = float(arguments.probability("miss", arguments.scalar("miss", miss)))
    missed = int(_missed_ranks(np.asarray(rows), level))
    ranks = max(0.0, round(wanted * (rows + 1) - missed, 9))
    full = math.floor(ranks)
    pairs = full * (full + 1) / 2 + (full + 1) * (ranks - full)
    return pairs / (rows * (rows + 1) * (2 if arguments.flag("plus", plus) else 1))


def certified_miss(
    n: ArrayLike, a: ArrayLike, delta: ArrayLike, alpha: ArrayLike, plus: bool = False
) -> FloatOrArray:
    """Bound P(certified and missed) for a certificate from other rows: max{α, Theorem J}.

    Stability is a fixed fact about (A, P, n). If it holds, Theorem J applies; if not,
    a valid test certifies with probability at most α.

    It is not the probability of a miss *given* a certificate.

    Parameters
    ----------
    n, a, delta, plus
        As in :func:`jackknife_miss`; ``delta`` is what was certified.
    alpha : float or array in (0, 1)
        Level of the test that certified (ε, δ)-stability at size n, on other rows.

    Returns
    -------
    float or ndarray of float

    Examples
    --------
    >>> certified_miss(104, 0.2, 0.01, alpha=0.05)
    0.336
    """
    bound = np.asarray(jackknife_miss(n, a, delta, plus))
    return plain(np.maximum(bound, arguments.alpha(alpha)))


def certified_miss_given_data(
    a: ArrayLike, gamma: ArrayLike, delta: ArrayLike, alpha: ArrayLike
) -> FloatOrArray:
    """Bound P(certified and missed) for a certificate given the training rows.

    The bound is a + γ + max{δ, α}. It holds for the jackknife with half-width q̂ + ε, if fresh
    rows certified at level α that with probability at least 1 - δ over a new row at most a
    share γ of all n leave-one-out residuals moves by more than ε, and A ignores the
    order of its rows.

    *Proof.* If the new row moves at most γn residuals, U <= K + γn in the proof of
    Theorem J, which has probability at most (K + γn)/(n + 1) <= a + γ. Given the training rows,
    certificate and new row are independent: P(certified, more than γ moved) is at most δ if
    such rows have probability at most δ, and at most α otherwise. ∎

    Parameters
    ----------
    a : float or array in [0, 1)
        Share of new points that may be missed, before the cost of stability is added.
    gamma : float or array in [0, 1]
        Tolerated share of the residuals.
    delta : float or array in [0, 1)
        Probability that a new row moves more than that share.
    alpha : float or array in (0, 1)
        Level of the test.

    Returns
    -------
    float or ndarray of float
        The bound, at most 1.

    Examples
    --------
    >>> round(certified_miss_given_data(0.1, 0.02, 0.05, alpha=0.05), 12)
    0.17
    """
    share = arguments.delta(a, "a") + arguments.probability("gamma", gamma)
    worst = np.maximum(arguments.delta(delta), arguments.alpha(alpha))
    return plain(np.minimum(share + worst, 1.0))


class RuleMiss(NamedTuple):
    """The largest probability that a whole rule misses, in each of the two possible cases.

    Attributes
    ----------
    stable : float
        If (A, P, n) is (ε, δ)-stable.
    unstable : float
        If it is not.

    Examples
    --------
    >>> RuleMiss(0.2, 0.14).worst
    0.2
    """

    stable: float
    unstable: float

    @property
    def worst(self) -> float:
        """The larger of the two: it holds whichever case is true."""
        return max(self)


def rule_miss(
    n: int, a: float, delta: float, alpha: float, *, a_refused: float, plus: bool = False
) -> RuleMiss:
    """Bound P(missed) for the rule "certified: widened interval; refused: jackknife+".

    The certificate comes from other rows. If it is refused, jackknife+ is reported
    unwidened at a′ = ``a_refused``, and covers with probability at least 1 - 2a′ whatever
    the algorithm (Barber et al., 2021). So the rule misses with probability at most
    max{Theorem J, 2a′} if stability holds, and at most α + (1 - α)·2a′ if it does not.

    Parameters
    ----------
    n, a, delta, plus
        As in :func:`jackknife_miss`, for the interval after a certificate.
    alpha : float in (0, 1)
        Level of the test.
    a_refused : float in [0, 1/2]
        Level of jackknife+ after a refusal.

    Returns
    -------
    RuleMiss

    Examples
    --------
    >>> rule = rule_miss(104, 0.05, 0.001, alpha=0.05, a_refused=0.05)
    >>> rule.stable, round(rule.unstable, 12)
    (0.1, 0.145)
    """
    free = 2 * float(arguments.probability("a_refused", a_refused))
    if free > 1:
        raise ArgumentError(
            f"a_refused must be in [0, 1/2], got {a_refused}: jackknife+ promises nothing beyond"
        )
    level = float(arguments.alpha(alpha))
    stable = max(float(jackknife_miss(n, a, delta, plus)), free)
    return RuleMiss(stable, level + (1 - level) * free)
