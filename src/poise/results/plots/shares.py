"""For each fresh row, the share of training rows whose removal changes its prediction much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from poise import arguments
from poise.arguments import counted, shortened
from poise.arguments.printed_numbers import exactly, number
from poise.results.plots.canvas import COLOURS, Panels, legend, tidy

if TYPE_CHECKING:
    from poise.results.conditional_trials import ConditionalTrials

__all__ = ["plot_shares"]

_MOST_BINS = 40


def plot_shares(
    record: ConditionalTrials,
    epsilon: float,
    *,
    gamma: float | None = None,
    delta: float | None = None,
    ax: Any = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw a histogram of the shares of changes beyond ε, one share per trial.

    The averaged test is about the mean of the shares, the Binomial test about the part of them
    to the right of γ.

    Parameters
    ----------
    record : ConditionalTrials
        The measurement.
    epsilon : float
        Allowed change, >= 0.
    gamma, delta : float, optional
        Drawn as lines: the tolerated share, and without it the allowed mean.
    ax, title, figsize
        As in :func:`~poise.results.plots.verdict.plot_result`.

    Examples
    --------
    >>> from poise.results.conditional_design import ConditionalDesign
    >>> from poise.results.conditional_trials import ConditionalTrials
    >>> design = ConditionalDesign("mean", "deployed", n=2, n_fresh=60)
    >>> record = ConditionalTrials(np.full((60, 2), 0.1), design)
    >>> plot_shares(record, 0.2, delta=0.1).axes[0].get_ylabel()
    'trials (of 60)'
    """
    shares = record.shares(float(arguments.epsilon(epsilon)))
    panels = Panels(1, (8, 4), ax, figsize)
    (axes,) = panels.axes
    bins = min(record.design.changes_per_trial + 1, _MOST_BINS)
    top = max(float(shares.max(initial=0.0)), gamma or 0.0, delta or 0.0, 1 / bins)
    axes.hist(shares, np.linspace(0, min(1.0, 1.05 * top), bins + 1), color=COLOURS["small"])
    mean = float(shares.mean()) if shares.size else 0.0
    axes.axvline(mean, color=COLOURS["mark"], linewidth=1.6, label=f"mean {number(mean)}")
    line: dict[str, Any] = {"color": COLOURS["unstable"], "linewidth": 1.4, "linestyle": "--"}
    if gamma is not None:
        axes.axvline(gamma, label=f"tolerated share γ = {exactly(gamma)}", **line)
    elif delta is not None:
        axes.axvline(delta, label=f"allowed mean δ = {exactly(delta)}", **line)
    axes.set_xlabel(f"share of {_of(record)} that move by more than ε = {exactly(epsilon)}")
    axes.set_ylabel(f"trials (of {record.n_observed:,})")
    legend(axes)
    tidy(axes)
    name = shortened(record.design.title, 50)
    panels.title(title, f"{name} on this training set of {record.design.n:,} rows")
    return panels.drawn


def _of(record: ConditionalTrials) -> str:
    noun = {"deployed": "removal", "add-one": "point", "jackknife": "leave-one-out prediction"}
    return counted(record.design.changes_per_trial, noun[record.design.notion])
