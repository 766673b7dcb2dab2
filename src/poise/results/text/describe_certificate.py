"""What a certificate states, for each verdict, and the theorem behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.results.certificate import Certificate, as_written
from poise.results.text.describe_result import headline
from poise.results.verdict import Outcome

if TYPE_CHECKING:
    from poise.results.stability_result import StabilityResult

__all__ = ["NOT_IN_A_FILE", "statement_of", "theorem_of"]

NOT_IN_A_FILE = (
    "No file can show that the rows are independent draws, that the question was fixed before "
    "anybody looked, or that no other question was asked of the same rows."
)

_THEOREMS = {
    "binomial": "Theorem 1 of Kim and Barber, Black-box tests for algorithmic stability",
    "averaged": "Theorems A and F of the averaged test, in the documentation of poise",
}


def statement_of(result: StabilityResult) -> dict[str, str]:
    """Say the verdict, and what exactly is declared.

    Examples
    --------
    >>> from poise import Trials
    >>> trials = Trials.from_changes([0.1] * 30, n=5)
    >>> print(statement_of(trials.test(epsilon=0.2, delta=0.05))["declared"])
    nothing is declared at error level 0.05: whether two models, one on 5 rows and one on 4 of
    them, fitted with the same random term, differ by more than 0.2 at a fresh point with
    probability at most 0.05 is open
    """
    return {
        "verdict": result.verdict.value,
        "headline": headline(result),
        "declared": _declared(result),
        "not_meant": result.verdict.not_meant,
    }


def theorem_of(result: StabilityResult) -> dict[str, str]:
    """Name the theorem that the error level rests on, and say why it applies."""
    return {"name": _THEOREMS[result.test], "reason": result.reason}


def _declared(result: StabilityResult) -> str:
    asked = result.epsilon, result.delta, result.alpha
    about = Certificate.about(result.design, *asked)
    level, delta = f"at error level {as_written(result.alpha)}", as_written(result.delta)
    if result.verdict == Outcome.STABLE:
        return about.statement()
    if result.verdict == Outcome.UNSTABLE:
        return f"declared {level}: {about.event} with probability more than {delta}"
    limit = f"with probability at most {delta}"
    return f"nothing is declared {level}: whether {about.event} {limit} is open"
