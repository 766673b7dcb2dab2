"""Estimates δ̂ for a given ε and ε̂ for a given δ (section 4.1).

One ζ is shared by the whole family, which makes it monotone, so that for every
(ε, δ) the three statements

    the test declares (ε, δ)-stability,    δ̂_ε <= δ,    ε̂_δ <= ε

are equivalent (Proposition 1), for every ζ > 0; at ζ = 0, which has probability 0, they may
differ where α equals a value of the cdf.  Each estimate is valid for an ε (or δ) fixed
beforehand; a user who looks at the curve first needs a simultaneous band.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory import binomial_law
from poise.theory.binomial_law import QUICK_TRIALS
from poise.theory.binomial_test import check_within, critical_value
from poise.theory.order_statistics import largest
from poise.theory.scalars import pieces, plain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from poise.theory.binomial_law import Floats
    from poise.theory.scalars import FloatOrArray

__all__ = ["checked_changes", "delta_hat", "epsilon_hat"]

# With QUICK_TRIALS or fewer and a level above this one, scipy's inverse is accurate to 1e-11,
# enough for ζ = 1.
_SMALLEST_LEVEL = 1e-50
# Newton squares its error, so after a step this small no visible error is left.
_SMALL_STEP = 1e-9
_MOST_NEWTON_ROUNDS = 100


def delta_hat(
    exceedances: ArrayLike, n_trials: ArrayLike, alpha: ArrayLike, zeta: ArrayLike = 1.0
) -> FloatOrArray:
    """Compute the upper confidence bound on δ*, the probability of a change beyond ε.

    δ̂ = inf{δ : P(Bin(m, δ) < B) + ζ P(Bin(m, δ) = B) <= α} satisfies P(δ* <= δ̂) >= 1 - α
    for every algorithm and distribution (Proposition 1(c)).  With ζ = 1 it is the
    one-sided Clopper-Pearson bound.  It holds for one ε fixed beforehand, not for
    the ε at which δ̂ happens to look best.

    Parameters
    ----------
    exceedances : int or array of int, from 0 to n_trials
        B, the number of trials whose change exceeds ε.
    n_trials : int or array of int, at least 0
        Number of independent trials m.
    alpha : float or array in (0, 1)
        One minus the confidence.
    zeta : float or array in [0, 1], default 1
        The test's own uniform random number.

    Returns
    -------
    float or ndarray of float
        δ̂ in [0, 1]; 1 if no δ can be excluded.

    Examples
    --------
    >>> delta_hat(0, 59, alpha=0.05)
    0.049507...
    >>> delta_hat([0, 1, 2], 59, alpha=0.05)
    array([0.04950761, 0.07789792, 0.10288916])
    """
    count, m = arguments.count("exceedances", exceedances), arguments.count("n_trials", n_trials)
    check_within(count, m)
    level, coin = arguments.alpha(alpha), arguments.probability("zeta", zeta)
    arrays = np.broadcast_arrays(count.astype(np.float64), m.astype(np.float64), level, coin)
    bound = np.empty(arrays[0].size)
    for where, piece in pieces(*(array.ravel() for array in arrays)):
        bound[where] = _invert(*piece)
    return plain(bound.reshape(arrays[0].shape))


def _invert(count: Floats, m: Floats, level: Floats, coin: Floats) -> Floats:
    """Compute δ̂ for flat arrays: closed forms at B = 0 and B = m, Newton between."""
    bound = np.where(coin <= level, 0.0, 1.0)  # no trials: the coin alone decides
    none = (count == 0) & (m > 0) & (coin > level)
    bound[none] = -np.expm1(np.log(level[none] / coin[none]) / m[none])
    every = (count == m) & (m > 0)
    room = every & (coin < level)  # P(Bin < m) + ζ P(Bin = m) = 1 - (1 - ζ) δ^m
    bound[every] = 1.0
    bound[room] = np.exp((np.log1p(-level[room]) - np.log1p(-coin[room])) / m[room])
    between = np.flatnonzero((count > 0) & ~every)
    arguments = (x[between] for x in (count, m, level, coin))
    bound[between] = _newton(*arguments)
    return bound


def _newton(count: Floats, m: Floats, level: Floats, coin: Floats) -> Floats:
    """Solve p(δ) = α for 0 < B < m, to the last digits.

    In s = -log(1 - δ) the p-value is the survival function of an exponential order
    statistic, whose logarithm is concave.  So Newton on log p, started at the bound
    for ζ = 1, approaches the root from above and cannot diverge.
    """
    from scipy import special

    x = np.asarray(special.betainccinv(count + 1, m - count, level), dtype=np.float64)
    failed = np.isnan(x)  # seen for levels below 1e-200: start from p <= 2^m (1 - x)^(m - B)
    x[failed] = -np.expm1((np.log(level) - m * np.log(2))[failed] / (m - count)[failed])
    active = np.flatnonzero((coin < 1) | (m > QUICK_TRIALS) | (level < _SMALLEST_LEVEL))
    for _ in range(_MOST_NEWTON_ROUNDS):
        if not active.size:
            break
        here = x[active]
        step = _log_step(here, count[active], m[active], level[active], coin[active])
        # 1 - (1 - x) exp(-step), exact also where x is tiny and where it rounds to 1
        moved = here - (1 - here) * np.expm1(-step)
        change = np.abs(moved - here)
        settled = change <= np.maximum(_SMALL_STEP * (1 - here), 4e-16) * here
        x[active] = moved
        active = active[~settled]
    return x


def _log_step(x: Floats, count: Floats, m: Floats, level: Floats, coin: Floats) -> Floats:
    """Compute Newton's step in s = -log(1 - x) for log p(x) = log α; 0 where x rounds to 1."""
    atom = binomial_law.pmf(count, m, x)
    p = binomial_law.weighted_cdf(count, m, x, coin, atom)
    slope = atom * ((1 - coin) * count * (1 - x) / x + coin * (m - count))
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.log(p / level) * p / slope
    return np.where(np.isfinite(step), step, 0.0)


def epsilon_hat(
    changes: ArrayLike,
    delta: ArrayLike,
    alpha: ArrayLike,
    zeta: ArrayLike = 1.0,
    *,
    unseen: int = 0,
) -> FloatOrArray:
    """Compute the upper confidence bound on ε*, the (1 - δ)-quantile of the change.

    ε̂ is the smallest ε at which the Binomial test declares (ε, δ)-stability;
    P(ε* <= ε̂) >= 1 - α for every algorithm and distribution (Proposition 1(d)).  It
    holds for one δ fixed beforehand.  An infinite ε̂ does not mean that the changes
    are large: most often there are too few trials for this δ and α.

    Parameters
    ----------
    changes : array of shape (n_trials,), at least 0; may hold infinities
        The change observed in each trial; a failed trial counts as infinite.
    delta : float or array in [0, 1)
        Allowed probability of a change beyond ε̂.
    alpha : float or array in (0, 1)
        One minus the confidence.
    zeta : float or array in [0, 1], default 1
        The test's own uniform random number.
    unseen : int, at least 0
        Further trials that were planned and not run; they count as infinite changes.

    Returns
    -------
    float or ndarray of float
        ε̂ in [0, ∞].

    Examples
    --------
    >>> import numpy as np
    >>> changes = np.linspace(0.01, 0.59, 59)
    >>> epsilon_hat(changes, delta=0.05, alpha=0.05)
    0.59
    >>> epsilon_hat(changes, delta=0.01, alpha=0.05)
    inf
    """
    values, unseen = checked_changes(changes), int(arguments.count("unseen", unseen))
    critical, tie = critical_value(values.size + unseen, delta, alpha)
    coin = arguments.probability("zeta", zeta)
    # The test accepts up to this many exceedances, so ε must reach the next largest change.
    allowed = np.where(coin <= tie, critical, np.asarray(critical) - 1)
    return plain(largest(values, allowed + 1 - unseen))


def checked_changes(changes: ArrayLike) -> Floats:
    """Return changes as a flat array of numbers that are at least 0."""
    values = np.asarray(changes, dtype=np.float64)
    if values.ndim != 1:
        raise ArgumentError(f"changes must be one-dimensional, got shape {values.shape}")
    if values.min(initial=0.0) >= 0:  # false also if one is nan
        return values
    if np.isnan(values).any():
        raise ArgumentError("changes must not hold nan; count a failed trial as inf, got nan")
    raise ArgumentError(f"changes must be at least 0, got {values[values < 0][0]}")
