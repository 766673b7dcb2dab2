"""Figures, colours, titles and files: what every picture shares."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.arguments import counted
from poise.arguments.verdict_colours import VERDICT_COLOURS
from poise.errors import ArgumentError, PoiseError, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from poise.results.plots.shown_figure import ShownFigure

__all__ = [
    "COLOURS",
    "MARK",
    "Panels",
    "check_plot_file",
    "legend",
    "name_sizes",
    "new_figure",
    "save_figure",
    "tidy",
]

# Verdicts without a decision: lighter than in words, to differ from "unstable" in grey print.
_UNDECIDED = "#b8892b"

# Distinct for colour-blind readers, and in grey print.
COLOURS = {
    "small": "#7fa6c9",
    "large": "#c8553d",
    "band": "#1f4e79",
    "observed": "#6b7280",
    "mark": "#111827",
    **VERDICT_COLOURS,
    "inconclusive": _UNDECIDED,
    "not certified stable": _UNDECIDED,
}
MARK = "written by poise"  # in every file, so that it may be replaced by the next one
_ENDINGS = {".png": "Software", ".svg": "Creator", ".pdf": "Creator"}  # where the mark goes
_DOTS_PER_INCH = 150
_MOST_TICKS = 8


def new_figure(width: float, height: float) -> ShownFigure:
    """Return an empty figure in inches, or say what to install."""
    try:
        from poise.results.plots.shown_figure import ShownFigure

        return ShownFigure(width, height)
    except ImportError:
        raise PoiseError("plots need matplotlib: pip install 'poise[plot]'") from None


class Panels:
    """Axes to draw on: those the user gave, or those of a new figure.

    Parameters
    ----------
    count : int
        How many there must be.
    size : tuple of float
        Width and height of a new figure, in inches.
    ax : matplotlib axes or array of them, optional
        Where the user wants the picture.
    figsize : tuple of float, optional
        Width and height of a new figure, if the user chose them.

    Examples
    --------
    >>> panels = Panels(2, (6, 3))
    >>> len(panels.axes), panels.drawn is panels.axes[0].figure
    (2, True)
    """

    def __init__(
        self,
        count: int,
        size: tuple[float, float],
        ax: Axes | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> None:
        self._given = ax
        if ax is None:
            figure = new_figure(*(size if figsize is None else figsize))
            self.axes = list(figure.subplots(1, count, squeeze=False)[0])
            return
        if figsize is not None:
            raise ArgumentError("figsize is for a figure of its own; give it without ax")
        self.axes = list(ax.flat) if hasattr(ax, "flat") else [ax]
        if isinstance(ax, (list, tuple)):
            self.axes = list(ax)
        if len(self.axes) != count:
            raise ArgumentError(f"ax must hold {counted(count, 'panel')}, got {len(self.axes)}")

    @property
    def drawn(self) -> Any:
        """What a plot returns: the figure, or the axes that were given."""
        return self.axes[0].figure if self._given is None else self._given

    def title(self, wanted: str | None, usual: str = "") -> None:
        """Write a title and keep its dollar signs; given axes get one only if it is wanted."""
        first = self.axes[0]
        if self._given is None:
            text = printable(usual if wanted is None else wanted)
            first.figure.suptitle(text, fontsize=11, x=0.01, ha="left", parse_math=False)
        elif wanted is not None:
            named = [] if first.get_legend() is None else first.get_legend().get_texts()
            columns = 1 if not named else first.get_legend()._ncols
            lines = -(-len(named) // columns) + bool(first.get_title())
            place: dict[str, Any] = {"loc": "left", "pad": 6 + 14 * lines}
            first.set_title(printable(wanted), fontsize=11, parse_math=False, **place)


def tidy(axes: Axes) -> None:
    """Remove lines that carry no information."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e5e7eb", linewidth=0.8)
    axes.set_axisbelow(True)


def legend(axes: Axes, columns: int = 2) -> None:
    """Draw the legend above the axes, where its words hide no line.

    One column where panels stand side by side: a legend wider than its panel is cut off.
    """
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=columns,
        fontsize=9,
        frameon=False,
        borderaxespad=0.2,
        columnspacing=1.4,
    )


def name_sizes(axes: Axes, sizes: Sequence[int]) -> None:
    """Put training sizes on a logarithmic axis, with a number at those that were measured."""
    from matplotlib.ticker import NullLocator

    step = -(-len(sizes) // _MOST_TICKS)
    shown = sizes[::step]
    axes.set_xscale("log")
    axes.set_xticks(shown, [f"{size:,}" for size in shown])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("training size n, on a logarithmic axis")


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
