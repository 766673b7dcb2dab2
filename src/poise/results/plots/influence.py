"""The most influential training rows, as bars."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from poise.arguments.printed_numbers import exactly
from poise.results.plots.canvas import COLOURS, Panels, tidy

if TYPE_CHECKING:
    from poise.results.influence import Influence

__all__ = ["plot_influence"]

_SHOWN = 15  # rows


def plot_influence(
    influence: Influence,
    ax: Any = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    line: Callable[[int], str] | None = None,
) -> Any:
    """Draw the share of fresh points that move when each of the first rows is removed.

    It is descriptive: the rows were chosen by looking, and nothing is certified about any of
    them.

    Parameters
    ----------
    influence : Influence
        The rows in order.
    ax, title, figsize
        As in :func:`~poise.results.plots.verdict.plot_result`.
    line : callable, optional
        From the number of a row to its name; by default rows are counted from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from poise.results.conditional_design import ConditionalDesign
    >>> from poise.results.conditional_trials import ConditionalTrials
    >>> design = ConditionalDesign("mean", "deployed", n=2, n_fresh=60)
    >>> record = ConditionalTrials(np.full((60, 2), 0.1), design)
    >>> plot_influence(record.influence(0.05)).axes[0].get_ylabel()
    'training row, counting from 0'
    """
    panels = Panels(1, (8, 4.5), ax, figsize)
    (axes,) = panels.axes
    shown = min(_SHOWN, max(1, int((influence.share > 0).sum())))
    rows, shares = influence.rows[:shown], influence.share[:shown]
    axes.barh(range(len(rows)), shares, color=COLOURS["large"], height=0.75)
    axes.set_yticks(range(len(rows)), [line(int(row)) if line else f"{row:,}" for row in rows])
    axes.invert_yaxis()
    axes.set_ylabel("training row" if line else "training row, counting from 0")
    axes.set_xlabel(
        f"share of {influence.n_points:,} fresh points whose prediction moves by more than "
        f"ε = {exactly(influence.epsilon)}"
    )
    tidy(axes)
    axes.grid(visible=False)
    panels.title(title, f"Most influential of {len(influence.rows):,} rows (nothing certified)")
    return panels.drawn
