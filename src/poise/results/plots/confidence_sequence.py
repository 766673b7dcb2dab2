"""The confidence sequence of a growing record: limits that hold at all times, and δ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poise.arguments import shortened
from poise.arguments.printed_numbers import confidence, exactly
from poise.results.plots.canvas import COLOURS, Panels, legend, tidy

if TYPE_CHECKING:
    from poise.results.monitor_status import MonitorStatus

__all__ = ["plot_confidence_sequence"]


def plot_confidence_sequence(
    status: MonitorStatus,
    ax: Any = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw the upper and the lower limit for δ* after each trial, with δ and the calls.

    The upper limit below δ is "stable", the lower limit above δ is "unstable".

    Parameters
    ----------
    status : MonitorStatus
        Where the record stands.
    ax, title, figsize
        As in :func:`~poise.results.plots.verdict.plot_result`.

    Returns
    -------
    figure, or ``ax`` if that was given

    Examples
    --------
    >>> from poise.results.design import Design
    >>> from poise.results.monitor_status import MonitorStatus
    >>> quiet = (0.0,) * 60
    >>> status = MonitorStatus(Design("Ridge()", 20, 1260), 0.5, 0.1, 0.05, quiet, quiet)
    >>> plot_confidence_sequence(status).axes[0].get_xlabel()
    'trials so far'
    """
    panels = Panels(1, (8, 4), ax, figsize)
    (axes,) = panels.axes
    limits = status.confidence_sequence
    options: dict[str, Any] = {"linewidth": 1.8, "where": "post"}
    axes.step(limits.trials, limits.upper, color=COLOURS["stable"], label="upper limit", **options)
    axes.step(
        limits.trials, limits.lower, color=COLOURS["unstable"], label="lower limit", **options
    )
    axes.fill_between(
        limits.trials, limits.lower, limits.upper, step="post", color=COLOURS["band"], alpha=0.08
    )
    mark: dict[str, Any] = {"color": COLOURS["mark"], "linewidth": 1.2}
    axes.axhline(status.delta, linestyle="--", label=f"δ = {exactly(status.delta)}", **mark)
    if status.decided_at is not None:
        said = f"{status.verdict.value} after {status.decided_at:,}"
        axes.axvline(status.decided_at, linestyle=":", label=said, **mark)
    at_zero = [0] * len(status.looks)
    ticks: dict[str, Any] = {"color": COLOURS["mark"], "markersize": 10, "clip_on": False}
    axes.plot(status.looks, at_zero, "|", label="calls", **ticks)
    axes.set_xlim(0, max(1, status.n_trials))
    axes.set_ylim(0, 1)
    axes.set_xlabel("trials so far")
    axes.set_ylabel(f"probability of a change > {exactly(status.epsilon)}")
    legend(axes, 3)
    tidy(axes)
    panels.title(title, _title(status))
    return panels.drawn


def _title(status: MonitorStatus) -> str:
    name = shortened(status.design.title, 24)
    held = f"each limit at all times with confidence {confidence(status.alpha)}"
    if status.epoch > 1:
        held += f"; epoch {status.epoch}"
    return f"{name} at n = {status.design.n:,}: {status.verdict.value} ({held})"
