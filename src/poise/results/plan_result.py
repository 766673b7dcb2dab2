"""A test that was planned, not run: its numbers, in words and as a picture."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from poise.arguments.json_text import parse_json
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.arguments.typed_fields import read_object
from poise.errors import RecordError
from poise.theory.planned_test import PlannedTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Plan"]


@dataclass(frozen=True)
class Plan(PlannedTest, ShownAsCard):
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

    @classmethod
    def of(cls, planned: PlannedTest) -> Plan:
        """Present what was planned."""
        return cls(**{name: getattr(planned, name) for name in cls.__dataclass_fields__})

    @property
    def note(self) -> str:
        """What the answer alone does not show; empty if nothing."""
        from poise.results.text.describe_plan import note

        return note(self)

    def summary(self) -> str:
        """Say what was asked, what the answer is, and what it does not promise."""
        from poise.results.text.describe_plan import summary

        return summary(self)

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
            "delta_star": list(self.truths),
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
