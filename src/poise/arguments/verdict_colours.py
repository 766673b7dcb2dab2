"""The colours of verdicts in notebooks, pictures, reports and the light pages of ``poise ui``."""

from __future__ import annotations

__all__ = ["VERDICT_COLOURS"]

# Each has a contrast of 3 at least with white and with the black of dark themes, and of 4.5 with
# white words on it and as words on a light ground.
VERDICT_COLOURS = {
    "stable": "#2a7f62",
    "unstable": "#b23a2e",
    "inconclusive": "#8a6410",
    "not certified stable": "#8a6410",
}
