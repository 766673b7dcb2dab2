"""The question of a plot: ε, its limit and, if known, δ and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from poise import arguments
from poise.arguments import shortened
from poise.arguments.printed_numbers import at_least, at_most, exactly
from poise.errors import ArgumentError
from poise.results.text.describe_design import allowed_change

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from poise.results import StabilityResult, Trials
    from poise.results.conditional_result import ConditionalResult

__all__ = ["PlottedQuestion", "note_limit", "verdict_title"]


@dataclass(frozen=True)
class PlottedQuestion:
    """What is marked in a picture of changes: the numbers that the verdict used.

    Attributes
    ----------
    epsilon : float
        The allowed change.
    limit : float
        The limit that the verdict used, for this ε fixed beforehand: δ̂, which lies
        below the band that holds for every ε at once; the lower limit if the verdict
        is "unstable".
    delta : float or None
        The allowed probability of a larger change.
    verdict : str
        What was decided; empty where nothing was.
    interval : tuple of float or None
        The two-sided limits that the summary of a verdict names.
    allowed : str
        ε in words, with its share of the spread where it was given so.

    Examples
    --------
    >>> from poise import Trials
    >>> PlottedQuestion.put_to(Trials.from_changes([0.1] * 58, n=5), 0.2, 0.05, 0.05).verdict
    'inconclusive'
    """

    epsilon: float
    limit: float
    delta: float | None = None
    verdict: str = ""
    interval: tuple[float, float] | None = None
    allowed: str = ""

    @classmethod
    def put_to(
        cls, trials: Trials, epsilon: float | None, delta: float | None, alpha: float
    ) -> PlottedQuestion | None:
        """Judge trials by ε and δ; None where no ε is given."""
        if epsilon is None and delta is not None:
            raise ArgumentError("delta is drawn beside epsilon; give both")
        if epsilon is None:
            return None
        if delta is not None:
            return cls.of(trials.test(epsilon, delta, alpha))
        checked = float(arguments.epsilon(epsilon))
        allowed = allowed_change(checked, trials.design)
        return cls(checked, trials.delta_hat(checked, alpha), allowed=allowed)

    @classmethod
    def of(cls, result: StabilityResult | ConditionalResult) -> PlottedQuestion:
        """Take the question of a verdict, with its limit."""
        unstable = result.verdict == "unstable"
        limit = result.printed_delta_lower if unstable else result.printed_delta_hat
        interval = result.delta_interval
        allowed = allowed_change(result.epsilon, result.design)
        return cls(result.epsilon, limit, result.delta, result.verdict.value, interval, allowed)

    @property
    def worded(self) -> str:
        """The limit as it is written in the legend, rounded to the safe side."""
        if self.verdict == "unstable":
            return f"≥ {at_least(self.limit)}"
        return f"≤ {at_most(self.limit)}"

    @property
    def between(self) -> str:
        """The two-sided limits, rounded to the safe side; empty where nothing was decided."""
        if self.interval is None:
            return ""
        low, high = self.interval
        return f"two-sided: between {at_least(low)} and {at_most(high)}"


def note_limit(axes: Axes, result: StabilityResult | ConditionalResult) -> None:
    """Name the limit that the verdict used beside the δ it is held against, among the labels."""
    asked = PlottedQuestion.of(result)
    allowed = f"{result.symbol} {asked.worded} (allowed: δ = {exactly(result.delta)})"
    axes.plot([], [], " ", label=f"{allowed}, for ε = {asked.allowed} alone")


def verdict_title(result: StabilityResult | ConditionalResult) -> str:
    """Return the title of the picture of one verdict.

    Examples
    --------
    >>> from poise import Trials
    >>> verdict_title(Trials.from_changes([0.1] * 58, n=5).test(0.2, 0.05))
    'unknown at n = 5: inconclusive (error level 0.05)'
    """
    name = shortened(result.design.title, 50)
    level = exactly(result.alpha)
    return f"{name} at n = {result.n:,}: {result.verdict.value} (error level {level})"
