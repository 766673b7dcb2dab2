"""Where a growing record stands: verdict, evidence and limits, valid at every moment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.results.design import Design
from poise.results.presented_result import DrawnVerdict
from poise.results.verdict import Outcome
from poise.theory.anytime_limits import LimitsOverTime, limits_over_time
from poise.theory.open_ended_test import OpenEndedTest, open_ended_verdict

if TYPE_CHECKING:
    from poise.results.text.summary import Summary

__all__ = ["MonitorStatus"]


@dataclass(frozen=True)
class MonitorStatus(DrawnVerdict):
    """Where a record stands after all trials so far.

    P(wrong verdict at any moment) ≤ α, however often one looks and whether or not rows were
    added because of what was seen, if all rows come from one distribution. "inconclusive" is
    not "unstable".

    Attributes
    ----------
    design : Design
        What is measured, and on how many rows so far.
    epsilon, delta, alpha : float
        The question and the error level.
    shares, shares_unstable : tuple of float
        The share of changes beyond ε in each trial; failures count as larger changes in the
        first, against "stable", and as no change in the second, against "unstable".
    looks : tuple of int
        Number of trials after each call.
    failures : tuple of str
        Messages of the trials that failed.
    epoch : int
        From 1; a restart begins a new one, and only its trials count.
    n_rows : int
        Rows that these trials used.
    n_unfinished : int
        Trials of an interrupted call that have not been run.
    n_leftover : int or None
        Rows that are too few for a trial and wait for more; None if that is not known.
    warnings : tuple of str
        What was noticed that may make the error level wrong.

    Examples
    --------
    >>> design = Design("Ridge()", n=20, n_labeled=1260)
    >>> status = MonitorStatus(design, 0.5, 0.1, 0.05, (0.0,) * 60, (0.0,) * 60)
    >>> status.verdict.value, round(status.e_value, 2), round(status.delta_hat, 4)
    ('stable', 91.08, 0.0721)
    """

    design: Design
    epsilon: float
    delta: float
    alpha: float
    shares: tuple[float, ...] = ()
    shares_unstable: tuple[float, ...] = ()
    looks: tuple[int, ...] = ()
    failures: tuple[str, ...] = ()
    epoch: int = 1
    n_rows: int = 0
    n_unfinished: int = 0
    n_leftover: int | None = None
    warnings: tuple[str, ...] = ()

    @cached_property
    def _test(self) -> OpenEndedTest:
        asked = self.delta, self.alpha
        return open_ended_verdict(self.shares, *asked, S_unstable=self.shares_unstable)

    @cached_property
    def confidence_sequence(self) -> LimitsOverTime:
        """Upper and lower limits for δ*_ε after every trial, each valid at all times together.

        P(δ*_ε ≤ every upper limit) ≥ 1 − α, and P(δ*_ε ≥ every lower limit) ≥ 1 − α.
        "stable" ⇔ the upper limit has reached δ, unless "unstable" came first.
        """
        return limits_over_time(self.shares, self.alpha, S_unstable=self.shares_unstable)

    @property
    def n_trials(self) -> int:
        """Number of trials so far."""
        return len(self.shares)

    @property
    def n_failures(self) -> int:
        """Number of trials that failed at least in part."""
        return len(self.failures)

    @property
    def removals(self) -> int:
        """R, the rows of a trial that are removed, each by itself."""
        return self.design.removals

    @property
    def points(self) -> int:
        """T, the points at which each trial compares predictions."""
        return self.design.points

    @property
    def statistic(self) -> float:
        """The sum of the shares; a failure counts as a larger change."""
        return float(np.sum(self.shares))

    @property
    def verdict(self) -> Outcome:
        """The verdict of the first evidence to reach 1/α; it is not taken back."""
        return Outcome(self._test.verdict)

    @property
    def decided_at(self) -> int | None:
        """Number of trials after which the verdict was reached."""
        return self._test.decided_at

    @property
    def contradicted(self) -> bool:
        """Whether the evidence for the opposite has reached 1/α too: rows may have drifted."""
        return self._test.contradicted

    @property
    def e_value(self) -> float:
        """Evidence for "stable" now; it decides at 1/α."""
        return self._test.e_value

    @property
    def e_value_unstable(self) -> float:
        """Evidence for "unstable" now; it decides at 1/α."""
        return self._test.e_value_unstable

    @property
    def delta_hat(self) -> float:
        """Upper limit for δ*_ε now: the smallest of the confidence sequence."""
        return float(self.confidence_sequence.upper[-1])

    @property
    def delta_lower(self) -> float:
        """Lower limit for δ*_ε now: the largest of the confidence sequence."""
        return float(self.confidence_sequence.lower[-1])

    def describe(self) -> Summary:
        """Return headline and paragraphs: what was found, what it does not mean, what is next."""
        from poise.results.text.describe_monitor import describe_monitor

        return describe_monitor(self)

    def facts(self) -> dict[str, str]:
        """Return the numbers behind the verdict, worded, under the names that readers see."""
        from poise.results.text.describe_monitor import facts_of_monitor

        return facts_of_monitor(self)

    def to_dict(self) -> dict[str, Any]:
        """Return every number as a plain value, for JSON or an experiment tracker."""
        limits = self.confidence_sequence
        names = ("epsilon", "delta", "alpha", "epoch", "n_trials", "n_failures", "statistic")
        counts = ("n_rows", "n_unfinished", "n_leftover", "decided_at", "contradicted")
        evidence = ("e_value", "e_value_unstable", "delta_hat", "delta_lower")
        return {
            "verdict": self.verdict.value,
            "stable": self.stable,
            **{name: getattr(self, name) for name in (*evidence, *names, *counts)},
            "confidence_sequence": {
                "trials": limits.trials.tolist(),
                "upper": limits.upper.tolist(),
                "lower": limits.lower.tolist(),
            },
            "shares": list(self.shares),
            "shares_unstable": list(self.shares_unstable),
            "looks": list(self.looks),
            "failures": list(self.failures),
            "warnings": list(self.warnings),
            "design": self.design.to_dict(),
        }

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the confidence sequence over the trials, and δ; return the figure, or ``ax``."""
        from poise.results.plots.confidence_sequence import plot_confidence_sequence

        return plot_confidence_sequence(self, ax, title=title, figsize=figsize)
