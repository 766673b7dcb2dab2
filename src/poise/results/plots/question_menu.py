"""What rows can answer: the smallest δ that can be certified, against the training size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poise.arguments.printed_numbers import exactly
from poise.results.plots.canvas import COLOURS, Panels, legend, name_sizes, tidy

if TYPE_CHECKING:
    from poise.theory.question_menu import Menu

__all__ = ["plot_menu"]


def plot_menu(
    menu: Menu,
    ax: Any = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw the lines of a menu; the largest n for its δ is marked.

    A run in which no change exceeds ε certifies every δ on the line or above it.

    Parameters
    ----------
    menu : Menu
        What :func:`poise.theory.question_menu.menu` returns.
    ax, title, figsize
        As in :func:`~poise.results.plots.verdict.plot_result`.

    Examples
    --------
    >>> from poise.theory.question_menu import menu
    >>> plot_menu(menu(3000)).axes[0].get_ylabel()
    'smallest δ of a run without a larger change'
    """
    panels = Panels(1, (6.5, 3.8), ax, figsize)
    (axes,) = panels.axes
    lines = [row for row in reversed(menu.rows) if row.smallest_delta is not None]
    sizes = [row.n for row in lines]
    limits = [row.smallest_delta for row in lines]
    axes.plot(sizes, limits, "o-", color=COLOURS["band"], label="can be certified")
    wanted = f"δ = {exactly(menu.delta)}"
    axes.axhline(menu.delta, color=COLOURS["mark"], lw=1, ls="--", label=wanted)
    best = menu.largest
    if best is not None:
        label = f"largest n for it: {best.n:,}"
        axes.plot([best.n], [best.smallest_delta], "D", color=COLOURS["large"], label=label)
    axes.set_yscale("log")
    axes.set_ylabel("smallest δ of a run without a larger change")
    if sizes:
        name_sizes(axes, sizes)
    tidy(axes)
    legend(axes, 3)
    unit = f"{menu.per_trial.unit}s"
    panels.title(title, f"What {menu.n_labeled:,} labelled {unit} can answer")
    return panels.drawn
