"""What a procedure other than the Binomial test found, and whether it may be relied on."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from poise.results.json_encoding import from_json, plain, to_json
from poise.results.text.summary import number
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    from poise.results.stability_result import StabilityResult

__all__ = ["ProcedureResult"]


@dataclass(frozen=True)
class ProcedureResult:
    """A verdict together with what it is worth.

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
        What the Binomial test would make of that count; p-values proper only
        if the procedure certifies.
    details : dict
        Whatever else the procedure learnt, as plain values.
    certain : bool
        Whether no chance is involved: every case that can occur was looked at.
    n_failures : int
        Comparisons that failed. They are part of ``statistic`` and count against
        "stable", never for "unstable".

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
    n: int
    epsilon: float
    delta: float
    alpha: float
    statistic: int
    n_trials: int
    pvalue: float
    pvalue_unstable: float
    details: dict[str, Any] = field(default_factory=dict)
    certain: bool = False
    n_failures: int = 0

    @classmethod
    def from_test(
        cls,
        procedure: object,
        test: StabilityResult,
        *,
        certifies: bool,
        reason: str,
        **details: Any,
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
            test.statistic,
            test.n_trials,
            test.pvalue,
            test.pvalue_unstable,
            plain(details),
            n_failures=test.n_failures,
        )

    @property
    def stable(self) -> bool:
        """Whether the verdict is "stable"."""
        return self.verdict == Outcome.STABLE

    def summary(self) -> str:
        """Say what was found and what it is worth."""
        question = f"({number(self.epsilon)}, {number(self.delta)})-stability at n = {self.n:,}"
        return "\n".join(
            [
                f"{self.verdict.value.upper()}, says {self.procedure}, {self._worth()}: the "
                f"question was {question}.",
                f"In {self.statistic:,} of {self.n_trials:,} comparisons the prediction moved by "
                f"more than {number(self.epsilon)}.",
                self.reason,
                self._not_meant(),
            ]
        )

    def _worth(self) -> str:
        if self.certain:
            return "with certainty"
        return f"at level {number(self.alpha)}" if self.certifies else "and certifies nothing"

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

    def to_json(self, indent: int | None = 2) -> str:
        """Write the result as JSON; :meth:`from_json` reads it back exactly."""
        return to_json(self.to_dict(), indent)

    @classmethod
    def from_json(cls, text: str) -> ProcedureResult:
        """Read a result written by :meth:`to_json`."""
        fields = from_json(text)
        fields["verdict"] = Outcome(fields["verdict"])
        return cls(**fields)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of one row, for results side by side."""
        from poise.results.text.facts import as_frame

        return as_frame(self.to_dict())

    def _repr_html_(self) -> str:
        from poise.results.text.facts import as_html

        headline, *rest = self.summary().splitlines()
        facts = {"found": rest[0], "worth": rest[1], "not meant": rest[2]}
        return as_html(facts, headline)

    def __str__(self) -> str:
        return self.summary()
