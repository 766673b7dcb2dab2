"""What is promised about prediction intervals, and what the promise rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from poise.arguments import counted
from poise.arguments.decimal_noise import complement, without_noise
from poise.arguments.notebook_card import Card, ShownAsCard, parts_at_limit
from poise.arguments.printed_numbers import at_most, confidence, exactly
from poise.theory.jackknife_coverage import (
    certified_miss,
    certified_miss_given_data,
    jackknife_miss,
)

if TYPE_CHECKING:
    from poise.results.conditional_result import ConditionalResult
    from poise.results.stability_result import StabilityResult

__all__ = ["CoverageGuarantee"]


@dataclass(frozen=True)
class CoverageGuarantee(ShownAsCard):
    """The promise of a fitted :class:`poise.JackknifeRegressor`, in numbers and in words.

    Attributes
    ----------
    method : {"plus", "jackknife"}
        The interval that is computed.
    n : int
        Training rows.
    level : float
        1 - a, the level that the interval aims at.
    coverage : float
        The least probability of no miss. With a certificate 1 minus ``miss``.
    miss : float
        The largest probability that a new response is missed; with a certificate, that
        stability is certified *and* a new response is missed.
    widening : float
        What Theorem J adds on both sides: ε, 2ε for jackknife+, or 0.
    epsilon, delta, alpha : float or None
        The certificate; None without one.
    remark : str
        Why a given certificate is not used; empty otherwise.
    gamma : float or None
        The tolerated share of a certificate about this training set; None for others.

    Examples
    --------
    >>> CoverageGuarantee.without_certificate(99, 0.9).coverage
    0.8
    >>> CoverageGuarantee.without_certificate(99, 0.9).sentence
    'Jackknife+ misses a new response with probability at most 0.2 (twice 1 - 0.9), whatever the ...
    """

    method: str
    n: int
    level: float
    miss: float
    widening: float = 0.0
    epsilon: float | None = None
    delta: float | None = None
    alpha: float | None = None
    remark: str = ""
    gamma: float | None = None

    @classmethod
    def without_certificate(cls, n: int, level: float, remark: str = "") -> CoverageGuarantee:
        """Promise what jackknife+ keeps without stability: a miss in 2a of the cases at most."""
        return cls("plus", n, level, min(1.0, 2 * complement(level)), remark=remark)

    @classmethod
    def certified(cls, method: str, result: StabilityResult, level: float) -> CoverageGuarantee:
        """Promise what Theorem J gives with a verdict "stable" from other rows.

        Jackknife+ keeps 2a anyway. Where Theorem J promises no more than that, wider intervals
        would gain nothing, so they are not widened.
        """
        plus = method == "plus"
        miss = float(certified_miss(result.n, complement(level), result.delta, result.alpha, plus))
        if plus and miss >= 2 * complement(level):
            remark = (
                f"The certificate is not used: with delta = {exactly(result.delta)} Theorem J "
                f"allows {at_most(without_noise(miss))}, and the intervals would be wider."
            )
            return cls.without_certificate(result.n, level, remark)
        widening = (2 if plus else 1) * result.epsilon
        known = (result.epsilon, result.delta, result.alpha)
        return cls(method, result.n, level, miss, widening, *known)

    @classmethod
    def given_training_set(cls, result: ConditionalResult, level: float) -> CoverageGuarantee:
        """Promise what a certificate about this training set gives, for the jackknife."""
        assert result.gamma is not None
        known = (result.epsilon, result.delta, result.alpha)
        miss = float(certified_miss_given_data(complement(level), result.gamma, *known[1:]))
        return cls("jackknife", result.n, level, miss, known[0], *known, gamma=result.gamma)

    @property
    def coverage(self) -> float:
        """The least probability of no miss."""
        return 1 - self.miss

    @property
    def has_certificate(self) -> bool:
        """Whether the promise rests on a certificate of stability."""
        return self.delta is not None

    @property
    def sentence(self) -> str:
        """The promise in words, with what it rests on and what it does not say."""
        if self.delta is None:
            return (
                f"Jackknife+ misses a new response with probability at most {self._missed} (twice "
                f"1 - {exactly(self.level)}), whatever the distribution; it rests on independent "
                "rows and an algorithm whose law ignores their order, and on no certificate of "
                "stability. The probability is over training rows and new point together."
                + (f" {self.remark}" if self.remark else "")
            )
        if self.gamma is not None:
            return self._given_training_set
        miss = float(jackknife_miss(self.n, complement(self.level), self.delta, self.plus))
        stable = at_most(without_noise(miss))
        epsilon, delta, alpha = self._asked
        return (
            "Stability is certified and a new response missed with probability at most "
            f"{self._missed}: {self._name}, widened by {exactly(self.widening)} on both sides, "
            f"misses with probability at most {stable} if a prediction changes by more than "
            f"{epsilon} with probability at most {delta} when one of "
            f"{counted(self.n, 'row')} is removed (Theorem J), which was certified on other rows "
            f"at error level {alpha}. It rests on that certificate, on independent "
            "rows, and on an algorithm that ignores their order. It is not the probability of a "
            "miss given the certificate, nor about one interval."
        )

    @property
    def _given_training_set(self) -> str:
        epsilon, delta, alpha = self._asked
        gamma = exactly(self.gamma)
        return (
            "This training set is certified and a new response missed with probability at most "
            f"{self._missed}, the sum of 1 - {exactly(self.level)}, gamma = {gamma} "
            f"and max(delta = {delta}, alpha = {alpha}): the jackknife "
            f"interval is widened by {exactly(self.widening)} on both sides. It rests on the "
            f"certificate that a new row moves more than a share {gamma} of the "
            f"{self.n:,} leave-one-out residuals by more than {epsilon} with "
            f"probability at most {delta}, on independent rows, and on an algorithm "
            "that ignores their order. It is not the probability of a miss given the certificate, "
            "nor about one interval."
        )

    def _card(self) -> Card:
        name = f"{self._name[0].upper()}{self._name[1:]}"
        miss = without_noise(self.miss)
        title = f"{name} at level {exactly(self.level)}: coverage of at least {confidence(miss)}."
        parts = parts_at_limit("covered", "missed", miss)
        widened = {"widened on both sides by": exactly(self.widening)}
        facts = {"training rows": f"{self.n:,}", **widened}
        return Card(title, "guarantee", [self.sentence], facts=facts, parts=parts)

    @property
    def plus(self) -> bool:
        """Whether the interval is that of jackknife+."""
        return self.method == "plus"

    @property
    def _asked(self) -> list[str]:
        """ε, δ and α of the certificate, with all their digits."""
        return [exactly(value) for value in (self.epsilon, self.delta, self.alpha)]

    @property
    def _missed(self) -> str:
        return at_most(without_noise(self.miss))

    @property
    def _name(self) -> str:
        return "jackknife+" if self.plus else "the jackknife interval"
