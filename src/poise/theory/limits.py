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
from poise.theory.binomial_law import Floats, critical_values, plain, weighted_cdf
from poise.theory.changes import counted, listed

Ids = NDArray[np.int64]


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
    b, m, level, coin = np.broadcast_arrays(b, m, level, coin)
    low, high = _inverted(b, m, level, 0.0), _inverted(b + 1, m, level, 1.0)
    limit = np.where((m == 0) & (coin <= level), 0.0, high)  # the coin alone decides
    tossed = (coin < 1) & (m > 0)
    if tossed.any():
        limit[tossed] = _between(*(each[tossed] for each in (low, high, b, m, level, coin)))
    return plain(limit)


def _inverted(b: Ids, m: Ids, level: Floats, otherwise: float) -> Floats:
    """Find where P(Bin(m, δ) < b) falls to α; it does so nowhere if b is 0 or beyond m."""
    some = (b > 0) & (b <= m)
    found = betainccinv(np.where(some, b, 1), np.where(some, m - b + 1, 1), level)
    return np.where(some & ~np.isnan(found), found, otherwise)  # nan: below about 1e-200


def _between(low: Any, high: Any, *asked: Any) -> Floats:
    """Find where the p-value falls to α, between the limits at ζ = 0 and at ζ = 1."""
    from scipy.optimize import elementwise

    def excess(delta: Any, b: Any, m: Any, level: Any, coin: Any) -> Any:
        return weighted_cdf(b, m, delta, coin) - level

    digits: Any = {"xatol": 0.0, "xrtol": 1e-15, "fatol": 0.0, "frtol": 0.0}
    found = elementwise.find_root(excess, (low, high), args=asked, tolerances=digits)
    end = np.where(excess(high, *asked) > 0, high, low)  # where rounding decides
    return np.where(found.success, found.x, end)


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
