"""The result of planning: what a test needs, and its power."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from poise.arguments.field_rules import (
    Among,
    ErrorLevel,
    Positive,
    Probability,
    Share,
    TrainingSize,
    WholeNumber,
)
from poise.arguments.json_text import parse_json
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.arguments.typed_fields import read_object
from poise.errors import RecordError
from poise.theory import plan_words
from poise.theory.averaged_planning import trials_for_averaging
from poise.theory.averaged_power_estimate import SECOND_POINT, averaged_power, planned_spread
from poise.theory.plan_side_by_side import MOST_POINTS, Needs, PowerWanted, needs_of_both
from poise.theory.rows_per_trial import RowsPerTrial

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Plan"]

_POWER_TO_COMPARE = 0.9  # where the plan's own question is which power there is


@dataclass(frozen=True)
class Plan(ShownAsCard):
    """A test that was planned, not run: see :func:`poise.plan`.

    Attributes
    ----------
    solved_for : str
        Which of ``n_labeled``, ``n``, ``delta``, ``alpha``, ``power`` is the answer.
    n_labeled, n_unlabeled : int
        Rows with and without a response.
    n : int
        Training size whose stability is asked.
    delta, alpha : float
        Allowed probability of a change beyond ε; error level.
    power : float
        The power that was asked for; the power that is reached, if that was the question.
    delta_star : float
        The true probability of a change beyond ε for which the power is stated.
    randomized : bool
        Whether the test tosses the paper's coin at the critical count.
    achieved_power : float
        The probability that this test declares such an algorithm stable; for the averaged
        test an estimate, which assumes a spread of its shares.
    ceiling : float or None
        What no valid black-box test can exceed with these rows (Theorem 2); None for a
        variant of which no ceiling is known.
    dips_at : int or None
        Next larger ``n_labeled`` (next smaller ``n``, if that is the answer) at which the
        plain test's power falls below the requirement again; None if it never does.
    holds_from : int or None
        The requirement holds for every ``n_labeled`` from here upwards (every ``n`` from here
        downwards); None if there is no such value, or no such question.
    algorithms : int
        Algorithms that share the level.
    remove, replace, losses, groups
        The variant that is planned, as in :func:`poise.plan`.
    test : str
        "binomial" or "averaged".
    spread : float or None
        Spread that the shares of the averaged test are assumed to have; None if none was
        given for the Binomial test.
    points : int
        Test points of each trial.

    Examples
    --------
    >>> import poise
    >>> plan = poise.plan(n=100, delta=0.1, alpha=0.05, power=0.9, delta_star=0.01)
    >>> plan.n_labeled, plan.n_trials, plan.n_fits, plan.dips_at, plan.holds_from
    (4646, 46, 92, 5454, 6161)
    >>> Plan.from_json(plan.to_json()) == plan
    True
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

    @property
    def note(self) -> str:
        """What the answer alone does not show; empty if nothing."""
        return plan_words.note(self)

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
        return tuple((truth, self.power_at(truth)) for truth in self._truths)

    @property
    def _truths(self) -> tuple[float, ...]:
        below = (float(f"{self.delta * tenth / 10:.12g}") for tenth in range(10))
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
            spread: tuple(self.averaged_power_at(truth, spread) for truth in self._truths)
            for spread in self.spreads
        }

    def power_of_binomial(self) -> tuple[float, ...]:
        """Compute the Binomial test's power with this many trials, at the same δ*."""
        return tuple(map(self._binomial_power_at, self._truths))

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

    def summary(self) -> str:
        """Say what was asked, what the answer is, and what it does not promise."""
        return plan_words.summary(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as plain numbers, those that follow from others included."""
        derived: dict[str, Any] = {
            "n_trials": self.n_trials,
            "kappa": float(self.kappa),
            "n_fits": self.n_fits,
        }
        derived |= {"dips": self.dips, "note": self.note, "level": self.level}
        derived["power_table"] = [list(pair) for pair in self.power_table()]
        derived["needs"] = [asdict(needs) for needs in self.needs]
        averaged = [{"spread": v, "power": list(p)} for v, p in self.power_of_averaged().items()]
        derived["power_side_by_side"] = {
            "delta_star": list(self._truths),
            "binomial": list(self.power_of_binomial()),
            "averaged": averaged,
        }
        return asdict(self) | derived

    def to_json(self) -> str:
        """Write the plan as JSON."""
        return json.dumps(self.to_dict(), indent=2)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Read what :meth:`to_json` wrote."""
        try:
            content = parse_json(text)
        except ValueError as error:
            raise RecordError(f"this is not JSON of a plan written by poise: {error}") from None
        plan = read_object(cls, content, "a plan", derived=True)
        if plan.remove > plan.n:
            raise RecordError("this is not a plan written by poise: its numbers contradict")
        return plan

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of one row, for plans side by side."""
        import pandas as pd

        return pd.DataFrame([self.to_dict()])

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the power of both tests against δ*; return the figure, or ``ax``."""
        from poise.results.plots.power import plot_power

        return plot_power(self, ax, title=title, figsize=figsize)

    def _card(self) -> Card:
        question, answer, *rest = self.summary().splitlines()
        return Card(answer, "plan", [question, *rest], draw=self.plot)

    def __str__(self) -> str:
        return self.summary()
