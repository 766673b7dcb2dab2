"""The result of a procedure other than the Binomial test."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from poise.arguments.field_rules import (
    Count,
    Epsilon,
    ErrorLevel,
    Probability,
    Share,
    TrainingSize,
)
from poise.arguments.notebook_card import Card
from poise.arguments.printed_numbers import exactly, level_in_words
from poise.arguments.typed_fields import read_object
from poise.errors import RecordError
from poise.results.json_encoding import fields_of, plain
from poise.results.presented_result import PresentedVerdict
from poise.results.text.summary import Summary
from poise.results.text.verdict_cells import LARGER, pvalues
from poise.results.verdict import Outcome
from poise.theory import decision

if TYPE_CHECKING:
    from poise.results.stability_result import StabilityResult

__all__ = ["ProcedureResult"]


@dataclass(frozen=True)
class ProcedureResult(PresentedVerdict):
    """A verdict, and whether its error level is guaranteed.

    Attributes
    ----------
    procedure : str
        Name of the procedure.
    verdict : Outcome
        ``"stable"``, ``"unstable"`` or ``"inconclusive"``.
    certifies : bool
        Whether P(false "stable") ≤ α is guaranteed. If not, "stable" means
        only that this procedure found nothing.
    reason : str
        One sentence: why it is guaranteed, under what conditions, or why not.
    n, epsilon, delta, alpha
        The question.
    statistic, n_trials : int
        Changes larger than ε, and comparisons they were counted in.
    pvalue, pvalue_unstable : float
        The p-values of the Binomial test for that count; they are valid only if the procedure
        certifies.
    details : dict
        What else the procedure found, as plain values.
    certain : bool
        Whether the verdict is certain, because every possible case was looked at.
    n_failures : int
        Comparisons that failed. They are part of ``statistic`` and count against
        "stable", never for "unstable".
    measured : str
        What was compared with ε, for the summary: a change, or a bound on it.
    warnings : tuple of str
        What was noticed that may make the error level wrong.

    Examples
    --------
    >>> result = ProcedureResult("BootstrapTest", Outcome.STABLE, False,
    ...     "Resampled rows are not fresh draws.", 20, 0.1, 0.1, 0.05, 0, 200, 1e-9, 1.0)
    >>> print(result)
    STABLE, says BootstrapTest, and certifies nothing: ...
    >>> ProcedureResult.from_json(result.to_json()) == result
    True
    """

    procedure: str
    verdict: Outcome
    certifies: bool
    reason: str
    n: TrainingSize
    epsilon: Epsilon
    delta: Share
    alpha: ErrorLevel
    statistic: Count
    n_trials: Count
    pvalue: Probability
    pvalue_unstable: Probability
    details: dict[str, Any] = field(default_factory=dict)
    certain: bool = False
    n_failures: Count = 0
    measured: str = "the prediction moved"
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_test(
        cls,
        procedure: object,
        test: StabilityResult,
        *,
        certifies: bool,
        reason: str,
        measured: str = "the prediction moved",
        **details: object,
    ) -> ProcedureResult:
        """Take over the numbers of a Binomial test on the changes a procedure measured."""
        return cls(
            type(procedure).__name__,
            test.verdict,
            certifies,
            reason,
            test.n,
            test.epsilon,
            test.delta,
            test.alpha,
            int(test.statistic),
            test.n_trials,
            test.pvalue,
            test.pvalue_unstable,
            plain(details),
            n_failures=test.n_failures,
            measured=measured,
        )

    def never_unstable(self) -> ProcedureResult:
        """Turn "unstable" into "inconclusive", where a measured change may exceed the true one.

        Examples
        --------
        >>> found = ProcedureResult("TransparentLinearTest", Outcome.UNSTABLE, True,
        ...     "A bound.", 20, 0.1, 0.1, 0.05, 150, 200, 1.0, 1e-9)
        >>> found.never_unstable().verdict.value, found.never_unstable().pvalue_unstable
        ('inconclusive', 1.0)
        """
        said = Outcome(decision.never_unstable(self.verdict == Outcome.STABLE))
        return dataclasses.replace(self, verdict=said, pvalue_unstable=1.0)

    def describe(self) -> Summary:
        """Return headline and paragraphs: what was found, guaranteed, and not meant."""
        question = f"({exactly(self.epsilon)}, {exactly(self.delta)})-stability at n = {self.n:,}"
        headline = (
            f"{self.verdict.value.upper()}, says {self.procedure}, {self._worth()}: the "
            f"question was {question}."
        )
        return Summary(headline, (self._found(), self.reason, self._not_meant()), self.warnings)

    def facts(self) -> dict[str, str]:
        """Return the numbers behind the verdict, worded, under the names that readers see."""
        return {
            "comparisons": f"{self.n_trials:,}",
            LARGER: f"{self.statistic - self.n_failures:,}",
            "failed": f"{self.n_failures:,}",
            **pvalues(self),
            "worth": self._worth(),
        }

    def _badge(self) -> str:
        return self.verdict.value if self.certifies else f"{self.verdict.value}, not certified"

    def _card(self) -> Card:
        moved, failed = self.statistic - self.n_failures, self.n_failures
        parts = {"not larger": self.n_trials - self.statistic, LARGER: moved}
        more = {"failed": failed} if failed else {}
        return dataclasses.replace(super()._card(), parts=parts | more)

    def _found(self) -> str:
        failed = ""
        if self.n_failures:
            failed = (
                f" or the comparison failed: {self.statistic - self.n_failures:,} moved, "
                f"{self.n_failures:,} failed"
            )
        return (
            f"In {self.statistic:,} of {self.n_trials:,} comparisons {self.measured} by more than "
            f"{exactly(self.epsilon)}{failed}."
        )

    def _worth(self) -> str:
        if self.certain:
            return "with certainty"
        return (
            f"at level {level_in_words(self.alpha)}" if self.certifies else "and certifies nothing"
        )

    def _not_meant(self) -> str:
        if self.certain:
            return (
                "It does not mean that the predictions are accurate, nor that it holds at another "
                "training size or for rows outside the support."
            )
        if self.verdict == Outcome.INCONCLUSIVE and not self.certifies:
            return "It does not mean that the algorithm is unstable."
        return self.verdict.not_meant

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        content: dict[str, Any] = plain(fields | {"verdict": self.verdict.value})
        return content

    @classmethod
    def from_json(cls, text: str) -> ProcedureResult:
        """Read a result written by :meth:`to_json`."""
        content = fields_of(text, ("procedure",), "a result")
        result = read_object(cls, content, "a result", derived=True)
        if not result.n_failures <= result.statistic <= result.n_trials:
            raise RecordError("this is not a result written by poise: its counts contradict")
        return result
