"""The course of the averaged test: two bets, and the line that decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments import shortened
from poise.arguments.printed_numbers import exactly
from poise.results.plots.canvas import COLOURS, Panels, legend, tidy
from poise.results.plots.plotted_question import note_limit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from poise.results.averaged_result import AveragedResult
    from poise.results.conditional_result import ConditionalResult

__all__ = ["Course", "plot_trajectory"]

_LOWEST = 1e-4  # of the axis: a bet that is lost is 0, which no logarithmic axis shows


@dataclass(frozen=True)
class Course:
    """One bet as it is drawn: its value before the first trial and after each of them.

    Attributes
    ----------
    trials : ndarray of int
        0, 1, 2, …
    values : ndarray of float
        u, starting at α, clipped to the axis.

    Examples
    --------
    >>> Course.of((0.1, 0.0), alpha=0.05).values.tolist()
    [0.05, 0.1, 0.0001]
    """

    trials: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, trajectory: tuple[float, ...], alpha: float) -> Course:
        """Clip the values of a bet to the axis."""
        values = np.clip([alpha, *trajectory], _LOWEST, 1 / _LOWEST)
        return cls(np.arange(len(values)), values)


def plot_trajectory(
    result: AveragedResult | ConditionalResult,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw both bets of the averaged test against the threshold 1.

    A bet that has not reached 1 shows nothing: only the one that reaches it decides.

    Parameters
    ----------
    result : AveragedResult or ConditionalResult
        The verdict.
    ax, title, figsize
        As in :func:`~poise.results.plots.verdict.plot_result`.

    Returns
    -------
    figure, or ``ax`` if that was given

    Examples
    --------
    >>> from poise import Trials
    >>> result = Trials.from_changes([[[0.1, 0.9]]] * 9, n=5).test(epsilon=0.5, delta=0.1)
    >>> plot_trajectory(result).axes[0].get_xlabel()
    'trials (of 9)'
    """
    panels = Panels(1, (8, 4), ax, figsize)
    (axes,) = panels.axes
    _draw_bet(axes, result.alpha, "stable", result.trajectory)
    _draw_bet(axes, result.alpha, "unstable", result.trajectory_unstable)
    label = "decides at 1"
    axes.axhline(1.0, color=COLOURS["mark"], linewidth=1.2, linestyle="--", label=label)
    axes.set_yscale("log")
    axes.set_xlim(0, max(1, result.n_trials))
    axes.set_xlabel(f"trials (of {result.n_trials:,})")
    axes.set_ylabel("value of the bet, on a logarithmic axis")
    note_limit(axes, result)
    legend(axes)
    tidy(axes)
    panels.title(title, _title(result))
    return panels.drawn


def _draw_bet(axes: Axes, alpha: float, verdict: str, trajectory: tuple[float, ...]) -> None:
    course = Course.of(trajectory, alpha)
    options: dict[str, Any] = {"color": COLOURS[verdict], "linewidth": 1.8, "where": "post"}
    axes.step(course.trials, course.values, label=f'bet on "{verdict}"', **options)


def _title(result: AveragedResult | ConditionalResult) -> str:
    name = shortened(result.design.title, 50)
    level = f"error level {exactly(result.alpha)}"
    return f"{name} at n = {result.n:,}: {result.verdict.value} ({level})"
