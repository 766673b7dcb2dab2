"""The evidence of several records together: of one distribution, or of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poise.results.design import Design
from poise.results.presented_result import DrawnVerdict
from poise.results.verdict import Outcome
from poise.theory.decision import unless_both
from poise.theory.e_values import multiply_e_values
from poise.theory.rounding import reaches

if TYPE_CHECKING:
    from poise.results.text.summary import Summary

__all__ = ["CombinedEvidence"]


@dataclass(frozen=True)
class CombinedEvidence(DrawnVerdict):
    """What several records say together.

    For one distribution and disjoint rows the product of e-values is an e-value: P(it ever
    reaches 1/α) ≤ α if the algorithm is not stable. For different distributions the smallest
    e-value decides: "stable" then means stable on every one of them, and needs no correction
    (intersection-union). "inconclusive" is not "unstable".

    Attributes
    ----------
    records : tuple of str
        The files.
    e_values, e_values_unstable : tuple of float
        Evidence of each for "stable" and for "unstable".
    n_trials : tuple of int
        Trials of each.
    design : Design
        What is measured, with the rows of all of them.
    epsilon, delta, alpha : float
        The question and the error level.
    different : bool
        Whether the rows come from different distributions.
    compared : bool
        Whether it was checked that they share no row; otherwise the user declared it.
    warnings : tuple of str
        What was noticed in any of them that may make the error level wrong.

    Examples
    --------
    >>> design = Design("Ridge()", n=20, n_labeled=1260)
    >>> both = ("a.record", "b.record"), (4.0, 6.0), (0.1, 0.2), (30, 35)
    >>> CombinedEvidence(*both, design, 0.5, 0.1, 0.05).verdict.value
    'stable'
    >>> CombinedEvidence(*both, design, 0.5, 0.1, 0.05, different=True).verdict.value
    'inconclusive'
    """

    records: tuple[str, ...]
    e_values: tuple[float, ...]
    e_values_unstable: tuple[float, ...]
    n_trials: tuple[int, ...]
    design: Design
    epsilon: float
    delta: float
    alpha: float
    different: bool = False
    compared: bool = True
    warnings: tuple[str, ...] = ()

    @property
    def e_value(self) -> float:
        """Evidence for "stable": the product, or the smallest if the distributions differ."""
        return min(self.e_values) if self.different else multiply_e_values(self.e_values)

    @property
    def e_value_unstable(self) -> float:
        """Evidence for "unstable": the product, or the smallest if the distributions differ."""
        several = self.e_values_unstable
        return min(several) if self.different else multiply_e_values(several)

    @property
    def verdict(self) -> Outcome:
        """The verdict whose evidence has reached 1/α; "inconclusive" if both or none have."""
        return Outcome(unless_both(*self._reached))

    @property
    def contradicted(self) -> bool:
        """Whether the evidence for "stable" and that for "unstable" have both reached 1/α."""
        return all(self._reached)

    @property
    def _reached(self) -> tuple[bool, bool]:
        return reaches(self.e_value * self.alpha), reaches(self.e_value_unstable * self.alpha)

    def describe(self) -> Summary:
        """Return headline and paragraphs."""
        from poise.results.text.describe_combined import describe_combined

        return describe_combined(self)

    def facts(self) -> dict[str, str]:
        """Return the numbers behind the verdict, worded."""
        from poise.results.text.describe_combined import facts_of_combined

        return facts_of_combined(self)

    def to_dict(self) -> dict[str, Any]:
        """Return every number as a plain value."""
        names = ("e_value", "e_value_unstable", "epsilon", "delta", "alpha", "different")
        lists = ("records", "e_values", "e_values_unstable", "n_trials", "warnings")
        return {
            "verdict": self.verdict.value,
            "stable": self.stable,
            **{name: getattr(self, name) for name in (*names, "compared")},
            **{name: list(getattr(self, name)) for name in lists},
            "design": self.design.to_dict(),
        }

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw the evidence of every record, and of all together; return the figure, or ``ax``."""
        from poise.results.plots.evidence import plot_evidence

        return plot_evidence(self, ax, title=title, figsize=figsize)
