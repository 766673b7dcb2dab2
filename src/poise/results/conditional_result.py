"""The verdict about one training set, with everything it rests on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from poise import arguments
from poise.arguments.field_rules import Count, Epsilon, ErrorLevel, Probability, Share, Size
from poise.arguments.printed_numbers import exactly
from poise.arguments.typed_fields import read_object
from poise.errors import RecordError
from poise.results.conditional_design import ConditionalDesign
from poise.results.json_encoding import fields_of, plain
from poise.results.presented_result import DrawnVerdict
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    from poise.results.conditional_trials import ConditionalTrials
    from poise.results.text.summary import Summary

__all__ = ["ConditionalResult", "judge"]


@dataclass(frozen=True)
class ConditionalResult(DrawnVerdict):
    """What a data-conditional test found about one training set, and what may be said about it.

    Given the training set and the seed of its fits, "stable" is said falsely with probability at
    most α, and so is "unstable" (Theorem A for the shares, Theorem 1 with a tolerated share γ).
    This holds for every training set. It says nothing about another training set: by Proposition
    I a certificate for one of them certifies nothing about the algorithm.

    Attributes
    ----------
    verdict : Outcome
        ``"stable"``, ``"unstable"`` or ``"inconclusive"``; ``"not certified stable"`` if the run
        was stopped as soon as that was known.
    gamma : float or None
        Tolerated share of the Binomial test; None for the averaged test.
    statistic : float
        The sum of the shares; with ``gamma``, the number of trials whose share is larger than γ.
        A failure counts as a larger change.
    n_moved : float
        The same without what failed.
    pvalue, pvalue_unstable : float
        For the null hypotheses "not stable" and "stable".
    e_value : float
        Evidence for "stable" at this level: the acceptance probability divided by α.
    delta_hat, delta_lower : float
        Limits for δ_D, or for P(share > γ), each by itself at confidence 1 − α.
    delta_interval : tuple of float
        Both ends hold together at confidence 1 − α, whatever the verdict.
    epsilon_hat, epsilon_lower : float
        Limits for the smallest ε that would do, each by itself at confidence 1 − α.
    trajectory, trajectory_unstable : tuple of float
        For the averaged test: the two bets after each trial.
    settled : bool
        Whether no further trial could change the verdict.

    Examples
    --------
    >>> from poise.results.conditional_trials import ConditionalTrials
    >>> design = ConditionalDesign("mean", "deployed", n=2, n_fresh=60)
    >>> result = ConditionalTrials(np.full((60, 2), 0.1), design).test(epsilon=0.2, delta=0.1)
    >>> result.verdict.value, result.test, round(result.pvalue, 3)
    ('stable', 'averaged', 0.05)
    >>> ConditionalResult.from_json(result.to_json()) == result
    True
    """

    verdict: Outcome
    epsilon: Epsilon
    delta: Share
    alpha: ErrorLevel
    gamma: Share | None
    statistic: Epsilon
    n_moved: Epsilon
    n_observed: Count
    pvalue: Probability
    pvalue_unstable: Probability
    e_value: Size
    delta_hat: Probability
    delta_lower: Probability
    delta_interval: tuple[Probability, Probability]
    epsilon_hat: Size
    epsilon_lower: Size
    n_fits: Count
    n_failures: Count
    design: ConditionalDesign
    settled: bool
    trajectory: tuple[Size, ...] = ()
    trajectory_unstable: tuple[Size, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def test(self) -> str:
        """Which test: "averaged", or "binomial" with a tolerated share γ."""
        return "averaged" if self.gamma is None else "binomial"

    @property
    def notion(self) -> str:
        """What a trial compares: "deployed", "add-one" or "jackknife"."""
        return self.design.notion

    @property
    def n(self) -> int:
        """Number of training rows."""
        return self.design.n

    @property
    def n_trials(self) -> int:
        """Number of trials planned."""
        return self.design.n_trials

    @property
    def stopped_early(self) -> bool:
        """Whether there are trials that were not run."""
        return self.n_observed < self.n_trials

    @property
    def printed_delta_hat(self) -> float:
        """The upper limit to print beside the verdict.

        Beside "stable" of the averaged test this is at least δ (Theorem F).
        """
        averaged = self.stable and self.gamma is None
        return max(self.delta_hat, self.delta) if averaged else self.delta_hat

    @property
    def printed_delta_lower(self) -> float:
        """The lower limit to print beside the verdict: at most δ beside "unstable"."""
        unstable = self.verdict == Outcome.UNSTABLE and self.gamma is None
        return min(self.delta_lower, self.delta) if unstable else self.delta_lower

    @property
    def sentence(self) -> str:
        """What "stable" states about this training set, in full."""
        from poise.results.text.conditional_sentences import certified_sentence

        return certified_sentence(self)

    def describe(self) -> Summary:
        """Return headline and paragraphs: what was tested, found, and not shown."""
        from poise.results.text.describe_conditional import describe_conditional

        return describe_conditional(self)

    def facts(self) -> dict[str, str]:
        """Return the numbers behind the verdict, worded, under the names that readers see."""
        from poise.results.text.describe_conditional import facts_of_conditional

        return facts_of_conditional(self)

    def to_dict(self) -> dict[str, Any]:
        """Return every number as a plain value, for JSON or an experiment tracker."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        derived = {
            "verdict": self.verdict.value,
            "test": self.test,
            "stable": self.stable,
            "notion": self.notion,
            "n": self.n,
            "n_trials": self.n_trials,
            "stopped_early": self.stopped_early,
            "design": self.design.to_dict(),
        }
        content: dict[str, Any] = plain(fields | derived)
        return content

    @classmethod
    def from_json(cls, text: str) -> ConditionalResult:
        """Read a result written by :meth:`to_json`."""
        content = fields_of(text, ("verdict", "notion", "design"), "a conditional result")
        return read_object(cls, content, "a conditional result", derived=True)._possible()

    def _possible(self) -> ConditionalResult:
        """Refuse counts that no test can give; for results that were read from a file."""
        in_range = self.n_failures <= self.n_observed <= self.n_trials >= self.statistic
        if not in_range or self.n_moved > self.statistic:
            raise RecordError(
                "this is not a conditional result written by poise: its counts contradict"
            )
        return self

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw what decided: the two bets, or the count and its law; return figure or ``ax``."""
        from poise.results.plots.trajectory import plot_trajectory
        from poise.results.plots.verdict import plot_result

        draw = plot_trajectory if self.gamma is None else plot_result
        return draw(self, ax, title=title, figsize=figsize)

    @property
    def symbol(self) -> str:
        """What pictures call the quantity in question."""
        return "δ_D" if self.gamma is None else f"P(share > {exactly(self.gamma)})"

    @property
    def exceeding(self) -> str:
        """What pictures count."""
        return "change larger than" if not self.gamma else f"share > {exactly(self.gamma)} beyond"

    @property
    def zeta(self) -> float:
        """The coin of a randomised test: there is none, so 1."""
        return 1.0


def judge(
    record: ConditionalTrials, epsilon: float, delta: float, alpha: float, gamma: float | None
) -> ConditionalResult:
    """Judge a measurement; see :meth:`poise.ConditionalTrials.test`."""
    asked: dict[str, Any] = {
        "epsilon": float(arguments.epsilon(arguments.scalar("epsilon", epsilon))),
        "delta": float(arguments.delta(arguments.scalar("delta", delta))),
        "alpha": float(arguments.alpha(arguments.scalar("alpha", alpha))),
    }
    found = _by_shares(record, **asked) if gamma is None else _by_count(record, gamma, **asked)
    return ConditionalResult(
        **asked,
        gamma=None if gamma is None else float(gamma),
        n_observed=record.n_observed,
        n_fits=record.n_fits,
        n_failures=record.n_failures,
        design=record.design,
        warnings=record.warnings,
        **found,
    )


def _by_shares(
    record: ConditionalTrials, epsilon: float, delta: float, alpha: float
) -> dict[str, Any]:
    """Bet on the shares (Theorem A), as the averaged test does."""
    from poise.results.averaged_result import averaged_result

    found = averaged_result(record.as_trials, epsilon, delta, alpha, randomized=False)
    same = (
        "verdict statistic n_moved pvalue pvalue_unstable e_value delta_hat delta_lower "
        "delta_interval epsilon_hat epsilon_lower trajectory trajectory_unstable settled"
    )
    return {name: getattr(found, name) for name in same.split()}


def _by_count(
    record: ConditionalTrials, gamma: float, epsilon: float, delta: float, alpha: float
) -> dict[str, Any]:
    """Count the trials whose share is larger than γ, and compare with the Binomial law."""
    from poise.theory import binomial_test, lower_limits
    from poise.theory.decision import DecisionRule

    m, seen, unseen = record.n_trials, record.n_observed, record.n_trials - record.n_observed
    surely = record.tolerated(gamma, failures_exceed=False)
    worst = int(np.count_nonzero(record.tolerated(gamma) > epsilon))
    moved = int(np.count_nonzero(surely > epsilon))
    rule = DecisionRule.of_test(m, delta, alpha)
    accepted = binomial_test.acceptance_probability(worst + unseen, m, delta, alpha)
    unknown = worst - moved + unseen
    low, high = lower_limits.delta_interval(moved, m, alpha, unknown)
    return {
        "verdict": Outcome(rule.verdict(moved, seen, worst - moved)),
        "statistic": float(worst),
        "n_moved": float(moved),
        "pvalue": float(binomial_test.pvalue(worst + unseen, m, delta)),
        "pvalue_unstable": float(binomial_test.pvalue_unstable(moved, m, delta)),
        "e_value": float(accepted) / alpha,
        "delta_hat": record.delta_hat(epsilon, alpha, gamma),
        "delta_lower": float(lower_limits.delta_lower(moved, m, alpha)),
        "delta_interval": (float(low), float(high)),
        "epsilon_hat": record.epsilon_hat(delta, alpha, gamma),
        "epsilon_lower": float(lower_limits.epsilon_lower(surely, delta, alpha, unseen=unseen)),
        "settled": bool(rule.is_settled(moved, seen, worst - moved)),
    }
