"""Appendix B: the perturbed triple, from which no test can tell the honest one."""

from __future__ import annotations

from poise.procedures import BinomialTest, BootstrapTest
from poise.simulation.audit import audit
from poise.simulation.paper.claim import CONFIDENCE, Claim, at_most, equal, holds, simulated
from poise.simulation.traps import (
    Trap,
    feature_trap,
    label_trap,
    same_verdict,
    simulate_coincidence,
)
from poise.simulation.worlds import Proportion, zoo

__all__ = ["claims"]

_SIMULATIONS = 20_000


def claims(n_jobs: int | None = None) -> list[Claim]:
    """Check the instability of the traps, their thresholds, and what the proof needs of them."""
    world = zoo.nearest_neighbours(n=10, k=1)
    rows = []
    for trap, k in (
        (label_trap(world, epsilon=0.0, delta=0.2), 10),
        (feature_trap(world, epsilon=0.0, delta=0.2), 11),
    ):
        rows += [
            _instability(trap, k, n_jobs),
            _threshold(trap, k),
            _identical(trap, n_jobs),
            _coincidence(trap),
        ]
    return [*rows, *_audits(n_jobs)]


def _instability(trap: Trap, k: int, n_jobs: int | None) -> Claim:
    found = trap.world.estimate_delta_star(
        0.0, _SIMULATIONS, random_state=3, confidence=CONFIDENCE, fit=True, n_jobs=n_jobs
    )
    expected = 1 - (1 - trap.delta_star) * (1 - trap.c) ** k
    power = "n" if k == 10 else "n+1"
    text = f"{trap.kind} trap: instability 1 - (1-delta*)(1-c)^({power})"
    return simulated("B", text, expected, found)


def _threshold(trap: Trap, k: int) -> Claim:
    """At c = 1 - ((1-delta)/(1-delta*))^(1/k) the instability is exactly delta."""
    at = 1 - (1 - trap.delta_star) * (1 - trap.threshold) ** k
    return equal("B", f"{trap.kind} trap: instability at the threshold for c", trap.delta, at)


def _identical(trap: Trap, n_jobs: int | None) -> Claim:
    test = BinomialTest(n=10, epsilon=0.0, delta=0.2, alpha=0.1, randomized=True)
    found = same_verdict(test, trap, n_labeled=121, replications=200, random_state=4, n_jobs=n_jobs)
    text = f"{trap.kind} trap: A and A' get the same verdict on data from P"
    return holds("B, (B.5)", text, found.replications, len(found.differing))


def _coincidence(trap: Trap) -> Claim:
    found = simulate_coincidence(
        trap, n_labeled=60, n_unlabeled=6, replications=2000, confidence=CONFIDENCE, random_state=5
    )
    text = f"{trap.kind} trap: data from P and P' coincide with probability (1-c)^N"
    return simulated("B", text, trap.coincidence_probability(60, 6), found)


def _audits(n_jobs: int | None) -> list[Claim]:
    """On a trap the Binomial test keeps its level; the bootstrap does not."""
    trap = label_trap(zoo.constant(n=20), epsilon=0.0, delta=0.1)
    binomial = _declared(BinomialTest(n=20, epsilon=0.0, delta=0.1), trap, n_jobs)
    bootstrap = _declared(BootstrapTest(n=20, epsilon=0.0, delta=0.1, resamples=60), trap, n_jobs)
    fails = Claim(
        "2.3, Example 2",
        "the bootstrapped sample test is not valid: its level on the label trap",
        "> 0.05",
        f"{bootstrap.value:.4f} [{bootstrap.low:.4f}, {bootstrap.high:.4f}]",
        bootstrap.low > 0.05,
    )
    text = "the Binomial test keeps its level on the label trap"
    return [at_most("Theorem 1", text, 0.05, binomial), fails]


def _declared(test: BinomialTest | BootstrapTest, trap: Trap, n_jobs: int | None) -> Proportion:
    found = audit(
        test,
        trap,
        n_labeled=25,
        n_unlabeled=5,
        replications=1000,
        confidence=CONFIDENCE,
        random_state=6,
        n_jobs=n_jobs,
        progress=False,
    )
    return found.accepted
