"""Figures, colours and files: what every picture shares."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.errors import ArgumentError, PoiseError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "MARK",
    "check_plot_file",
    "legend",
    "new_figure",
    "png",
    "save_figure",
    "tidy",
]

# Told apart by people who do not see red and green alike, and in grey print.
COLOURS = {
    "small": "#7fa6c9",
    "large": "#c8553d",
    "band": "#1f4e79",
    "observed": "#6b7280",
    "mark": "#111827",
    "stable": "#2a7f62",
    "unstable": "#b23a2e",
    "inconclusive": "#b8892b",
}
MARK = "written by poise"  # in every file, so that it may be replaced by the next one
_ENDINGS = {".png": "Software", ".svg": "Creator", ".pdf": "Creator"}  # where the mark goes
_DOTS_PER_INCH = 150


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure in inches, or say what to install."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise PoiseError("plots need matplotlib: pip install 'poise[plot]'") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def tidy(axes: Any) -> None:
    """Take away the lines that say nothing."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e5e7eb", linewidth=0.8)
    axes.set_axisbelow(True)


def legend(axes: Any) -> None:
    """Name the parts above the axes, where no line can be hidden behind the words."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=2,
        fontsize=9,
        frameon=False,
        borderaxespad=0.2,
        columnspacing=1.4,
    )


def check_plot_file(path: Path) -> None:
    """Say before any work is done that a picture could not be written there."""
    if path.suffix.lower() not in _ENDINGS:
        raise ArgumentError(f"a plot file must end in {', '.join(_ENDINGS)}, got {path.name!r}")
    new_figure(1, 1)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of the path."""
    check_plot_file(path)
    marked = {_ENDINGS[path.suffix.lower()]: MARK}
    figure.savefig(path, dpi=_DOTS_PER_INCH, metadata=marked)


def png(figure: Figure) -> bytes:
    """Return a figure as the bytes of a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DOTS_PER_INCH)
    return buffer.getvalue()
