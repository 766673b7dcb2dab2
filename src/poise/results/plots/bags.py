"""Bag sizes and numbers of bags that give one guarantee, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from poise.arguments.printed_numbers import at_most, exactly
from poise.results.plots.canvas import COLOURS, Panels, legend, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from poise.theory.bag_choice import BagChoice

__all__ = ["plot_trade_off"]


def plot_trade_off(
    choices: Sequence[BagChoice],
    chosen: tuple[int, int] | None = None,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw how many bags of each size keep the guarantee.

    Larger bags lose less accuracy and need more fits; the picture shows the price, not the
    accuracy. The dotted line is the largest bag that is stable if all bags are fitted.

    Parameters
    ----------
    choices : sequence of BagChoice
        Those of :func:`poise.theory.bag_trade_off`.
    chosen : tuple of int, optional
        Bag size and number of bags to mark.
    ax : matplotlib axes, optional
        Where to draw; by default a figure of its own, which a notebook shows.
    title : str, optional
        Instead of the guarantee in short.
    figsize : tuple of float, optional
        Width and height of the figure, in inches.

    Returns
    -------
    figure, or ``ax`` if that was given

    Examples
    --------
    >>> from poise.theory import bag_trade_off
    >>> figure = plot_trade_off(bag_trade_off(40, epsilon=0.4, delta=0.2), (31, 101))
    >>> figure.axes[0].get_xlabel()
    'rows in a bag'
    """
    panels = Panels(1, (6.5, 3.8), ax, figsize)
    (axes,) = panels.axes
    sizes, counts = [c.bag_size for c in choices], [c.n_bags for c in choices]
    axes.plot(sizes, counts, "o-", color=COLOURS["band"], markersize=5, label="enough bags")
    label = f"largest bag: {choices[0].largest_bag:,} rows, with all bags"
    axes.axvline(choices[0].largest_bag, color=COLOURS["observed"], linestyle=":", label=label)
    if chosen is not None:
        axes.plot(*chosen, "D", color=COLOURS["large"], markersize=9, label="chosen")
    axes.set_yscale("log")
    axes.set_xlabel("rows in a bag")
    axes.set_ylabel("bags, on a logarithmic axis")
    tidy(axes)
    legend(axes)
    first = choices[0]
    usual = (
        f"({exactly(first.epsilon)}, {at_most(first.delta)})-stable at n = {first.n:,}, by theorem"
    )
    panels.title(title, usual)
    return panels.drawn
