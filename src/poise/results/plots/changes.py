"""How large the changes are, and how likely larger ones: the picture of trials and of a result."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise import checks, numbers
from poise.checks import counted
from poise.results.plots.frame import COLOURS, WIDTH, Panels, Size, legend, level, remark, upright
from poise.results.plots.histogram import LARGEST, Histogram, Mark, Steps, axis_end
from poise.results.question import law_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from poise.results.profile import Profile
    from poise.results.result import Result
    from poise.results.trials import Trials
    from poise.theory.changes import Changes

Floats = NDArray[np.float64]


def plot_changes(
    trials: Trials,
    epsilon: float | None = None,
    *,
    ax: Any = None,
    title: str | None = None,
    figsize: Size | None = None,
) -> Any:
    """Draw how many changes are how large.

    Parameters
    ----------
    trials : Trials
        The changes; all of them are drawn.
    epsilon : float, optional
        Allowed change to mark, >= 0.
    ax : matplotlib axes, optional
        Where to draw; left out, a figure of its own, which a notebook shows.
    title : str, optional
        Instead of the name of the algorithm.
    figsize : tuple of float, optional
        Width and height of the figure, in inches.

    Returns
    -------
    figure, or ``ax`` if that was given

    Examples
    --------
    >>> from poise import Trials
    >>> figure = plot_changes(Trials.from_changes([0.1, 0.2, 0.4] * 9, n=5), epsilon=0.3)
    >>> figure.axes[0].get_xlabel()
    'change of the prediction'
    """
    allowed = None if epsilon is None else checks.epsilon(epsilon)
    panels = Panels((WIDTH, 2.1), (1,), ax, figsize)
    _draw_bars(panels.axes[0], Histogram.of(trials.changes.ravel(), allowed), trials)
    return panels.finish(title, trials.design.title, _below(trials))


def plot_profile(
    profile: Profile, *, ax: Any = None, title: str | None = None, figsize: Size | None = None
) -> Any:
    """Draw a limit for the probability of a larger change, for every allowed change at once.

    Parameters
    ----------
    profile : Profile
        From :meth:`poise.Trials.profile`.
    ax, title, figsize
        As for :func:`plot_changes`.

    Examples
    --------
    >>> from poise import Trials
    >>> figure = plot_profile(Trials.from_changes([0.1, 0.2, 0.4] * 9, n=5).profile())
    >>> figure.axes[0].get_xlabel()
    'allowed change ε'
    """
    panels = Panels((WIDTH, 2.1), (1,), ax, figsize)
    (axes,) = panels.axes
    end = min(1.05 * float(profile.epsilon[-1]), LARGEST) or 1.0
    steps = np.append(profile.epsilon, end), np.append(profile.delta, profile.delta[-1])
    _draw_limit(axes, *steps, profile.alpha)
    # Between the steps of the limit the observed share may fall further: dots, no steps.
    axes.plot(profile.epsilon, profile.observed, ".", ms=2.5, color=COLOURS["seen"], label="seen")
    _finish_limits(axes, (0.0, end))
    return panels.finish(title)


def plot_trials(
    trials: Trials,
    alpha: float = 0.05,
    *,
    ax: Any = None,
    title: str | None = None,
    figsize: Size | None = None,
) -> Any:
    """Draw the changes and, below them, limits for every ε, with the one for ``trials.delta``.

    Parameters
    ----------
    trials : Trials
        What was measured.
    alpha : float
        One minus the confidence of the limits.
    ax : two matplotlib axes, optional
        Where to draw; left out, a figure of its own, which a notebook shows.
    title, figsize
        As for :func:`plot_changes`.

    Examples
    --------
    >>> from poise import Trials
    >>> figure = plot_trials(Trials.from_changes([0.1, 0.2, 0.4] * 9, n=5))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['trials', 'P(change > ε)']
    """
    law = law_for(trials.design, trials.delta, checks.alpha(alpha))
    return _plot(trials, trials.table, law, Mark.of_trials(trials, alpha), ax, title, figsize)


def plot_result(
    result: Result, *, ax: Any = None, title: str | None = None, figsize: Size | None = None
) -> Any:
    """Draw the changes a verdict is about and, below them, limits for every ε and for this one.

    Small measured changes say nothing about how large the next one may be: the limits do.

    Parameters
    ----------
    result : Result
        The verdict.
    ax : two matplotlib axes, optional
        Where to draw; left out, a figure of its own, which a notebook shows.
    title, figsize
        As for :func:`plot_changes`.

    Examples
    --------
    >>> from poise import Trials
    >>> figure = plot_result(Trials.from_changes([0.1] * 40, n=10).test(epsilon=0.2, delta=0.1))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0 of 40 larger than ε = 0.2']
    """
    asked = result.question
    law = law_for(result.design, result.delta, asked.level, result.test, asked.gamma)
    return _plot(result.trials, result.table, law, Mark.of(result), ax, title, figsize)


def _plot(
    trials: Trials,
    table: Changes,
    law: ModuleType,
    mark: Mark,
    ax: Any,
    title: str | None,
    figsize: Size | None,
) -> Any:
    if trials.design.sized:
        panels = Panels((WIDTH, 3.6), (1, 1), ax, figsize)
        _draw_sized(panels, trials, table, law, mark)
    else:
        panels = Panels((WIDTH, 2.6), (1, 0.3), ax, figsize)
        above, below = panels.axes
        _draw_shares(above, trials)
        _draw_question(below, mark, trials)
    return panels.finish(title, trials.design.title, _below(trials, mark.verdict), mark.verdict)


def _draw_sized(
    panels: Panels, trials: Trials, table: Changes, law: ModuleType, mark: Mark
) -> None:
    above, below = panels.axes
    first_only = law.__name__.endswith("binomial")
    read = (table.values[:, :1] if first_only else table.values).ravel()
    end = axis_end(read[np.isfinite(read)], mark.epsilon)
    if mark.limit is not None and mark.limit <= LARGEST:
        end = max(end, 1.05 * mark.limit)
    bars = Histogram.of(read, mark.epsilon, end)
    _draw_bars(above, bars, trials)
    steps = Steps.of(law.profile(table, mark.alpha), read, float(bars.edges[-1]))
    _draw_steps(below, steps, mark, (float(bars.edges[0]), float(bars.edges[-1])))


def _below(trials: Trials, verdict: str = "") -> str:
    """Return the line below the title."""
    size = f"n = {trials.design.n:,}" if trials.design.n else ""
    words = [verdict, size, counted(trials.n_observed, "trial")]
    return " · ".join(word for word in words if word)


def _draw_bars(axes: Axes, bars: Histogram, trials: Trials) -> None:
    _draw_counts(axes, bars)
    if bars.epsilon is not None:
        counted = f"{bars.n_larger:,} of {bars.total:,} larger than"
        upright(axes, bars.epsilon, f"{counted} ε = {numbers.exactly(bars.epsilon)}")
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


def _draw_steps(axes: Axes, steps: Steps, mark: Mark, span: tuple[float, float]) -> None:
    """Draw limit and observed share, and mark what the verdict, or the δ of a run, rests on."""
    _draw_limit(axes, steps.epsilon, steps.limit, mark.alpha)
    seen, band = COLOURS["seen"], COLOURS["limit"]
    axes.step(steps.epsilon, steps.seen, where="post", color=seen, linewidth=1, label="seen")
    between = (steps.epsilon, steps.seen, steps.limit)
    axes.fill_between(*between, step="post", color=band, alpha=0.1, linewidth=0)
    if mark.epsilon is not None:
        upright(axes, mark.epsilon)
        reach: Any = [[each] for each in mark.reach]
        words = f"this ε: {mark.scope}"
        _draw_whiskers(axes, mark, (mark.epsilon, mark.seen), yerr=reach, label=words)
    elif mark.limit is not None and mark.limit <= LARGEST:
        words = (
            f"at most {numbers.percent(mark.delta)} are larger ({numbers.confidence(mark.alpha)})"
        )
        axes.plot([mark.limit], [mark.delta], "D", ms=4, color=COLOURS["large"], label=words)
    level(axes, mark.delta, f"δ = {numbers.exactly(mark.delta)}")
    _finish_limits(axes, span)


def _finish_limits(axes: Axes, span: tuple[float, float]) -> None:
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
    reach: Any = [[each] for each in mark.reach]
    end = 1.2 * max(mark.delta, mark.low or 0.0, mark.high or 0.0)
    axes.set(xlim=(0, min(1.0, end)), ylim=(-1, 1), yticks=[])
    _draw_whiskers(axes, mark, (mark.seen, 0.0), xerr=reach)
    upright(axes, mark.delta, f"δ = {numbers.exactly(mark.delta)}")
    axes.set_xlabel(f"changed {_what(trials)}, {mark.scope}")


def _what(trials: Trials) -> str:
    return "decisions" if trials.design.compares == "decisions" else "labels"
