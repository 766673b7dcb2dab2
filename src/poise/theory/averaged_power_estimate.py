"""The averaged test's power, estimated before anything is measured.

The estimate needs the spread v = E S² / E S of the shares, which nobody knows beforehand. It
turns the rule of :func:`~poise.theory.averaged_planning.trials_with_spread` round, with two
precautions that simulations showed to be needed. Nothing here affects the error level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from poise import arguments
from poise.theory import binomial_test
from poise.theory.averaged_planning import (
    share_ceiling,
    spread,
    trials_for_averaging,
    trials_with_spread,
)
from poise.theory.decimals import NOISE
from poise.theory.trials_for_power import RandomizedPower

__all__ = ["SECOND_POINT", "AveragedPower", "averaged_power", "planned_spread"]

SECOND_POINT = (0.5, 0.1)
"""Chances that another point of a trial moves as well, if one does: cautious, and hopeful.

At n = 30 and 20 points they were about 0.27 for ridge, 0.18 for trees, 0.08 for 5 nearest
neighbours.
"""

# With this many times the trials of the rule, a power of 0.8 was measured to be 0.77 to 0.99,
# and a power of 0.9 to be 0.86 to 0.99, from the trials on from which averaging pays (shares
# that are 0 or v, and Beta shares; δ = 0.05, 0.1, 0.2; δ* from 0.1 to 0.7 of δ).
_MARGIN = 1.2
# Shares whose spread is near δ are not constant, although the rule treats them so.
_LEAST_WEIGHT = 0.05


def planned_spread(points: int, chance: float = SECOND_POINT[0]) -> float:
    """Compute the spread of shares of T points, if another point moves with this chance.

    Parameters
    ----------
    points : int, at least 1
        Test points T of a trial.
    chance : float in [0, 1]
        Chance that another point of the trial moves by more than ε, if one does.

    Examples
    --------
    >>> [round(planned_spread(20, chance), 3) for chance in SECOND_POINT]
    [0.525, 0.145]
    """
    return spread(1, points, 1.0, chance, chance)


def _weight(delta: float, v: float) -> float:
    """Return how far shares of this spread are from constant ones (0) and from 0/1 data (1)."""
    return max((v - delta) / (1 - delta), _LEAST_WEIGHT)


@dataclass(frozen=True)
class AveragedPower(RandomizedPower):
    """Estimated power of the averaged test against a requirement: once met, met for good.

    Parameters
    ----------
    delta, delta_star, alpha, required : float
        As for :class:`RandomizedPower`.
    spread : float in [0, 1]
        Spread v = E S² / E S that the shares are assumed to have.
    coin : bool
        Whether a coin decides at the end. Without it, at least as many trials are asked for as
        make averaging pay.

    Examples
    --------
    >>> AveragedPower(0.1, 0.05, alpha=0.05, required=0.8, spread=0.34).first
    105
    >>> RandomizedPower(0.1, 0.05, alpha=0.05, required=0.8).first
    175
    """

    spread: float = 0.5
    coin: bool = False

    @cached_property
    def first(self) -> int:
        """The smallest number of trials that meets the requirement, by the rule of thumb."""
        test = self.delta, self.delta_star, self.alpha
        binomial = RandomizedPower(*test, self.required).first
        at_least = self.delta + _weight(self.delta, self.spread) * (1 - self.delta)
        needed = math.ceil(_MARGIN * trials_with_spread(*test, min(at_least, 1.0), binomial))
        if self.coin:
            return needed
        return max(needed, int(trials_for_averaging(self.delta, self.alpha)))


def averaged_power(
    m: int, delta: float, delta_star: float, alpha: float, v: float, *, randomized: bool = False
) -> float:
    """Estimate the power of the averaged test with m trials whose shares have spread v.

    This is a planning value and not a guarantee: the true power depends on the whole law of the
    shares. It was measured to be too small rather than too large where averaging pays
    (:func:`trials_for_averaging`). The error level holds whatever the spread is.

    Parameters
    ----------
    m : int, at least 0
        Number of trials.
    delta : float in [0, 1)
        Allowed probability of a change beyond ε.
    delta_star : float in [0, 1]
        True probability. From δ on the answer is α, the most that a valid test can have.
    alpha : float in (0, 1)
        Level.
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
    [0.52, 0.68, 0.8]
    """
    p, truth = float(arguments.delta(delta)), float(arguments.probability("delta_star", delta_star))
    level, share = float(arguments.alpha(alpha)), float(arguments.probability("v", v))
    trials = int(arguments.count("m", m))
    least = level if randomized else 0.0
    if truth >= p:
        return level if p > 0 else least
    constant = -math.log(level) / (math.log1p(-truth) - math.log1p(-p))
    binomial = constant + (trials / _MARGIN - constant) / _weight(p, share)
    if not binomial >= 1:  # nan if delta is so small that no number of trials suffices
        return least
    # Rounding must not undo what AveragedPower.first found.
    whole = math.floor(binomial * (1 + NOISE))
    power = float(binomial_test.power(whole, p, truth, level, randomized=True))
    return min(power, share_ceiling(trials, p, truth, level))
