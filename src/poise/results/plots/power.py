"""What a planned test can show: its power, and which questions a number of rows can answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise import checks, numbers
from poise.errors import ArgumentError
from poise.results.plots.frame import COLOURS, WIDTH, Panels, Size, legend, level, upright
from poise.theory import binomial

if TYPE_CHECKING:
    from poise.theory.planning import MenuRow, Plan

Floats = NDArray[np.float64]

_POINTS = 121
_BEYOND = 1.5  # times δ: how far the curves go, where "power" is the probability of an error


def power_curves(plan: Plan) -> tuple[Floats, Floats, Floats]:
    """Compute true probabilities, the power of the planned test, and the ceiling for all tests.

    The ceiling holds for algorithms of which the true probability is below δ.

    Examples
    --------
    >>> import poise
    >>> truth, power, ceiling = power_curves(poise.plan(n=100, delta=0.1))
    >>> float(power[0]), bool((power <= ceiling)[truth < 0.1].all())
    (1.0, True)
    """
    truth = np.linspace(0, min(1.0, _BEYOND * plan.delta), _POINTS)
    power = binomial.power(plan.n_trials, plan.delta, truth, plan.alpha, plan.randomized)
    ceiling = np.full(len(truth), np.nan)
    for k in np.flatnonzero(truth < plan.delta):
        ceiling[k] = plan.ceiling_at(truth[k])
    return truth, power, ceiling


def plot_power(
    plan: Plan, *, ax: Any = None, title: str | None = None, figsize: Size | None = None
) -> Any:
    """Draw the power of a planned test, below what no valid test can exceed with these rows.

    Parameters
    ----------
    plan : Plan
        From :func:`poise.plan`.
    ax : matplotlib axes, optional
        Where to draw; left out, a figure of its own, which a notebook shows.
    title : str, optional
        Instead of the training size.
    figsize : tuple of float, optional
        Width and height of the figure, in inches.

    Returns
    -------
    figure, or ``ax`` if that was given

    Examples
    --------
    >>> import poise
    >>> plot_power(poise.plan(n=100, delta=0.1)).axes[0].get_ylabel()
    'P(“stable”)'
    """
    panels = Panels((WIDTH, 2.3), (1,), ax, figsize)
    (axes,) = panels.axes
    truth, power, ceiling = power_curves(plan)
    axes.set(xlim=(0, truth[-1]), ylim=(0, 1.03))
    if not plan.each:
        axes.plot(truth, ceiling, "--", color=COLOURS["seen"], lw=1, label="ceiling for every test")
    axes.plot(truth, power, color=COLOURS["limit"], lw=1.3, label="Binomial test")
    upright(axes, plan.delta, f"δ = {numbers.at_most(plan.delta)}")
    level(axes, plan.alpha, f"α = {numbers.at_most(plan.alpha)}")
    axes.set(xlabel="true P(change > ε)", ylabel="P(“stable”)")
    legend(axes)
    rows = f"{plan.n_labeled:,} rows · {checks.counted(plan.n_trials, 'trial')}"
    what = "Power with one training set" if plan.each else f"Power at n = {plan.n:,}"
    return panels.finish(title, what, rows)


def plot_menu(
    menu: Sequence[MenuRow],
    delta: float | None = None,
    *,
    ax: Any = None,
    title: str | None = None,
    figsize: Size | None = None,
) -> Any:
    """Draw the smallest δ that a run without a larger change can show, at each training size.

    Parameters
    ----------
    menu : sequence of MenuRow
        From :func:`poise.theory.menu`.
    delta : float, optional
        Allowed probability to mark, with the largest n that can show it.
    ax, title, figsize
        As for :func:`plot_power`.

    Examples
    --------
    >>> from poise.theory.planning import menu
    >>> plot_menu(menu(3000), delta=0.1).axes[0].get_xlabel()
    'training size n'
    """
    shown = [
        (row.n, row.smallest_delta) for row in reversed(menu) if row.smallest_delta is not None
    ]
    if not shown:
        raise ArgumentError("must hold a training size with a trial", argument="menu")
    panels = Panels((WIDTH, 2.3), (1,), ax, figsize)
    (axes,) = panels.axes
    sizes, limits = zip(*shown, strict=True)
    axes.set(xscale="log", yscale="log", xlabel="training size n", ylabel="smallest δ to be shown")
    axes.plot(sizes, limits, "o-", color=COLOURS["limit"], ms=3.5, lw=1.2)
    if delta is not None:
        level(axes, checks.delta(delta), f"δ = {numbers.exactly(delta)}")
        able = [(n, limit) for n, limit in shown if limit <= delta]
        if able:
            axes.plot(*max(able), "D", color=COLOURS["large"], ms=5, zorder=3)
            upright(axes, max(able)[0], f"n = {max(able)[0]:,}", COLOURS["large"])
    for axis in (axes.xaxis, axes.yaxis):
        _write_out(axis)
    return panels.finish(title)


def _write_out(axis: Any) -> None:
    """Put plain numbers on a logarithmic axis."""
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1, 3)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
