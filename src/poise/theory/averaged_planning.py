"""Planning the averaged test: its power depends on how much the shares of the trials vary.

The spread v = E S² / E S is 1 for 0/1 data and small for shares that hardly vary. Nobody knows it
beforehand, so everything here but the two limits of Theorem B is an estimate. No error level
depends on it.
"""

from __future__ import annotations

import math

import numpy as np

from poise import checks
from poise.theory import binomial
from poise.theory.binomial_law import NOISE
from poise.theory.counts import clean_trials, trials_for_averaging
from poise.theory.sawtooth import checked_power, first_beyond, refuse_what_no_data_can_do

# With this many times the trials of the rule, a power of 0.8 was measured to be 0.77 to 0.99, and
# shares whose spread is near δ are not constant, although the rule treats them so.
_MARGIN, _LEAST_WEIGHT = 1.2, 0.05


def critical_share(m: int, delta: float, alpha: float) -> float:
    """Compute the largest constant share that a test without a coin can accept.

    s_c = 1 − (1 − δ) α^(−1/m): if S ≡ s in every trial, no valid test without a coin accepts for
    s > s_c, and betting everything accepts surely for s < s_c (Theorem B).

    Parameters
    ----------
    m : int, at least 1
        Number of trials.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    alpha : float in (0, 1)
        Error level.

    Returns
    -------
    float
        Below δ; negative if nothing can be accepted.

    Examples
    --------
    >>> critical_share(100, delta=0.1, alpha=0.05)
    0.072630...
    """
    trials, level = checks.count("m", m, 1), checks.alpha(alpha)
    log_share = math.log1p(-checks.delta(delta)) - math.log(level) / trials
    return -math.expm1(min(log_share, 700.0))


def share_ceiling(m: int, delta: float, delta_star: float, alpha: float) -> float:
    """Compute the ceiling on the power of every valid test of i.i.d. shares (Theorem B).

    min{1, α ((1 − δ*) / (1 − δ))^m}, whatever the law of the shares. Betting everything, with the
    coin, attains it if α ≤ (1 − δ)^m.

    Parameters
    ----------
    m : int, at least 0
        Number of trials.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    delta_star : float in [0, 1]
        True probability; beyond δ the ceiling is α, because the test is valid.
    alpha : float in (0, 1)
        Error level.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> share_ceiling(30, delta=0.1, delta_star=0.05, alpha=0.05)
    0.253164...
    """
    p, truth, level = _checked(delta, delta_star, alpha)
    if truth >= p:
        return level
    gain = math.log1p(-truth) - math.log1p(-p)
    return math.exp(min(math.log(level) + checks.count("m", m) * gain, 0.0))


def spread(removals: int, points: int, q_removal: float, q_point: float, q_both: float) -> float:
    """Compute the spread v = E S² / E S of the shares of R removals and T test points.

    v = [1 + (R−1) q_R + (T−1) q_T + (R−1)(T−1) q_RT] / (RT), each q being the chance of a second
    exceedance given a first one. It is 1 for 0/1 data and small for shares that hardly vary.

    Parameters
    ----------
    removals, points : int, at least 1
        R and T.
    q_removal, q_point, q_both : float in [0, 1]
        The chance for another removal at the same point, for the same removal at another point,
        and for another removal at another point.

    Returns
    -------
    float in (0, 1]

    Examples
    --------
    >>> spread(removals=1, points=20, q_removal=1.0, q_point=0.2, q_both=0.2)
    0.24...
    """
    r, t = checks.count("removals", removals, 1), checks.count("points", points, 1)
    asked = {"q_removal": q_removal, "q_point": q_point, "q_both": q_both}
    one, other, both = (_probability(name, value) for name, value in asked.items())
    return (1 + (r - 1) * one + (t - 1) * other + (r - 1) * (t - 1) * both) / (r * t)


def trials_with_spread(
    delta: float, delta_star: float, alpha: float, v: float, trials_binomial: float
) -> float:
    """Estimate the number of trials that the averaged test needs, given the spread v.

    m ≈ m_c + (m_B − m_c)(v − δ)₊ / (1 − δ), where the Binomial test needs m_B trials for the same
    power, and constant shares need m_c = log(1/α) / log((1 − δ*)/(1 − δ)). A rule of thumb,
    measured to be 5 to 20% too large; no guarantee.

    Parameters
    ----------
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    delta_star : float in [0, 1]
        True probability.
    alpha : float in (0, 1)
        Error level.
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
    >>> trials_with_spread(0.1, 0.05, alpha=0.05, v=0.34, trials_binomial=171)
    86.23...
    """
    p, truth, level = _checked(delta, delta_star, alpha)
    share = max(_probability("v", v) - p, 0.0) / (1 - p)
    if truth >= p:
        return math.inf
    constant = _constant_trials(p, truth, level)
    return constant + (float(trials_binomial) - constant) * share


def averaged_power(
    m: int, delta: float, delta_star: float, alpha: float, v: float, *, randomized: bool = False
) -> float:
    """Estimate the power of the averaged test with m trials whose shares have spread v.

    A planning value: the true power depends on the whole law of the shares. It was measured to be
    too small rather than too large where averaging pays (:func:`trials_for_averaging`). The error
    level holds whatever the spread is.

    Parameters
    ----------
    m : int, at least 0
        Number of trials.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    delta_star : float in [0, 1]
        True probability. From δ on the answer is α, the most that a valid test can have.
    alpha : float in (0, 1)
        Error level.
    v : float in [0, 1]
        Spread E S² / E S of the shares, see :func:`spread`.
    randomized : bool
        Whether a coin decides at the end.

    Returns
    -------
    float in [0, 1]

    Examples
    --------
    >>> [round(averaged_power(105, 0.1, 0.05, alpha=0.05, v=v), 2) for v in (1.0, 0.5, 0.34)]
    [0.53, 0.68, 0.8]
    """
    p, truth, level = _checked(delta, delta_star, alpha)
    trials, share, least = checks.count("m", m), _probability("v", v), clean_trials(p, level)
    coin = checks.flag("randomized", randomized)
    if not coin and trials < least:
        return 0.0
    constant = _constant_trials(p, truth, level) if truth < p else math.inf
    if not math.isfinite(constant):
        return level
    worth, rest = min(trials / _MARGIN, constant), max(trials / _MARGIN - constant, 0.0)
    power = _smooth_power(worth + rest / _weight(p, share), p, truth, level)
    turn = _MARGIN * constant
    if not coin and least <= trials < turn:  # without the coin it was seen to fall off to 0 at m0
        power = _smooth_power(constant, p, truth, level) * (trials - least) / (turn - least)
    return min(power, share_ceiling(trials, p, truth, level))


def averaged_trials(delta: float, delta_star: float, alpha: float, power: float, v: float) -> int:
    """Estimate the fewest trials with which the averaged test has a power, given the spread v.

    The inverse of :func:`averaged_power`, and at least :func:`trials_for_averaging`.

    Parameters
    ----------
    delta, delta_star, alpha, power
        As in :func:`trials_needed`.
    v : float in [0, 1]
        Spread of the shares, see :func:`spread`.

    Returns
    -------
    int

    Examples
    --------
    >>> averaged_trials(0.1, 0.05, 0.05, 0.8, v=0.34)
    105
    """
    refuse_what_no_data_can_do(delta, delta_star, checked_power(power))
    least = int(trials_for_averaging(delta, alpha))

    def enough(m: int) -> bool:
        return averaged_power(m, delta, delta_star, alpha, v) >= power

    return least if enough(least) else first_beyond(least, enough)


def _checked(delta: float, delta_star: float, alpha: float) -> tuple[float, float, float]:
    return checks.delta(delta), _probability("delta_star", delta_star), checks.alpha(alpha)


def _probability(name: str, value: float) -> float:
    return checks.number(name, value, "a number in [0, 1]", low=0, high=1)


def _constant_trials(delta: float, delta_star: float, alpha: float) -> float:
    """Compute how many trials constant shares need; a ratio may be 0 to the last digit."""
    gain = math.log1p(-delta_star) - math.log1p(-delta)
    return -math.log(alpha) / gain if gain > 0 else math.inf


def _smooth_power(trials: float, delta: float, delta_star: float, alpha: float) -> float:
    """Compute the Binomial test's power, with its coin; between whole numbers along a line."""
    low = math.floor(trials * (1 + NOISE))
    ends = binomial.power([low, low + 1], delta, delta_star, alpha, randomized=True)
    return float(np.interp(trials, [low, low + 1], ends))


def _weight(delta: float, v: float) -> float:
    """Return how far shares of this spread are from constant ones (0) and from 0/1 data (1)."""
    return max((v - delta) / (1 - delta), _LEAST_WEIGHT)
