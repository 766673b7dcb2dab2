"""Limits and estimates against the training size; assumed limits are dashed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments import shortened
from poise.arguments.printed_numbers import confidence, exactly
from poise.results.extrapolation import ASSUMPTIONS, assumed
from poise.results.plots.canvas import COLOURS, Panels, legend, name_sizes, tidy
from poise.results.text.describe_design import allowed_change

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from poise.results import StabilityCurve

__all__ = ["Line", "plot_curve"]

_MULTIPLES_OF_N = (1.0, 1.5, 2.0, 3.0, 4.0)  # times the largest n: where limits are carried on to
_DASHES = {0.5: "--", 1.0: "-."}


@dataclass(frozen=True)
class Line:
    """One quantity against n, ready to be drawn.

    Attributes
    ----------
    label : str
        Name of the vertical axis.
    limits, observed : ndarray of shape (sizes, 2)
        Pairs (n, value): what is certified, and what was seen.
    no_limit : ndarray
        Sizes at which the limit is infinite: too few trials. They are drawn at the edge.
    assumed : dict of float to ndarray
        Limits beyond the sizes measured, by the exponent that is assumed.
    asked : float or None
        The allowed value.
    """

    label: str
    limits: NDArray[np.float64]
    no_limit: NDArray[np.float64]
    observed: NDArray[np.float64]
    assumed: dict[float, NDArray[np.float64]]
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
    >>> line.assumed[1.0][-1].round(6).tolist()  # a quarter of the limit at four times n
    [80.0, 0.575]
    """
    beyond = [round(factor * curve.n[-1]) for factor in _MULTIPLES_OF_N]
    further = {b: curve.extrapolate(beyond, b) for b in ASSUMPTIONS if b > 0}
    found = []
    if curve.epsilon_hat is not None:
        label = f"change exceeded with probability {exactly(curve.delta)}"
        carried = {b: _points(f.n, f.epsilon) for b, f in further.items()}
        seen = _points(curve.n, curve.observed_epsilon)
        limits = _limits(curve.n, curve.epsilon_hat)
        found.append(Line(label, *limits, seen, carried, curve.epsilon))
    if curve.delta_hat is not None:
        larger = allowed_change(curve.epsilon or 0.0, curve.trials[0].design)
        label = f"probability of a change larger than {larger}"
        carried = {b: _points(f.n, f.delta) for b, f in further.items()}
        seen = _points(curve.n, curve.observed_delta)
        limits = _limits(curve.n, curve.delta_hat)
        found.append(Line(label, *limits, seen, carried, curve.delta))
    return found


def _limits(n: object, values: object) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return pairs (n, limit) and, separately, the n without a limit."""
    sizes = np.array(n, dtype=np.float64)
    return _points(n, values), sizes[~np.isfinite(np.array(values))]


def _points(n: object, values: object) -> NDArray[np.float64]:
    """Return pairs (n, value), leaving out what is infinite and cannot be drawn."""
    points = np.array([n, values], dtype=np.float64).T
    return points[np.isfinite(points[:, 1])]


def plot_curve(
    curve: StabilityCurve,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw certified limits as bars, estimates as circles, and assumed limits as dashed lines.

    Parameters
    ----------
    curve : StabilityCurve
        The measurements.
    ax : matplotlib axes, optional
        Where to draw, one for each of ε and δ that was asked for; by default a figure
        of its own, which a notebook shows.
    title : str, optional
        Instead of the name of the algorithm.
    figsize : tuple of float, optional
        Width and height of the figure, in inches.

    Returns
    -------
    figure, or ``ax`` if that was given

    Examples
    --------
    >>> from poise.results import StabilityCurve, Trials
    >>> trials = [Trials.from_changes(np.arange(1, 51) / n, n=n) for n in (10, 20)]
    >>> figure = plot_curve(StabilityCurve(tuple(trials), epsilon=1.0, delta=0.2))
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['training size n, on a logarithmic axis', 'training size n, on a logarithmic axis']
    """
    drawn = lines(curve)
    panels = Panels(len(drawn), (5.5 * len(drawn), 4.8), ax, figsize)
    for axes, line in zip(panels.axes, drawn, strict=True):
        _draw(axes, line, curve.alpha)
        name_sizes(axes, curve.n)
    panels.title(title, shortened(curve.trials[0].design.title, 70))
    return panels.drawn


def _draw(axes: Axes, line: Line, alpha: float) -> None:
    sure = f"certified, all at once (confidence {confidence(alpha)})"
    # Bars, not a line: nothing is certified between two training sizes.
    axes.plot(*line.limits.T, "o", color=COLOURS["band"], label=sure)
    axes.vlines(line.limits[:, 0], 0, line.limits[:, 1], color=COLOURS["band"], alpha=0.35)
    axes.plot(*line.observed.T, "o", color=COLOURS["observed"], label="observed", mfc="white")
    for exponent, points in line.assumed.items():
        options: dict[str, Any] = {
            "linestyle": _DASHES[exponent],
            "color": COLOURS["band"],
            "linewidth": 1.2,
        }
        axes.plot(*points.T, label=f"if they {assumed(exponent)}", **options)
    if line.asked is not None:
        axes.axhline(line.asked, color=COLOURS["mark"], linewidth=1, linestyle=":", label="allowed")
    axes.set_ylim(bottom=0)
    if len(line.no_limit):
        _draw_at_edge(axes, line.no_limit)
    axes.set_ylabel(line.label)
    legend(axes, columns=1)
    tidy(axes)


def _draw_at_edge(axes: Axes, sizes: NDArray[np.float64]) -> None:
    """Mark at the upper edge where the trials are too few for any limit."""
    at_edge: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "clip_on": False}
    axes.vlines(sizes, 0, 1, color=COLOURS["band"], alpha=0.35, transform=at_edge["transform"])
    edge = np.ones(len(sizes))
    axes.plot(sizes, edge, "^", color=COLOURS["band"], label="no limit: infinite", **at_edge)
