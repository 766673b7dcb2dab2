"""Answers as pictures, drawn by matplotlib for a column of 3.3 inches, and as data frames."""

from __future__ import annotations

from importlib.util import find_spec
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar

from poise.errors import PoiseError

if TYPE_CHECKING:
    import pandas as pd


class Shown:
    """An answer that can be drawn, by a function of :mod:`poise.results.plots.pictures`."""

    drawn_by: ClassVar[str]

    def plot(
        self, *, ax: Any = None, figsize: tuple[float, float] | None = None, title: bool = True
    ) -> Any:
        """Draw what there is to see, at the width of a column.

        Of trials, and of a result, the changes and below them the limits for every ε; of a profile
        these limits alone; of a comparison what was seen of each algorithm, with the limits beside
        its verdict; of a curve its limits against n; of a plan its power, below what no valid test
        can exceed.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, two of them for trials and results; by default a figure of its own, which
            a notebook shows.
        figsize : tuple of float, optional
            Width and height of the figure, in inches.
        title : bool, default True
            Whether a figure of its own is titled.

        Returns
        -------
        figure, or ``ax`` if that was given
        """
        if not can_draw():
            raise PoiseError("pictures need matplotlib: pip install 'poise[plot]'")
        draw = resolve_name(f"poise.results.plots.pictures:{self.drawn_by}")
        return draw(self, ax=ax, figsize=figsize, title=title)


def can_draw() -> bool:
    """Tell whether matplotlib, which is optional, is there."""
    return find_spec("matplotlib") is not None


def as_frame(rows: Any, index: Any = None) -> pd.DataFrame:
    """Make a data frame; pandas is optional."""
    try:
        import pandas as pd
    except ImportError:
        raise PoiseError("data frames need pandas: pip install 'poise[data]'") from None
    return pd.DataFrame(rows, index)
