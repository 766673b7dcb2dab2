"""How large the changes are, and how likely larger ones: the picture of trials and of a result."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from poise import numbers
from poise.checks import counted
from poise.results.plots.frame import COLOURS, Panels, Size, legend, level, remark, upright
from poise.results.plots.histogram import LARGEST, Histogram, Mark, Steps, axis_end
from poise.results.profile import Profile
from poise.results.result import Result
from poise.results.trials import Trials
from poise.theory.changes import Changes

Floats = NDArray[np.float64]


def plot_changes(answer: Trials | Result, law: ModuleType, **place: Any) -> Any:
    """Draw the changes and, below them, the limit for every ε, with the one that was asked.

    Small measured changes say nothing about how large the next one may be: the limits do.
    """
    trials = answer if isinstance(answer, Trials) else answer.trials
    mark, sized = Mark.of(answer), trials.design.sized
    panels = Panels(3.6, (1, 1), **place) if sized else Panels(2.6, (1, 0.3), **place)
    above, below = panels.axes
    if sized:
        bars, steps = _measured(answer.table, law, mark)
        draw_bars(above, bars, trials)
        _draw_steps(below, steps, mark, (float(bars.edges[0]), float(bars.edges[-1])))
    else:
        _draw_shares(above, trials)
        _draw_question(below, mark, trials)
    size = f"n = {trials.design.n:,}" if trials.design.n else ""
    words = filter(None, [mark.verdict, size, counted(trials.n_observed, "trial")])
    return panels.finish(trials.design.title, " · ".join(words), mark.verdict)


def plot_profile(profile: Profile, **place: Any) -> Any:
    """Draw a limit for the probability of a larger change, for every allowed change at once."""
    panels = Panels(2.1, **place)
    (axes,) = panels.axes
    end = min(1.05 * float(profile.epsilon[-1]), LARGEST) or 1.0
    steps = np.append(profile.epsilon, end), np.append(profile.delta, profile.delta[-1])
    _draw_limit(axes, *steps, profile.alpha)
    # Between the steps of the limit the observed share may fall further: dots, no steps.
    axes.plot(profile.epsilon, profile.observed, ".", ms=2.5, color=COLOURS["seen"], label="seen")
    _finish_limits(axes, (0.0, end))
    return panels.finish()


def _measured(table: Changes, law: ModuleType, mark: Mark) -> tuple[Histogram, Steps]:
    """Compute what is drawn of changes that have a size: those that the law reads."""
    first_only = law.__name__.endswith("binomial")
    read = (table.values[:, :1] if first_only else table.values).ravel()
    end = axis_end(read[np.isfinite(read)], mark.epsilon)
    if mark.limit is not None and mark.limit <= LARGEST:
        end = max(end, 1.05 * mark.limit)
    bars = Histogram.of(read, mark.epsilon, end)
    return bars, Steps.of(law.profile(table, mark.alpha), read, float(bars.edges[-1]))


def draw_bars(axes: Axes, bars: Histogram, trials: Trials) -> None:
    """Draw how many changes are how large, and how many of them are larger than ε."""
    _draw_counts(axes, bars)
    if bars.epsilon is not None:
        larger = f"{bars.n_larger:,} of {bars.total:,} larger than"
        upright(axes, bars.epsilon, f"{larger} ε = {numbers.exactly(bars.epsilon)}")
    lost = trials.design.compares == "losses"
    axes.set_xlabel("change of the loss" if lost else "change of the prediction")
    axes.set_ylabel("trials" if bars.total == trials.n_observed else "changes")


def _draw_counts(axes: Axes, bars: Histogram) -> None:
    colours = np.where(bars.large, COLOURS["large"], COLOURS["small"])
    style: dict[str, Any] = {"align": "edge", "edgecolor": "white", "linewidth": 0.4}
    axes.bar(bars.edges[:-1], bars.counts, np.diff(bars.edges), color=colours, **style)
    axes.set(xlim=bars.edges[[0, -1]], ylim=(0, 1.12 * max(1, *bars.counts)))
    axes.locator_params(axis="y", integer=True, nbins=5)
    if notes := bars.remarks():
        remark(axes, notes, COLOURS["large"])


def _draw_limit(axes: Axes, epsilon: Floats, limit: Floats, alpha: float) -> None:
    label = f"every ε: limit ({numbers.confidence(alpha)})"
    axes.step(epsilon, limit, where="post", color=COLOURS["limit"], linewidth=1.3, label=label)


def _draw_steps(axes: Axes, steps: Steps, mark: Mark, span: Size) -> None:
    """Draw limit and observed share, and mark what the verdict, or the δ of a run, rests on."""
    _draw_limit(axes, steps.epsilon, steps.limit, mark.alpha)
    seen, band = COLOURS["seen"], COLOURS["limit"]
    axes.step(steps.epsilon, steps.seen, where="post", color=seen, linewidth=1, label="seen")
    between = (steps.epsilon, steps.seen, steps.limit)
    axes.fill_between(*between, step="post", color=band, alpha=0.1, linewidth=0)
    if mark.epsilon is not None:
        upright(axes, mark.epsilon)
        words = f"this ε: {mark.scope}"
        _draw_whiskers(axes, mark, (mark.epsilon, mark.seen), yerr=mark.reach, label=words)
    elif mark.limit is not None and mark.limit <= LARGEST:
        words = f"at most {numbers.percent(mark.delta)} are larger"
        words += f" ({numbers.confidence(mark.alpha)})"
        axes.plot([mark.limit], [mark.delta], "D", ms=4, color=COLOURS["large"], label=words)
    level(axes, mark.delta, f"δ = {numbers.exactly(mark.delta)}")
    _finish_limits(axes, span)


def _finish_limits(axes: Axes, span: Size) -> None:
    axes.set(xlim=span, ylim=(0, 1.02), xlabel="allowed change ε", ylabel="P(change > ε)")
    axes.yaxis.set_major_formatter("{x:g}")
    legend(axes)


def _draw_whiskers(axes: Axes, mark: Mark, at: Size, **reach: Any) -> None:
    colour = COLOURS[mark.verdict or "limit"]
    style: dict[str, Any] = {"color": colour, "markersize": 4.5, "linewidth": 2, "capsize": 3}
    axes.errorbar([at[0]], [at[1]], fmt="o", zorder=3, clip_on=False, **style, **reach)


# Labels change or do not, and decisions change by a share: there is no ε.


def _draw_shares(axes: Axes, trials: Trials) -> None:
    failed = np.isnan(trials.changes).any(axis=(1, 2))
    shares = np.where(failed, np.nan, trials.shares(failures_exceed=False))
    _draw_counts(axes, Histogram.of(shares, None, 1.0))
    axes.set(xlabel=f"share of changed {_what(trials)} in a trial", ylabel="trials")


def _draw_question(axes: Axes, mark: Mark, trials: Trials) -> None:
    end = 1.2 * max(mark.delta, mark.low or 0.0, mark.high or 0.0)
    axes.set(xlim=(0, min(1.0, end)), ylim=(-1, 1), yticks=[])
    _draw_whiskers(axes, mark, (mark.seen, 0.0), xerr=mark.reach)
    upright(axes, mark.delta, f"δ = {numbers.exactly(mark.delta)}")
    axes.set_xlabel(f"changed {_what(trials)}, {mark.scope}")


def _what(trials: Trials) -> str:
    return "decisions" if trials.design.compares == "decisions" else "labels"
