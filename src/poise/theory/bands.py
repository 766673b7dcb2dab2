"""Simultaneous bands for the whole curve ε ↦ δ̂_ε (beyond the paper).

A bound that was computed for one ε is not valid if ε was chosen by looking at the curve. A
band holds at every ε at once, so any ε may be read off it.

Why order statistics: let V_(1) ≤ … ≤ V_(m) be ordered uniforms and B(ε) the
number of changes beyond ε. The largest δ*_ε compatible with B(ε) = j − 1 has the
law of V_(j) (atoms of Δ only make it smaller), so "the band u covers everywhere"
contains the event V_(j) ≤ u_j for all j. Each band is a choice of u_1 ≤ … ≤ u_m.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from poise import arguments
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["BANDS", "beta_limits", "crossing_probability", "local_level", "profile_band"]

BANDS = ("equal-local-levels", "ks", "dkw", "pointwise")

# Mass below exp(-70) = 4e-31 is cut off: it is negligible beside any level >= 1e-15.
_DROPPED_LOG_MASS = 70.0
_STEPS_AT_ONCE = 256


def profile_band(n_trials: int, alpha: float, kind: str = "equal-local-levels") -> Floats:
    r"""Upper limits for δ*_ε as a function of B(ε) = 0, …, m, valid at every ε at once.

    For the first three kinds, :math:`P(\delta^*_\varepsilon \le
    \hat\delta_{B(\varepsilon)} \text{ for all } \varepsilon) \ge 1 - \alpha`
    for every algorithm and distribution, with equality for ``"equal-local-levels"``
    and ``"ks"`` if the changes have a continuous law. The limits do not say which ε
    is small enough to matter, and ``"pointwise"`` is *not* simultaneous: it holds
    for one ε fixed before the changes were seen.

    Parameters
    ----------
    n_trials : int
        Number m of independent trials, at least 0.
    alpha : float
        Probability in (0, 1) that the band fails somewhere; at most 1/2 for ``"dkw"``.
    kind : {"equal-local-levels", "ks", "dkw", "pointwise"}
        Equal local levels (by far the tightest near B = 0), the exact one-sided
        Kolmogorov–Smirnov band, the DKW–Massart band, or Clopper–Pearson limits.

    Returns
    -------
    ndarray of shape (n_trials + 1,)
        Never decreasing, at most 1, and 1 at B = m.

    Examples
    --------
    >>> profile_band(4, 0.1).round(3)
    array([0.574, 0.786, 0.922, 0.992, 1.   ])
    >>> bool(profile_band(50, 0.1, "ks")[0] > profile_band(50, 0.1)[0])
    True
    """
    m = int(arguments.count("n_trials", n_trials))
    level = float(arguments.alpha(alpha))
    arguments.choice("kind", kind, BANDS)
    if kind == "dkw" and level > 0.5:
        raise ArgumentError(
            f"alpha must be at most 0.5 for the 'dkw' band, got {level}; "
            "use kind='ks', which is exact at every alpha"
        )
    if m == 0:
        return np.ones(1)
    if kind == "pointwise":
        return np.append(beta_limits(m, level), 1.0)
    if kind == "equal-local-levels":
        return np.append(beta_limits(m, local_level(m, level)), 1.0)
    shift = _ks_shift(m, level) if kind == "ks" else math.sqrt(-math.log(level) / (2 * m))
    return np.append(np.minimum(np.arange(m) / m + shift, 1.0), 1.0)


def local_level(n_trials: int, alpha: float) -> float:
    r"""Level γ at which each limit must hold for all m of them to hold at 1 − α.

    Solves :math:`P(V_{(j)} \le u_j(\gamma),\ j = 1, \dots, m) = 1 - \alpha` where
    :math:`u_j(\gamma)` is the upper γ-quantile of Beta(j, m − j + 1), the law of the
    j-th of m ordered uniforms. So α/m ≤ γ ≤ α. Results are remembered.

    Parameters
    ----------
    n_trials : int
        Number m of independent trials, at least 1. The work grows like m^1.5:
        about a second for m = 10,000.
    alpha : float
        Probability in (0, 1) that at least one limit fails.

    Returns
    -------
    float
        γ, to about eleven digits.

    Examples
    --------
    >>> round(local_level(22, 0.1), 4)
    0.0112
    """
    m = int(arguments.count("n_trials", n_trials, 1))
    return _solve_local_level(m, float(arguments.alpha(alpha)))


@functools.lru_cache(maxsize=256)
def _solve_local_level(m: int, alpha: float) -> float:
    """Find γ by Brent's method; log γ against the log odds of crossing is almost a line."""
    from scipy.optimize import brentq

    target = math.log(alpha) - math.log1p(-alpha)

    def excess(log_gamma: float) -> float:
        gamma = math.exp(log_gamma)
        crossed, stayed = crossing_probability(beta_limits(m, gamma), _beta_margins(m, gamma))
        # Near alpha = 1 the cut-off may leave nothing; then any large odds turn the search
        # back.
        return math.log(crossed) - math.log(max(stayed, 1e-300)) - target

    slack = 1e-9  # the ends of [alpha/m, alpha] are roots when m = 1
    low, high = math.log(alpha / m) - slack, min(math.log(alpha) + slack, math.log1p(-1e-16))
    return math.exp(float(brentq(excess, low, high, xtol=1e-10, rtol=1e-12)))


def beta_limits(m: int, gamma: float, count: int | None = None) -> Floats:
    """Upper γ-quantiles u_1, …, u_m of the m ordered uniforms, or the first few of them."""
    from scipy.special import betainccinv

    order = np.arange(1.0, (m if count is None else count) + 1)
    return np.asarray(betainccinv(order, m - order + 1, gamma), dtype=np.float64)


def _beta_margins(m: int, gamma: float) -> Floats:
    """1 − u_j without cancellation: the last ones are of order γ/m, maybe below 1e-16."""
    from scipy.special import betaincinv

    order = np.arange(1.0, m + 1)
    return np.asarray(betaincinv(m - order + 1, order, gamma), dtype=np.float64)


def _ks_shift(m: int, alpha: float) -> float:
    """Upper α-quantile of the exact one-sided Kolmogorov–Smirnov statistic."""
    from scipy.stats import ksone

    return float(ksone.isf(alpha, m))


@np.errstate(under="ignore")
def crossing_probability(
    limits: ArrayLike, margins: ArrayLike | None = None
) -> tuple[float, float]:
    r"""Probabilities that ordered uniforms do, and do not, cross the given limits.

    Returns :math:`P(V_{(j)} > u_j \text{ for some } j)` and
    :math:`P(V_{(j)} \le u_j \text{ for all } j)`. The recursion is that of Moscovich
    and Nadler (2017) without the Fourier transform: the counts N(u_j) = #{i : V_i ≤
    u_j} are those of a Poisson process given that it ends at m, and each step
    convolves their law with the law of the next increment. All terms are positive,
    so both answers keep their *relative* accuracy, however small they are; the price
    is O(m^1.5) operations.

    Parameters
    ----------
    limits : array_like of shape (m,)
        u_1 ≤ … ≤ u_m in [0, 1].
    margins : array_like of shape (m,), optional
        1 − u_j, where it is known more accurately than by subtraction.

    Returns
    -------
    crossed, stayed : float
        They add up to 1 up to rounding.

    Examples
    --------
    Two uniforms: the smaller is at most 1/2, the larger is arbitrary.

    >>> crossed, stayed = crossing_probability([0.5, 1.0])
    >>> round(crossed, 9), round(stayed, 9)
    (0.25, 0.75)
    """
    u = arguments.probability("limits", limits)
    v = 1 - u if margins is None else arguments.probability("margins", margins)
    if u.ndim != 1 or u.size == 0 or u.shape != v.shape or (np.diff(u) < 0).any():
        raise ArgumentError(f"limits must be a non-empty list that never falls, got {limits!r}")
    m = u.size
    # Subtract whichever of u and 1 - u is small: the other one has lost the digits.
    steps = np.where(u > 0.5, -np.diff(v, prepend=1.0), np.diff(u, prepend=0.0))
    crossed, stayed = _poisson_recursion(m * np.maximum(steps, 0.0), m * v, m)
    ends_at_m = float(_poisson_pmf(np.array([m]), float(m))[0])
    return crossed / ends_at_m, stayed / ends_at_m


@np.errstate(under="ignore")
def _poisson_recursion(steps: Floats, ahead: Floats, m: int) -> tuple[float, float]:
    """Unnormalised probabilities of crossing and of staying, for a Poisson process of rate m.

    Before step j, ``alive[i]`` is the probability of j − 1 + i points so far and no
    crossing. After it, count j − 1 (entry 0) is one point short: that path crosses
    here, and counts if the points still missing fall beyond the limit.
    """
    completes = _poisson_pmf(m - np.arange(m), ahead)
    # Only paths that end at m matter, and given that end the counts are Binomial.
    so_far = np.cumsum(steps)
    widest = _top_count(so_far, so_far * ahead / m, m) - np.arange(m) + 1
    longest = _top_count(steps, steps, m) + 1
    alive, crossed = np.ones(1), 0.0
    for j, kernel in enumerate(_kernels(steps, longest)):
        alive = np.convolve(alive, kernel)[: widest[j]]
        crossed += float(alive[0] * completes[j])
        alive = alive[1:]
    # Alive after the last step: exactly m points, and none may follow.
    stayed = float(alive[0]) * math.exp(-float(ahead[-1])) if alive.size else 0.0
    return crossed, stayed


def _kernels(steps: Floats, longest: NDArray[np.int64]) -> Iterator[Floats]:
    """Yield the law of each increment, a block of steps at a time: many are as fast as one."""
    for start in range(0, steps.size, _STEPS_AT_ONCE):
        block = slice(start, start + _STEPS_AT_ONCE)
        increments = np.arange(longest[block].max())
        for law, length in zip(
            _poisson_pmf(increments, steps[block, None]), longest[block], strict=True
        ):
            yield law[:length]


def _top_count(mean: Floats, variance: Floats, m: int) -> NDArray[np.int64]:
    """Count, at most m, that is exceeded with negligible chance (Bernstein's inequality)."""
    third = _DROPPED_LOG_MASS / 3
    top = mean + third + np.sqrt(third**2 + 2 * _DROPPED_LOG_MASS * variance)
    return np.minimum(np.ceil(top), m).astype(np.int64)


@np.errstate(under="ignore")
def _poisson_pmf(count: NDArray[np.int64], mean: float | Floats) -> Floats:
    """Poisson probabilities; a mean of 0 is the point mass at 0."""
    from scipy.special import gammaln, xlogy

    return np.asarray(np.exp(xlogy(count, mean) - mean - gammaln(count + 1.0)), dtype=np.float64)
