"""A trap: a stable triple, and an unstable one that looks the same."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from poise import arguments
from poise.arguments.printed_numbers import exactly
from poise.data.sample import Sample
from poise.errors import ArgumentError
from poise.simulation.traps.trapped_algorithm import PoisonedRows, Trapped
from poise.simulation.worlds import ChangeLaw, World
from poise.simulation.worlds.world import partly_labeled

__all__ = ["Trap", "TrappedChange"]


@dataclass(frozen=True)
class TrappedChange:
    """The law of Δ in a trap, for changes below 1 + ε.

    With k rows that can spring it and shortfall a,

        δ*′ = (1 − a) − ((1 − a) − δ*)(1 − c)^k,

    which is exact if a = 0 and δ* is exact, and otherwise the lower bound of the proof. It
    holds in the notion that the trap was built for. A trap for the coupled notion moves
    predictions whatever the coupling, so its bound holds in every notion. For other traps
    nothing is known about the other notions, and these are refused.

    Parameters
    ----------
    honest : ChangeLaw or None
        The law of Δ before the trap was set.
    notion : {"shared", "independent", "coupled"}
        The notion that the trap was built for.
    delta_star_bound : float
        A lower bound for δ* at the trap's own ε, used where the law is not known.
    sprung : float
        1 − (1 − c)^k, the chance that a trial holds the star.
    shortfall : float
        a: chance that a sprung trap does not move the prediction beyond ε.
    reach : float
        1 + ε, the least change that a sprung trap makes otherwise.
    """

    honest: ChangeLaw | None
    notion: str
    delta_star_bound: float
    sprung: float
    shortfall: float
    reach: float

    def delta_star(self, epsilon: float, notion: str = "shared") -> float:
        """Return δ*′, or the lower bound."""
        if epsilon >= self.reach:
            raise ArgumentError(
                f"epsilon must be below {exactly(self.reach)}, the least change this trap makes, "
                f"got {epsilon}"
            )
        self._check(notion)
        unsprung = self._unsprung(epsilon, notion) * (1 - self.sprung)
        return (1 - self.shortfall) * self.sprung + unsprung

    def _check(self, notion: str) -> None:
        if notion != self.notion != "coupled":
            raise ArgumentError(
                f"the trap is built for {self.notion} randomness, and its delta_star is not known "
                f"with {notion} randomness; build it with notion={notion!r}, or use "
                "estimate_delta_star"
            )

    def _unsprung(self, epsilon: float, notion: str) -> float:
        """Return δ* where no row shows the star, or a lower bound for it."""
        if self.honest is not None:
            return self.honest.delta_star(epsilon, notion)
        # The bound is for the trap's own ε, and δ* falls as ε grows.
        return self.delta_star_bound if epsilon <= self.reach - 1 else 0.0

    def epsilon_star(self, delta: float, notion: str = "shared") -> float:
        """Return the smallest ε with δ*′ ≤ δ, where it lies below the trap's reach."""
        self._check(notion)
        allowed = (delta - (1 - self.shortfall) * self.sprung) / (1 - self.sprung)
        epsilon = math.inf
        if self.honest is not None and allowed >= 0:
            epsilon = self.honest.epsilon_star(allowed, notion)
        if epsilon >= self.reach:
            raise ArgumentError(
                f"epsilon_star is not known for delta = {delta}: a sprung trap moves predictions "
                f"by {exactly(self.reach)} or more"
            )
        return epsilon


@dataclass(frozen=True)
class Trap:
    r"""(A′, P′, n), which is not (ε, δ)-stable, beside the (A, P, n) it mimics (Appendix B).

    - A test that never asks about the star gives A and A′ the same verdict on
      data from P (:func:`~poise.adversary.same_verdict`).
    - Data from P and P′ can be drawn together so that they coincide with
      probability (1 − c)^N (:meth:`coincidence_probability`).

    So a valid test has P(declares A stable)·(1 − c)^N ≤ α: the ceiling.

    Attributes
    ----------
    honest, world : World
        (A, P, n) and (A′, P′, n).
    kind : {"label", "feature", "linear"}
        What is hidden, and whether models stay linear.
    notion : {"shared", "independent", "coupled"}
        The notion in which the trap is not stable.
    epsilon, delta : float
        The stability it does not have.
    c : float
        Chance that a row shows the star.
    a : float
        Chance, at most, that a sprung trap leaves the prediction within ε.
    delta_star : float
        δ*_ε of the honest world, or the lower bound that was assumed.

    Examples
    --------
    >>> import poise
    >>> world = poise.world.zoo.nearest_neighbours(n=20, k=1)
    >>> trap = poise.adversary.feature_trap(world, epsilon=0.0, delta=0.1)
    >>> trap.honest.delta_star(0.0), round(trap.instability, 4), trap.exponent
    (0.05, 0.1, 21)
    >>> round(trap.coincidence_probability(n_labeled=20, n_unlabeled=1), 4)
    0.9474
    """

    honest: World
    world: World
    kind: str
    notion: str
    epsilon: float
    delta: float
    c: float
    a: float
    delta_star: float

    @property
    def name(self) -> str:
        """The kind of trap and the world it mimics."""
        return f"{self.kind} trap in {self.honest.name}"

    @property
    def _algorithm(self) -> Trapped:
        algorithm: Trapped = self.world.algorithm
        return algorithm

    @property
    def exponent(self) -> int:
        """n, or n + 1 for the feature trap: rows of a trial that can spring it."""
        return self._algorithm.trigger.rows_per_trial(self.world.n)

    @property
    def instability(self) -> float:
        """δ*_ε of the trap in closed form; a lower bound where a > 0 or δ* was assumed."""
        return self.world.delta_star(self.epsilon, self.notion)

    @property
    def threshold(self) -> float:
        """The c beyond which (A′, P′, n) is not (ε, δ)-stable."""
        return least_c(self.delta, self.delta_star, self.a, self.exponent)

    def coincidence_probability(self, n_labeled: int, n_unlabeled: int = 0) -> float:
        """Return (1 − c)^N, N the rows that could show the star: data from P and P′ coincide."""
        return (1 - self.c) ** self._exposed(n_labeled, n_unlabeled)

    def ceiling(self, alpha: float, n_labeled: int, n_unlabeled: int = 0) -> float:
        """Return α(1 − c)^−N: on the honest world no valid test has more power.

        As c falls to its threshold this becomes the ceiling of Theorem 2, 3, 4 or 5.
        """
        exposed = self._exposed(n_labeled, n_unlabeled)
        log_ceiling = math.log(arguments.alpha(alpha)) - exposed * math.log1p(-self.c)
        return math.exp(min(0.0, log_ceiling))

    def _exposed(self, n_labeled: int, n_unlabeled: int) -> int:
        return self._algorithm.trigger.rows_exposed(n_labeled, n_unlabeled)

    def draw_together(
        self, rng: np.random.Generator, n_labeled: int, n_unlabeled: int = 0
    ) -> tuple[Sample, Sample]:
        """Draw data from P and from P′ that coincide as often as they can."""
        poisoned = self.world.distribution
        assert isinstance(poisoned, PoisonedRows)
        X, y, marks = poisoned.draw_marked(rng, n_labeled + n_unlabeled)
        planted = poisoned.trigger.plant(X, y, marks)
        return partly_labeled(X, y, n_labeled), partly_labeled(*planted, n_labeled)


def least_c(delta: float, delta_star: float, a: float, exponent: int) -> float:
    """Return 1 − ((1−δ−a)/(1−δ*−a))^(1/k): from there on a trap is beyond δ.

    Examples
    --------
    >>> round(least_c(0.1, 0.0, 0.0, 5), 6)
    0.020852
    """
    # Written with log1p and expm1, because c may be as small as δ/n.
    return -math.expm1(math.log1p(-(delta - delta_star) / (1 - a - delta_star)) / exponent)
