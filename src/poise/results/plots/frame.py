"""What every picture shares: colours, sizes of words, panels, and labels at their lines.

Sizes stand on the words themselves, because matplotlib's settings are global: a context manager
would change them for other threads too.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from poise.checks import counted
from poise.errors import ArgumentError, printable
from poise.results.design import in_brief
from poise.results.report import VERDICT_COLOURS

Size = tuple[float, float]

WIDTH = 3.3  # inches: a column of a paper
LABEL, WORD = 8, 7  # points: of axes and titles; of ticks and words at lines
# Distinct for colour-blind readers, and in grey print.
COLOURS = {
    "small": "#7fa6c9",
    "large": "#c8553d",
    "limit": "#1f4e79",
    "seen": "#6b7280",
    "ink": "#111827",
    **VERDICT_COLOURS,
}

_SHORTEST_TITLE, _LONGEST_TITLE = 9, 120
_PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}  # a dollar in a name is a dollar


class ShownFigure(Figure):
    """A figure that pyplot does not know: no window, nothing to close.

    IPython shows matplotlib's figures only once pyplot was imported, and then in the user's
    format; until then it asks the figure itself.
    """

    def __init__(self, size: Size) -> None:
        super().__init__(figsize=size, layout="constrained", facecolor="white")
        FigureCanvasAgg(self)

    def png(self, dpi: float = 150) -> bytes:
        """Return the picture as the bytes of a PNG file."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=dpi)
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png()


class Panels:
    """Axes to draw on, one above the other: those the user gave, or those of a new figure.

    ``heights`` says how high the panels are beside each other. Given axes keep their style.
    """

    def __init__(self, height: float, heights: Sequence[float] = (1,), **place: Any) -> None:
        ax, figsize, title = (place[name] for name in ("ax", "figsize", "title"))
        self.titled, self.drawn = title and ax is None, ax
        if ax is None:
            self.drawn = ShownFigure(figsize or (WIDTH, height))
            shape: dict[str, Any] = {"squeeze": False, "height_ratios": heights}
            ax = self.drawn.subplots(len(heights), **shape)
            for each in ax.flat:
                dress(each)
        elif figsize is not None:
            raise ArgumentError("is for a figure of its own; leave out ax", argument="figsize")
        self.axes: list[Axes] = np.ravel(ax).tolist()
        if len(self.axes) != len(heights):
            problem = f"must hold {counted(len(heights), 'panel')}"
            raise ArgumentError(problem, argument="ax", got=len(self.axes))
        for each in self.axes:
            for axis in (each.xaxis, each.yaxis):
                axis.label.set(**_PLAIN)

    def finish(self, title: str = "", below: str = "", verdict: str = "") -> Any:
        """Write a title and a line below it, from the left edge; return what the plot returns."""
        if not self.titled or not title:
            return self.drawn
        figure, room = self.drawn, "\n " if below else ""
        left = {"x": 0.06 / figure.get_figwidth(), "ha": "left", "fontsize": LABEL, **_PLAIN}
        words = {"color": COLOURS["ink"], "fontweight": "bold", **left}
        for most in range(_LONGEST_TITLE, _SHORTEST_TITLE, -4):
            name = figure.suptitle(in_brief(printable(title), most) + room, **words)
            if name.get_window_extent().x1 <= figure.bbox.width:
                break
        y = 1 - 14 / (72 * figure.get_figheight())
        figure.text(y=y, s=below, va="top", color=COLOURS[verdict or "seen"], **left)
        return figure


def upright(ax: Axes, x: float, word: str = "") -> None:
    """Draw a dashed line across the panel, its word above it, where nothing else is drawn."""
    ink: Any = ax.xaxis.label.get_color()
    ax.axvline(x, color=ink, linestyle="--", linewidth=0.9)
    place = (ax.get_xaxis_transform() - ax.transAxes).transform((x, 0))[0]
    side = "left" if place < 0.3 else "right" if place > 0.7 else "center"
    at: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "xytext": (0, 2)}
    if word:
        _word(ax, word, (x, 1), ha=side, va="bottom", color=ink, **at)


def level(ax: Axes, y: float, word: str) -> None:
    """Draw a dotted line along the panel, its word in the right margin."""
    ink: Any = ax.xaxis.label.get_color()
    ax.axhline(y, color=ink, linestyle=":", linewidth=0.9)
    at: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "xytext": (2, 0)}
    _word(ax, word, (1, y), ha="left", va="center", color=ink, **at)


def remark(ax: Axes, lines: list[str], colour: str) -> None:
    """Write lines into the upper right corner."""
    ground = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1, "alpha": 0.85}
    at: dict[str, Any] = {"xycoords": "axes fraction", "xytext": (-2, -2)}
    _word(ax, "\n".join(lines), (1, 1), ha="right", va="top", color=colour, bbox=ground, **at)


def _word(ax: Axes, word: str, at: Size, **style: Any) -> None:
    ax.annotate(word, at, textcoords="offset points", fontsize=WORD, **_PLAIN, **style)


def legend(ax: Axes) -> None:
    """Name the lines where there is most room for it."""
    style = {"handlelength": 1.4, "labelspacing": 0.3, "framealpha": 0.85, "edgecolor": "none"}
    colours = {"facecolor": ax.get_facecolor(), "labelcolor": ax.xaxis.label.get_color()}
    for text in ax.legend(loc="best", fontsize=WORD, **style, **colours).get_texts():
        text.set(**_PLAIN)


def dress(ax: Axes) -> None:
    """Remove lines that carry no information, and set colours and sizes whatever the settings."""
    ink, soft = COLOURS["ink"], COLOURS["seen"]
    ax.set_facecolor("white")
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set(color=soft, linewidth=0.6)
    ax.grid(visible=False)
    ax.grid(visible=True, axis="y", color="#e5e7eb", linewidth=0.6, linestyle="-")
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=WORD, labelcolor=ink, color=soft, width=0.6, length=2.5)
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(fontsize=LABEL, color=ink)
        axis.offsetText.set_fontsize(WORD)
