"""Audits: whether a procedure is valid, and how far its power is from the ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from poise import checks
from poise.data.randomness import Randomness
from poise.errors import ArgumentError
from poise.numbers import at_most, number
from poise.procedures.own import Procedure
from poise.simulation.traps import Trap, trap, verdicts
from poise.simulation.worlds import Share, World
from poise.theory import ceilings


@dataclass(frozen=True)
class AuditRow:
    """How often a procedure declared one world stable, and how often a valid one may.

    Attributes
    ----------
    world : str
        Where its data came from.
    measures : {"level", "power", "either"}
        Whether "stable" is wrong there, right, or not known to be one of these.
    delta_star : float
        P(change > epsilon), or the least that is known of it.
    accepted : Share
        Replications in which it said "stable".
    limit : float
        What no valid procedure exceeds: alpha, or the ceiling on power (Theorems 2 to 5).
    claim : float or None
        What the procedure is said to reach.
    """

    world: str
    measures: Literal["level", "power", "either"]
    delta_star: float
    accepted: Share
    limit: float
    claim: float | None = None

    @property
    def finding(self) -> str:
        """The word "invalid", "not as claimed" or "no violation found"."""
        if self.accepted.interval[0] > self.limit:
            return "invalid"
        wrong = self.claim is not None and self.accepted.excludes(self.claim)
        return "not as claimed" if wrong else "no violation found"


@dataclass(frozen=True)
class Audit:
    """What was found against a procedure, world by world; ``print`` shows the table.

    A valid procedure is found "invalid" in a world with probability at most (1 - confidence)/2.
    "no violation found" does not prove validity.
    """

    procedure: str
    rows: tuple[AuditRow, ...]

    @property
    def invalid(self) -> bool:
        """Whether some world shows that the level does not hold."""
        return any(row.finding == "invalid" for row in self.rows)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return all(row.finding == "no violation found" for row in self.rows)

    @property
    def verdict(self) -> str:
        """The finding in one sentence."""
        wrong = [row for row in self.rows if row.finding != "no violation found"]
        if not wrong:
            return f"{self.procedure}: no violation found, which does not prove it valid"
        row = max(wrong, key=lambda row: (row.finding == "invalid", row.measures == "level"))
        said = f"{self.procedure} is {row.finding}: it says stable with probability {row.accepted}"
        if row.finding == "not as claimed":
            return f"{said} in the {row.world} world, not {row.claim:g}"
        level = row.measures == "level"
        why = "which is not stable" if level else "where no valid test can exceed this"
        return f"{said} > {at_most(row.limit)} in the {row.world} world, {why}"

    def __bool__(self) -> bool:
        raise TypeError("an audit is neither true nor false: say audit.ok")

    def __str__(self) -> str:
        lines = [
            f"{row.world}: says stable {row.accepted}, {row.measures} at most {at_most(row.limit)}"
            f" (delta* = {number(row.delta_star)}): {row.finding}"
            for row in self.rows
        ]
        return "\n".join([*lines, self.verdict])


def audit(
    procedure: Procedure,
    world: World | Trap,
    *,
    n_labeled: int,
    n_unlabeled: int = 0,
    traps: Sequence[Literal["label", "feature", "linear"]] = (),
    replications: int = 1000,
    epsilon: float | None = None,
    delta: float | None = None,
    alpha: float | None = None,
    delta_star: float | Share | None = None,
    claim: float | None = None,
    confidence: float = 0.99,
    random_state: Any = None,
    **space: Any,
) -> Audit:
    """Run a procedure on many data sets of a world whose stability is known, and judge it.

    In a world that is not (epsilon, delta)-stable, P(it says "stable") is its error and may not
    exceed alpha. In a stable world it is its power; beyond the ceiling of Theorems 2 to 5 the
    procedure must be invalid in another world, which ``traps`` show.

    Parameters
    ----------
    procedure : Procedure
        Returns a claim, a word ("stable") or a bool.
    world : World or Trap
        Where data come from.
    n_labeled, n_unlabeled : int
        Rows of a data set.
    traps : sequence of {"label", "feature", "linear"}
        Traps to set around the world; each adds a row.
    replications : int
        Data sets for each row.
    epsilon, delta, alpha : float, optional
        The question; by default the procedure's attributes of these names.
    delta_star : float or Share, optional
        P(change > epsilon) where it has no closed form; an estimate counts as its interval.
    claim : float, optional
        P(says stable) that is claimed: finds tests that are valid and not what they say.
    confidence : float
        Of each interval.
    random_state : None, int, Generator or RandomState
        Decides data and random numbers.
    **space
        ``models``, ``features`` and ``response`` say which ceiling holds, as in
        :func:`poise.theory.power_bound`.

    Examples
    --------
    >>> from poise.research import BootstrapTest, audit, worlds
    >>> test = BootstrapTest(n=4, epsilon=0.0, delta=0.2, resamples=30)
    >>> found = audit(test, worlds.constant(4), n_labeled=10, traps=["label"], replications=60,
    ...     random_state=0)
    >>> [row.finding for row in found.rows]
    ['invalid', 'invalid']
    """
    epsilon, delta = _own(procedure, "epsilon", epsilon), _own(procedure, "delta", delta)
    alpha = _own(procedure, "alpha", alpha)
    meant = _notion(procedure)
    honest = world.world if isinstance(world, Trap) else world
    if (n := getattr(procedure, "n", honest.n)) != honest.n:
        raise ArgumentError(f"must be {honest.n}, that of the world", argument="n", got=n)
    least = delta_star.interval[0] if isinstance(delta_star, Share) else delta_star
    denied: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "delta_star": least}
    places = [honest, *(trap(honest, kind, notion=meant, **denied).world for kind in traps)]
    count = checks.count("replications", replications, 1)
    rows = n_labeled, n_unlabeled
    roots = Randomness.from_state(random_state).block("audit", 0, len(places))[:, 0].tolist()
    found = []
    for place, root in zip(places, roots, strict=True):
        known, claimed = (delta_star, claim) if place is honest else (None, None)
        low, high = _truth(place, epsilon, meant, known)
        asked: dict[str, Any] = {"delta": delta, "delta_star": low, "alpha": alpha}
        limit = float(ceilings.power_bound(place.n, n_labeled, n_unlabeled, **asked, **space))
        measures: Any = "level" if low > delta else "power" if high <= delta else "either"
        models = space.get("models", "black-box")
        said = sum(verdicts(procedure, place, rows, count, root, models))
        stable = Share(said, count, confidence)
        found.append(AuditRow(place.name, measures, low, stable, limit, claimed))
    return Audit(type(procedure).__name__, tuple(found))


def _own(procedure: Procedure, name: str, given: float | None) -> float:
    value = getattr(procedure, name, None) if given is None else given
    if value is None:
        raise ArgumentError(f"is missing: {type(procedure).__name__} has none", argument=name)
    return {"epsilon": checks.epsilon, "delta": checks.delta, "alpha": checks.alpha}[name](value)


def _notion(procedure: Procedure) -> Any:
    coupling = getattr(procedure, "coupling", "shared")
    return coupling if coupling in ("shared", "independent") else "coupled"


def _truth(world: World, epsilon: float, notion: str, given: Any) -> tuple[float, float]:
    """Return the least and the most that P(change > epsilon) may be."""
    if isinstance(given, Share):
        return given.interval
    value = world.delta_star(epsilon, notion) if given is None else float(given)
    return value, value
