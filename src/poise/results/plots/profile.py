"""The profile ε ↦ δ̂: a step function with the observed share below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.results.plots.canvas import COLOURS, legend, new_figure, tidy
from poise.results.text.summary import at_most, number

if TYPE_CHECKING:
    from poise.results import Profile

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


def plot_profile(profile: Profile, ax: Any = None) -> Any:
    """Draw a profile; return the matplotlib axes.

    Parameters
    ----------
    profile : Profile
        From :meth:`poise.Trials.profile`.
    ax : matplotlib axes, optional
        Where to draw; by default a figure of its own.

    Examples
    --------
    >>> from poise import Trials
    >>> ax = plot_profile(Trials.from_changes([0.1, 0.2, 0.4] * 9, n=5).profile())
    >>> ax.get_xlabel()
    'allowed change ε'
    """
    axes = new_figure(5.5, 4).add_subplot() if ax is None else ax
    draw_profile(axes, profile)
    return axes


def draw_profile(
    axes: Any, profile: Profile, epsilon: float | None = None, span: float = 0.0
) -> None:
    """Draw the band and the observed share, and mark what holds at ``epsilon``."""
    steps = Steps.of(profile, span)
    options = {"where": "post", "linewidth": 1.6}
    scope = "every ε at once" if profile.simultaneous else "one ε fixed beforehand"
    label = f"{number(100 * (1 - profile.alpha))}% upper limit, {scope}"
    axes.step(steps.epsilon, steps.limit, color=COLOURS["band"], label=label, **options)
    axes.step(steps.epsilon, steps.observed, color=COLOURS["observed"], label="observed", **options)
    axes.fill_between(
        steps.epsilon, steps.observed, steps.limit, step="post", color=COLOURS["band"], alpha=0.12
    )
    if epsilon is not None:
        _mark(axes, epsilon, profile)
    axes.set_xlim(0, span or steps.epsilon[-1])
    axes.set_ylim(0, 1.03)
    axes.set_xlabel("allowed change ε")
    axes.set_ylabel("probability of a larger change")
    legend(axes)
    tidy(axes)


def _mark(axes: Any, epsilon: float, profile: Profile) -> None:
    limit = profile.at(epsilon)
    axes.axvline(epsilon, color=COLOURS["mark"], linewidth=1.2, linestyle="--")
    axes.plot([epsilon], [limit], "o", color=COLOURS["mark"], markersize=5)
    axes.annotate(
        f"≤ {at_most(limit)}",
        (epsilon, limit),
        xytext=(6, 6),
        textcoords="offset points",
        fontsize=10,
    )
