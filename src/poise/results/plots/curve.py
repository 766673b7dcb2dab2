"""Limits and estimates against the training size; the guess beyond it dashed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.results.plots.canvas import COLOURS, legend, new_figure, tidy
from poise.results.text.summary import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from poise.results import StabilityCurve

__all__ = ["Line", "plot_curve"]

_BEYOND = 4.0  # how far the guess is drawn: this many times the largest n


@dataclass(frozen=True)
class Line:
    """One quantity against n, ready to be drawn.

    Attributes
    ----------
    label : str
        Name of the vertical axis.
    limits, observed : ndarray of shape (sizes, 2)
        Pairs (n, value): what is certified, and what was seen.
    guessed : ndarray or None
        The extrapolation, where there is one.
    asked : float or None
        The allowed value.
    """

    label: str
    limits: NDArray[np.float64]
    observed: NDArray[np.float64]
    guessed: NDArray[np.float64] | None
    asked: float | None


def lines(curve: StabilityCurve) -> list[Line]:
    """Compute what is drawn: a line for ε, a line for δ, or both.

    Examples
    --------
    >>> from poise.results import StabilityCurve, Trials
    >>> trials = [Trials.from_changes(np.arange(1, 51) / n, n=n) for n in (10, 20)]
    >>> [line] = lines(StabilityCurve(tuple(trials), epsilon=None, delta=0.2))
    >>> line.limits.tolist()
    [[10.0, 4.6], [20.0, 2.3]]
    >>> line.guessed[-1].round(6).tolist()
    [80.0, 0.5]
    """
    beyond = np.unique(np.geomspace(curve.n[-1], _BEYOND * curve.n[-1], 25).round().astype(int))
    guess = None if curve.trend is None else curve.extrapolate(beyond.tolist())
    found = []
    if curve.epsilon_hat is not None:
        label = f"change exceeded with probability {number(curve.delta or 0.0)}"
        guessed = None if guess is None else _points(guess.n, guess.epsilon)
        seen = _points(curve.n, curve.observed_epsilon)
        found.append(Line(label, _points(curve.n, curve.epsilon_hat), seen, guessed, curve.epsilon))
    if curve.delta_hat is not None:
        label = f"probability of a change larger than {number(curve.epsilon or 0.0)}"
        guessed = None if guess is None else _points(guess.n, guess.delta)
        seen = _points(curve.n, curve.observed_delta)
        found.append(Line(label, _points(curve.n, curve.delta_hat), seen, guessed, curve.delta))
    return found


def _points(n: Any, values: Any) -> NDArray[np.float64]:
    """Return pairs (n, value), leaving out what is infinite and cannot be drawn."""
    points = np.array([n, values], dtype=np.float64).T
    return points[np.isfinite(points[:, 1])]


def plot_curve(curve: StabilityCurve) -> Figure:
    """Draw certified limits as bars, what was seen as circles, and the guess dashed.

    Examples
    --------
    >>> from poise.results import StabilityCurve, Trials
    >>> trials = [Trials.from_changes(np.arange(1, 51) / n, n=n) for n in (10, 20)]
    >>> figure = plot_curve(StabilityCurve(tuple(trials), epsilon=1.0, delta=0.2))
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['training size n', 'training size n']
    """
    drawn = lines(curve)
    figure = new_figure(5.5 * len(drawn), 4.2)
    for axes, line in zip(figure.subplots(1, len(drawn), squeeze=False)[0], drawn, strict=True):
        _draw(axes, line, curve.alpha)
    return figure


def _draw(axes: Any, line: Line, alpha: float) -> None:
    sure = f"certified, all at once ({number(100 * (1 - alpha))}%)"
    # Bars, not a line: nothing is certified between two training sizes.
    axes.plot(*line.limits.T, "o", color=COLOURS["band"], label=sure)
    axes.vlines(line.limits[:, 0], 0, line.limits[:, 1], color=COLOURS["band"], alpha=0.35)
    axes.plot(*line.observed.T, "o", color=COLOURS["observed"], label="observed", mfc="white")
    if line.guessed is not None:
        options = {"linestyle": "--", "color": COLOURS["observed"], "linewidth": 1.2}
        axes.plot(*line.guessed.T, label="extrapolated, not certified", **options)
    if line.asked is not None:
        axes.axhline(line.asked, color=COLOURS["mark"], linewidth=1, linestyle=":", label="allowed")
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("training size n")
    axes.set_ylabel(line.label)
    legend(axes)
    tidy(axes)
