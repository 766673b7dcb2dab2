"""Limits of several algorithms or sizes beside each other, and the power of a planned test."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise import numbers
from poise.checks import counted
from poise.errors import printable
from poise.results.design import in_brief
from poise.results.plots.changes import Mark
from poise.results.plots.frame import COLOURS, WORD, Panels, legend, level, upright
from poise.theory import binomial

if TYPE_CHECKING:
    from poise.results.together import Comparison, Curve
    from poise.theory.planning import Plan

Floats = NDArray[np.float64]
_PER_ROW = 0.28  # inches
_LONGEST = 26  # letters of a line beside the axis
_POINTS = 121  # of a curve
_BEYOND = 1.5  # times δ: how far power is drawn, where it is the probability of an error


def plot_compared(compared: Comparison, **place: Any) -> Any:
    """Draw the share of larger changes of each algorithm, with the limits beside its verdict."""
    names, question = list(compared), compared.question
    panels = Panels(0.9 + _PER_ROW * len(names), **place)
    (axes,) = panels.axes
    marks = [Mark.of(compared[name]) for name in names]
    for k, mark in enumerate(marks):
        mark.draw(axes, row=k)
    brief = [in_brief(printable(name), 2 * _LONGEST) for name in names]
    shown = [textwrap.fill(each, _LONGEST, max_lines=2, placeholder=" …") for each in brief]
    axes.set_yticks(range(len(names)), shown, parse_math=False)
    end = 1.05 * max(question.delta, *(max(mark.seen, mark.high or 0) for mark in marks))
    axes.set(xlim=(0, end or 1), ylim=(len(names) - 0.5, -0.5), xlabel=_share(compared))
    axes.grid(visible=False)
    upright(axes, question.delta, f"δ = {numbers.exactly(question.delta)}")
    n = next(iter(compared.trials.values())).design.n
    limits = numbers.confidence(next(iter(compared.values())).question.level)
    return panels.finish(f"{len(names)} algorithms at n = {n:,}", f"each limit: {limits}")


def plot_curve(curve: Curve, **place: Any) -> Any:
    """Draw the limits of a curve: for the probability of a larger change, or for its size."""
    limits, delta = curve.delta_upper or curve.epsilon_upper or {}, curve.question.delta
    panels = Panels(2.3, **place)
    (axes,) = panels.axes
    sizes, heights = np.array(list(limits)), np.array(list(limits.values()))
    axes.plot(sizes, heights, color=COLOURS["limit"])
    colours = [COLOURS[each.verdict] for each in curve.values()] or COLOURS["limit"]
    axes.scatter(sizes, heights, s=25, c=colours, zorder=3, clip_on=False)
    for size in sizes[np.isinf(heights)]:
        axes.annotate("∞", (size, 1), xycoords=("data", "axes fraction"), fontsize=WORD)
    axes.set(xscale="log", xlabel="training size n")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    if curve.delta_upper:
        level(axes, delta, f"δ = {numbers.exactly(delta)}")
    axes.set_ylim(0, None)
    size = f"change that {numbers.percent(delta)} exceed"
    axes.set_ylabel(_share(curve) if curve.delta_upper else size)
    below = f"limits: {numbers.confidence(curve.question.alpha)} at once"
    return panels.finish(next(iter(curve.trials.values())).design.title, below)


def _share(found: Comparison | Curve) -> str:
    epsilon = found.question.epsilon
    return "P(change)" if epsilon is None else f"P(change > {numbers.exactly(epsilon)})"


def plot_power(plan: Plan, **place: Any) -> Any:
    """Draw the power of a planned test, below what no valid test can exceed with these rows."""
    panels = Panels(2.3, **place)
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
    rows = f"{plan.n_labeled:,} rows · {counted(plan.n_trials, 'trial')}"
    what = "Power with one training set" if plan.each else f"Power at n = {plan.n:,}"
    return panels.finish(what, rows)


def power_curves(plan: Plan) -> tuple[Floats, Floats, Floats]:
    """Compute true probabilities, the power of the planned test, and the ceiling for all tests.

    The ceiling holds for algorithms of which the true probability is below δ.
    """
    truth = np.linspace(0, min(1.0, _BEYOND * plan.delta), _POINTS)
    power = binomial.power(plan.n_trials, plan.delta, truth, plan.alpha, plan.randomized)
    ceiling = [plan.ceiling_at(each) if each < plan.delta else np.nan for each in truth]
    return truth, power, np.array(ceiling)
