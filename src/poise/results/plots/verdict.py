"""The plot of one verdict: the number of larger changes, and what decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments import counted
from poise.arguments.printed_numbers import exactly
from poise.results.plots.canvas import COLOURS, Panels, legend, tidy
from poise.results.plots.plotted_question import note_limit, verdict_title
from poise.results.text.describe_design import allowed_change

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from poise.results import StabilityResult
    from poise.results.conditional_result import ConditionalResult
    from poise.theory.decision import DecisionRule

__all__ = ["Decision", "plot_result"]

_MANY = 120  # more counts than this are drawn as one outline, not as bars


@dataclass(frozen=True)
class Decision:
    """The law of B at δ* = δ, and what each count would have decided.

    Attributes
    ----------
    counts : ndarray of int
        The counts worth drawing: nearly all of the law's mass, and what was seen.
    probability : ndarray
        P(B = count) if a larger change had probability exactly δ.
    verdicts : ndarray of str
        The verdict of each count.
    seen, most : int
        Larger changes observed, and what they could at most be if every trial that
        failed or was not run counted as one.

    Examples
    --------
    >>> from poise import Trials
    >>> result = Trials.from_changes([0.1] * 40, n=5).test(epsilon=0.2, delta=0.1)
    >>> decision = Decision.of(result)
    >>> [str(verdict) for verdict in decision.verdicts[:2]], decision.seen
    (['stable', 'inconclusive'], 0)
    """

    counts: NDArray[np.int64]
    probability: NDArray[np.float64]
    verdicts: NDArray[np.str_]
    seen: int
    most: int

    @classmethod
    def of(cls, result: StabilityResult | ConditionalResult) -> Decision:
        """Compute the picture of a result."""
        from poise.theory.binomial_law import pmf
        from poise.theory.decision import DecisionRule

        m = result.n_trials
        rule = DecisionRule.of_test(m, result.delta, result.alpha, result.zeta)
        seen, most = int(result.n_moved), int(result.statistic) + m - result.n_observed
        counts = _worth_drawing(rule, result.delta, seen)
        verdicts = np.array([rule.verdict(int(count), m) for count in counts])
        return cls(counts, np.asarray(pmf(counts, m, result.delta)), verdicts, seen, most)


def _worth_drawing(rule: DecisionRule, delta: float, seen: int) -> NDArray[np.int64]:
    """Return five standard deviations around the mean, and everything that decides."""
    m, stable, unstable = rule.n_trials, rule.stable_at_most, rule.unstable_at_least
    mean, spread = m * delta, 5 * np.sqrt(m * delta * (1 - delta)) + 3
    lowest = max(0, int(min(mean - spread, seen, max(stable, 0))))
    highest = min(m, int(max(mean + spread, seen + 1, unstable + 1)))
    return np.arange(lowest, highest + 1)


def plot_result(
    result: StabilityResult | ConditionalResult,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
) -> Any:
    """Draw the observed count and the counts that decide.

    The bars are the law of that count if a larger change had probability
    exactly δ: the borderline case, in which "stable" has probability at most α.

    Parameters
    ----------
    result : StabilityResult or ConditionalResult
        The verdict.
    ax : matplotlib axes, optional
        Where to draw; by default a figure of its own, which a notebook shows.
    title : str, optional
        Instead of the verdict in words.
    figsize : tuple of float, optional
        Width and height of the figure, in inches.

    Returns
    -------
    figure, or ``ax`` if that was given

    Examples
    --------
    >>> from poise import Trials
    >>> figure = plot_result(Trials.from_changes([0.1] * 40, n=5).test(epsilon=0.2, delta=0.1))
    >>> figure.axes[0].get_xlabel()
    'trials (of 40) with a change larger than ε = 0.2'
    """
    decision = Decision.of(result)
    panels = Panels(1, (8, 4), ax, figsize)
    (axes,) = panels.axes
    _draw_law(axes, decision)
    _draw_seen(axes, decision, result)
    epsilon = allowed_change(result.epsilon, result.design)
    axes.set_xlabel(f"trials (of {result.n_trials:,}) with a {result.exceeding} ε = {epsilon}")
    axes.set_ylabel(f"probability, if {result.symbol} were {exactly(result.delta)}")
    axes.locator_params(axis="x", integer=True)
    axes.set_xlim(decision.counts[0] - 0.6, decision.counts[-1] + 0.6)
    axes.set_ylim(0, 1.05 * float(decision.probability.max()))
    note_limit(axes, result)
    legend(axes)
    tidy(axes)
    panels.title(title, verdict_title(result))
    return panels.drawn


def _draw_law(axes: Axes, decision: Decision) -> None:
    many = len(decision.counts) > _MANY
    for verdict in ("stable", "inconclusive", "unstable"):
        chosen = decision.verdicts == verdict
        if not chosen.any():
            continue
        counts, probability = decision.counts[chosen], decision.probability[chosen]
        options: dict[str, Any] = {
            "color": COLOURS[verdict],
            "alpha": 0.75,
            "label": f"would be {verdict}",
        }
        if many:
            edges = np.append(counts, counts[-1] + 1) - 0.5
            axes.stairs(probability, edges, fill=True, **options)
        else:
            axes.bar(counts, probability, width=0.9, **options)


def _draw_seen(axes: Axes, decision: Decision, result: StabilityResult | ConditionalResult) -> None:
    axes.axvline(decision.seen, color=COLOURS["mark"], linewidth=1.6, label=_seen(decision, result))
    if decision.most > decision.seen:
        axes.axvspan(decision.seen, decision.most, color=COLOURS["mark"], alpha=0.07)


def _seen(decision: Decision, result: StabilityResult | ConditionalResult) -> str:
    if decision.most == decision.seen:
        return f"seen: {decision.seen:,}"
    return (
        f"seen: {decision.seen:,} in {counted(result.n_observed, 'trial')} "
        f"(at most {decision.most:,} in all)"
    )
