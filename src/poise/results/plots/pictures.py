"""The picture of every answer: changes and their limits, algorithms, sizes, power."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from poise import numbers
from poise.checks import counted
from poise.errors import printable
from poise.results.design import in_brief
from poise.results.plots.frame import COLOURS, WORD, Panels, Size, legend, level, remark, upright
from poise.results.profile import Profile
from poise.results.question import Floats, read_by
from poise.results.result import Result
from poise.results.trials import Trials

if TYPE_CHECKING:
    from poise.results.together import Comparison, Curve
    from poise.theory.planning import Plan

_PER_ROW = 0.28  # inches
_LONGEST = 26  # letters of a line beside the axis
_POINTS = 121  # of a curve of power
_BEYOND = 1.5  # times δ: how far power is drawn, where it is the probability of an error
_BARS = 25
SMALLEST, LARGEST = 1e-300, 1e300  # of an axis: further out doubles get coarse or overflow


def plot_changes(answer: Trials | Result, **place: Any) -> Any:
    """Draw the changes and, below them, the limit for every ε, with the one that was asked.

    Small measured changes say nothing about how large the next one may be: the limits do. Changes
    that have no size are drawn as their share, with its limits.
    """
    mark, design = Mark.of(answer), answer.design
    if design.sized:
        panels = Panels(3.6, (1, 1), **place)
        above, below = panels.axes
        ends = draw_bars(above, answer, mark.epsilon, mark.limit or 0.0)
        _draw_limits(below, Profile.of(answer.table, answer.law, mark.alpha), ends, mark)
    else:
        panels = Panels(1.3, **place)
        _draw_rows(panels.axes[0], [mark], mark.delta)
        what = "decisions" if design.compares == "decisions" else "labels"
        panels.axes[0].set(yticks=[], xlabel=f"changed {what}, {mark.scope}")
    size = f"n = {design.n:,}" if design.n else ""
    words = filter(None, [mark.verdict, size, counted(answer.n_observed, "trial")])
    return panels.finish(design.title, " · ".join(words), mark.verdict)


def plot_profile(profile: Profile, **place: Any) -> Any:
    """Draw a limit for the probability of a larger change, for every allowed change at once."""
    panels = Panels(2.1, **place)
    end = min(1.05 * float(profile.epsilon[-1]), LARGEST) or 1.0
    _draw_limits(panels.axes[0], profile, (0.0, end))
    return panels.finish()


def draw_bars(
    axes: Axes, answer: Trials | Result, epsilon: float | None = None, limit: float = 0.0
) -> Size:
    """Draw how many changes are how large, and how many are larger than ε; return the ends."""
    changes = read_by(answer.law, answer.table).ravel()
    edges, counts, not_drawn = histogram(changes, epsilon, limit)
    large = edges[:-1] >= (np.inf if epsilon is None else epsilon)
    colours = np.where(large, COLOURS["large"], COLOURS["small"])
    style: dict[str, Any] = {"align": "edge", "edgecolor": "white", "linewidth": 0.4}
    axes.bar(edges[:-1], counts, np.diff(edges), color=colours, **style)
    ends = float(edges[0]), float(edges[-1])
    axes.set(xlim=ends, ylim=(0, 1.12 * max(1, *counts)))
    what = "loss" if answer.design.compares == "losses" else "prediction"
    axes.set_xlabel(f"change of the {what}")
    axes.set_ylabel("trials" if changes.size == answer.n_observed else "changes")
    axes.locator_params(axis="y", integer=True, nbins=5)
    if notes := [f"{count:,} {each}" for each, count in not_drawn.items() if count]:
        remark(axes, notes, COLOURS["large"])
    if epsilon is not None:
        larger = f"{(changes > epsilon).sum():,} of {changes.size:,} larger than"
        upright(axes, epsilon, f"{larger} ε = {numbers.exactly(epsilon)}")
    return ends


def _draw_limits(axes: Axes, profile: Profile, span: Size, mark: Mark | None = None) -> None:
    """Draw limit and observed share, and mark what the verdict, or the δ of a run, rests on."""
    epsilon, limit, seen = profile.corners(span[1])
    words, band = f"every ε: limit ({numbers.confidence(profile.alpha)})", COLOURS["limit"]
    axes.step(epsilon, limit, where="post", color=band, linewidth=1.3, label=words)
    axes.step(epsilon, seen, where="post", color=COLOURS["seen"], linewidth=1, label="seen")
    axes.fill_between(epsilon, seen, limit, step="post", color=band, alpha=0.1, linewidth=0)
    if mark is not None:
        _draw_mark(axes, mark)
    axes.set(xlim=span, ylim=(0, 1.02), xlabel="allowed change ε", ylabel="P(change > ε)")
    axes.yaxis.set_major_formatter("{x:g}")
    legend(axes)


def _draw_mark(axes: Axes, mark: Mark) -> None:
    if mark.epsilon is not None:
        upright(axes, mark.epsilon)
        mark.draw(axes, mark.epsilon, label=f"this ε: {mark.scope}")
    elif mark.limit is not None and mark.limit <= LARGEST:
        words = (
            f"at most {numbers.percent(mark.delta)} are larger ({numbers.confidence(mark.alpha)})"
        )
        axes.plot([mark.limit], [mark.delta], "D", ms=4, color=COLOURS["large"], label=words)
    level(axes, mark.delta, f"δ = {numbers.exactly(mark.delta)}")


def _draw_rows(axes: Axes, marks: list[Mark], delta: float) -> None:
    """Draw shares of larger changes one below the other, with their limits; there is no ε."""
    for k, mark in enumerate(marks):
        mark.draw(axes, row=k)
    end = 1.05 * max(delta, *(max(mark.seen, mark.high or 0.0) for mark in marks))
    axes.set(xlim=(0, min(1.0, end) or 1.0), ylim=(len(marks) - 0.5, -0.5))
    axes.locator_params(axis="x", nbins=6)
    axes.grid(visible=False)
    upright(axes, delta, f"δ = {numbers.exactly(delta)}")


# several algorithms or sizes beside each other, and the power of a planned test


def plot_compared(compared: Comparison, **place: Any) -> Any:
    """Draw the share of larger changes of each algorithm, with the limits beside its verdict."""
    names, question = list(compared), compared.question
    panels = Panels(0.9 + _PER_ROW * len(names), **place)
    (axes,) = panels.axes
    _draw_rows(axes, [Mark.of(each) for each in compared.values()], question.delta)
    brief = [in_brief(printable(name), 2 * _LONGEST) for name in names]
    shown = [textwrap.fill(each, _LONGEST, max_lines=2, placeholder=" …") for each in brief]
    axes.set_yticks(range(len(names)), shown, parse_math=False)
    axes.set_xlabel(_share(compared))
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
    truth = np.linspace(0, min(1.0, _BEYOND * plan.delta), _POINTS)
    power = [plan.power_at(each) for each in truth]
    below = truth[truth < plan.delta]  # there, the ceiling holds
    ceiling = [plan.ceiling_at(each) for each in below]
    axes.set(xlim=(0, truth[-1]), ylim=(0, 1.03))
    if not plan.each:
        axes.plot(below, ceiling, "--", color=COLOURS["seen"], lw=1, label="ceiling for every test")
    axes.plot(truth, power, color=COLOURS["limit"], lw=1.3, label="Binomial test")
    upright(axes, plan.delta, f"δ = {numbers.at_most(plan.delta)}")
    level(axes, plan.alpha, f"α = {numbers.at_most(plan.alpha)}")
    axes.set(xlabel="true P(change > ε)", ylabel="P(“stable”)")
    legend(axes)
    rows = f"{plan.n_labeled:,} rows · {counted(plan.n_trials, 'trial')}"
    what = "Power with one training set" if plan.each else f"Power at n = {plan.n:,}"
    return panels.finish(what, rows)


# what is drawn, computed


def histogram(
    changes: Floats, epsilon: float | None = None, limit: float = 0.0
) -> tuple[Floats, NDArray[np.int64], dict[str, int]]:
    """Count changes in (edge, next edge], those equal to 0 in the first; and those not drawn.

    ε is an edge, so that no bar holds both allowed and larger changes; the edges begin at 0, or
    below it if ε is 0.

    >>> changes = np.array([0.0, 1.0, 2.0, 4.0, np.inf, np.nan])
    >>> edges, counts, not_drawn = histogram(changes, epsilon=2.0)
    >>> int(counts[edges[:-1] >= 2.0].sum()), not_drawn
    (1, {'beyond →': 0, 'infinite': 1, 'failed': 1})
    """
    finite = changes[changes <= LARGEST]
    edges = np.linspace(0, axis_end(finite, epsilon, limit), _BARS + 1)
    if epsilon == 0:
        edges = np.append(-edges[1], edges)  # a bar for changes of exactly 0, which are allowed
    elif epsilon is not None:
        nearest = 1 + np.abs(edges[1:] - epsilon).argmin()
        edges[nearest] = epsilon  # to the last bit: the count depends on it
    drawn = finite[finite <= edges[-1]]
    bar = np.maximum(np.searchsorted(edges, drawn, side="left") - 1, 0)
    failed = int(np.isnan(changes).sum())
    infinite = changes.size - len(finite) - failed
    lost = {"beyond →": len(finite) - len(drawn), "infinite": infinite, "failed": failed}
    return edges, np.bincount(bar, minlength=len(edges) - 1), lost


def axis_end(finite: Floats, epsilon: float | None, limit: float) -> float:
    """Return where the axis ends: beyond ε and a limit, before a tail that is far from the rest."""
    allowed = epsilon or 0.0
    bulk = 4 * float(np.quantile(finite, 0.8, method="lower")) if len(finite) else 0.0
    end = min(float(finite.max(initial=0.0)), max(bulk, 5 * allowed) or LARGEST)
    reached = max(end, allowed, limit if limit <= LARGEST else 0.0)
    return max(1.1 * reached, SMALLEST) if reached else 1.0


@dataclass(frozen=True)
class Mark:
    """A question, and the limits that belong to its verdict.

    "stable" is marked with its upper limit, "unstable" with its lower one, "inconclusive" with
    both, which hold together. A limit on the other side of δ, as the averaged test may have it, is
    left out. Without a verdict, ``limit`` is the change that at most a share δ exceeds.

    >>> mark = Mark.of(Trials.from_changes([0.1] * 40, n=10).test(epsilon=0.2, delta=0.1))
    >>> mark.low, mark.seen, round(mark.high, 4), mark.scope
    (None, 0.0, 0.0722, 'limit (95%)')
    """

    delta: float
    alpha: float
    seen: float
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    epsilon: float | None = None
    limit: float | None = None

    @classmethod
    def of(cls, answer: Result | Trials) -> Mark:
        """Choose the limits of a result, or those at the δ that trials were begun with."""
        if isinstance(answer, Trials):
            delta, alpha = answer.delta, answer.design.level
            if (limit := answer.epsilon_upper(delta, alpha)) is not None:
                return cls(delta, alpha, 0.0, limit=limit)
            return cls(delta, alpha, answer.observed(), high=answer.delta_upper(alpha=alpha))
        asked = (answer.delta, answer.question.level, answer.delta_observed)
        return cls(*asked, *_limits(answer), answer.verdict, answer.epsilon)

    @property
    def scope(self) -> str:
        """Say what the whiskers are."""
        if self.low is None and self.high is None:
            return "seen"
        both = self.low is not None and self.high is not None
        return f"{'interval' if both else 'limit'} ({numbers.confidence(self.alpha)})"

    def draw(self, axes: Axes, at: float | None = None, row: float = 0, **style: Any) -> None:
        """Draw what was seen with its limits: upright above ``at``, or along a row."""
        low = self.seen if self.low is None else self.low
        high = self.seen if self.high is None else self.high
        reach = [[max(0.0, self.seen - low)], [max(0.0, high - self.seen)]]
        style |= {"color": COLOURS[self.verdict or "limit"], "ms": 4.5, "lw": 2, "capsize": 3}
        x, y = ([self.seen], [row]) if at is None else ([at], [self.seen])
        style["xerr" if at is None else "yerr"] = reach
        axes.errorbar(x, y, fmt="o", zorder=3, clip_on=False, **style)


def _limits(result: Result) -> tuple[float | None, float | None]:
    upper, lower, delta = result.delta_upper, result.delta_lower, result.delta
    if result.verdict == "stable":
        return None, upper if upper <= delta else None
    if result.verdict == "unstable":
        return lower if lower >= delta else None, None
    low, high = result.delta_interval
    return (low, high) if low <= delta <= high else (None, None)
