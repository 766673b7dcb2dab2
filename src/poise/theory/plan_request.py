"""The arguments of a plan, checked, and what follows from them."""

from __future__ import annotations

import dataclasses
from dataclasses import asdict, dataclass, field
from typing import Any

from poise import arguments
from poise.arguments.printed_numbers import exactly
from poise.errors import ArgumentError
from poise.theory import binomial_test
from poise.theory.averaged_planning import trials_for_averaging
from poise.theory.averaged_power_estimate import AveragedPower, averaged_power, planned_spread
from poise.theory.plan_side_by_side import MOST_POINTS
from poise.theory.planned_test import PlannedTest
from poise.theory.rows_per_trial import RowsPerTrial
from poise.theory.trials_for_power import PlainPower, RandomizedPower

__all__ = ["PlanRequest", "points_and_spread"]


def points_and_spread(
    test: str, spread: float | None, points: int | None, truth: float
) -> tuple[int, float | None]:
    """Check the choice of the test; return the points of a trial and the spread assumed."""
    arguments.choice("test", test, ("binomial", "averaged"))
    share = None if spread is None else float(arguments.probability("spread", spread))
    if share is not None and (share < truth or share == 0):
        raise ArgumentError(
            f"spread must be in (0, 1] and at least delta_star = {exactly(truth)}, got "
            f"{exactly(share)}: no shares with that mean vary so little"
        )
    if test == "binomial":
        if points not in (None, 1):
            raise ArgumentError(
                f"points must be 1 for the Binomial test, got {points}: it has one change a trial"
            )
        return 1, share
    count = MOST_POINTS if points is None else int(arguments.count("points", points, 1))
    return count, max(planned_spread(count), truth) if share is None else share


@dataclass(frozen=True)
class PlanRequest:
    """The arguments of a plan, checked; the one to be found is None until it is found."""

    n_labeled: Any
    n: Any
    delta: Any
    alpha: Any
    power: Any
    n_unlabeled: int = 0
    delta_star: float = 0.0
    randomized: bool = False
    algorithms: int = 1
    per_trial: RowsPerTrial = field(default_factory=RowsPerTrial)
    test: str = "binomial"
    spread: float | None = None

    @property
    def units(self) -> str:
        """What n counts, in the plural."""
        return f"{self.per_trial.unit}s"

    @property
    def level(self) -> float:
        """The level at which each algorithm is tested."""
        return float(self.alpha / self.algorithms)

    @property
    def trials(self) -> int:
        """Trials that the rows hold."""
        return self.per_trial.n_trials(self.n, self.n_labeled, self.n_unlabeled)

    @property
    def ceiling(self) -> float | None:
        """What no valid black-box test can exceed with these rows; None if that is not known."""
        rows = self.n, self.n_labeled, self.n_unlabeled
        return self.per_trial.ceiling(*rows, self.delta, self.delta_star, self.level)

    @property
    def reached(self) -> float:
        """Power of the test as it is set now."""
        test = self.delta, self.delta_star, self.level
        if self.test == "averaged":
            coin = {"randomized": self.randomized}
            return averaged_power(self.trials, *test, self.spread or 1.0, **coin)
        return float(binomial_test.power(self.trials, *test, self.randomized))

    @property
    def meets(self) -> bool:
        """Whether the power is what is required, and the test is the right one for it."""
        if self.test == "averaged" and not self.randomized:
            pays = self.trials >= trials_for_averaging(self.delta, self.level)
            return bool(pays and self.reached >= self.power)
        return bool(self.reached >= self.power)

    @property
    def curve(self) -> RandomizedPower:
        """Where the power meets the requirement, as trials are added."""
        goal = self.delta, self.delta_star, self.level, self.power
        if self.test == "averaged":
            return AveragedPower(*goal, spread=self.spread or 1.0, coin=self.randomized)
        return RandomizedPower(*goal) if self.randomized else PlainPower(*goal)

    def rows_for(self, trials: int) -> int:
        """Fewest labelled rows that hold this many trials."""
        return self.per_trial.rows_for(trials, self.n, self.n_unlabeled)

    def size_for(self, trials: int) -> int:
        """Largest n for which the rows hold this many trials; it may be too small for one."""
        return self.per_trial.size_for(trials, self.n_labeled, self.n_unlabeled)

    def having(self, name: str, value: float) -> PlanRequest:
        """Fill in one value."""
        change: dict[str, Any] = {name: value}
        return dataclasses.replace(self, **change)

    def solved(self, unknown: str, value: float, **found: object) -> PlannedTest:
        """Fill in the answer and all that follows from it."""
        done = self.having(unknown, value)
        values: dict[str, Any] = {
            name: getattr(done, name)
            for name in PlanRequest.__dataclass_fields__
            if name != "per_trial"
        }
        values |= asdict(self.per_trial) | found
        values |= {"achieved_power": done.reached, "ceiling": done.ceiling}
        return PlannedTest(solved_for=unknown, **values)
