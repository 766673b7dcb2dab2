"""Planning the averaged test: when it helps, and how many trials it needs.

At small m the plain Binomial test has power only by luck, and averaging removes this luck.
So without a coin averaging pays only from a certain number of trials on.  How much it saves
then depends on the spread v = E S² / E S of the shares, which is 1 for 0/1 data and small
for shares that hardly vary.
"""

from __future__ import annotations

import math

from poise import arguments
from poise.theory import decimals

__all__ = [
    "critical_share",
    "share_ceiling",
    "spread",
    "trials_for_averaging",
    "trials_with_spread",
]

# If the ceiling at δ* = δ/2 is below this, the plain Binomial test is better (measured).
_WORTHWHILE_CEILING = 1.2


def share_ceiling(m: int, delta: float, delta_star: float, alpha: float) -> float:
    """Compute the ceiling on the power of every valid test of i.i.d. shares.

    min{1, α ((1 − δ*) / (1 − δ))^m}, whatever the law of the shares (Theorem B).  Betting
    everything, with the coin, attains it if α ≤ (1 − δ)^m; in general no test does.

    Parameters
    ----------
    m : int, at least 0
        Number of trials.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    delta_star : float in [0, 1]
        True probability; if it exceeds δ, the ceiling is α, because the test is valid.
    alpha : float in (0, 1)
        Level.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> round(share_ceiling(30, delta=0.1, delta_star=0.05, alpha=0.05), 4)
    0.2532
    """
    p, truth = float(arguments.delta(delta)), float(arguments.probability("delta_star", delta_star))
    level, trials = float(arguments.alpha(alpha)), int(arguments.count("m", m))
    if truth >= p:
        return level
    gain = math.log1p(-truth) - math.log1p(-p)
    return math.exp(min(math.log(level) + trials * gain, 0.0))


def critical_share(m: int, delta: float, alpha: float) -> float:
    """Compute the largest constant share that a test without a coin can accept.

    s_c = 1 − (1 − δ) α^(−1/m): if S ≡ s in every trial, no valid test without a coin accepts
    for s > s_c, and betting everything accepts surely for s < s_c (Theorem B).

    Parameters
    ----------
    m : int, at least 1
        Number of trials.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.

    Returns
    -------
    float
        s_c, below δ; negative if nothing can be accepted.

    Examples
    --------
    >>> round(critical_share(100, delta=0.1, alpha=0.05), 4)
    0.0726
    """
    m = int(arguments.count("m", m, 1))
    return -math.expm1(
        math.log1p(-float(arguments.delta(delta))) - math.log(float(arguments.alpha(alpha))) / m
    )


def trials_for_averaging(delta: float, alpha: float) -> int | float:
    """Compute the number of trials from which averaging pays without a coin.

    m1 = ⌈log(1.2/α) / log((1 − δ/2)/(1 − δ))⌉: below it the ceiling of Theorem B on the power
    at δ* = δ/2 is under 1.2, and the plain Binomial test is better.  With a coin averaging
    always pays.  This is a rule of thumb from measured power; validity does not depend on
    it.

    Parameters
    ----------
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Level.

    Returns
    -------
    int, or inf if δ = 0

    Examples
    --------
    >>> [trials_for_averaging(delta, alpha=0.05) for delta in (0.05, 0.1, 0.2)]
    [123, 59, 27]
    """
    p, level = float(arguments.delta(delta)), float(arguments.alpha(alpha))
    if p == 0:
        return math.inf
    exact = math.log(_WORTHWHILE_CEILING / level) / (math.log1p(-p / 2) - math.log1p(-p))
    return int(decimals.ceiling(exact))


def spread(removals: int, points: int, q_removal: float, q_point: float, q_both: float) -> float:
    """Compute the spread v = E S² / E S of the shares of R removals and T test points.

    v = [1 + (R−1) q_R + (T−1) q_T + (R−1)(T−1) q_RT] / (RT), each q being the chance of a
    second exceedance given a first one.

    Parameters
    ----------
    removals, points : int, at least 1
        R and T.
    q_removal, q_point, q_both : float in [0, 1]
        Chance of a second exceedance for another removal at the same point, for the same
        removal at another point, and for another removal at another point.

    Returns
    -------
    float in (0, 1]

    Examples
    --------
    >>> round(spread(removals=1, points=20, q_removal=1.0, q_point=0.2, q_both=0.2), 3)
    0.24
    """
    r, t = int(arguments.count("removals", removals, 1)), int(arguments.count("points", points, 1))
    one, other, both = (
        float(arguments.probability(name, value))
        for name, value in (("q_removal", q_removal), ("q_point", q_point), ("q_both", q_both))
    )
    return (1 + (r - 1) * one + (t - 1) * other + (r - 1) * (t - 1) * both) / (r * t)


def trials_with_spread(
    delta: float, delta_star: float, alpha: float, v: float, trials_binomial: float
) -> float:
    """Estimate the number of trials that the averaged test needs, given the spread v.

    m ≈ m_c + (m_B − m_c)(v − δ)₊ / (1 − δ), where the Binomial test needs m_B trials for
    the same power, and constant shares need m_c = log(1/α) / log((1 − δ*)/(1 − δ)).  This
    is a rule of thumb, measured to be 5 to 20% too large; it is not a guarantee.

    Parameters
    ----------
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    delta_star : float in [0, 1]
        True probability.
    alpha : float in (0, 1)
        Level.
    v : float in [0, 1]
        Spread of the shares, see :func:`spread`.
    trials_binomial : float
        Trials m_B that the Binomial test needs.

    Returns
    -------
    float
        Not rounded; inf if δ* is not below δ.

    Examples
    --------
    >>> round(trials_with_spread(0.1, 0.05, alpha=0.05, v=0.34, trials_binomial=171), 1)
    86.2
    """
    p, truth = float(arguments.delta(delta)), float(arguments.probability("delta_star", delta_star))
    level, share = float(arguments.alpha(alpha)), float(arguments.probability("v", v))
    if truth >= p:
        return math.inf
    constant = -math.log(level) / (math.log1p(-truth) - math.log1p(-p))
    return constant + (float(trials_binomial) - constant) * max(share - p, 0.0) / (1 - p)
