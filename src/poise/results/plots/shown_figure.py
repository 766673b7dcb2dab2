"""A figure that a notebook shows, also without pyplot."""

from __future__ import annotations

import io

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

__all__ = ["ShownFigure"]


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

    def _repr_png_(self) -> bytes:
        return self.png(100)
