"""What every picture shares: colours, sizes of words, panels, and labels at their lines.

Sizes stand on the words themselves, because matplotlib's settings are global: a context manager
would change them for other threads too.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poise.checks import counted
from poise.errors import ArgumentError, PoiseError, printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Size = tuple[float, float]

WIDTH = 3.3  # inches: a column of a paper
LABEL, WORD = 8, 7  # points: of axes and titles; of ticks and words at lines
MARK = "poise"  # in every file, so that it may be replaced by the next one

# Each has a contrast of 3 at least with white and with the black of dark themes, and of 4.5 with
# white words on it.
VERDICT_COLOURS = {"stable": "#2a7f62", "unstable": "#b23a2e", "inconclusive": "#8a6410"}
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
_ENDINGS = {".png": "Software", ".svg": "Creator", ".pdf": "Creator"}  # where the mark goes
_PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}  # a dollar in a name is a dollar


class Panels:
    """Axes to draw on, one above the other: those the user gave, or those of a new figure.

    Parameters
    ----------
    size : tuple of float
        Width and height of a new figure, in inches.
    heights : tuple of float
        How high the panels are beside each other; one number for each.
    ax : matplotlib axes or several of them, optional
        Where the user wants the picture; their style is left alone.
    figsize : tuple of float, optional
        Width and height, if the user chose them.

    Examples
    --------
    >>> panels = Panels((3.3, 3.6), (1, 1))
    >>> len(panels.axes), panels.drawn is panels.axes[0].figure
    (2, True)
    """

    def __init__(
        self, size: Size, heights: Sequence[float], ax: Any = None, figsize: Size | None = None
    ) -> None:
        self.own = ax is None
        if ax is None:
            self.drawn: Any = _new_figure(figsize or size)
            shape: dict[str, Any] = {"squeeze": False, "height_ratios": heights}
            self.axes: list[Axes] = list(self.drawn.subplots(len(heights), **shape)[:, 0])
            for each in self.axes:
                dress(each)
            return
        if figsize is not None:
            raise ArgumentError("is for a figure of its own; leave out ax", argument="figsize")
        self.drawn = ax
        self.axes = list(ax) if isinstance(ax, (list, tuple)) else list(getattr(ax, "flat", [ax]))
        if len(self.axes) != len(heights):
            problem = f"must hold {counted(len(heights), 'panel')}"
            raise ArgumentError(problem, argument="ax", got=len(self.axes))

    def finish(
        self, wanted: str | None, usual: str = "", below: str = "", verdict: str = ""
    ) -> Any:
        """Write the title, and return what the plot returns.

        Given axes are titled only if somebody ``wanted`` it.
        """
        for ax in self.axes:
            named = ax.get_legend()
            for text in (ax.xaxis.label, ax.yaxis.label, *(named.get_texts() if named else ())):
                text.set(**_PLAIN)
        if self.own:
            self._write(usual if wanted is None else wanted, "" if wanted else below, verdict)
        elif wanted is not None:
            self.axes[0].set_title(printable(wanted), loc="left", pad=14, **_PLAIN)
        return self.drawn

    def _write(self, title: str, below: str, verdict: str) -> None:
        """Write a title and a line below it, from the left edge of the figure."""
        if not title:
            return
        figure, left = self.drawn, 0.06 / self.drawn.get_figwidth()
        points = 72 * figure.get_figheight()
        shown = shortened(printable(title), _LONGEST_TITLE)
        room = "\n " if below else ""  # for the line below
        words = {"x": left, "ha": "left", "fontsize": LABEL, "fontweight": "bold", **_PLAIN}
        name = figure.suptitle(shown + room, color=COLOURS["ink"], **words)
        most = len(shown)
        while most > _SHORTEST_TITLE and (end := name.get_window_extent().x1) > figure.bbox.width:
            most = min(most - 1, int(most * figure.bbox.width / end))
            name.set_text(shortened(shown, most) + room)
        if below:
            colour = COLOURS[verdict or "seen"]
            figure.text(left, 1 - 14 / points, below, va="top", size=LABEL, color=colour, **_PLAIN)


def upright(ax: Axes, x: float, word: str = "", colour: str = "") -> None:
    """Draw a dashed line across the panel, its word above it, where nothing else is drawn."""
    ink: Any = colour or ax.xaxis.label.get_color()
    ax.axvline(x, color=ink, linestyle="--", linewidth=0.9)
    place = (ax.get_xaxis_transform() - ax.transAxes).transform((x, 0))[0]
    side = "left" if place < 0.3 else "right" if place > 0.7 else "center"
    if word:
        _word(ax, word, (x, 1), ("data", "axes fraction"), (0, 2), side, "bottom", ink)


def level(ax: Axes, y: float, word: str) -> None:
    """Draw a dotted line along the panel, its word in the right margin."""
    ink: Any = ax.xaxis.label.get_color()
    ax.axhline(y, color=ink, linestyle=":", linewidth=0.9)
    _word(ax, word, (1, y), ("axes fraction", "data"), (2, 0), "left", "center", ink)


def remark(ax: Axes, lines: list[str], colour: str) -> None:
    """Write lines into the upper right corner."""
    at = ("axes fraction", "axes fraction")
    ground = {"facecolor": ax.get_facecolor(), "edgecolor": "none", "pad": 1, "alpha": 0.85}
    _word(ax, "\n".join(lines), (1, 1), at, (-2, -2), "right", "top", colour, bbox=ground)


def legend(ax: Axes) -> None:
    """Name the lines where there is most room for it."""
    style = {"handlelength": 1.4, "labelspacing": 0.3, "framealpha": 0.85, "edgecolor": "none"}
    colours = {"facecolor": ax.get_facecolor(), "labelcolor": ax.xaxis.label.get_color()}
    ax.legend(loc="best", fontsize=WORD, **style, **colours)


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the ending of the path, with the mark of poise."""
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise ArgumentError(f"must end in {', '.join(_ENDINGS)}", argument="path", got=str(path))
    figure.savefig(path, dpi=200, metadata={_ENDINGS[ending]: MARK})


def shortened(name: str, most: int) -> str:
    """Shorten a name in the middle."""
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"


def _word(
    ax: Axes,
    word: str,
    at: Size,
    units: Any,
    shift: Size,
    ha: str,
    va: str,
    colour: str,
    **more: Any,
) -> None:
    where: dict[str, Any] = {"xycoords": units, "xytext": shift, "textcoords": "offset points"}
    ax.annotate(word, at, ha=ha, va=va, color=colour, fontsize=WORD, **where, **_PLAIN, **more)


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


def _new_figure(size: Size) -> Figure:
    try:
        from poise.results.plots.figure import ShownFigure
    except ImportError:
        raise PoiseError("pictures need matplotlib: pip install 'poise[plot]'") from None
    return ShownFigure(size)
