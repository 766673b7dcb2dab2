"""Pictures of results, drawn with matplotlib and without its global state.

What is drawn is computed apart from the drawing, by functions of results alone.
No window is ever opened and no figure is kept alive by anyone but the caller.
"""

from __future__ import annotations

from poise.plots.canvas import save_figure
from poise.plots.changes import plot_trials, stack_trials
from poise.plots.profile import plot_profile
from poise.plots.verdict import plot_result

__all__ = ["plot_profile", "plot_result", "plot_trials", "save_figure", "stack_trials"]
