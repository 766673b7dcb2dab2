"""A figure that a notebook shows, also without pyplot."""

from __future__ import annotations

import base64
import io
from html import escape

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from poise.results.plots.inline_svg import inline_svg

__all__ = ["ShownFigure"]

_LONGEST_SVG = 300_000  # characters


class ShownFigure(Figure):
    """A figure with a rich representation of its own; no window, no global state.

    IPython knows how to show matplotlib's figures only once pyplot has been
    imported. Then its own way is used, with the user's settings.
    """

    def __init__(self, width: float, height: float) -> None:
        super().__init__(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(self)

    def png(self, dots_per_inch: int = 150) -> bytes:
        """Return the picture as the bytes of a PNG file."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=dots_per_inch)
        return buffer.getvalue()

    def in_page(self, label: str) -> str:
        """Return the picture for an HTML page: in the colours of the page, if it is not too long.

        Thousands of steps are shorter as pixels; these stand on white, also in a dark page.
        """
        drawn = inline_svg(self, label)
        if len(drawn) <= _LONGEST_SVG:
            return drawn
        pixels = base64.b64encode(self.png(100)).decode("ascii")
        source = f'src="data:image/png;base64,{pixels}"'
        return f'<img {source} alt="{escape(label)}" style="max-width:100%;background:#fff" />'

    def _repr_png_(self) -> bytes:
        return self.png(100)
