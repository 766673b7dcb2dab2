"""Confidence limits of the Binomial test: for δ at a given ε, for ε at a given δ (Proposition 1).

One ζ is shared by the whole family of tests, so for ζ > 0 three statements are one: the test
declares (ε, δ)-stability, δ̂_ε <= δ, ε̂_δ <= ε. Each limit holds for an ε (or δ) fixed beforehand;
to choose it by looking at the curve takes a band (:mod:`poise.theory.bands`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv

from poise import checks
from poise.theory.binomial_law import Floats, critical_values, plain, pmf, weighted_cdf
from poise.theory.changes import counted, listed

_MOST_ROUNDS = 100
_SMALL_STEP = 1e-9  # Newton squares its error: after a step this small none is visible


def delta_hat(
    exceedances: ArrayLike, n_trials: ArrayLike, alpha: ArrayLike, zeta: ArrayLike = 1.0
) -> Any:
    """Compute the upper confidence limit for δ*, the probability of a change beyond ε.

    δ̂ = inf{δ : P(Bin(m, δ) < B) + ζ P(Bin(m, δ) = B) <= α}, and P(δ* <= δ̂) >= 1 - α for every
    algorithm and distribution (Proposition 1). With ζ = 1 it is the one-sided Clopper-Pearson
    limit. It holds for one ε fixed beforehand, not for the ε at which it looks best.

    Parameters
    ----------
    exceedances, n_trials, zeta
        As for :func:`poise.theory.pvalue`.
    alpha : float or array in (0, 1)
        One minus the confidence.

    Examples
    --------
    >>> delta_hat([0, 1, 2], 59, alpha=0.05).round(4)
    array([0.0495, 0.0779, 0.1029])
    """
    b, m = counted(exceedances, n_trials)
    level, coin = checks.alphas(alpha), checks.probabilities("zeta", zeta)
    arrays = np.broadcast_arrays(b.astype(np.float64), m.astype(np.float64), level, coin)
    limits = _inverted(*(each.ravel() for each in arrays))
    return plain(limits.reshape(arrays[0].shape))


@np.errstate(under="ignore")
def _inverted(b: Floats, m: Floats, level: Floats, coin: Floats) -> Floats:
    """Invert the p-value: closed forms at B = 0 and B = m, Newton between."""
    limit = np.where(coin <= level, 0.0, 1.0)  # without trials the coin alone decides
    none = (b == 0) & (m > 0) & (coin > level)
    limit[none] = -np.expm1(np.log(level[none] / coin[none]) / m[none])
    every = (b == m) & (m > 0)
    limit[every] = 1.0
    room = every & (coin < level)  # p = 1 - (1 - ζ) δ^m
    limit[room] = np.exp((np.log1p(-level[room]) - np.log1p(-coin[room])) / m[room])
    between = (b > 0) & (b < m)
    limit[between] = _newton(*(each[between] for each in (b, m, level, coin)))
    return limit


def _newton(b: Floats, m: Floats, level: Floats, coin: Floats) -> Floats:
    """Solve p(δ) = α for 0 < B < m, to the last digits.

    In s = -log(1 - δ) p is the survival function of an exponential order statistic, and its
    logarithm is concave: from the limit at ζ = 1 Newton approaches the root from above.
    """
    x = np.asarray(betainccinv(b + 1, m - b, level), dtype=np.float64)
    lost = np.isnan(x)  # for levels below 1e-200: start from p <= 2^m (1 - x)^(m - B)
    x[lost] = -np.expm1((np.log(level) - m * np.log(2))[lost] / (m - b)[lost])
    active = np.arange(x.size)
    for _ in range(_MOST_ROUNDS):
        here = x[active]
        step = _log_step(here, b[active], m[active], level[active], coin[active])
        # 1 - (1 - x) exp(-step), exact also where x is tiny and where it rounds to 1
        x[active] = moved = here - (1 - here) * np.expm1(-step)
        moving = np.abs(moved - here) > np.maximum(_SMALL_STEP * (1 - here), 4e-16) * here
        active = active[moving]
        if not active.size:
            break
    return x


def _log_step(x: Floats, b: Floats, m: Floats, level: Floats, coin: Floats) -> Floats:
    """Compute Newton's step in s = -log(1 - x) for log p(x) = log α; 0 where x rounds to 1."""
    atom, p = pmf(b, m, x), weighted_cdf(b, m, x, coin)
    slope = atom * ((1 - coin) * b * (1 - x) / x + coin * (m - b))
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.log(p / level) * p / slope
    return np.where(np.isfinite(step), step, 0.0)


def delta_lower(exceedances: ArrayLike, n_trials: ArrayLike, alpha: ArrayLike) -> Any:
    """Compute the lower confidence limit for δ*, the probability of a change beyond ε.

    P(δ* >= limit) >= 1 - α for every algorithm and distribution (Clopper and Pearson). Together
    with δ̂ at the same α the confidence is 1 - 2α. Trials that failed or were not run are not
    exceedances here. 0 if no δ can be excluded.

    Examples
    --------
    >>> delta_lower(30, 60, alpha=0.05)
    0.387410...
    """
    b, m = counted(exceedances, n_trials)
    b, m, level = np.broadcast_arrays(b, m, checks.alphas(alpha))
    some = np.maximum(b, 1)  # scipy's answer for B = 0 is nan
    with np.errstate(under="ignore"):
        return plain(np.where(b > 0, betaincinv(some, m - some + 1.0, level), 0.0))


def epsilon_hat(
    changes: ArrayLike,
    delta: ArrayLike,
    alpha: ArrayLike,
    zeta: ArrayLike = 1.0,
    *,
    unseen: int = 0,
) -> Any:
    """Compute the upper confidence limit for ε*, the (1 - δ)-quantile of the change.

    ε̂ is the smallest ε at which the Binomial test declares (ε, δ)-stability, and P(ε* <= ε̂) >= 1
    - α for every algorithm and distribution (Proposition 1). That it is infinite says that there
    are too few trials for this δ and α, not that changes are large.

    Parameters
    ----------
    changes : array of shape (n_trials,), at least 0
        The change of each trial; a failed trial is infinite.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε̂, fixed beforehand.
    alpha, zeta
        As for :func:`delta_hat`.
    unseen : int, at least 0
        Further trials that were planned and not run; they count as infinite.

    Examples
    --------
    >>> import numpy as np
    >>> changes = np.linspace(0.01, 0.59, 59)
    >>> epsilon_hat(changes, 0.05, alpha=0.05), epsilon_hat(changes, 0.01, alpha=0.05)
    (0.59, inf)
    """
    values, missing = listed("changes", changes, np.inf), checks.count("unseen", unseen)
    k, a = critical_values(values.size + missing, checks.deltas(delta), checks.alphas(alpha))
    allowed = np.where(checks.probabilities("zeta", zeta) <= a, k, k - 1)
    return plain(_largest(values, allowed + 1 - missing))


def epsilon_lower(
    changes: ArrayLike, delta: ArrayLike, alpha: ArrayLike, *, unseen: int = 0
) -> Any:
    """Compute the lower confidence limit for ε*, the (1 - δ)-quantile of the change.

    The smallest ε at which the mirror test does not declare instability, and
    P(ε* >= limit) >= 1 - α for every algorithm and distribution. Trials that failed or were not run
    are 0, since they show no change.

    Examples
    --------
    >>> import numpy as np
    >>> epsilon_lower(np.linspace(0.01, 0.6, 60), delta=0.1, alpha=0.05)
    0.5
    """
    values, missing = listed("changes", changes, np.inf), checks.count("unseen", unseen)
    m = values.size + missing
    k, a = critical_values(m, checks.deltas(delta), checks.alphas(alpha), mirror=True)
    return plain(_largest(values, m - k + (a < 1)))


def _largest(values: Floats, rank: NDArray[np.int64]) -> Floats:
    """Return the ``rank``-th largest value: before the first ∞, after the last 0."""
    steps = np.concatenate([[np.inf], np.sort(values)[::-1], [0.0]])
    return np.asarray(steps[np.clip(rank, 0, values.size + 1)])
