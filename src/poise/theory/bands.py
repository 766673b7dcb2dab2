"""Limits for the whole curve ε ↦ δ̂_ε, valid at every ε at once.

A limit computed for one ε is not valid for an ε chosen by looking at the curve. Let B(ε) be the
number of changes beyond ε, and V_(1) <= … <= V_(m) ordered uniforms. The largest δ*_ε with
B(ε) = j - 1 has the law of V_(j) (ties only make it smaller), so limits u_1 <= … <= u_m hold
everywhere if V_(j) <= u_j for all j: each band is a choice of u.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import betainccinv, betaincinv, gammaln, xlogy

from poise import checks
from poise.errors import ArgumentError
from poise.theory.binomial_law import Floats
from poise.theory.counts import first_beyond

_DROPPED_LOG_MASS = 70.0  # exp(-70) is negligible beside any level


def profile_band(n_trials: int, alpha: float) -> Floats:
    """Compute upper limits for δ*_ε by B(ε) = 0, …, m that hold at every ε at once.

    P(δ*_ε <= limit of B(ε) for all ε) >= 1 - α for every algorithm and distribution, with equality
    if changes have a continuous law. Every limit by itself holds at one level γ, α/m <= γ <= α. The
    m + 1 limits never fall, and the last is 1. About a second for m = 10,000.

    Examples
    --------
    >>> profile_band(4, 0.1).round(3)
    array([0.574, 0.786, 0.922, 0.992, 1.   ])
    """
    m, level = checks.count("n_trials", n_trials), checks.alpha(alpha)
    return np.append(_limits(m, _solved(m, level, m)), 1.0) if m else np.ones(1)


def _limits(m: int, gamma: float, count: int | None = None) -> Floats:
    """Upper γ-quantiles u_1, u_2, … of m ordered uniforms."""
    j = np.arange(1.0, (count or m) + 1)
    return np.asarray(betainccinv(j, m - j + 1, gamma), dtype=np.float64)


class RestrictedBand(NamedTuple):
    """The level γ of each limit, and the limits for B = 0, …, J - 1 exceedances."""

    gamma: float
    limits: Floats


def restricted_band(m: int, alpha: float, J: int) -> RestrictedBand:
    """Compute the band of which only the first J limits hold together, with probability 1 - α.

    P(δ*_ε <= u_{B(ε)+1} for all ε with B(ε) < J) >= 1 - α. J, from 1 to m, must be fixed
    beforehand; 1 is the Clopper-Pearson limit at B = 0, m the band of :func:`profile_band`.

    Examples
    --------
    >>> band = restricted_band(50, alpha=0.1, J=5)
    >>> round(band.gamma, 4), band.limits.round(4)
    (0.0402, array([0.0623, 0.0962, 0.1259, 0.1535, 0.1798]))
    """
    m, size = checks.count("m", m, 1), checks.count("J", J, 1)
    if size > m:
        raise ArgumentError(f"must be at most m = {m}", argument="J", got=J)
    gamma = _solved(m, checks.alpha(alpha), size)
    return RestrictedBand(gamma, _limits(m, gamma, size))


def restricted_limits(m: int, alpha: float, delta_max: float) -> Floats:
    """Compute upper limits for δ*_ε by B(ε) = 0, …, m where they are at most δ_max, else 1.

    They hold at every ε at once with probability 1 - α, and are tighter than :func:`profile_band`
    where they say anything. How many there are, the largest J with u_J <= δ_max, depends on the
    arguments alone; ``delta_max`` must be fixed beforehand.

    Examples
    --------
    >>> restricted_limits(10, alpha=0.1, delta_max=0.4)[:4].round(3)
    array([0.24 , 0.374, 1.   , 1.   ])
    """
    m, level = checks.count("m", m), checks.alpha(alpha)
    top = checks.number("delta_max", delta_max, "a number in [0, 1]")
    limits = np.ones(m + 1)
    J = _size(m, level, top) if m else 0
    if J:
        limits[:J] = restricted_band(m, level, J).limits
    return limits


def _size(m: int, alpha: float, delta_max: float) -> int:
    """Find the largest J with u_J(γ_J) <= δ_max, which rises with J.

    The full band's level is nearly that of J: its count is a lower bound a few steps off.
    """
    fits = int(np.count_nonzero(_limits(m, _solved(m, alpha, m)) <= delta_max))

    def too_long(J: int) -> bool:
        return m < J or bool(restricted_band(m, alpha, J).limits[-1] > delta_max)

    return first_beyond(fits, too_long) - 1


@lru_cache(maxsize=256)
def _solved(m: int, alpha: float, J: int) -> float:
    """Find γ in [α/J, α]; log γ against the log odds of crossing is nearly a line."""
    if J == 1:
        return alpha
    target = math.log(alpha) - math.log1p(-alpha)

    def excess(log_gamma: float) -> float:
        gamma, rest = math.exp(log_gamma), np.ones(m - J)
        margins = _margins(m, gamma)[:J]
        limits = np.concatenate([_limits(m, gamma, J), rest])
        crossed, stayed = crossing_probability(limits, np.concatenate([margins, 0 * rest]))
        # near α = 1 nothing may be left to stay: large odds turn the search back
        return math.log(crossed) - math.log(max(stayed, 1e-300)) - target

    slack = 1e-9  # the ends are roots where limits hold or fail together
    low, high = math.log(alpha / J) - slack, min(math.log(alpha) + slack, math.log1p(-1e-16))
    return math.exp(float(brentq(excess, low, high, xtol=1e-12, rtol=1e-13)))


def _margins(m: int, gamma: float) -> Floats:
    """Compute 1 - u_j without cancellation: the last are of order γ/m."""
    j = np.arange(1.0, m + 1)
    return np.asarray(betaincinv(m - j + 1, j, gamma), dtype=np.float64)


@np.errstate(under="ignore")
def crossing_probability(limits: Floats, margins: Floats) -> tuple[float, float]:
    """Compute the probabilities that m ordered uniforms do, and do not, cross m limits.

    The counts below the limits are those of a Poisson process given that it ends at m; each step
    convolves their law with that of the next increment (Moscovich and Nadler 2017). All terms are
    positive, so both answers are accurate however small. ``margins`` are 1 - limits.
    """
    m = limits.size
    # subtract whichever of u and 1 - u is small: the other has lost its digits
    steps = np.where(limits > 0.5, -np.diff(margins, prepend=1.0), np.diff(limits, prepend=0.0))
    crossed, stayed = _recursion(m * np.maximum(steps, 0.0), m * margins, m)
    ends_at_m = float(_poisson(np.array([m]), np.array([float(m)]))[0])
    return crossed / ends_at_m, stayed / ends_at_m


@np.errstate(under="ignore")
def _recursion(steps: Floats, ahead: Floats, m: int) -> tuple[float, float]:
    """Compute both probabilities for a Poisson process of rate m, not yet given its end.

    Before step j ``alive[i]`` is the probability of j - 1 + i points so far and no crossing. After
    it a count of j - 1 is one short: the path crosses here if the missing points come later.
    """
    completes = _poisson(m - np.arange(m), ahead)
    # only paths that end at m matter, and given that end the counts are Binomial
    so_far = np.cumsum(steps)
    widest = _top_count(so_far, so_far * ahead / m, m) - np.arange(m) + 1
    alive, crossed = np.ones(1), 0.0
    longest = _top_count(steps, steps, m) + 1
    for j, step in enumerate(steps):
        alive = np.convolve(alive, _poisson(np.arange(longest[j]), step))[: widest[j]]
        crossed += float(alive[0] * completes[j])
        alive = alive[1:]
    stayed = float(alive[0]) * math.exp(-float(ahead[-1])) if alive.size else 0.0
    return crossed, stayed


def _top_count(mean: Floats, variance: Floats, m: int) -> NDArray[np.int64]:
    """Bound a count, at most m, up to negligible probability (Bernstein's inequality)."""
    third = _DROPPED_LOG_MASS / 3
    top = mean + third + np.sqrt(third**2 + 2 * _DROPPED_LOG_MASS * variance)
    return np.minimum(np.ceil(top), m).astype(np.int64)


def _poisson(count: NDArray[np.int64], mean: Floats | float) -> Floats:
    """Poisson probabilities; a mean of 0 is the point mass at 0."""
    return np.asarray(np.exp(xlogy(count, mean) - mean - gammaln(count + 1.0)), dtype=np.float64)
