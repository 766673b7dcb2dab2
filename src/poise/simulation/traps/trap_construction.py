"""Set a trap in any world: the constructions of Appendices B, D and E."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from poise import arguments
from poise.arguments.decimal_noise import without_noise
from poise.arguments.printed_numbers import at_most, exactly, number
from poise.errors import ArgumentError
from poise.protocol.randomness import Randomness
from poise.results.certificate import NOTIONS
from poise.simulation.traps.linear_models import RaiseConstant, ball
from poise.simulation.traps.trap import Trap, TrappedChange, least_c
from poise.simulation.traps.trapped_algorithm import (
    FixedTerms,
    FreshTerms,
    Lift,
    PoisonedRows,
    RaiseAbove,
    SameTerm,
    Terms,
    Trapped,
)
from poise.simulation.traps.triggers import FeatureTrigger, LabelTrigger, Trigger
from poise.simulation.worlds import World

__all__ = ["TRAPS", "feature_trap", "label_trap", "linear_trap"]

_EXCESS = 1e-6  # by default δ*′ lies this share of the way from δ to the most a trap can do
_SURE = 1e-9  # chance that fixed terms fall short of the a that is claimed for them

# Default shortfalls a, as shares of 1 − δ: small where that is cheap.
_SHARES = {"shared": 0.0, "independent": 0.05, "coupled": 0.2}
_LINEAR_SHARE = 0.01


def label_trap(
    world: World,
    *,
    epsilon: float,
    delta: float,
    notion: str = "shared",
    c: float | None = None,
    a: float | None = None,
    star: object = None,
    delta_star: float | None = None,
) -> Trap:
    """Hide a response y* that honest data never show (Theorem 2; Theorem 5 for other notions).

    P′ = (1−c)·P + c·P_X×{y*}. A′ is A, unless it is given n rows one of which shows
    y*: then it predicts 1 + ε + max over removed rows i of A[D∖i; ξ](x). Its
    instability is 1 − (1−δ*)(1−c)^n > δ once c > 1 − ((1−δ)/(1−δ*))^(1/n).

    With independent or coupled randomness the maximum is also over R terms ξ′,
    above which the reduced fit lies with probability at most a; the instability is
    at least (1−a) − ((1−a)−δ*)(1−c)^n. For "coupled" the terms are fixed, and the bound
    holds for every coupling, except with probability 1e-9 over the choice of terms.

    Parameters
    ----------
    world : World
        The honest triple. Predictions must be numbers.
    epsilon, delta : float
        The stability that the trap will not have.
    notion : {"shared", "independent", "coupled"}
        In which notion.
    c : float, optional
        Chance that a row shows the star, above the threshold; by default a
        little above it.
    a : float, optional
        Shortfall for the notions other than "shared", in (0, 1 − δ).
    star : number or label, optional
        y*; by default a number away from the data. Must have probability 0.
    delta_star : float, optional
        δ*_ε of the world, or a lower bound for it, where no closed form is
        known; 0 is assumed otherwise, which is always safe.

    Examples
    --------
    >>> from poise.world import zoo
    >>> trap = label_trap(zoo.mean_response(n=5), epsilon=0.5, delta=0.1)
    >>> round(trap.c, 5), round(trap.instability, 5)
    (0.01581, 0.1)
    >>> round(trap.ceiling(alpha=0.05, n_labeled=100), 4)
    0.2461
    """
    trigger = LabelTrigger.unseen(world.distribution) if star is None else LabelTrigger(star)
    denied = _Denied(world, "label", notion, epsilon, delta, delta_star)
    return denied.trap(trigger, RaiseAbove(denied.epsilon), c, denied.shortfall(a))


def feature_trap(
    world: World,
    *,
    epsilon: float,
    delta: float,
    notion: str = "shared",
    c: float | None = None,
    a: float | None = None,
    star: object = None,
    delta_star: float | None = None,
) -> Trap:
    """Hide a feature vector x*; evaluating at it also springs the trap (Theorems 2 and 5).

    As :func:`label_trap`, with P₁ = {x*}×P_Y and exponent n + 1 in place of n:
    the test point may be x* too. ``star`` is a row of features.

    Examples
    --------
    >>> from poise.world import zoo
    >>> trap = feature_trap(zoo.constant(n=5), epsilon=0.0, delta=0.1)
    >>> trap.exponent, round(trap.instability, 5)
    (6, 0.1)
    """
    if star is None:
        trigger = FeatureTrigger.unseen(world.distribution)
    else:
        trigger = FeatureTrigger(np.asarray(star, dtype=np.float64))
    denied = _Denied(world, "feature", notion, epsilon, delta, delta_star)
    return denied.trap(trigger, RaiseAbove(denied.epsilon), c, denied.shortfall(a))


def linear_trap(
    world: World,
    *,
    epsilon: float,
    delta: float,
    c: float | None = None,
    a: float | None = None,
    star: object = None,
    delta_star: float | None = None,
    radius: float | None = None,
) -> Trap:
    """Hide a response y* from tests that know the models to be linear, and see them (Theorem 4).

    The raised model is the constant 1 + ε + max over removed rows i of
    sup{A[D∖i; ξ](x) : ‖x‖ ≤ L}, itself linear. P(‖X‖ > L) is at most a, so the instability
    is at least (1−a) − ((1−a)−δ*)(1−c)^n.

    Parameters are those of :func:`label_trap`, and

    radius : float, optional
        L, if it is known that P(‖X‖ > L) ≤ a; by default taken from the
        distribution, or from a sample of it.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from poise.world import GaussianRows, World
    >>> world = World(Ridge(), GaussianRows(3, slope=1.0), n=20)
    >>> trap = linear_trap(world, epsilon=1.0, delta=0.1)
    >>> round(trap.instability, 5), round(trap.a, 5)
    (0.1, 0.009)
    """
    trigger = LabelTrigger.unseen(world.distribution) if star is None else LabelTrigger(star)
    denied = _Denied(world, "linear", "shared", epsilon, delta, delta_star)
    outside = denied.shortfall(a)
    reach = ball(world.distribution, outside) if radius is None else float(radius)
    return denied.trap(trigger, RaiseConstant(denied.epsilon, reach), c, outside)


TRAPS: dict[str, Callable[..., Trap]] = {
    "label": label_trap,
    "feature": feature_trap,
    "linear": linear_trap,
}
"""Traps by name; each takes a world, ``epsilon`` and ``delta``."""


class _Denied:
    """The stability that a trap does not have, and what is known of the honest world."""

    def __init__(
        self,
        world: World,
        kind: str,
        notion: str,
        epsilon: float,
        delta: float,
        delta_star: float | None,
    ) -> None:
        self.world, self.kind = world, kind
        self.notion = arguments.choice("notion", notion, NOTIONS)
        self.epsilon, self.delta = float(arguments.epsilon(epsilon)), float(arguments.delta(delta))
        self.delta_star = self._known(delta_star)
        if self.delta_star > self.delta:
            raise ArgumentError(
                f"{world.name} is not ({exactly(self.epsilon)}, {exactly(self.delta)})-stable "
                f"without a trap (delta_star = {number(self.delta_star)}); test it as it is"
            )

    def _known(self, delta_star: float | None) -> float:
        if self.world.law is not None:
            return self.world.delta_star(self.epsilon, self.notion)
        return 0.0 if delta_star is None else float(arguments.probability("delta_star", delta_star))

    def shortfall(self, a: float | None) -> float:
        """Check a, or choose it as a share of 1 − δ."""
        share = _LINEAR_SHARE if self.kind == "linear" else _SHARES[self.notion]
        room = 1 - self.delta
        if a is None:
            return share * room
        if share == 0:
            raise ArgumentError(f"a is 0 for shared randomness: leave it out, got {a}")
        if not 0 < a < room:
            raise ArgumentError(
                f"a must be in (0, 1 - delta) = (0, {exactly(without_noise(room))}), got {a}"
            )
        return float(a)

    def trap(self, trigger: Trigger, lift: Lift, c: float | None, a: float) -> Trap:
        """Put the pieces together."""
        honest, rows = self.world, trigger.rows_per_trial(self.world.n)
        chance = self._chance(c, a, rows)
        sprung = -math.expm1(rows * math.log1p(-chance))
        law = TrappedChange(honest.law, self.notion, self.delta_star, sprung, a, 1 + self.epsilon)
        algorithm = Trapped(honest.algorithm, honest.n, trigger, lift, self._terms(a))
        poisoned = PoisonedRows(honest.distribution, chance, trigger)
        trapped = World(algorithm, poisoned, honest.n, law)
        numbers = (self.epsilon, self.delta, chance, a, self.delta_star)
        return Trap(honest, trapped, self.kind, self.notion, *numbers)

    def _chance(self, c: float | None, a: float, rows: int) -> float:
        """Check c, or choose it a little above the threshold."""
        threshold = least_c(self.delta, self.delta_star, a, rows)
        if c is None:
            beyond = self.delta + _EXCESS * (1 - a - self.delta)
            return least_c(beyond, self.delta_star, a, rows)
        if not threshold < c < 1:
            raise ArgumentError(
                f"c must be in ({at_most(threshold)}, 1) for the trap not to be stable, got {c}"
            )
        return float(c)

    def _terms(self, a: float) -> Terms:
        """Choose the terms of the left-out models, enough of them for the shortfall a."""
        if self.notion == "shared":
            return SameTerm()
        if self.notion == "independent":
            return FreshTerms(math.ceil(1 / a) - 1)
        # A point (D, x) is bad if more than a/2 of all ξ′ lie above the largest of R
        # terms: probability (1 − a/2)^R over the terms. By Markov's inequality more than
        # a/2 of all points are bad with probability at most 2(1 − a/2)^R / a.
        count = math.ceil(math.log(_SURE * a / 2) / math.log1p(-a / 2))
        words = Randomness(0).block("fixed terms of the trap", 0, count)[:, 0]
        return FixedTerms(tuple(int(word) for word in words))
