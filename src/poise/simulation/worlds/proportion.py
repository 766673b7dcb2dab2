"""A probability that was simulated, with an exact interval."""

from __future__ import annotations

from dataclasses import dataclass

from poise import arguments
from poise.arguments.printed_numbers import at_least, at_most, number
from poise.theory.estimates import delta_hat

__all__ = ["Proportion"]


@dataclass(frozen=True)
class Proportion:
    """Successes among independent trials, with the interval of Clopper and Pearson.

    P(``low`` ≤ p ≤ ``high``) ≥ ``confidence`` whatever p and the number of trials.

    Parameters
    ----------
    successes, trials : int
        The count; at least one trial.
    confidence : float
        Of the two-sided interval, in (0, 1).

    Examples
    --------
    >>> share = Proportion(31, 100, confidence=0.99)
    >>> print(share)
    0.31 [0.1974, 0.4412]
    >>> share.excludes(0.05), share.excludes(0.4)
    (True, False)
    """

    successes: int
    trials: int
    confidence: float = 0.99

    def __post_init__(self) -> None:
        arguments.count("trials", self.trials, minimum=1)
        arguments.alpha(self.confidence, "confidence")

    @property
    def value(self) -> float:
        """The share of successes."""
        return self.successes / self.trials

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        failures = self.trials - self.successes
        return 1.0 - float(delta_hat(failures, self.trials, (1 - self.confidence) / 2))

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return float(delta_hat(self.successes, self.trials, (1 - self.confidence) / 2))

    def excludes(self, probability: float) -> bool:
        """Tell whether ``probability`` lies outside the interval."""
        return not self.low <= probability <= self.high

    def __str__(self) -> str:
        return f"{number(self.value)} [{at_least(self.low)}, {at_most(self.high)}]"
