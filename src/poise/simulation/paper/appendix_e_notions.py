"""Appendix E: shared, independent and coupled randomness, and Theorem 5."""

from __future__ import annotations

from itertools import product

from poise import theory
from poise.procedures import BinomialTest
from poise.protocol.randomness import Coupling
from poise.questions.notions import Antithetic, Certificate
from poise.simulation.audit import audit
from poise.simulation.paper.claim import CONFIDENCE, Claim, equal, holds, simulated
from poise.simulation.worlds import World, zoo

__all__ = ["claims"]

_PROBABILITIES = [p / 40 for p in range(41)]


def claims(n_jobs: int | None = None) -> list[Claim]:
    """Check the implications between the notions, and the test with independent seeds."""
    return [
        *_closed_forms(),
        _smallest(),
        _three_times(),
        _as_certificates(),
        _independent_seeds(n_jobs),
        _theorem_5(),
    ]


def _flipping(p: float) -> World:
    return zoo.flipping(n=5, probability=p)


def _closed_forms() -> list[Claim]:
    world = _flipping(0.2)
    couplings: dict[str, str | Coupling] = {
        "shared": "shared",
        "independent": "independent",
        "coupled": Antithetic(),
    }
    rows = []
    for notion, coupling in couplings.items():
        found = world.estimate_delta_star(
            0.5, 10_000, random_state=7, coupling=coupling, confidence=CONFIDENCE, fit=True
        )
        text = f"an algorithm that flips on xi: delta with {notion} terms"
        rows.append(simulated("E", text, world.delta_star(0.5, notion), found))
    return rows


def _smallest() -> Claim:
    wrong = 0
    for p in _PROBABILITIES:
        world = _flipping(p)
        others = [world.delta_star(0.5, notion) for notion in ("shared", "independent")]
        wrong += world.delta_star(0.5, "coupled") > min(others)
    text = "delta_cpl <= min(delta*, delta_indep)"
    return holds("E", text, len(_PROBABILITIES), wrong)


def _three_times() -> Claim:
    """Independent (ε, δ) implies shared (3ε, 3δ), for every ε and the smallest such δ."""
    cases = list(product(_PROBABILITIES, (0.0, 0.2, 0.34, 0.5, 1.0)))
    wrong = sum(
        _flipping(p).delta_star(3 * epsilon) > 3 * _flipping(p).delta_star(epsilon, "independent")
        for p, epsilon in cases
    )
    text = "independent (eps, delta) implies shared (3 eps, 3 delta)"
    return holds("E", text, len(cases), wrong)


def _as_certificates() -> Claim:
    start = Certificate("independent", epsilon=0.1, delta=0.05, alpha=0.05, n=50)
    shared, coupled = start.implies("shared"), start.implies("coupled")
    right = (shared.epsilon, shared.delta) == (3 * 0.1, 3 * 0.05)
    right &= (coupled.epsilon, coupled.delta) == (0.1, 0.05)
    return holds("E", "a certificate converts into what it implies", 1, int(not right))


def _independent_seeds(n_jobs: int | None) -> Claim:
    """At the boundary of the independent notion the size is exactly α."""
    world = _flipping(0.1)
    boundary = world.delta_star(0.5, "independent")
    test = BinomialTest(5, 0.5, boundary, 0.1, randomized=True, coupling="independent")
    found = audit(
        test,
        world,
        n_labeled=120,
        replications=3000,
        confidence=CONFIDENCE,
        random_state=8,
        n_jobs=n_jobs,
        progress=False,
    )
    text = "the Binomial test with independent seeds has size alpha = .1 for its own notion"
    return simulated("E", text, 0.1, found.accepted)


def _theorem_5() -> Claim:
    """Compare the ceiling for the independent notion with the power of the test."""
    world, m = _flipping(0.02), 20
    delta_star = world.delta_star(0.5, "independent")
    ceiling = theory.power_bound(5, 5 * m, m, delta=0.1, delta_star=delta_star, alpha=0.1)
    text = "the ceiling with its own delta*, attained for integer kappa in the first regime"
    return equal("Theorem 5", text, ceiling, theory.power(m, 0.1, delta_star, 0.1))
