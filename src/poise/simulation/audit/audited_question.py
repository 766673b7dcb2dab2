"""The question of an audit, and the truth in its world."""

from __future__ import annotations

from dataclasses import dataclass

from poise import arguments
from poise.errors import ArgumentError
from poise.protocol.procedure import Procedure
from poise.protocol.randomness import as_coupling
from poise.results.certificate import NOTIONS
from poise.simulation.traps import Trap
from poise.simulation.worlds import Proportion, World

__all__ = ["AuditedQuestion"]


@dataclass(frozen=True)
class AuditedQuestion:
    """ε, δ, α and the notion, with what is known of δ* (an interval, perhaps of length 0)."""

    world: World
    epsilon: float
    delta: float
    alpha: float
    notion: str
    least: float
    most: float

    @classmethod
    def of(
        cls,
        procedure: Procedure,
        place: World | Trap,
        epsilon: float | None,
        delta: float | None,
        alpha: float | None,
        notion: str | None,
        delta_star: float | Proportion | None,
    ) -> AuditedQuestion:
        """Take what was given, and the rest from the procedure and the world."""
        world = place.world if isinstance(place, Trap) else place
        _check_size(procedure, world)
        allowed = float(arguments.epsilon(_own(procedure, "epsilon", epsilon)))
        share = float(arguments.delta(_own(procedure, "delta", delta)))
        level = float(arguments.alpha(_own(procedure, "alpha", alpha)))
        meant = _notion(procedure, notion)
        if isinstance(place, Trap) and place.notion != meant:
            raise ArgumentError(
                f"the trap is set for {place.notion} randomness and the question is about "
                f"{meant} randomness; set it with notion={meant!r}"
            )
        least, most = _truth(world, allowed, meant, delta_star)
        return cls(world, allowed, share, level, meant, least, most)

    @property
    def measures(self) -> str:
        """Whether "stable" would be an error here, or a success."""
        if self.least > self.delta:
            return "level"
        return "power" if self.most <= self.delta else "either"


def _own(procedure: Procedure, name: str, given: float | None) -> float:
    value = getattr(procedure, name, None) if given is None else given
    if value is None:
        raise ArgumentError(
            f"{name} must be given: {type(procedure).__name__} has no attribute {name!r}"
        )
    return float(value)


def _check_size(procedure: Procedure, world: World) -> None:
    n = getattr(procedure, "n", world.n)
    if n != world.n:
        raise ArgumentError(
            f"the procedure asks about n = {n} and the world has n = {world.n}; they must agree"
        )


def _notion(procedure: Procedure, notion: str | None) -> str:
    """Return the notion; a test under a coupling of its own is one of the coupled notion."""
    if notion is not None:
        return arguments.choice("notion", notion, NOTIONS)
    name = as_coupling(getattr(procedure, "coupling", "shared")).name
    return name if name in NOTIONS else "coupled"


def _truth(
    world: World, epsilon: float, notion: str, delta_star: float | Proportion | None
) -> tuple[float, float]:
    """Return the smallest and the largest δ* that is possible."""
    if isinstance(delta_star, Proportion):
        return delta_star.low, delta_star.high
    if delta_star is None:
        delta_star = world.delta_star(epsilon, notion)  # or an error that says what to do
    exact = float(arguments.probability("delta_star", delta_star))
    return exact, exact
