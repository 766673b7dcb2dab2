"""Several algorithms side by side: how far predictions moved, trial by trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments import shortened
from poise.arguments.printed_numbers import at_most, confidence, exactly
from poise.results.plots.canvas import COLOURS, Panels, tidy
from poise.results.text.describe_design import allowed_change

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from poise.results import CompareResult, Trials

__all__ = ["Strip", "plot_compared"]

_LONGEST_NAME = 34


@dataclass(frozen=True)
class Strip:
    """The changes of one algorithm as dots, ready to be drawn.

    Attributes
    ----------
    name, verdict : str
        Label of the strip.
    changes : ndarray
        Changes of the trials, cut off at the end of the axis.
    offsets : ndarray
        Where each dot lies across the strip, in (−0.5, 0.5): dots of equal
        changes must not hide each other.
    limit : float
        ε̂, the certified limit; infinite or beyond the axis, it is drawn at the edge.

    Examples
    --------
    >>> from poise.results import CompareResult, Trials
    >>> trials = {"a": Trials.from_changes([0.1, 0.3, np.inf], n=5)}
    >>> [strip] = strips(CompareResult.judge(trials, epsilon=0.2, delta=0.5), span=1.0)
    >>> strip.changes.tolist()
    [0.1, 0.3, 1.0]
    """

    name: str
    verdict: str
    changes: NDArray[np.float64]
    offsets: NDArray[np.float64]
    limit: float


def strips(result: CompareResult, span: float) -> list[Strip]:
    """Compute what is drawn, one strip per algorithm, on an axis that ends at ``span``."""
    return [
        Strip(
            shortened(row.name, _LONGEST_NAME),
            row.verdict.value,
            np.minimum(trials.all_changes, span),
            _offsets(len(trials.all_changes)),
            row.epsilon_hat,
        )
        for row, trials in zip(result.rows, result.trials, strict=True)
    ]


def _offsets(count: int) -> NDArray[np.float64]:
    """Spread dots evenly and without random numbers: multiples of the golden ratio."""
    return np.asarray(0.6 * ((np.arange(count) * 0.6180339887498949) % 1.0 - 0.5))


def axis_end(all_trials: tuple[Trials, ...], epsilon: float) -> float:
    """Return where the axis ends: ε is visible, and one huge change does not hide the rest."""
    finite = np.concatenate([t.all_changes[np.isfinite(t.all_changes)] for t in all_trials])
    largest = 1.05 * float(finite.max(initial=0.0))
    return min(max(largest, 1.2 * epsilon), 4 * epsilon or largest) or 1.0


def plot_compared(
    result: CompareResult,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw a strip of dots per algorithm, with ε and every certified limit ε̂ marked.

    Dots at the right edge are changes beyond it, and an arrow there is a limit
    beyond it or none at all, as is written beside it. A strip with smaller changes than
    another does not prove that its algorithm is more stable.

    Parameters
    ----------
    result : CompareResult
        The comparison.
    ax : matplotlib axes, optional
        Where to draw; by default a figure of its own, which a notebook shows.
    title : str, optional
        Instead of the question in words.
    figsize : tuple of float, optional
        Width and height of the figure, in inches.

    Returns
    -------
    figure, or ``ax`` if that was given

    Examples
    --------
    >>> from poise.results import CompareResult, Trials
    >>> trials = {"a": Trials.from_changes([0.1, 0.3] * 9, n=5)}
    >>> figure = plot_compared(CompareResult.judge(trials, epsilon=0.2, delta=0.5))
    >>> figure.axes[0].get_xlabel()
    'change of the prediction, in its own units'
    """
    span = axis_end(result.trials, result.epsilon)
    drawn = strips(result, span)
    panels = Panels(1, (8, 1.6 + 0.7 * len(drawn)), ax, figsize)
    (axes,) = panels.axes
    for position, strip in enumerate(drawn):
        _draw(axes, strip, position, span)
    axes.axvline(result.epsilon, color=COLOURS["mark"], linewidth=1.2, linestyle="--")
    labels = [f"{s.name}\n{s.verdict}" for s in drawn]
    axes.set_yticks(range(len(drawn)), labels, fontsize=9, parse_math=False)
    axes.set_ylim(len(drawn) - 0.5, -0.5)
    axes.set_xlim(-0.02 * span, 1.02 * span)
    axes.set_xlabel("change of the prediction, in its own units")
    tidy(axes)
    panels.title(title, _title(result))
    return panels.drawn


def _title(result: CompareResult) -> str:
    epsilon = allowed_change(result.epsilon, result.trials[0].design)
    return (
        f"n = {result.n:,}; dashed: ε = {epsilon}; bars: ε̂ for δ = "
        f"{exactly(result.delta)}, all at once with confidence {confidence(result.alpha)}"
    )


def _draw(axes: Axes, strip: Strip, position: int, span: float) -> None:
    colour = COLOURS[strip.verdict]
    axes.plot(
        strip.changes, position + strip.offsets, "o", color=colour, alpha=0.55, markersize=3.5
    )
    if strip.limit <= span:
        axes.plot([strip.limit] * 2, [position - 0.4, position + 0.4], color=colour, linewidth=2)
    else:
        at_edge: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "clip_on": False}
        axes.plot([1.0], [position], ">", color=colour, markersize=9, **at_edge)
        axes.annotate(
            f"ε̂: {at_most(strip.limit)}",
            (1.0, position),
            xycoords=axes.get_yaxis_transform(),
            xytext=(-8, 0),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=9,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
        )
