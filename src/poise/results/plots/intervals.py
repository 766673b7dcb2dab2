"""Prediction intervals as bars, and the responses that they should contain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from poise.arguments import counted
from poise.errors import ArgumentError
from poise.results.plots.canvas import COLOURS, Panels, legend, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

__all__ = ["plot_intervals"]


def plot_intervals(
    predictions: ArrayLike,
    ends: ArrayLike,
    y: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw one bar per row, in the order of the predictions, and the responses if known.

    A share of bars that contain their response is an observation, not the guarantee: the
    guarantee is about new training rows too. Infinite ends are cut off at the edge.

    Parameters
    ----------
    predictions : array of length m
        The prediction for each row.
    ends : array of shape (m, 2)
        Lower and upper end of each interval.
    y : array of length m, optional
        The responses; those outside of their interval are marked.
    ax : matplotlib axes, optional
        Where to draw; by default a figure of its own, which a notebook shows.
    title : str, optional
        Instead of the observed share.
    figsize : tuple of float, optional
        Width and height of the figure, in inches.

    Returns
    -------
    figure, or ``ax`` if that was given

    Examples
    --------
    >>> figure = plot_intervals([2.0, 1.0], [[1.0, 3.0], [0.5, 1.5]], [2.5, 1.75])
    >>> figure.axes[0].get_xlabel(), figure.get_suptitle()
    ('new rows, in the order of their predictions', '1 of 2 responses lie in their intervals')
    """
    centre, limits = np.asarray(predictions, np.float64), np.asarray(ends, np.float64)
    if limits.shape != (len(centre), 2):
        raise ArgumentError(f"ends must be of shape ({len(centre)}, 2), got {limits.shape}")
    order = np.argsort(centre, kind="stable")
    panels = Panels(1, (8, 4), ax, figsize)
    (axes,) = panels.axes
    place = np.arange(len(order))
    low, high = _within_sight(limits[order], centre)
    axes.vlines(place, low, high, color=COLOURS["small"], linewidth=2.0, label="interval")
    axes.plot(place, centre[order], ".", color=COLOURS["band"], markersize=4, label="prediction")
    usual = counted(len(order), "interval")
    if y is not None:
        usual = _draw_responses(axes, np.asarray(y, np.float64)[order], limits[order])
    axes.set_xlabel("new rows, in the order of their predictions")
    axes.set_ylabel("response")
    tidy(axes)
    legend(axes)
    panels.title(title, usual)
    return panels.drawn


def _within_sight(
    limits: NDArray[np.float64], centre: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Replace infinite ends by numbers a little beyond everything that is finite."""
    seen = np.append(limits[np.isfinite(limits)], centre)
    margin = 0.2 * (float(np.ptp(seen)) or 1.0)
    return (
        np.where(np.isfinite(limits[:, 0]), limits[:, 0], seen.min() - margin),
        np.where(np.isfinite(limits[:, 1]), limits[:, 1], seen.max() + margin),
    )


def _draw_responses(axes: Axes, y: NDArray[np.float64], limits: NDArray[np.float64]) -> str:
    """Mark responses inside and outside of their intervals; return how many are inside."""
    inside = (limits[:, 0] <= y) & (y <= limits[:, 1])
    place = np.arange(len(y))
    for which, colour, marker, name in (
        (inside, COLOURS["observed"], "o", "response inside"),
        (~inside, COLOURS["large"], "X", "response outside"),
    ):
        size = 3.5 if marker == "o" else 7
        axes.plot(place[which], y[which], marker, color=colour, markersize=size, label=name)
    return f"{int(inside.sum()):,} of {len(y):,} responses lie in their intervals"
