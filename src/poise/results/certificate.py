"""What a verdict "stable" states, and the weaker statements it implies (Appendix E)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from poise import arguments
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from poise.results import StabilityResult

__all__ = ["NOTIONS", "Certificate"]

NOTIONS = ("shared", "independent", "coupled")

_TERMS = {
    "shared": "fitted with the same random term",
    "independent": "fitted with independent random terms",
    "coupled": "fitted with random terms coupled in some way",
}


@dataclass(frozen=True)
class Certificate:
    r"""The statement "(A, P, n) is (ε, δ)-stable", in one notion, at one error level.

    .. math:: P\{|\hat\mu_n(X) - \hat\mu_{n-1}(X)| > ε\} \le δ

    declared by a test that declares it of an unstable triple with probability at
    most α. What it implies is implied with the same α: the implications are
    facts about the triple and use no further data. The one from independent to
    shared randomness is the triangle inequality, so it needs a distance that is
    a metric (all of poise's own are).

    It does not say that the triple *is* stable with probability 1 − α: a triple
    is stable or not, and the test errs with probability at most α.

    Parameters
    ----------
    notion : {"shared", "independent", "coupled"}
        How the random terms of the two fits are related.
    epsilon : float
        Allowed change, >= 0.
    delta : float
        Allowed probability of a larger change, in [0, 1).
    alpha : float
        Error level of the test that declared it, in (0, 1).
    n : int
        Training size, at least 2.

    Examples
    --------
    >>> certificate = Certificate("independent", epsilon=0.1, delta=0.05, alpha=0.05, n=50)
    >>> weaker = certificate.implies("shared")
    >>> round(weaker.epsilon, 10), round(weaker.delta, 10)
    (0.3, 0.15)
    >>> [c.notion for c in certificate.implications()]
    ['shared', 'coupled']
    >>> weaker.implies("independent")
    Traceback (most recent call last):
    poise.errors.ArgumentError: a certificate for shared randomness implies nothing ...
    """

    notion: str
    epsilon: float
    delta: float
    alpha: float
    n: int

    def __post_init__(self) -> None:
        arguments.choice("notion", self.notion, NOTIONS)
        arguments.epsilon(self.epsilon)
        arguments.delta(self.delta)
        arguments.alpha(self.alpha)
        arguments.training_size(self.n)

    @classmethod
    def from_result(cls, result: StabilityResult) -> Certificate:
        """Return what a result with verdict "stable" certifies.

        A test run under any coupling of its own certifies the coupled notion:
        that there is some Q under which the triple is stable.
        """
        if not result.stable:
            raise ArgumentError(
                f"result must have the verdict 'stable', got {result.verdict.value!r}; "
                "no other verdict certifies stability"
            )
        notion = result.coupling if result.coupling in NOTIONS else "coupled"
        return cls(notion, result.epsilon, result.delta, result.alpha, result.n)

    def implies(self, notion: str) -> Certificate:
        """Return the strongest certificate for ``notion`` that follows from this one.

        Independent (ε, δ) ⇒ shared (3ε, 3δ); any ⇒ coupled (ε, δ). Nothing else
        follows, nor does anything vacuous (δ ≥ 1): both are refused.
        """
        arguments.choice("notion", notion, NOTIONS)
        if notion in (self.notion, "coupled"):
            return replace(self, notion=notion)
        if (self.notion, notion) != ("independent", "shared"):
            raise ArgumentError(
                f"a certificate for {self.notion} randomness implies nothing about {notion} "
                f"randomness; test again with coupling={notion!r}"
            )
        if 3 * self.delta >= 1:
            raise ArgumentError(
                f"delta must be below 1/3 to imply shared stability (3 delta < 1), got "
                f"{self.delta}; anything is stable with delta = 1"
            )
        return replace(self, notion=notion, epsilon=3 * self.epsilon, delta=3 * self.delta)

    def implications(self) -> tuple[Certificate, ...]:
        """Return every certificate in another notion that follows from this one."""
        implied = []
        for notion in NOTIONS:
            try:
                implied.append(self.implies(notion))
            except ArgumentError:
                continue
        return tuple(other for other in implied if other.notion != self.notion)

    def statement(self) -> str:
        """Say it in a sentence."""
        return (
            f"declared at error level {self.alpha:g}: two models, one on {self.n} rows and one "
            f"on {self.n - 1} of them, {_TERMS[self.notion]}, differ by more than "
            f"{self.epsilon:g} at a fresh point with probability at most {self.delta:g}"
        )
