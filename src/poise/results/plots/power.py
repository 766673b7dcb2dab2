"""The power of a planned test against the true probability of a change beyond ε."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments.printed_numbers import exactly, level_in_words, number
from poise.results.plots.canvas import COLOURS, Panels, legend, tidy
from poise.results.text.describe_plan import delta_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from poise.results.plan_result import Plan

__all__ = ["plot_power"]

_POINTS = 201
_STEP_OF_ESTIMATES = 4
_STYLES = ("-", "--", "-.")  # the Binomial test, and estimates of the averaged test
_MULTIPLE_OF_DELTA = 1.5  # how far beyond δ the curve is drawn, where "power" is the error


def power_lines(plan: Plan) -> dict[str, NDArray[np.float64]]:
    """Compute pairs (δ*, probability of declaring stable) for each test, by its name.

    The averaged test is left out where it does not pay; its line is an estimate.

    Examples
    --------
    >>> import poise
    >>> lines = power_lines(poise.plan(n=100, n_labeled=3000, delta=0.1))
    >>> list(lines), lines["Binomial"][0].tolist()
    (['Binomial'], [0.0, 1.0])
    """
    from poise.theory.binomial_test import power

    truth = np.linspace(0, min(1.0, _MULTIPLE_OF_DELTA * plan.delta), _POINTS)
    reached = power(plan.n_trials, plan.delta, truth, plan.level, plan.randomized)
    lines = {"Binomial": np.column_stack([truth, reached])}
    # Beyond δ nothing is known but that the test is valid; estimates take long, and are smooth.
    below = truth[truth < plan.delta][::_STEP_OF_ESTIMATES]
    for spread in plan.power_of_averaged():
        estimates = np.array([plan.averaged_power_at(each, spread) for each in below])
        line = np.column_stack([below, estimates])
        lines[f"averaged, spread {number(spread)}"] = line[estimates > plan.level]
    return lines


def plot_power(
    plan: Plan,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw the probability of declaring stable, with δ, the level and the power wanted.

    Both tests are drawn, with the trials of the plan; the averaged test, whose power is an
    estimate for an assumed spread of its shares, in dashes.

    ``ax``, ``title`` and ``figsize`` are those of every picture; the figure is
    returned, or ``ax`` if that was given.

    Examples
    --------
    >>> import poise
    >>> plot_power(poise.plan(n=100, n_labeled=3000, delta=0.1)).axes[0].get_ylabel()
    'probability of "stable", n = 100, 29 trials'
    """
    panels = Panels(1, (5.5, 4.2), ax, figsize)
    (axes,) = panels.axes
    for (name, line), style in zip(power_lines(plan).items(), _STYLES, strict=False):
        axes.plot(*line.T, color=COLOURS["band"], ls=style, label=name)
    axes.axvline(plan.delta, color=COLOURS["mark"], lw=1, label=f"delta = {delta_in_words(plan)}")
    level = f"level {level_in_words(plan.level)}"
    axes.axhline(plan.level, color=COLOURS["unstable"], lw=1, ls="--", label=level)
    if plan.solved_for != "power":
        wanted = f"power wanted: {exactly(plan.power)}"
        axes.axhline(plan.power, color=COLOURS["stable"], lw=1, ls=":", label=wanted)
    axes.set_ylim(0.0, 1.05)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("true probability of a change beyond epsilon")
    axes.set_ylabel(f'probability of "stable", n = {plan.n:,}, {plan.n_trials:,} trials')
    legend(axes)
    tidy(axes)
    panels.title(title)
    return panels.drawn
