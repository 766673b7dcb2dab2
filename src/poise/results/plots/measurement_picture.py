"""The picture of a measurement and, if there is one, its verdict: for files and reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from poise.arguments.printed_numbers import exactly
from poise.results.conditional_result import ConditionalResult
from poise.results.conditional_trials import ConditionalTrials
from poise.results.plots.canvas import new_figure
from poise.results.plots.changes import plot_judged, plot_trials
from poise.results.plots.influence import plot_influence

if TYPE_CHECKING:
    from poise.results import StabilityResult, Trials

__all__ = ["plot_conditional", "plot_measurement"]


def plot_measurement(
    trials: Trials | ConditionalTrials,
    result: StabilityResult | ConditionalResult | None = None,
    alpha: float = 0.05,
    line: Callable[[int], str] | None = None,
) -> Any:
    """Draw changes; a verdict marks what it used. ``line`` names training rows."""
    if isinstance(trials, ConditionalTrials):
        assert isinstance(result, ConditionalResult)
        return plot_conditional(trials, result, line)
    if result is None:
        return plot_trials(trials, alpha=alpha)
    assert not isinstance(result, ConditionalResult)
    return plot_judged(trials, result)


def plot_conditional(
    record: ConditionalTrials,
    result: ConditionalResult,
    line: Callable[[int], str] | None = None,
) -> Any:
    """Draw the shares of the fresh rows and, for "deployed", the rows that matter most.

    Examples
    --------
    >>> import numpy as np
    >>> from poise.results.conditional_design import ConditionalDesign
    >>> design = ConditionalDesign("mean", "deployed", n=2, n_fresh=60)
    >>> record = ConditionalTrials(np.full((60, 2), 0.1), design)
    >>> len(plot_conditional(record, record.test(epsilon=0.2, delta=0.1)).axes)
    2
    """
    deployed = record.design.notion == "deployed"
    figure = new_figure(12 if deployed else 8, 4.5)
    panels = list(figure.subplots(1, 1 + deployed, squeeze=False)[0])
    record.plot(result.epsilon, gamma=result.gamma, delta=result.delta, ax=panels[0])
    if deployed:
        plot_influence(record.influence(result.epsilon), panels[1], line=line)
        panels[1].set_title("most influential rows (nothing certified)", fontsize=9, loc="left")
    title = f"{record.design.title}, this training set of {record.design.n:,} rows: "
    level = f"{result.verdict.value} (error level {exactly(result.alpha)})"
    figure.suptitle(title + level, fontsize=11, x=0.01, ha="left", parse_math=False)
    return figure
