"""The profile ε ↦ δ̂: a step function with the observed share below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments.printed_numbers import confidence, exactly
from poise.results.plots.canvas import COLOURS, Panels, legend, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from poise.results import Profile
    from poise.results.plots.plotted_question import PlottedQuestion

__all__ = ["Steps", "draw_profile", "plot_profile"]


@dataclass(frozen=True)
class Steps:
    """Corners of the two step functions, drawn from each ε to the next.

    Attributes
    ----------
    epsilon : ndarray
        Where a step begins; the last value only ends the picture.
    limit : ndarray
        The upper confidence limit δ̂.
    observed : ndarray
        The share of trials with a larger change.

    Examples
    --------
    >>> from poise import Trials
    >>> steps = Steps.of(Trials.from_changes([0.0, 1.0, 2.0, 2.0], n=5).profile())
    >>> steps.observed.tolist()
    [0.75, 0.5, 0.0, 0.0]
    """

    epsilon: NDArray[np.float64]
    limit: NDArray[np.float64]
    observed: NDArray[np.float64]

    @classmethod
    def of(cls, profile: Profile, span: float = 0.0) -> Steps:
        """Extend the profile to ``span``, or far enough for its last step to be seen."""
        share = profile.exceedances / max(1, profile.design.n_trials)
        last = 1.1 * float(profile.epsilon[-1]) or 1.0
        return cls(
            np.append(profile.epsilon, max(last, span)),
            np.append(profile.delta_hat, profile.delta_hat[-1]),
            np.append(share, share[-1]),
        )


def plot_profile(
    profile: Profile,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw a profile; return the figure, or the axes that were given.

    Parameters
    ----------
    profile : Profile
        From :meth:`poise.Trials.profile`.
    ax : matplotlib axes, optional
        Where to draw; by default a figure of its own, which a notebook shows.
    title : str, optional
        Above the picture.
    figsize : tuple of float, optional
        Width and height of the figure, in inches.

    Examples
    --------
    >>> from poise import Trials
    >>> figure = plot_profile(Trials.from_changes([0.1, 0.2, 0.4] * 9, n=5).profile())
    >>> figure.axes[0].get_xlabel()
    'allowed change ε'
    """
    panels = Panels(1, (5.5, 4), ax, figsize)
    draw_profile(panels.axes[0], profile)
    panels.title(title)
    return panels.drawn


def draw_profile(
    axes: Axes, profile: Profile, asked: PlottedQuestion | None = None, span: float = 0.0
) -> None:
    """Draw the band and the observed share, and mark what the verdict used."""
    steps = Steps.of(profile, span)
    options: dict[str, Any] = {"where": "post", "linewidth": 1.6}
    scope = "every ε at once" if profile.simultaneous else "one ε fixed beforehand"
    sure = f"limit at confidence {confidence(profile.alpha)}"
    axes.step(
        steps.epsilon, steps.limit, color=COLOURS["band"], label=f"{sure}, {scope}", **options
    )
    axes.step(steps.epsilon, steps.observed, color=COLOURS["observed"], label="observed", **options)
    axes.fill_between(
        steps.epsilon, steps.observed, steps.limit, step="post", color=COLOURS["band"], alpha=0.12
    )
    if asked is not None:
        _mark(axes, asked, sure)
    axes.set_xlim(0, span or steps.epsilon[-1])
    axes.set_ylim(0, 1.03)
    axes.set_xlabel("allowed change ε")
    axes.set_ylabel("probability of a larger change")
    legend(axes, columns=1)
    tidy(axes)


def _mark(axes: Axes, asked: PlottedQuestion, sure: str) -> None:
    """Mark ε, the limit for this ε alone, and δ where there is one."""
    colour = COLOURS[asked.verdict or "mark"]
    axes.axvline(asked.epsilon, color=COLOURS["mark"], linewidth=1.2, linestyle="--")
    alone = f"{sure}, ε = {asked.allowed} alone: {asked.worded}"
    axes.plot([asked.epsilon], [asked.limit], "o", color=colour, markersize=6, label=alone)
    if asked.interval is not None:
        axes.vlines(asked.epsilon, *asked.interval, color=colour, linewidth=3, label=asked.between)
    if asked.delta is not None:
        label = f"allowed: δ = {exactly(asked.delta)}"
        axes.axhline(asked.delta, color=COLOURS["mark"], linewidth=1, linestyle=":", label=label)
