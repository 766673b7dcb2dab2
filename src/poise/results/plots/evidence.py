"""The evidence of several records, one bar each, and of all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from poise.arguments import shortened
from poise.arguments.printed_numbers import number
from poise.results.plots.canvas import COLOURS, Panels, legend, tidy

if TYPE_CHECKING:
    from poise.results.combined_evidence import CombinedEvidence

__all__ = ["plot_evidence"]

_SMALLEST, _LARGEST = 1e-12, 1e12  # e-values may be 0 or infinite, and an axis cannot


def plot_evidence(
    evidence: CombinedEvidence,
    ax: Any = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw e-values for "stable" and for "unstable", with the line 1/α that decides.

    Parameters
    ----------
    evidence : CombinedEvidence
        What :func:`poise.combine` returns.
    ax, title, figsize
        As in :func:`~poise.results.plots.verdict.plot_result`.

    Examples
    --------
    >>> from poise.results.combined_evidence import CombinedEvidence
    >>> from poise.results.design import Design
    >>> two = ("a.record", "b.record"), (4.0, 6.0), (0.1, 0.2), (30, 35)
    >>> evidence = CombinedEvidence(*two, Design("Ridge()", n=20, n_labeled=1260), 0.5, 0.1, 0.05)
    >>> [text.get_text() for text in plot_evidence(evidence).axes[0].get_yticklabels()]
    ['a.record', 'b.record', 'together']
    """
    panels = Panels(1, (8, 1.6 + 0.45 * (len(evidence.records) + 1)), ax, figsize)
    (axes,) = panels.axes
    names = [*(shortened(name, 40) for name in evidence.records), "together"]
    place = np.arange(len(names))
    sides = {
        "stable": (*evidence.e_values, evidence.e_value),
        "unstable": (*evidence.e_values_unstable, evidence.e_value_unstable),
    }
    for (verdict, values), shift in zip(sides.items(), (-0.2, 0.2), strict=True):
        drawn = np.clip(values, _SMALLEST, _LARGEST)
        options: dict[str, Any] = {"color": COLOURS[verdict], "label": f'for "{verdict}"'}
        axes.barh(place + shift, np.log10(drawn), 0.36, **options)
    decides = f"decides: 1/α = {number(1 / evidence.alpha)}"
    axes.axvline(np.log10(1 / evidence.alpha), color=COLOURS["mark"], ls="--", label=decides)
    axes.axvline(0, color=COLOURS["observed"], lw=0.8)
    axes.set_yticks(place, names, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlabel("evidence: e-value, as a power of ten")
    tidy(axes)
    legend(axes, 3)
    panels.title(title, f"{shortened(evidence.design.title, 50)}: {evidence.verdict.value}")
    return panels.drawn
