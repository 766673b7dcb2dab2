"""The answer to one question: it is the question and the trials, and every number follows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from poise import checks
from poise.numbers import level, without_noise
from poise.results.design import Design
from poise.results.plots import as_frame
from poise.results.question import Floats, Question, allowed_change, law_for, read_by, tolerating
from poise.results.trials import Answer, Trials

if TYPE_CHECKING:
    import pandas as pd

    from poise.theory.changes import Changes, Judgement

Verdict = Literal["stable", "unstable", "inconclusive"]

# What files, dictionaries and frames hold of a result, in this order.
NUMBERS = (
    *("verdict", "reason", "test", "asked", "n_trials", "n_observed", "n_failures", "n_fits"),
    *("statistic", "pvalue", "pvalue_unstable", "e_value", "acceptance_probability"),
    *("delta_observed", "delta_upper", "delta_lower", "delta_interval"),
    *("epsilon_upper", "epsilon_lower", "power_bound", "contradicted"),
)


@dataclass(frozen=True, repr=False)
class Result(Answer):
    """The verdict on one question, with all numbers behind it; ``print`` shows it in five lines.

    P(verdict is wrong) <= alpha for every algorithm and every distribution of independent rows
    (Theorem 1; Theorem A where the averaged test reads the trials), if the question was chosen
    without looking at the changes. "inconclusive" does not speak against the algorithm. Limits are
    statements of their own, each wrong with probability at most alpha; they are computed when read.
    Where K algorithms or sizes share alpha, any verdict is wrong with that probability, and each
    limit with a K-th of it.

    Attributes
    ----------
    question : Question
        The allowed change, its allowed probability, the error level.
    trials : Trials
        The changes that answer it.

    Examples
    --------
    >>> result = Trials.from_changes([0.1] * 40, n=10).test(epsilon=0.2, delta=0.1)
    >>> result.verdict, result.stable, round(result.delta_upper, 4)
    ('stable', True, 0.0722)
    """

    question: Question
    trials: Trials = field(repr=False)

    def __post_init__(self) -> None:
        allowed_change(self.epsilon, self.design)
        _ = self.law  # refuses a test that these trials cannot be read by

    # the question and the run

    @property
    def design(self) -> Design:
        """Everything that was known before the first fit."""
        return self.trials.design

    @property
    def epsilon(self) -> float | None:
        """Allowed change; None for labels and decisions."""
        return self.question.epsilon

    @property
    def delta(self) -> float:
        """Allowed probability of a larger change."""
        return self.question.delta

    @property
    def alpha(self) -> float:
        """Error level."""
        return self.question.alpha

    @property
    def n(self) -> int:
        """Training size that the verdict is about; 0 where it is about two fitted models."""
        return self.design.n

    @property
    def changes(self) -> Floats:
        """The changes of all trials."""
        return self.trials.changes

    @property
    def raced(self) -> bool:
        """Whether the run ended before others that share alpha with it."""
        return self.stopped_early and self.question.family is not None

    @property
    def asked(self) -> Literal["before", "after"]:
        """Whether the run was begun with this question."""
        return "before" if self.question.alone == self.trials.asked else "after"

    @property
    def test(self) -> Literal["binomial", "averaged", "open-ended"]:
        """The test that reads the trials."""
        name = self.law.__name__.rpartition(".")[2]
        return "open-ended" if name == "anytime" else name  # type: ignore[return-value]

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Why the error level may not hold."""
        processes = 2 if self.test == "open-ended" else 3  # verdict and limits, each wrong with α
        chance = level(without_noise(processes * self.question.level))
        doubt = (
            "verdict and limits contradict each other, which happens with probability at most "
            f"{chance} if the rows come from one distribution: are they in order of time?"
        )
        return self.trials.warnings + ((doubt,) if self.contradicted else ())

    # the verdict

    @cached_property
    def law(self) -> ModuleType:
        """The law that reads the trials."""
        return law_for(self.design, self.question)

    @cached_property
    def table(self) -> Changes:
        """All changes, as the laws of :mod:`poise.theory` read them; with γ, one for each trial."""
        table, gamma = self.trials.table, self.question.gamma
        return table if gamma is None else replace(table, values=tolerating(table.values, gamma))

    @property
    def _threshold(self) -> float | None:
        return self.design.threshold(self.epsilon)

    @cached_property
    def _judgement(self) -> Judgement:
        coin = self.trials.zeta if self.design.randomized else None
        asked = (self.table, self._threshold, self.delta, self.question.level)
        found: Judgement = self.law.judge(*asked, 1.0 if coin is None else coin)
        return found

    @property
    def verdict(self) -> Verdict:
        """The answer: "stable", "unstable" or "inconclusive"."""
        alone = self._judgement.verdict
        if self.question.family is None:
            return alone  # type: ignore[return-value]
        pvalues: dict[Verdict, float] = {"stable": self.pvalue, "unstable": self.pvalue_unstable}
        found = [side for side, p in pvalues.items() if p <= self.alpha]
        return next((side for side in found if side == alone), (*found, "inconclusive")[0])

    @property
    def stable(self) -> bool:
        """Whether the verdict is "stable"."""
        return self.verdict == "stable"

    @property
    def reason(self) -> str:
        """Why the verdict is inconclusive, in words; "" for another verdict."""
        if self.verdict != "inconclusive":
            return ""
        if short := self.design.shortage(self.least_trials):
            return short
        if self.stopped_early:
            ran = f"{self.n_observed:,} of {self.n_trials:,} trials"
            lost = f'"stable" was out of reach after {ran}'
            return lost if self.raced else f"only {ran} were run"
        return "every trial failed" if self.n_failures == self.n_trials else "too close to call"

    @property
    def least_trials(self) -> float:
        """The fewest trials that can show this delta; infinite if none can."""
        if self.test == "open-ended":
            return float(self.law.clean_trials(self.delta, self.question.level))
        return self.design.least_trials(self.delta, self.question.level)

    @property
    def statistic(self) -> float:
        """Trials that changed by more, or failed; the sum of their shares in the averaged test."""
        return float(self._read.shares(self._threshold).sum())

    @property
    def _read(self) -> Changes:
        """The changes that the test reads."""
        return replace(self.table, values=read_by(self.law, self.table))

    @property
    def pvalue(self) -> float:
        """P-value against "not stable"; at most alpha exactly if the verdict is "stable".

        Of several that share alpha, it is the one that Holm's method adjusts.
        """
        family = self.question.family
        return self._adjusted(self._judgement.pvalue, family.pvalues if family else ())

    @property
    def pvalue_unstable(self) -> float:
        """P-value against "stable"."""
        family, p = self.question.family, self._judgement.pvalue_unstable
        return self._adjusted(p, family.pvalues_unstable if family else ())

    def _adjusted(self, p: float, others: tuple[float, ...]) -> float:
        if not others:
            return p
        from poise.theory.anytime import holm

        found = float(holm((p, *others))[0])
        tie = self.alpha < found <= self.alpha * (1 + 1e-12)  # K times a K-th of it is alpha
        return self.alpha if tie else found

    @property
    def e_value(self) -> float:
        """Evidence for "stable" that may be multiplied over disjoint rows with other seeds."""
        return self._judgement.e_value

    @property
    def acceptance_probability(self) -> float:
        """Chance, given the changes, that the test with a coin says "stable"."""
        return self._judgement.acceptance_probability

    # limits

    @property
    def delta_observed(self) -> float:
        """The observed share of larger changes, among those that the test reads; nan if none."""
        shares = self._read.shares(self._threshold, failures_exceed=False)
        return float(shares.mean()) if shares.size else math.nan

    @cached_property
    def delta_upper(self) -> float:
        """Upper confidence limit for P(change > epsilon), at level alpha."""
        return self._limit("upper_delta", self.question.level)

    @cached_property
    def delta_lower(self) -> float:
        """Lower confidence limit for P(change > epsilon), at level alpha."""
        return self._limit("lower_delta", self.question.level)

    @cached_property
    def delta_interval(self) -> tuple[float, float]:
        """Both limits at once: each at alpha / 2, and never inside a one-sided one."""
        half = self.question.level / 2
        ends = [self._limit(name, half) for name in ("lower_delta", "upper_delta")]
        ends += [self.delta_lower, self.delta_upper]
        return min(ends), max(ends)

    @cached_property
    def epsilon_upper(self) -> float | None:
        """Upper limit for the change that a share delta exceeds; whatever epsilon was asked."""
        return self._limit("upper_epsilon", self.question.level) if self.design.sized else None

    @cached_property
    def epsilon_lower(self) -> float | None:
        """Lower limit for the change that a share delta exceeds; whatever epsilon was asked."""
        return self._limit("lower_epsilon", self.question.level) if self.design.sized else None

    def _limit(self, name: str, alpha: float) -> float:
        about = self.delta if name.endswith("epsilon") else self._threshold
        return float(getattr(self.law, name)(self.table, about, alpha))

    @property
    def power_bound(self) -> float | None:
        """The largest power any valid test can have on these rows; None if none is proved."""
        if self.test == "open-ended":  # how many rows there will be is open
            return None
        return self.design.ceiling(self.delta, self.alpha, self._threshold)

    @cached_property
    def contradicted(self) -> bool:
        """Whether limits exclude the verdict or each other, which i.i.d. trials hardly ever do."""
        if self.test == "binomial" or self.question.level >= 0.5:
            return False
        low, high, verdict = self.delta_lower, self.delta_upper, self.verdict
        excluded = {"stable": low > self.delta, "unstable": high <= self.delta}
        return excluded.get(verdict, False) or high < low

    # words and files

    def summary(self) -> str:
        """Return the verdict in five lines, below warnings about its error level."""
        from poise.results.sentences import summary

        return "\n".join(summary(self))

    def details(self) -> str:
        """Return everything else that is known about the verdict."""
        from poise.results.tables import details

        return "\n".join(details(self))

    def to_dict(self) -> dict[str, Any]:
        """Return what :meth:`save` writes, without the changes."""
        from poise.results.file import to_dict

        return to_dict(self)

    def to_frame(self) -> pd.DataFrame:
        """Return the question and all numbers as a frame with one row."""
        return as_frame([as_row(self)])

    def to_latex(self) -> str:
        """Return the result as a LaTeX table with one row, as :func:`poise.table` makes it."""
        from poise.results.tables import table

        return table(self).latex()

    def __getstate__(self) -> dict[str, Any]:
        return {"question": self.question, "trials": self.trials}

    def __bool__(self) -> bool:
        raise TypeError("a result is neither true nor false: say result.stable")

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        names = ("n", "epsilon", "delta", "alpha") if self.n else ("epsilon", "delta", "alpha")
        asked = "".join(f", {name}={getattr(self, name)!r}" for name in names)
        return f"Result({self.design.title}{asked}, {checks.counted(self.n_observed, 'trial')})"


def as_row(result: Result) -> dict[str, Any]:
    """Return the question and all numbers of a result by their names: a row of a frame."""
    asked = {name: getattr(result, name) for name in ("epsilon", "delta", "alpha", *NUMBERS)}
    about = {"algorithm": result.design.title, "n": result.n or None}
    return {**about, **asked, "warnings": result.warnings}
