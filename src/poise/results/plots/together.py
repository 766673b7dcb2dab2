"""Several algorithms beside each other, and limits against the training size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from poise import numbers
from poise.results.plots.frame import COLOURS, WIDTH, WORD, Panels, Size, level, shortened, upright
from poise.results.plots.histogram import Mark

if TYPE_CHECKING:
    from poise.results.together import Comparison, Curve

_PER_ROW = 0.28  # inches


def plot_compared(
    compared: Comparison,
    *,
    ax: Any = None,
    title: str | None = None,
    figsize: Size | None = None,
) -> Any:
    """Draw the share of larger changes of each algorithm, with the limits beside its verdict.

    Examples
    --------
    >>> from poise import Trials
    >>> from poise.results.question import Question
    >>> from poise.results.together import Comparison
    >>> trials = {"a": Trials.from_changes([0.1] * 40, n=10)}
    >>> figure = plot_compared(Comparison(trials, Question(0.2, 0.1)))
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['a']
    """
    names, question = list(compared), compared.question
    panels = Panels((WIDTH, 0.9 + _PER_ROW * len(names)), (1,), ax, figsize)
    (axes,) = panels.axes
    for k, name in enumerate(names):
        mark = Mark.of(compared[name])
        reach: Any = [[each] for each in mark.reach]
        style: dict[str, Any] = {"color": COLOURS[mark.verdict], "capsize": 2.5, "clip_on": False}
        axes.errorbar([mark.seen], [k], xerr=reach, fmt="o", ms=4, lw=1.6, **style)
    axes.set_yticks(range(len(names)), [shortened(name, 24) for name in names], parse_math=False)
    axes.set(xlim=(0, None), ylim=(len(names) - 0.5, -0.5), xlabel=_share(compared))
    axes.grid(visible=False)
    upright(axes, question.delta, f"δ = {numbers.exactly(question.delta)}")
    n = next(iter(compared.trials.values())).design.n
    limits = numbers.confidence(next(iter(compared.values())).question.level)
    return panels.finish(title, f"{len(names)} algorithms at n = {n:,}", f"each limit: {limits}")


def plot_curve(
    curve: Curve, *, ax: Any = None, title: str | None = None, figsize: Size | None = None
) -> Any:
    """Draw the limits of a curve: for the probability of a larger change, or for its size.

    Examples
    --------
    >>> from poise import Trials
    >>> from poise.results.question import Question
    >>> from poise.results.together import Curve
    >>> trials = {"10": Trials.from_changes([0.1] * 40, n=10)}
    >>> plot_curve(Curve(trials, Question(None, 0.1))).axes[0].get_ylabel()
    'change that 10% exceed'
    """
    limits, delta = curve.delta_upper or curve.epsilon_upper or {}, curve.question.delta
    panels = Panels((WIDTH, 2.3), (1,), ax, figsize)
    (axes,) = panels.axes
    sizes, heights = np.array(list(limits)), np.array(list(limits.values()))
    axes.plot(sizes[np.isfinite(heights)], heights[np.isfinite(heights)], color=COLOURS["limit"])
    colours = [COLOURS[each.verdict] for each in curve.values()] or [COLOURS["limit"]] * len(sizes)
    for size, height, colour in zip(sizes, heights, colours, strict=True):
        if np.isfinite(height):
            axes.plot([size], [height], "o", ms=5, color=colour, clip_on=False)
        else:
            axes.annotate("∞", (size, 1), xycoords=("data", "axes fraction"), fontsize=WORD)
    axes.set(xscale="log", xlabel="training size n", ylim=(0, None))
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    if curve.delta_upper:
        level(axes, delta, f"δ = {numbers.exactly(delta)}")
        axes.set_ylabel(_share(curve))
    else:
        axes.set_ylabel(f"change that {numbers.percent(delta)} exceed")
    below = f"limits: {numbers.confidence(curve.question.alpha)} at once"
    return panels.finish(title, next(iter(curve.trials.values())).design.title, below)


def _share(found: Comparison | Curve) -> str:
    epsilon = found.question.epsilon
    return "P(change)" if epsilon is None else f"P(change > {numbers.exactly(epsilon)})"
