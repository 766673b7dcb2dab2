"""The verdict on one question, with everything it rests on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self

from poise import arguments
from poise.arguments.field_rules import Count, Epsilon, ErrorLevel, Probability, Share, Size
from poise.arguments.typed_fields import read_object
from poise.errors import RecordError
from poise.results.design import Design
from poise.results.json_encoding import fields_of, plain
from poise.results.ledger_note import LedgerNote
from poise.results.presented_result import DrawnVerdict
from poise.results.verdict import Outcome
from poise.theory.rounding import OTHER_LIBRARIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from poise.data.used_rows import RowDigests
    from poise.results.certificate_file import CertificateFile
    from poise.results.text.summary import Summary
    from poise.results.trials import Trials

__all__ = ["StabilityResult", "fields_of_any_test"]


@dataclass(frozen=True)
class StabilityResult(DrawnVerdict):
    """What the Binomial test found (Theorem 1), and what may be said about it.

    P(``verdict`` is wrong) ≤ α: "stable" is said of an unstable triple, or
    "unstable" of a stable one, with probability at most α, whatever the
    algorithm and the distribution. "inconclusive" is never wrong, and does not mean "unstable". A
    trial that failed counts against "stable", as an infinite change, and never for "unstable";
    where trials can fail each of the two is wrong with probability at most α.

    Attributes
    ----------
    verdict : Outcome
        ``"stable"``, ``"unstable"`` or ``"inconclusive"``; ``"not certified stable"`` if the run
        was stopped as soon as that was known.
    statistic : int
        B, the number of observed changes larger than ε; a failed trial is one of them.
    n_failures : int
        Trials that failed.
    n_observed : int
        Trials that were run; the rest of ``n_trials`` could not alter the verdict.
    pvalue : float
        For the null "not (ε, δ)-stable"; unseen trials count against stability.
    pvalue_unstable : float
        For the null "(ε, δ)-stable"; unseen and failed trials count for stability.
    critical_count, tie_probability : int, float
        k* and a* of the paper's randomised test.
    acceptance_probability : float
        The chance that the paper's test with its coin declares stable. After an early stop it is
        a lower limit, because unseen trials count against stability.
    delta_hat, epsilon_hat : float
        Upper confidence limits for δ*_ε and ε*_δ, each by itself at level 1 − α.
    delta_lower, epsilon_lower : float
        Lower confidence limits, each by itself at level 1 − α.
    delta_interval : tuple of float
        Both ends hold together at level 1 − α, whatever the verdict.
    power_bound : float or None
        The largest power any valid black-box test could have here, at δ* = 0;
        None where no ceiling is proved (see :meth:`poise.Design.ceiling`).
    stopped_early : bool
        Whether trials were left out.
    warnings : tuple of str
        What was noticed that may make the error level wrong.
    test, why : str
        Which test, and why it was chosen; "" where the caller chose it. Results that differ
        in ``why`` only are equal.
    ledger : LedgerNote or None
        How many questions these rows have answered, and which verdicts hold together, if there
        is a ledger.
    tested_rows : RowDigests or None
        Which rows the verdict rests on, where that is known; not part of the JSON.
    trials : Trials or None
        The changes that the verdict rests on; not part of the JSON, which :meth:`certificate` is.

    See Also
    --------
    stability_test, AveragedResult, Trials, Plan

    Examples
    --------
    >>> from poise import Trials
    >>> result = Trials.from_changes([0.1] * 30, n=5).test(epsilon=0.2, delta=0.1)
    >>> result.verdict.value, result.statistic, round(result.pvalue, 3)
    ('stable', 0, 0.042)
    >>> StabilityResult.from_json(result.to_json()) == result
    True
    """

    test_name: ClassVar[str] = "binomial"
    bets: ClassVar[bool] = False
    symbol: ClassVar[str] = "δ*"
    exceeding: ClassVar[str] = "change larger than"

    verdict: Outcome
    epsilon: Epsilon
    delta: Share
    alpha: ErrorLevel
    randomized: bool
    statistic: Epsilon
    n_observed: Count
    pvalue: Probability
    pvalue_unstable: Probability
    critical_count: int
    tie_probability: Probability
    acceptance_probability: Probability
    delta_hat: Probability
    epsilon_hat: Size
    n_fits: Count
    n_failures: Count
    design: Design
    epsilon_lower: Size = 0.0
    warnings: tuple[str, ...] = ()
    ledger: LedgerNote | None = None
    why: str = field(default="", compare=False)
    tested_rows: RowDigests | None = field(default=None, compare=False, repr=False)
    trials: Trials | None = field(default=None, compare=False, repr=False)

    @classmethod
    def from_trials(
        cls, trials: Trials, epsilon: float, delta: float, alpha: float, randomized: bool
    ) -> StabilityResult:
        """Judge a measurement; see :meth:`poise.Trials.test`."""
        from poise.theory import binomial_test
        from poise.theory.decision import DecisionRule

        fields = fields_of_any_test(trials, epsilon, delta, alpha, randomized)
        epsilon, delta, alpha = (fields[name] for name in ("epsilon", "delta", "alpha"))
        m, seen, failed = trials.n_trials, int(trials.exceedances(epsilon)), trials.n_failures
        worst = seen + trials.n_unseen
        zeta = trials.design.zeta if randomized else 1.0
        rule = DecisionRule.of_test(m, delta, alpha, zeta)
        return cls(
            verdict=Outcome(rule.verdict(seen - failed, trials.n_observed, failed)),
            statistic=seen,
            pvalue=binomial_test.pvalue(worst, m, delta, zeta),
            pvalue_unstable=binomial_test.pvalue_unstable(seen - failed, m, delta),
            acceptance_probability=binomial_test.acceptance_probability(worst, m, delta, alpha),
            delta_hat=trials.delta_hat(epsilon, alpha, randomized),
            epsilon_hat=trials.epsilon_hat(delta, alpha, randomized),
            epsilon_lower=trials.epsilon_lower(delta, alpha),
            **fields,
        )

    @property
    def n_moved(self) -> float:
        """Trials whose change was larger than ε, without those that failed."""
        return self.statistic - self.n_failures

    @property
    def test(self) -> str:
        """Which test: "binomial"; "averaged" for an :class:`AveragedResult`."""
        return self.test_name

    def declares(self, pvalue: float, level: float) -> bool:
        """Say whether a p-value of this test, also adjusted, is small enough at this level."""
        from poise.theory.decision import declares

        return declares(pvalue, level, bet=self.bets)

    @property
    def printed_delta_hat(self) -> float:
        """The upper limit for δ*_ε to print beside the verdict."""
        return self.delta_hat

    @property
    def printed_delta_lower(self) -> float:
        """The lower limit for δ*_ε to print beside the verdict."""
        return self.delta_lower

    @property
    def certifies(self) -> bool:
        """Whether P(false "stable") ≤ α is guaranteed: always, for the Binomial test."""
        return True

    @property
    def reason(self) -> str:
        """Why the error level holds, in one sentence."""
        return "Disjoint rows make the count Binomial, whatever the algorithm and distribution."

    @property
    def n_trials(self) -> int:
        """⌊κ⌋, the number of trials the test is made of."""
        return self.design.n_trials

    @property
    def kappa(self) -> Fraction:
        """κ of the data."""
        return self.design.kappa

    @property
    def coupling(self) -> str:
        """How the two fits of a trial shared randomness."""
        return self.design.coupling

    @property
    def n(self) -> int:
        """Training size whose stability was asked."""
        return self.design.n

    @property
    def stopped_early(self) -> bool:
        """Whether there are trials that were not run."""
        return self.n_observed < self.n_trials

    @property
    def settled(self) -> bool:
        """Whether the verdict is final: no further trial could change it."""
        from poise.theory.decision import DecisionRule

        rule = DecisionRule.of_test(self.n_trials, self.delta, self.alpha, self.zeta)
        return bool(rule.is_settled(self.n_moved, self.n_observed, self.n_failures))

    @property
    def power_bound(self) -> float | None:
        """The largest power any valid black-box test could have; None where none is proved."""
        return self.design.ceiling(self.delta, self.alpha, self.epsilon)

    @property
    def delta_lower(self) -> float:
        """Lower limit for δ*_ε: P(δ*_ε ≥ it) ≥ 1 − α; failed and unseen trials count as small."""
        from poise.theory.lower_limits import delta_lower

        return float(delta_lower(self.n_moved, self.n_trials, self.alpha))

    @property
    def delta_interval(self) -> tuple[float, float]:
        """Two-sided limits for δ*_ε: P(low ≤ δ*_ε ≤ high) ≥ 1 − α, α/2 for each side.

        They hold whatever the verdict. The verdict spends all of α on one side, so a
        "stable" may come with a high end above δ; ``delta_hat`` is then below it.
        """
        from poise.theory.lower_limits import delta_interval

        unknown = self.n_failures + self.n_trials - self.n_observed
        low, high = delta_interval(self.n_moved, self.n_trials, self.alpha, unknown)
        return float(low), float(high)

    @property
    def zeta(self) -> float:
        """The coin of the randomised test; 1 for the plain one."""
        return self.design.zeta if self.randomized else 1.0

    def describe(self) -> Summary:
        """Return headline and paragraphs: what was tested, found, and not shown; what is next."""
        from poise.results.text.describe_result import describe_result

        return describe_result(self)

    def facts(self) -> dict[str, str]:
        """Return the numbers behind the verdict, worded, under the names that readers see."""
        from poise.results.text.describe_result import facts_of_result

        return facts_of_result(self)

    def to_dict(self) -> dict[str, Any]:
        """Return every number as a plain value, for JSON or an experiment tracker."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.compare}
        derived = {
            "verdict": self.verdict.value,
            "test": self.test,
            "stable": self.stable,
            "n_trials": self.n_trials,
            "kappa": self.kappa,
            "coupling": self.coupling,
            "n": self.n,
            "stopped_early": self.stopped_early,
            "n_moved": self.n_moved,
            "power_bound": self.power_bound,
            "delta_lower": self.delta_lower,
            "delta_interval": self.delta_interval,
            "design": self.design.to_dict(),
            "ledger": None if self.ledger is None else self.ledger.to_dict(),
        }
        content: dict[str, Any] = plain(fields | derived)
        return content

    @classmethod
    def from_json(cls, text: str) -> StabilityResult:
        """Read a result written by :meth:`to_json`."""
        known = dataclasses.fields(cls)
        # Fields that later versions added have a default, so that older files can be read.
        needed = tuple(f.name for f in known if f.default is dataclasses.MISSING)
        content = fields_of(text, needed, "a result")
        for kind in cls.__subclasses__():
            if content.get("test") == kind.test_name:
                return kind.from_json(text)
        result = read_object(cls, content, "a result", derived=True)
        return result._require_possible()

    def _require_possible(self) -> Self:
        """Refuse numbers that no test can give; for results that were read from a file."""
        counted = self.test_name != "binomial" or float(self.statistic).is_integer()
        in_range = self.n_failures <= self.n_observed <= self.n_trials >= self.statistic
        possible = -1 <= self.critical_count <= self.n_trials
        if not (counted and in_range and possible and self.n_moved >= 0):
            raise RecordError("this is not a result written by poise: its counts contradict")
        if not _declared(self.verdict, self.pvalue, self.pvalue_unstable, self.alpha):
            raise RecordError(
                f"this is not a result written by poise: its p-values do not say "
                f"{self.verdict.value!r}"
            )
        return self

    def certificate(self) -> CertificateFile:
        """Return a certificate that somebody else can check: one JSON file.

        It holds the statement, the theorem behind it, every change, the design with its seed,
        digests of rows and code, versions and warnings, and a digest of all of it.
        :func:`poise.verify` and ``poise verify`` check it. It is made for every verdict. It does
        not show that rows are independent, or that the question was fixed beforehand.

        Results that were read from JSON are refused: they have no changes.

        Examples
        --------
        >>> from poise import Trials
        >>> result = Trials.from_changes([0.1] * 30, n=5).test(epsilon=0.2, delta=0.1)
        >>> certificate = result.certificate()
        >>> certificate.verdict, certificate.digest[:7]
        ('stable', 'sha256:')
        """
        from poise.results.certificate_file import CertificateFile

        return CertificateFile.of(self)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the observed count and the counts that decide; return the figure, or ``ax``."""
        from poise.results.plots import plot_result

        return plot_result(self, ax, title=title, figsize=figsize)


def fields_of_any_test(
    trials: Trials, epsilon: float, delta: float, alpha: float, randomized: bool
) -> dict[str, Any]:
    """Return what a result has whichever test was made: the question, checked, and its trials."""
    from poise.theory.binomial_test import critical_value

    asked = {
        "epsilon": float(arguments.epsilon(epsilon)),
        "delta": float(arguments.delta(delta)),
        "alpha": float(arguments.alpha(alpha)),
    }
    count, tie = critical_value(trials.n_trials, asked["delta"], asked["alpha"])
    noted = ("n_observed", "n_fits", "n_failures", "design", "warnings")
    return {
        **asked,
        "randomized": randomized,
        "critical_count": count,
        "tie_probability": tie,
        **{name: getattr(trials, name) for name in noted},
        "trials": trials,
    }


def _declared(verdict: Outcome, pvalue: float, pvalue_unstable: float, alpha: float) -> bool:
    """Tell whether the p-values allow the verdict, as any library computes them."""
    from poise.theory.decision import declares

    decisive = {Outcome.STABLE: pvalue, Outcome.UNSTABLE: pvalue_unstable}
    return declares(decisive.get(verdict, 0.0), alpha * (1 + OTHER_LIBRARIES))
