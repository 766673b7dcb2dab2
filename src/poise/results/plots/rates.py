"""Measured shares with their intervals, each beside the limit that it must not exceed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from poise.arguments import shortened
from poise.results.plots.canvas import COLOURS, Panels, legend, tidy

__all__ = ["Rate", "plot_rates"]


@dataclass(frozen=True)
class Rate:
    """A measured share, its interval and its limit.

    Attributes
    ----------
    name : str
        Where it was measured.
    value, low, high : float
        The share, and the ends of its interval.
    limit : float
        What a valid test cannot exceed.
    exceeds : bool
        Whether the whole interval lies above the limit.
    """

    name: str
    value: float
    low: float
    high: float
    limit: float
    exceeds: bool


def plot_rates(
    rates: Sequence[Rate],
    ax: Any = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw one line per share: a dot with its interval, and a bar at the limit.

    Parameters
    ----------
    rates : sequence of Rate
        What was measured.
    ax, title, figsize
        As in :func:`~poise.results.plots.verdict.plot_result`.

    Examples
    --------
    >>> figure = plot_rates([Rate("honest", 0.9, 0.8, 0.95, 0.5, True)])
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['above the limit', 'limit of every valid test']
    """
    panels = Panels(1, (7.5, 1.5 + 0.5 * len(rates)), ax, figsize)
    (axes,) = panels.axes
    for place, rate in enumerate(rates):
        colour = COLOURS["large" if rate.exceeds else "band"]
        label = "above the limit" if rate.exceeds else "not above the limit"
        axes.plot([rate.low, rate.high], [place, place], color=colour, lw=3, alpha=0.6)
        axes.plot([rate.value], [place], "o", color=colour, label=label)
        limit: dict[str, Any] = {"color": COLOURS["mark"], "markersize": 18, "mew": 2}
        axes.plot([rate.limit], [place], "|", label="limit of every valid test", **limit)
    axes.set_yticks(range(len(rates)), [shortened(r.name, 40) for r in rates], parse_math=False)
    axes.set_ylim(len(rates) - 0.4, -0.6)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel('share of replications that were declared "stable"')
    tidy(axes)
    axes.grid(visible=False, axis="y")
    _legend_once(axes)
    panels.title(title)
    return panels.drawn


def _legend_once(axes: Any) -> None:
    """Draw the legend with each label once."""
    seen: set[str] = set()
    for line in axes.get_lines():
        name = line.get_label()
        line.set_label(f"_{name}" if name in seen else name)
        seen.add(name)
    legend(axes, 3)
