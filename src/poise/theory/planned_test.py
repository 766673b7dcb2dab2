"""A test that was planned: the numbers that were given, the answer, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated

from poise.arguments.decimal_noise import without_noise
from poise.arguments.field_rules import (
    Among,
    ErrorLevel,
    Positive,
    Probability,
    Share,
    TrainingSize,
    WholeNumber,
)
from poise.theory.averaged_planning import trials_for_averaging
from poise.theory.averaged_power_estimate import SECOND_POINT, averaged_power, planned_spread
from poise.theory.plan_side_by_side import MOST_POINTS, Needs, PowerWanted, needs_of_both
from poise.theory.rows_per_trial import RowsPerTrial

__all__ = ["PlannedTest"]

_POWER_TO_COMPARE = 0.9  # where the plan's own question is which power there is


@dataclass(frozen=True)
class PlannedTest:
    """A test that was planned, in numbers: see :func:`poise.plan`.

    :class:`poise.Plan` names all attributes, and adds words and a picture.

    Examples
    --------
    >>> planned = PlannedTest("n_labeled", 2929, 0, 100, 0.1, 0.05, 1.0, 0.0, False, 1.0, None)
    >>> planned.n_trials, planned.n_fits, round(planned.power_at(0.01), 3)
    (29, 58, 0.747)
    """

    solved_for: Annotated[str, Among(("n_labeled", "n", "delta", "alpha", "power"))]
    n_labeled: WholeNumber
    n_unlabeled: WholeNumber
    n: TrainingSize
    delta: Share
    alpha: ErrorLevel
    power: Probability
    delta_star: Probability
    randomized: bool
    achieved_power: Probability
    ceiling: Probability | None
    dips_at: WholeNumber | None = None
    holds_from: WholeNumber | None = None
    algorithms: Positive = 1
    remove: Positive = 1
    replace: bool = False
    losses: bool = False
    groups: bool = False
    test: Annotated[str, Among(("binomial", "averaged"))] = "binomial"
    spread: Probability | None = None
    points: Positive = 1

    @property
    def per_trial(self) -> RowsPerTrial:
        """The rows that one trial takes."""
        return RowsPerTrial(self.remove, self.replace, self.losses, self.groups, self.points)

    @property
    def level(self) -> float:
        """The level at which each of the algorithms is tested."""
        return self.alpha / self.algorithms

    @property
    def n_trials(self) -> int:
        """Number of independent trials m = ⌊κ⌋."""
        return self.per_trial.n_trials(self.n, self.n_labeled, self.n_unlabeled)

    @property
    def kappa(self) -> Fraction:
        """The exponent κ of the ceiling, exactly."""
        return self.per_trial.kappa(self.n, self.n_labeled, self.n_unlabeled)

    @property
    def n_fits(self) -> int:
        """Fits that a full run costs: two per trial and algorithm."""
        return 2 * self.n_trials * self.algorithms

    @property
    def dips(self) -> bool:
        """Whether the power falls below the requirement again beyond the answer."""
        return self.dips_at is not None

    def power_at(self, delta_star: float) -> float:
        """Compute the power of the planned test for another true probability δ*.

        Examples
        --------
        >>> import poise
        >>> plan = poise.plan(n=100, n_labeled=10_000, delta=0.1)
        >>> [round(plan.power_at(truth), 3) for truth in (0.0, 0.02, 0.05)]
        [1.0, 0.951, 0.445]
        """
        if self.test == "averaged":
            return self.averaged_power_at(delta_star, self.spread or 1.0)
        return self._binomial_power_at(delta_star)

    def _binomial_power_at(self, delta_star: float) -> float:
        from poise.theory.binomial_test import power

        return float(power(self.n_trials, self.delta, delta_star, self.level, self.randomized))

    def averaged_power_at(self, delta_star: float, spread: float) -> float:
        """Estimate the averaged test's power with this many trials, for another δ* and spread."""
        test = self.delta, delta_star, self.level
        return averaged_power(
            self.n_trials, *test, max(spread, delta_star), randomized=self.randomized
        )

    def power_table(self) -> tuple[tuple[float, float], ...]:
        """Compute pairs (δ*, power) from δ* = 0 to δ, where the power is at most the level.

        Examples
        --------
        >>> import poise
        >>> plan = poise.plan(n=100, n_labeled=10_000, delta=0.1)
        >>> [(truth, round(power, 3)) for truth, power in plan.power_table()][::5]
        [(0.0, 1.0), (0.05, 0.445), (0.1, 0.025)]
        """
        return tuple((truth, self.power_at(truth)) for truth in self.truths)

    @property
    def truths(self) -> tuple[float, ...]:
        """The true probabilities δ* of :meth:`power_table`."""
        below = (without_noise(self.delta * tenth / 10) for tenth in range(10))
        return (*below, self.delta)

    @property
    def spreads(self) -> tuple[float, ...]:
        """Spreads for which the averaged test is shown beside the Binomial test."""
        if self.spread is not None:
            return (self.spread,)
        return tuple(planned_spread(MOST_POINTS, chance) for chance in SECOND_POINT)

    @property
    def averaging_pays(self) -> bool:
        """Whether there are enough trials for the averaged test to be the better one."""
        return self.randomized or self.n_trials >= trials_for_averaging(self.delta, self.level)

    def power_of_averaged(self) -> dict[float, tuple[float, ...]]:
        """Estimate the averaged test's power with this many trials, for each of :attr:`spreads`.

        The powers belong to the δ* of :meth:`power_table`. They assume trials of 20 points, or
        of :attr:`points`. Empty where averaging does not pay.

        Examples
        --------
        >>> import poise
        >>> plan = poise.plan(n=100, n_labeled=10_000, delta=0.1)
        >>> {round(v, 3): round(powers[5], 2) for v, powers in plan.power_of_averaged().items()}
        {0.525: 0.62, 0.145: 1.0}
        """
        if self.test != "averaged" and not self.averaging_pays:
            return {}
        return {
            spread: tuple(self.averaged_power_at(truth, spread) for truth in self.truths)
            for spread in self.spreads
        }

    def power_of_binomial(self) -> tuple[float, ...]:
        """Compute the Binomial test's power with this many trials, at the same δ*."""
        return tuple(map(self._binomial_power_at, self.truths))

    @cached_property
    def needs(self) -> tuple[Needs, ...]:
        """What the Binomial and the averaged test need for the power at δ*, side by side.

        Empty if δ* is 0, where averaging gains nothing. If the question was the power, the
        needs are for a power of 0.9.
        """
        wanted = PowerWanted(
            self.delta, self.delta_star, self.level, self.power_compared, self.randomized
        )
        rows = self.n, self.n_unlabeled, self.per_trial
        return needs_of_both(wanted, *rows, spread=self.spread)

    @property
    def power_compared(self) -> float:
        """The power for which :attr:`needs` are stated."""
        return _POWER_TO_COMPARE if self.solved_for == "power" else self.power
