"""The paper's Binomial test: of m trials, B have a change beyond ε (section 3.1, Theorem 1).

B is Binomial(m, δ*). The test declares stability if B < k*, or B = k* and ζ <= a*, where
P(Bin(m, δ) < k*) + a* P(Bin(m, δ) = k*) = α. ζ is its own uniform random number; ζ = 1 is the
ordinary test without a coin. The second half answers the same questions for a table of changes,
as :mod:`poise.theory.averaged` does.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise import checks
from poise.theory import binomial_law as law
from poise.theory.binomial_law import Floats, critical_values, plain
from poise.theory.changes import Changes, Judgement, counted
from poise.theory.limits import delta_hat, delta_lower, epsilon_hat, epsilon_lower


def critical_value(n_trials: ArrayLike, delta: ArrayLike, alpha: ArrayLike) -> tuple[Any, Any]:
    """Compute k* and a*, the critical count of the Binomial test and its tie probability.

    k* is the smallest k with P(Bin(m, δ) <= k) >= α, and a* lies in (0, 1]. The test that declares
    stability if B < k*, or with probability a* if B = k*, errs with probability exactly α at δ* = δ
    (Theorem 1).

    Parameters
    ----------
    n_trials : int or array of int, at least 0
        Number of independent trials m.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float or array in (0, 1)
        Level of the test.

    Examples
    --------
    >>> critical_value(20, delta=0.5, alpha=0.01)
    (5, 0.276687306501...)
    """
    k, a = critical_values(*_checked(n_trials, delta, alpha))
    return plain(k), plain(a)


def _checked(
    n_trials: ArrayLike, delta: ArrayLike, alpha: ArrayLike
) -> tuple[NDArray[np.int64], Floats, Floats]:
    return checks.counts("n_trials", n_trials), checks.deltas(delta), checks.alphas(alpha)


def critical_count(n_trials: ArrayLike, delta: ArrayLike, alpha: ArrayLike) -> Any:
    """Compute the largest count at which the test without a coin declares stability.

    c = max{c : P(Bin(m, δ) <= c) <= α}, or -1 if even B = 0 is not enough.

    Examples
    --------
    >>> critical_count([10, 30, 100], delta=0.1, alpha=0.05)
    array([-1,  0,  4])
    """
    k, a = critical_values(*_checked(n_trials, delta, alpha))
    return plain(k - (a < 1))


def critical_count_unstable(n_trials: ArrayLike, delta: ArrayLike, alpha: ArrayLike) -> Any:
    """Compute the smallest count at which the mirror test declares instability.

    c = min{c : P(Bin(m, δ) >= c) <= α}, or m + 1 if even B = m is not enough. The mirror test errs
    with probability at most α if δ* <= δ.

    Examples
    --------
    >>> critical_count_unstable(20, delta=0.5, alpha=0.05)
    15
    """
    m, p, level = _checked(n_trials, delta, alpha)
    k, a = critical_values(m, p, level, mirror=True)
    return plain(m - k + (a < 1))


def power(
    n_trials: ArrayLike,
    delta: ArrayLike,
    delta_star: ArrayLike,
    alpha: ArrayLike,
    randomized: bool = False,
) -> Any:
    """Compute the probability that the Binomial test declares stability.

    For δ* > δ it is the probability of error, at most α. Where δ <= 1 - α^(1/m) or δ* = 0, the
    test with a coin has power min{1, α ((1 - δ*) / (1 - δ))^m} (Theorem 1).

    Parameters
    ----------
    n_trials, delta, alpha
        As for :func:`critical_value`.
    delta_star : float or array in [0, 1]
        True probability of a change beyond ε.
    randomized : bool
        Whether the test tosses its coin at B = k*. Without it the power is a sawtooth in m.

    Examples
    --------
    >>> power(10, delta=0.1, delta_star=0.0, alpha=0.05)
    0.0
    >>> power(10, delta=0.1, delta_star=0.0, alpha=0.05, randomized=True)
    0.143398...
    """
    m, p, level = _checked(n_trials, delta, alpha)
    truth = checks.probabilities("delta_star", delta_star)
    k, a = critical_values(m, p, level)
    if randomized:
        return plain(law.weighted_cdf(k, m, truth, a))
    return plain(law.cdf(k - (a < 1), m, truth))


def pvalue(
    exceedances: ArrayLike, n_trials: ArrayLike, delta: ArrayLike, zeta: ArrayLike = 1.0
) -> Any:
    """Compute the p-value against H0: δ* > δ, "the algorithm is not stable".

    p = P(Bin(m, δ) < B) + ζ P(Bin(m, δ) = B), and P(p <= α) <= α under H0. A large p-value does not
    mean that the algorithm is unstable: see :func:`pvalue_unstable`.

    Parameters
    ----------
    exceedances : int or array of int, from 0 to n_trials
        B, the number of trials whose change exceeds ε.
    n_trials, delta
        As for :func:`critical_value`.
    zeta : float or array in [0, 1]
        The test's own uniform random number, with which p is exactly uniform at δ* = δ; 1 is the
        test without a coin.

    Examples
    --------
    >>> pvalue(0, 59, delta=0.05)
    0.048494...
    """
    b, m = counted(exceedances, n_trials)
    coin = checks.probabilities("zeta", zeta)
    return plain(law.weighted_cdf(b, m, checks.deltas(delta), coin))


def pvalue_unstable(exceedances: ArrayLike, n_trials: ArrayLike, delta: ArrayLike) -> Any:
    """Compute the p-value of the mirror test against H0: δ* <= δ, "the algorithm is stable".

    p = P(Bin(m, δ) >= B), and P(p <= α) <= α under H0. A large p-value does not mean that the
    algorithm is stable. Trials that failed are not exceedances here.

    Examples
    --------
    >>> pvalue_unstable(3, 20, delta=0.05)
    0.075483...
    """
    return plain(law.upper_tail(*counted(exceedances, n_trials), checks.deltas(delta)))


def acceptance_probability(
    exceedances: ArrayLike, n_trials: ArrayLike, delta: ArrayLike, alpha: ArrayLike
) -> Any:
    """Compute the chance, given B, that the test with a coin declares stability.

    1, a* or 0 for B below, at or above k*. Its mean at δ* = δ is α.

    Examples
    --------
    >>> acceptance_probability([4, 5, 6], 20, delta=0.5, alpha=0.01).round(3)
    array([1.   , 0.277, 0.   ])
    """
    b, m = counted(exceedances, n_trials)
    k, a = critical_values(m, checks.deltas(delta), checks.alphas(alpha))
    return plain(np.where(b < k, 1.0, np.where(b == k, a, 0.0)))


class CountRule(NamedTuple):
    """Which verdict follows from the counts of a run, complete or stopped.

    A failed trial counts against "stable", where it stands for a change of any size, and never
    for "unstable", where it shows none; so does a trial not yet run. A verdict other than
    "inconclusive" is therefore that of the full run. -1 and m + 1 mean "never".

    Examples
    --------
    >>> rule = CountRule.of(100, delta=0.1, alpha=0.05)
    >>> rule.verdict(moved=4, seen=100), rule.verdict(moved=4, seen=100, failed=12)
    ('stable', 'inconclusive')
    """

    n_trials: int
    stable_at_most: int
    unstable_at_least: int

    @classmethod
    def of(cls, n_trials: int, delta: float, alpha: float, zeta: float = 1.0) -> CountRule:
        """Return the rule; without trials it never says "stable", whatever the coin."""
        k, a = critical_value(n_trials, delta, alpha)
        accepts_tie = checks.probabilities("zeta", zeta) <= a
        stable = (int(k) - (not accepts_tie)) if n_trials else -1
        unstable = int(critical_count_unstable(n_trials, delta, alpha))
        return cls(n_trials, stable, max(unstable, stable + 1))

    def verdict(self, moved: int, seen: int, failed: int = 0) -> str:
        """Return the verdict that no trial still to come can change, or "inconclusive"."""
        if moved + failed + self.n_trials - seen <= self.stable_at_most:
            return "stable"
        return "unstable" if moved >= self.unstable_at_least else "inconclusive"


# The same for a table of changes, of which this test reads the first of each trial.


def _counts(changes: Changes, epsilon: float) -> tuple[int, int]:
    """Count exceedances, without failed and unseen trials and with them."""
    first = changes.values[:, 0]
    not_moved = int(np.count_nonzero(first <= epsilon))
    return int(np.count_nonzero(first > epsilon)), changes.n_trials - not_moved


def judge(
    changes: Changes, epsilon: float, delta: float, alpha: float, zeta: float = 1.0
) -> Judgement:
    """Answer one question; P(wrong verdict) <= α."""
    m, (moved, worst) = changes.n_trials, _counts(changes, epsilon)
    rule = CountRule.of(m, delta, alpha, zeta)
    unseen, coin = m - changes.seen, zeta if m else 1.0  # a coin alone certifies nothing

    def pvalues() -> tuple[float, float]:
        p, q = pvalue(worst, m, delta, coin), pvalue_unstable(moved, m, delta)
        refuted = moved >= critical_count_unstable(m, delta, alpha)
        return _agreeing(p, alpha, worst <= rule.stable_at_most), _agreeing(q, alpha, refuted)

    return Judgement(
        verdict=rule.verdict(moved, changes.seen, worst - unseen - moved),
        acceptance_probability=acceptance_probability(worst, m, delta, alpha),
        e_value=_chance_to_accept(worst - unseen, unseen, m, delta, alpha) / alpha,
        used=changes.seen,
        compute_pvalues=pvalues,
    )


def _agreeing(p: float, alpha: float, declared: bool) -> float:
    """Keep p on the side of α where the counts are: at an exact tie doubles may miss it."""
    return min(p, alpha) if declared else max(p, math.nextafter(alpha, 1.0))


def _chance_to_accept(exceeded: int, unseen: int, m: int, delta: float, alpha: float) -> float:
    """Compute P(the full test accepts | exceedances so far) at δ* = δ: α times an e-value."""
    k, a = critical_value(m, delta, alpha)
    left = int(k) - exceeded
    if not 0 <= left <= unseen:
        return float(left > 0)
    return float(law.weighted_cdf(left, unseen, delta, a))


def upper_delta(changes: Changes, epsilon: float, alpha: float) -> float:
    """Compute the upper limit for δ*; as all limits below, that of the test without a coin."""
    _, worst = _counts(changes, epsilon)
    return float(delta_hat(worst, changes.n_trials, alpha))


def lower_delta(changes: Changes, epsilon: float, alpha: float) -> float:
    """Compute the lower limit for δ*."""
    moved, _ = _counts(changes, epsilon)
    return float(delta_lower(moved, changes.n_trials, alpha))


def upper_epsilon(changes: Changes, delta: float, alpha: float) -> float:
    """Compute the upper limit for ε*."""
    first, unseen = changes.failures_largest[:, 0], changes.n_trials - changes.seen
    return float(epsilon_hat(first, delta, alpha, unseen=unseen))


def lower_epsilon(changes: Changes, delta: float, alpha: float) -> float:
    """Compute the lower limit for ε*."""
    first, unseen = changes.failures_zero[:, 0], changes.n_trials - changes.seen
    return float(epsilon_lower(first, delta, alpha, unseen=unseen))


def profile(
    changes: Changes, alpha: float, delta_max: float | None = None
) -> tuple[Floats, Floats]:
    """Compute upper limits for δ* that hold at every ε at once: from ε_i on it is δ_i.

    With ``delta_max`` limits above it are given up for tighter ones below.
    """
    from poise.theory.bands import profile_band, restricted_limits

    m = changes.n_trials
    limits = profile_band(m, alpha) if delta_max is None else restricted_limits(m, alpha, delta_max)
    first = np.sort(changes.failures_largest[:, 0])
    steps = np.unique(np.append(first[np.isfinite(first)], 0.0))
    exceeding = m - np.searchsorted(first, steps, side="right")
    return steps, limits[exceeding]
