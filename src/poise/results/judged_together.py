"""Several tests with one error level for all: Holm's method, in one place."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from poise import arguments
from poise.results.verdict import Outcome
from poise.theory.decision import three_way
from poise.theory.holm_correction import holm

if TYPE_CHECKING:
    from poise.results.stability_result import StabilityResult
    from poise.results.trials import Trials

__all__ = ["LIMITS_SHOW_LESS", "JudgedTogether", "judged_together"]

LIMITS_SHOW_LESS = (
    'A limit beyond the question beside a verdict "stable" is no contradiction: Holm\'s method '
    "declares more than limits for all of them at once can show."
)


@dataclass(frozen=True)
class JudgedTogether:
    """One of several tests, judged at the level of all of them.

    Attributes
    ----------
    result : StabilityResult
        What the test found at α divided by the number of tests, as Holm's first step needs:
        a bet aims at its level.
    adjusted, adjusted_unstable : float
        P-values for "not (ε, δ)-stable" and for "(ε, δ)-stable", adjusted by Holm's method.
    alpha : float
        The error level of all tests together.
    """

    result: StabilityResult
    adjusted: float
    adjusted_unstable: float
    alpha: float

    @property
    def verdict(self) -> Outcome:
        """The verdict at the level of all tests together."""
        sides = (self.adjusted, self.adjusted_unstable)
        return Outcome(three_way(*(self.result.declares(p, self.alpha) for p in sides)))

    @property
    def stable(self) -> bool:
        """Whether it is declared stable."""
        return self.verdict == Outcome.STABLE


def judged_together(
    trials: Collection[Trials],
    epsilon: float,
    delta: float,
    alpha: float = 0.05,
    randomized: bool = False,
    test: str = "auto",
) -> list[JudgedTogether]:
    """Test (ε, δ)-stability of several measurements, with one error level for all verdicts.

    P(any that is not (ε, δ)-stable is declared stable) ≤ α, and P(any that is (ε, δ)-stable is
    declared unstable) ≤ α, however the measurements depend on each other (Holm 1979).

    Parameters
    ----------
    trials : collection of Trials
        The measurements.
    epsilon, delta, randomized, test
        As in :meth:`poise.Trials.test`.
    alpha : float
        The error level of all tests together, in (0, 1).

    Examples
    --------
    >>> from poise import Trials
    >>> calm, wild = ([0.1] * 60, [0.1, 0.9] * 30)
    >>> several = [Trials.from_changes(changes, n=5) for changes in (calm, wild)]
    >>> [each.verdict.value for each in judged_together(several, epsilon=0.5, delta=0.1)]
    ['stable', 'unstable']
    """
    level = float(arguments.alpha(alpha)) / len(trials)
    results = [each.test(epsilon, delta, level, randomized, test) for each in trials]
    adjusted = holm([r.pvalue for r in results]).tolist()
    unstable = holm([r.pvalue_unstable for r in results]).tolist()
    both = zip(results, adjusted, unstable, strict=True)
    return [JudgedTogether(result, p, q, alpha) for result, p, q in both]
