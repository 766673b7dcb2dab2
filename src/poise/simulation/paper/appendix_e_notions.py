"""Appendix E: shared, independent and coupled randomness, and Theorem 5."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from poise import theory
from poise.algorithms.algorithm import Algorithm, Predict
from poise.algorithms.couplings import Antithetic, Rotated
from poise.procedures import BinomialTest
from poise.protocol.randomness import Coupling, Independent, Shared, as_uniform
from poise.simulation.paper.claim import (
    Claim,
    beyond,
    claim_at_least,
    computed,
    equal,
    holds,
    simulated,
)
from poise.simulation.paper.effort import Effort
from poise.simulation.traps import label_trap
from poise.simulation.worlds import GaussianRows, World, zoo

__all__ = ["claims"]

_COUPLINGS: tuple[Coupling, ...] = (Shared(), Independent(), Antithetic(), Rotated(0.25))


def claims(effort: Effort) -> list[Claim]:
    """Check the relations between the notions, and Theorem 5 from its traps to its ceilings."""
    return computed(
        "E",
        partial(_closed_forms, effort),
        partial(_smallest, effort),
        partial(_three_times, effort),
        partial(_independent_size, effort),
        partial(_quantile_trap, effort),
        partial(_trap_for_every_coupling, effort),
        _independent_ceiling,
        partial(_coupled_ceiling, effort),
    )


@dataclass(frozen=True)
class Uneven(Algorithm):
    """Predicts 1 if ξ < p on n rows, and if 1 − ξ < q on fewer; else 0.

    The two fits follow different laws, so no coupling makes them agree: they differ
    with probability |p − q| at least, which ξ′ = 1 − ξ attains.
    """

    n: int
    p: float
    q: float
    name: str = "uneven coin"

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Read ξ forwards on n rows, backwards on fewer."""
        full = len(y) == self.n
        term = as_uniform(xi if full else xi ^ (2**64 - 1))
        level = float(term < (self.p if full else self.q))
        return lambda rows: np.full(len(rows), level)


def _uneven(p: float, q: float) -> World:
    return World(Uneven(5, p, q), GaussianRows(), n=5, title="uneven coin")


def _closed_forms(effort: Effort) -> list[Claim]:
    p, q = 0.3, 0.1
    expected = (
        ("(E.1)", "the same xi", Shared(), p + q),
        ("(E.2)", "independent terms", Independent(), p * (1 - q) + q * (1 - p)),
        ("(E.3)", "xi' = 1 - xi, the best coupling", Antithetic(), p - q),
    )
    return [
        simulated(
            f"E, {where}",
            f"delta of an uneven coin, .3 and .1, with {name}",
            delta,
            effort.instability(_uneven(p, q), 0.5, 4000, 7, coupling),
        )
        for where, name, coupling, delta in expected
    ]


def _smallest(effort: Effort) -> Claim:
    """δ_cpl = |p − q| is a lower bound whatever the coupling, and smaller than the other two."""
    couplings = [*_COUPLINGS, *(Rotated(by) for by in (0.1, 0.5, 0.7, 0.9))]
    found = [effort.instability(_uneven(0.3, 0.1), 0.5, 3000, 8, q, 600) for q in couplings]
    wrong = sum(share.high < 0.2 for share in found)
    wrong += sum(share.low <= 0.2 for share in found[:2])  # the shared and independent notions
    text = "no coupling is below delta_cpl = .2; delta* and delta_indep are above"
    return holds("E", text, len(found) + 2, wrong)


def _three_times(effort: Effort) -> Claim:
    """Simulate both sides of: independent (ε, δ) implies shared (3ε, 3δ)."""
    wrong = cases = 0
    for p, epsilon in product((0.1, 0.5, 0.9), (0.0, 0.3, 0.4)):
        world = zoo.flipping(n=5, probability=p)
        independent = effort.instability(world, epsilon, 1500, 9, Independent())
        shared = effort.instability(world, 3 * epsilon, 1500, 10)
        cases += 1
        wrong += shared.low > 3 * independent.high
    text = "independent (eps, delta) implies shared (3 eps, 3 delta)"
    return holds("E", text, cases, wrong)


def _independent_size(effort: Effort) -> Claim:
    """At the boundary of the independent notion the size is exactly α; of the shared it is not."""
    world = zoo.flipping(n=5, probability=0.3)
    boundary = world.delta_star(0.5, "independent")  # .42, and .6 if ξ is shared
    test = BinomialTest(5, 0.5, boundary, 0.3, randomized=True, coupling="independent")
    found = effort.accepted(test, world, (60, 0), 1500, seed=8)
    text = "Binomial test with independent terms: size alpha = .3 in its notion"
    return simulated("E", text, 0.3, found)


# --- Theorem 5 ------------------------------------------------------------------------


def _quantile_trap(effort: Effort) -> list[Claim]:
    """A₁ rises above a quantile over ξ′: here the largest of R = 3 terms, short with p(1−p)^R."""
    p, height, epsilon, delta = 0.2, 1.5, 0.5, 0.5
    world = zoo.flipping(n=4, probability=p, height=height)
    trap = label_trap(world, epsilon=epsilon, delta=delta, notion="independent", a=0.25, c=0.3)
    sprung = 1 - 0.7**4
    short = p * (1 - p) ** 3
    exact = sprung * (1 - short) + (1 - sprung) * 2 * p * (1 - p)
    bound = 0.75 - (0.75 - 2 * p * (1 - p)) * 0.7**4
    found = effort.instability(trap, epsilon, 3000, 11, Independent())
    return [
        simulated("Theorem 5", "quantile trap, independent terms: its instability", exact, found),
        claim_at_least(
            "Theorem 5", "at least (1-a)-((1-a)-delta_indep)(1-c)^n, a = 1/4", bound, found
        ),
    ]


def _trap_for_every_coupling(effort: Effort) -> list[Claim]:
    """One trap that is not (ε, δ)-stable under any coupling; c is chosen well beyond δ."""
    world = zoo.flipping(n=2, probability=0.1, height=1.5)
    trap = label_trap(world, epsilon=0.5, delta=0.3, notion="coupled", a=0.3, c=0.6)
    return [
        beyond(
            "Theorem 5",
            f"coupled trap: instability beyond delta = .3, {coupling.name} terms",
            0.3,
            effort.instability(trap, 0.5, 200, 12, coupling, least=150),
        )
        for coupling in _COUPLINGS
    ]


def _independent_ceiling() -> Claim:
    """Compare the ceiling for the independent notion with the power of the test."""
    m, delta_star = 20, zoo.flipping(n=5, probability=0.02).delta_star(0.5, "independent")
    ceiling = theory.power_bound(5, 5 * m, m, delta=0.1, delta_star=delta_star, alpha=0.1)
    text = "(E.7), with its own delta*, is attained: integer kappa, first regime"
    return equal("Theorem 5", text, ceiling, theory.power(m, 0.1, delta_star, 0.1, True))


def _coupled_ceiling(effort: Effort) -> Claim:
    """With the best coupling known, the Binomial test attains the ceiling of the coupled notion."""
    world, best = _uneven(0.05, 0.03), 0.02
    test = BinomialTest(5, 0.5, 0.1, 0.1, randomized=True, coupling=Antithetic())
    found = effort.accepted(test, world, (120, 0), 1500, seed=13, delta_star=best)
    ceiling = theory.power_bound(5, 100, 20, delta=0.1, delta_star=best, alpha=0.1)
    text = "(E.8), the coupled ceiling, is attained with the best coupling"
    return simulated("Theorem 5", text, ceiling, found)
