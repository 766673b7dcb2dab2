"""A band for the curve ε ↦ δ̂_ε that is computed only where δ̂ is small.

A user who needs limits only for δ ≤ δ_max gets sharper ones here.  Fix J, and let the first
J limits hold together:

    P(V_(1) ≤ u_1, …, V_(J) ≤ u_J) = 1 − α,    u_j = BetaInv(1 − γ; j, m − j + 1),

where V_(1), …, V_(J) are the smallest of m ordered uniforms.  Then δ̂(ε) = u_{B(ε)+1} if
B(ε) < J, and no statement (1) otherwise.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poise import arguments
from poise.errors import ArgumentError
from poise.theory.bands import beta_limits, crossing_probability

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from poise.theory.binomial_law import Floats

__all__ = [
    "RestrictedBand",
    "order_cover",
    "restricted_band",
    "restricted_limits",
    "restricted_size",
]


class RestrictedBand(NamedTuple):
    """The first J limits of a restricted band.

    Attributes
    ----------
    gamma : float
        Level at which each of them holds.
    limits : ndarray of shape (J,)
        u_1 ≤ … ≤ u_J: the limits for B = 0, …, J − 1 exceedances.

    Examples
    --------
    >>> band = restricted_band(50, alpha=0.1, J=5)
    >>> len(band.limits), round(band.gamma, 4)
    (5, 0.0402)
    """

    gamma: float
    limits: Floats


def order_cover(limits: ArrayLike, m: int) -> float:
    """Compute P(V_(1) ≤ u_1, …, V_(J) ≤ u_J) for the J smallest of m uniforms.

    Parameters
    ----------
    limits : array of shape (J,), J ≤ m
        u_1 ≤ … ≤ u_J in [0, 1].
    m : int, at least 1
        Number of uniforms.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> round(order_cover([0.5], m=2), 12)
    0.75
    """
    size, u = int(arguments.count("m", m, 1)), arguments.probability("limits", limits)
    if u.ndim != 1 or not 0 < u.size <= size:
        raise ArgumentError(f"limits must hold 1 to m = {size} numbers, got shape {u.shape}")
    return crossing_probability(np.concatenate([u, np.ones(size - u.size)]))[1]


def restricted_band(m: int, alpha: float, J: int) -> RestrictedBand:
    """Compute the band whose first J limits hold together with probability 1 − α.

    P(δ*_ε ≤ u_{B(ε)+1} for all ε with B(ε) < J) ≥ 1 − α.  J must be fixed before looking;
    J = 1 is the Clopper-Pearson limit at B = 0, J = m the full equal-local-levels band.

    Parameters
    ----------
    m : int, at least 1
        Number of trials.
    alpha : float in (0, 1)
        Probability that a limit fails.
    J : int from 1 to m
        Number of limits.

    Returns
    -------
    RestrictedBand
        ``gamma`` and ``limits``.

    Examples
    --------
    >>> band = restricted_band(50, alpha=0.1, J=5)
    >>> round(band.gamma, 4), band.limits.round(4)
    (0.0402, array([0.0623, 0.0962, 0.1259, 0.1535, 0.1798]))
    """
    size, wanted = int(arguments.count("m", m, 1)), int(arguments.count("J", J, 1))
    if wanted > size:
        raise ArgumentError(f"J must be at most m = {size}, got {wanted}")
    gamma = _solve(size, float(arguments.alpha(alpha)), wanted)
    return RestrictedBand(gamma, beta_limits(size, gamma, wanted))


@functools.lru_cache(maxsize=256)
def _solve(m: int, alpha: float, J: int) -> float:
    """Find γ between α/J and α; log γ against the log of the miss is almost a line."""
    from scipy.optimize import brentq

    if J == 1:
        return alpha

    def excess(log_gamma: float) -> float:
        u = np.concatenate([beta_limits(m, math.exp(log_gamma), J), np.ones(m - J)])
        return math.log(crossing_probability(u)[0]) - math.log(alpha)

    low, high = math.log(alpha / J) - 1e-9, math.log(alpha)
    return math.exp(float(brentq(excess, low, high, xtol=1e-12, rtol=1e-13)))


def restricted_size(m: int, alpha: float, delta_max: float) -> int:
    """Compute J, the number of limits that a band restricted to δ ≤ δ_max has.

    The largest j with u_j(γ_j) ≤ δ_max; it depends on (m, α, δ_max) alone, so it is fixed
    before looking.

    Parameters
    ----------
    m : int, at least 0
        Number of trials.
    alpha : float in (0, 1)
        Probability that a limit fails.
    delta_max : float in (0, 1]
        Largest limit of interest.

    Returns
    -------
    int
        0 if even one limit would exceed δ_max.

    Examples
    --------
    >>> restricted_size(50, alpha=0.05, delta_max=0.2)
    5
    """
    size, top = int(arguments.count("m", m)), float(arguments.probability("delta_max", delta_max))
    fits, too_many = 0, size + 1
    while too_many - fits > 1:  # u_j(γ_j) rises with j
        middle = (fits + too_many) // 2
        if restricted_band(size, alpha, middle).limits[-1] <= top:
            fits = middle
        else:
            too_many = middle
    return fits


def restricted_limits(m: int, alpha: float, delta_max: float) -> Floats:
    """Compute upper limits for δ*_ε by B(ε) = 0, …, m, restricted to δ ≤ δ_max.

    They hold at every ε at once with probability 1 − α, and are sharper than
    :func:`poise.theory.profile_band` where they say anything; 1 means no statement.

    Parameters
    ----------
    m : int, at least 0
        Number of trials.
    alpha : float in (0, 1)
        Probability that a limit fails.
    delta_max : float in (0, 1]
        Largest limit of interest, fixed before looking.

    Returns
    -------
    ndarray of shape (m + 1,)

    Examples
    --------
    >>> restricted_limits(10, alpha=0.1, delta_max=0.4)[:4].round(3)
    array([0.24 , 0.374, 1.   , 1.   ])
    """
    size = int(arguments.count("m", m))
    J = restricted_size(size, alpha, delta_max)
    limits = np.ones(size + 1)
    if J:
        limits[:J] = restricted_band(size, alpha, J).limits
    return limits
