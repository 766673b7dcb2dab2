"""A figure that a notebook shows once, with or without pyplot."""

from __future__ import annotations

import io

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that pyplot does not know: no window, nothing to close.

    IPython shows matplotlib's figures only once pyplot was imported, and then in the user's
    format; until then it asks the figure itself.
    """

    def __init__(self, size: tuple[float, float]) -> None:
        super().__init__(figsize=size, layout="constrained", facecolor="white")
        FigureCanvasAgg(self)

    def png(self, dpi: float = 150) -> bytes:
        """Return the picture as the bytes of a PNG file."""
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=dpi)
        return buffer.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png()
