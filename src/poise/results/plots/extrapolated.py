"""Limits at training sizes that were not measured, dashed, because they are assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poise.arguments.printed_numbers import exactly
from poise.results.plots.canvas import COLOURS, Panels, legend, name_sizes, tidy

if TYPE_CHECKING:
    from poise.results.extrapolation import Extrapolation

__all__ = ["plot_extrapolation"]

_WORDS = {
    "epsilon": "change exceeded with probability δ, at most",
    "delta": "probability of a change beyond ε, at most",
}


def plot_extrapolation(
    extrapolation: Extrapolation,
    ax: Any = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw the limits against n; nothing in the picture is certified.

    Parameters
    ----------
    extrapolation : Extrapolation
        What :meth:`poise.StabilityCurve.extrapolate` returns.
    ax, title, figsize
        As in :func:`~poise.results.plots.verdict.plot_result`; one panel for each kind of limit.

    Examples
    --------
    >>> from poise.results.extrapolation import Extrapolation
    >>> further = Extrapolation((50, 100), (0.4, 0.2), None, exponent=1.0, alpha=0.05)
    >>> plot_extrapolation(further).axes[0].get_ylabel()
    'change exceeded with probability δ, at most'
    """
    known = {name: limits for name, limits in extrapolation.columns().items() if name != "n"}
    panels = Panels(max(1, len(known)), (5.5 * max(1, len(known)), 3.8), ax, figsize)
    for axes, (name, limits) in zip(panels.axes, known.items(), strict=False):
        label = f"assumed: n^-{exactly(extrapolation.exponent)}"
        axes.plot(extrapolation.n, limits, "o--", color=COLOURS["band"], label=label)
        axes.set_ylim(bottom=0)
        axes.set_ylabel(_WORDS[name])
        name_sizes(axes, sorted(extrapolation.n))
        tidy(axes)
        legend(axes)
    panels.title(title, extrapolation.headline())
    return panels.drawn
