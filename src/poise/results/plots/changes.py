"""The changes of a measurement, and beside them their profile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments import counted, shortened
from poise.errors import ArgumentError
from poise.results.plots.canvas import COLOURS, Panels, new_figure, tidy
from poise.results.plots.plotted_question import PlottedQuestion
from poise.results.plots.profile import draw_profile
from poise.theory.rounding import NEAR_WHOLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from poise.results import StabilityResult, Trials
    from poise.results.plots.shown_figure import ShownFigure

__all__ = ["Histogram", "plot_changes", "plot_judged", "plot_trials", "stack_trials"]

_BARS = 30  # of a histogram, up to the end of its axis
_SIZE = (10.0, 4.6)  # inches


@dataclass(frozen=True)
class Histogram:
    """How many changes fall between consecutive edges.

    Attributes
    ----------
    edges : ndarray
        To the end of the axis; ε is one of them, so that no bar holds both
        allowed and larger changes. They begin at 0, or below it if ε is 0.
    counts : ndarray of int
        Changes in (edge, next edge], those equal to 0 in the first.
    epsilon : float or None
        The allowed change.
    n_beyond, n_failed : int
        Changes past the end of the axis, infinite ones included, and trials that failed.

    Examples
    --------
    >>> from poise import Trials
    >>> trials = Trials.from_changes([0.0, 1.0, 2.0, 4.0, np.inf], n=5, failures=["singular"])
    >>> h = Histogram.of(trials, epsilon=2.0)
    >>> h.n_larger, h.n_failed
    (1, 1)
    """

    edges: NDArray[np.float64]
    counts: NDArray[np.int64]
    epsilon: float | None
    n_beyond: int
    n_failed: int

    @classmethod
    def of(cls, trials: Trials, epsilon: float | None = None, span: float = 0.0) -> Histogram:
        """Count the changes of a measurement, up to ``span`` if that is given."""
        finite = trials.all_changes[np.isfinite(trials.all_changes)]
        edges = _edges(span or axis_span(trials, epsilon), epsilon)
        drawn = finite[finite <= edges[-1]]
        # Right-closed bars, because a change of exactly ε is still allowed.
        bar = np.maximum(np.searchsorted(edges, drawn, side="left") - 1, 0)
        counts = np.bincount(bar, minlength=len(edges) - 1)
        n_beyond = len(trials.all_changes) - trials.n_failed_changes - len(drawn)
        return cls(edges, counts, epsilon, n_beyond, trials.n_failed_changes)

    @property
    def large(self) -> NDArray[np.bool_]:
        """Which bars hold changes larger than ε."""
        if self.epsilon is None:
            return np.zeros(len(self.counts), dtype=np.bool_)
        return self.edges[:-1] >= self.epsilon

    @property
    def n_larger(self) -> int:
        """Number of changes larger than ε, drawn or not; a failed trial shows none."""
        return int(self.counts[self.large].sum()) + self.n_beyond


def axis_span(trials: Trials, epsilon: float | None = None) -> float:
    """Return where the axis of changes ends: before the tail, if that is far from the rest."""
    finite = trials.all_changes[np.isfinite(trials.all_changes)]
    largest = 1.05 * float(finite.max(initial=0.0))
    if epsilon:
        return min(max(largest, 1.1 * epsilon), 5 * epsilon)
    far = 4 * float(np.quantile(finite, 0.8)) if len(finite) else 0.0
    return (far if largest > 2 * far > 0 else largest) or 1.0


def _edges(span: float, epsilon: float | None) -> NDArray[np.float64]:
    """Return equal bars up to ``span`` or a little further, one of them ending at ε."""
    width = span / _BARS
    if epsilon:
        width = epsilon / max(1, round(epsilon / width))
    edges = width * np.arange(int(np.ceil(span / width - NEAR_WHOLE)) + 1, dtype=np.float64)
    if epsilon == 0:
        return np.append(-width, edges)  # a bar for changes of exactly 0, which are allowed
    if epsilon:
        edges[round(epsilon / width)] = epsilon  # to the last bit: the count depends on it
    else:
        edges[-1] = span
    return edges


def plot_trials(
    trials: Trials,
    epsilon: float | None = None,
    alpha: float = 0.05,
    *,
    delta: float | None = None,
    ax: Axes | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw the changes with ε marked and, beside them, the profile with its band.

    The band is an upper confidence limit for every ε at once; the dot at ε is the
    limit for this ε alone, which a verdict uses. Small measured changes
    say nothing about how large the next one may be.

    Parameters
    ----------
    trials : Trials
        The measurement.
    epsilon : float, optional
        Allowed change to mark, >= 0.
    alpha : float
        Error level of the limits, in (0, 1).
    delta : float, optional
        Allowed probability to mark, with the verdict it leads to. In [0, 1).
    ax : two matplotlib axes, optional
        Where to draw; by default a figure of its own, which a notebook shows.
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
    >>> figure = plot_trials(Trials.from_changes([0.1, 0.2, 0.4] * 9, n=5), epsilon=0.3)
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['number of trials', 'probability of a larger change']
    """
    asked = PlottedQuestion.put_to(trials, epsilon, delta, alpha)
    panels = Panels(2, _SIZE, ax, figsize)
    _draw(panels.axes, trials, asked, alpha, axis_span(trials, epsilon))
    panels.title(title, _title(trials, asked))
    return panels.drawn


def plot_changes(trials: Trials, title: str) -> ShownFigure:
    """Draw the changes alone, without limits."""
    panels = Panels(1, (7, 3.8))
    _draw_changes(panels.axes[0], Histogram.of(trials), "")
    panels.axes[0].set_ylabel("number of changes")
    panels.title(title)
    figure: ShownFigure = panels.drawn
    return figure


def plot_judged(trials: Trials, result: StabilityResult) -> ShownFigure:
    """Draw the changes that a verdict is about, with the limit that it used."""
    asked = PlottedQuestion.of(result)
    panels = Panels(2, _SIZE)
    _draw(panels.axes, trials, asked, result.alpha, axis_span(trials, result.epsilon))
    panels.title(None, _title(trials, asked))
    figure: ShownFigure = panels.drawn
    return figure


def stack_trials(
    measurements: Sequence[Trials],
    epsilon: float | None = None,
    alpha: float = 0.05,
    delta: float | None = None,
) -> Figure:
    """Draw several measurements one above the other, on the same axis of changes."""
    if not measurements:
        raise ArgumentError("measurements must hold at least one Trials, got none")
    figure = new_figure(10, 0.4 + 4.2 * len(measurements))
    span = max(axis_span(trials, epsilon) for trials in measurements)
    rows = figure.subfigures(len(measurements), 1, squeeze=False)[:, 0]
    for subfigure, trials in zip(rows, measurements, strict=True):
        asked = PlottedQuestion.put_to(trials, epsilon, delta, alpha)
        title = _title(trials, asked)
        subfigure.suptitle(title, fontsize=11, x=0.01, ha="left", parse_math=False)
        _draw(subfigure.subplots(1, 2), trials, asked, alpha, span)
    return figure


def _title(trials: Trials, asked: PlottedQuestion | None) -> str:
    name = shortened(trials.design.title, 70)
    verdict = f": {asked.verdict}" if asked is not None and asked.verdict else ""
    trained = f"{name} at n = {trials.design.n:,}"
    return f"{trained}{verdict}, {counted(trials.n_observed, 'trial')}"


def _draw(
    axes: Sequence[Axes], trials: Trials, asked: PlottedQuestion | None, alpha: float, span: float
) -> None:
    left, right = axes
    histogram = Histogram.of(trials, None if asked is None else asked.epsilon, span)
    _draw_changes(left, histogram, "" if asked is None else asked.allowed)
    left.set_ylabel("number of trials" if trials.changes.ndim == 1 else "number of changes")
    draw_profile(right, trials.profile(alpha), asked, histogram.edges[-1])


def _draw_changes(axes: Axes, histogram: Histogram, allowed: str) -> None:
    axes.bar(
        histogram.edges[:-1],
        histogram.counts,
        np.diff(histogram.edges),
        align="edge",
        color=np.where(histogram.large, COLOURS["large"], COLOURS["small"]),
        edgecolor="white",
        linewidth=0.5,
    )
    if histogram.epsilon is not None:
        axes.axvline(histogram.epsilon, color=COLOURS["mark"], linewidth=1.2, linestyle="--")
        larger = f"{histogram.n_larger:,} larger than ε = {allowed}"
        axes.set_title(larger, fontsize=10)
    _note_what_is_not_drawn(axes, histogram)
    axes.set_xlim(histogram.edges[0], histogram.edges[-1])
    axes.set_xlabel("change of the prediction, in its own units")
    axes.locator_params(axis="y", integer=True)
    tidy(axes)


def _note_what_is_not_drawn(axes: Axes, histogram: Histogram) -> None:
    notes = {"beyond →": histogram.n_beyond, "failed": histogram.n_failed}
    text = "\n".join(f"{count:,} {what}" for what, count in notes.items() if count)
    axes.text(
        0.98,
        0.95,
        text,
        transform=axes.transAxes,
        ha="right",
        va="top",
        fontsize=10,
        color=COLOURS["large"],
    )
