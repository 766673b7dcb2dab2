"""One procedure on one world and on the traps that mimic it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from poise import arguments
from poise.arguments.notebook_card import Card, ShownAsCard
from poise.arguments.printed_numbers import at_most, number
from poise.protocol.procedure import Procedure
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.results.plots.rates import plot_rates
from poise.results.text.table import TextTable
from poise.simulation.audit.audit import audit
from poise.simulation.audit.audit_result import AuditResult
from poise.simulation.audit.audited_question import AuditedQuestion
from poise.simulation.traps import TRAPS
from poise.simulation.worlds import World

__all__ = ["AuditSuite", "audit_with_traps"]


@dataclass(frozen=True)
class AuditSuite(ShownAsCard):
    """Audits of one procedure: on the honest world first, then on each trap.

    Attributes
    ----------
    results : tuple of AuditResult
        One per world.

    Examples
    --------
    >>> import poise
    >>> test = poise.procedures.BinomialTest(n=4, epsilon=0.5, delta=0.3)
    >>> world = poise.world.zoo.constant(n=4)
    >>> suite = poise.audit_with_traps(test, world, n_labeled=50, replications=30, random_state=0)
    >>> print(suite.verdict)
    no violation found in 3 worlds; that is no proof of validity
    """

    results: tuple[AuditResult, ...]

    @property
    def invalid(self) -> bool:
        """Whether any of them found the procedure invalid."""
        return any(result.invalid for result in self.results)

    @property
    def verdict(self) -> str:
        """The verdict on the procedure, with the clearest result as its reason."""
        # A trap that was called stable is clearer evidence than too much power elsewhere.
        plainest = max(self.results, key=_plainness)
        if not self.invalid:
            worlds = arguments.counted(len(self.results), "world")
            return f"no violation found in {worlds}; that is no proof of validity"
        return plainest.summary()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per world, as plain values."""
        return [
            {
                "world": result.world,
                "measures": result.measures,
                "delta_star": result.delta_star,
                "claimed level": result.alpha,
                "measured": result.accepted.value,
                "low": result.accepted.low,
                "high": result.accepted.high,
                "limit": result.limit,
                "finding": result.finding,
            }
            for result in self.results
        ]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per world."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def table(self) -> str:
        """Return the rows as plain text, the verdict below."""
        return f"{self._table().text()}\n{self.verdict}"

    def _table(self) -> TextTable:
        header = ("world", "measures", "delta*", "measured", "limit", "finding")
        return TextTable(header, [self._line(result) for result in self.results], self.verdict)

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        figsize: tuple[float, float] | None = None,
    ) -> Any:
        """Draw what was measured in every world beside its limit; return the figure, or ``ax``."""
        rates = [result.rate for result in self.results]
        return plot_rates(rates, ax, title=title, figsize=figsize)

    def _card(self) -> Card:
        badge = "invalid" if self.invalid else "no violation found"
        table = replace(self._table(), caption="")
        return Card(self.verdict, badge, tables=[table], draw=self.plot)

    def _line(self, result: AuditResult) -> tuple[str, ...]:
        star, limit = number(result.delta_star), at_most(result.limit)
        return (
            result.world, result.measures, star, str(result.accepted), limit, result.finding
        )  # fmt: skip

    def __str__(self) -> str:
        return self.table()


def _plainness(result: AuditResult) -> tuple[bool, bool, float]:
    return result.invalid, result.measures == "level", result.accepted.low - result.limit


def audit_with_traps(
    procedure: Procedure,
    world: World,
    *,
    traps: Iterable[str] = ("label", "feature"),
    random_state: RandomStateLike = None,
    **settings: Any,
) -> AuditSuite:
    """Audit a procedure on a stable world and on the traps that mimic it.

    A procedure whose power on the honest world exceeds what a trap allows calls
    that trap stable too often: this demonstrates Theorem 2.

    Parameters
    ----------
    procedure : Procedure
        The test.
    world : World
        A world that is (ε, δ)-stable for the procedure's ε and δ.
    traps : iterable of {"label", "feature", "linear"}
        Which traps to set; "linear" only where models are linear.
    random_state : None, int, Generator or RandomState
        Decides everything.
    **settings
        As in :func:`audit`: ``n_labeled``, ``n_unlabeled``, ``replications``,
        ``epsilon``, ``delta``, ``alpha``, ``notion``, ``delta_star``, ``models``,
        ``features``, ``response``, ``confidence``, ``n_jobs``, ``progress``.

    Examples
    --------
    >>> from poise.procedures import BootstrapTest
    >>> from poise.world import zoo
    >>> test = BootstrapTest(n=4, epsilon=0.0, delta=0.2, resamples=30)
    >>> suite = audit_with_traps(test, zoo.constant(n=4), traps=["label"], n_labeled=10,
    ...     replications=60, random_state=0)
    >>> [result.finding for result in suite.results]
    ['invalid', 'invalid']
    """
    names = ("epsilon", "delta", "alpha", "notion", "delta_star")
    asked = AuditedQuestion.of(procedure, world, *(settings.get(name) for name in names))
    denied: dict[str, Any] = {"epsilon": asked.epsilon, "delta": asked.delta}
    if world.law is None:
        denied["delta_star"] = asked.least
    places: list[Any] = [world]
    for kind in traps:
        notion = {} if kind == "linear" else {"notion": asked.notion}
        places.append(TRAPS[kind](world, **denied, **notion))
    randomness = Randomness.from_state(random_state)
    seeds = (randomness.words("audit", index) for index in range(len(places)))
    alone = {k: v for k, v in settings.items() if k != "delta_star"}
    results = [audit(procedure, world, random_state=next(seeds), **settings)]
    results += [audit(procedure, trap, random_state=next(seeds), **alone) for trap in places[1:]]
    return AuditSuite(tuple(results))
