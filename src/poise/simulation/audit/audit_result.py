"""The result of an audit: a verdict on a procedure, not on an algorithm."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from poise.arguments.notebook_card import Card, ShownAsCard
from poise.arguments.printed_numbers import at_least, at_most, number
from poise.results.plots.rates import Rate, plot_rates
from poise.results.presented_result import as_frame
from poise.simulation.worlds import Proportion

__all__ = ["AuditResult"]


@dataclass(frozen=True)
class AuditResult(ShownAsCard):
    """How often a procedure declared one world stable, and how often it may.

    If the procedure is valid at level α, it is found "invalid" with probability
    at most (1 − confidence)/2. "no violation found" is no proof of validity:
    another world may show what this one does not.

    Attributes
    ----------
    procedure, world : str
        What was run, and where.
    accepted : Proportion
        Replications in which the procedure declared the world stable.
    measures : {"level", "power", "either"}
        Whether the world is unstable (a false "stable" was counted), stable, or
        not known to be one or the other.
    epsilon, delta, alpha : float
        The question, and the level that the procedure claims.
    notion : str
        The notion of stability it is about.
    delta_star : float
        P(Δ > ε) in this world, or the least that is known of it.
    limit : float
        What P(declares stable) of a valid procedure cannot exceed here: α if the
        world is not stable, the ceiling of Theorems 2 to 5 if it is.
    binomial : float
        What the paper's Binomial test reaches on as many rows.
    claim : float or None
        P(declares stable) that was claimed for the procedure, if any.
    n, n_labeled, n_unlabeled : int
        Training size and rows per replication.

    Examples
    --------
    >>> import poise
    >>> test = poise.procedures.BootstrapTest(n=4, epsilon=0.5, delta=0.2, resamples=30)
    >>> result = poise.audit(test, poise.world.zoo.memorising(n=4, rarity=0.25), n_labeled=8,
    ...     replications=200, random_state=0)
    >>> print(result)
    invalid: measured level 0.12 [0.06797, 0.1909] of BootstrapTest > 0.05 on memorising ...
    """

    procedure: str
    world: str
    accepted: Proportion
    measures: str
    epsilon: float
    delta: float
    alpha: float
    notion: str
    delta_star: float
    limit: float
    binomial: float
    claim: float | None
    n: int
    n_labeled: int
    n_unlabeled: int

    @property
    def invalid(self) -> bool:
        """Whether the whole interval lies above the limit."""
        return self.accepted.low > self.limit

    @property
    def finding(self) -> str:
        """``"invalid"``, ``"not as claimed"`` or ``"no violation found"``."""
        if self.invalid:
            return "invalid"
        if self.claim is not None and self.accepted.excludes(self.claim):
            return "not as claimed"
        return "no violation found"

    @property
    def ok(self) -> bool:
        """Whether nothing was found against the procedure."""
        return self.finding == "no violation found"

    def summary(self) -> str:
        """Say the finding in one sentence."""
        what = "acceptance" if self.measures == "either" else self.measures
        measured = f"{self.finding}: measured {what} {self.accepted} of {self.procedure}"
        return f"{measured} {self._beside()} on {self.world}"

    def _beside(self) -> str:
        """Compare the measured number with the one that decides."""
        if self.finding == "not as claimed":
            assert self.claim is not None
            return f"is not the claimed {number(self.claim)}"
        # What was measured is above the limit, or was not shown to be: each stays true rounded.
        sign = f"> {at_least(self.limit)}" if self.invalid else f"against {at_most(self.limit)}"
        if self.measures == "level":
            return sign
        reason = "; an unstable world must exist that it calls stable" if self.invalid else ""
        return f"{sign}, the ceiling for every valid test{reason},"

    def to_dict(self) -> dict[str, Any]:
        """Return every number as a plain value."""
        fields = asdict(self)
        fields["accepted"] |= {
            "value": self.accepted.value,
            "low": self.accepted.low,
            "high": self.accepted.high,
        }
        return fields | {"finding": self.finding}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of one row, for audits side by side."""
        return as_frame(self.to_dict())

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw what was measured beside its limit; return the figure, or ``ax``."""
        return plot_rates([self.rate], ax, title=title, figsize=figsize)

    @property
    def rate(self) -> Rate:
        """What is drawn: the measured share with its interval, and the limit."""
        seen = self.accepted
        return Rate(self.world, seen.value, seen.low, seen.high, self.limit, self.invalid)

    def _card(self) -> Card:
        facts = {
            "measured": str(self.accepted),
            "limit": at_most(self.limit),
            "Binomial test": number(self.binomial),
            "replications": f"{self.accepted.trials:,}",
            "delta*": number(self.delta_star),
        }
        return Card(self.summary(), self.finding, facts=facts, draw=self.plot)

    def __str__(self) -> str:
        return self.summary()
