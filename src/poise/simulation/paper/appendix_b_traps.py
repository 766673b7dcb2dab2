"""Appendix B: the traps, which no test can recognise."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

from poise import theory
from poise.procedures import BinomialTest, BootstrapTest
from poise.simulation.paper.claim import Claim, claim_at_least, computed, holds, simulated
from poise.simulation.paper.effort import Effort
from poise.simulation.traps import (
    Trap,
    feature_trap,
    label_trap,
    same_verdict,
)
from poise.simulation.worlds import zoo

__all__ = ["claims"]

_N, _DELTA = 10, 0.2
_WORLD = zoo.nearest_neighbours(n=_N, k=1)  # delta* = 1/10 at epsilon = 0


def claims(effort: Effort) -> list[Claim]:
    """Check the instability of the traps, their thresholds, and what the proof needs of them."""
    return computed(
        "B",
        partial(_label_trap, effort),
        partial(_feature_trap, effort),
        _beyond_delta,
        _ceilings,
        partial(_conclusion, effort),
    )


def _label_trap(effort: Effort) -> list[Claim]:
    return _about(label_trap(_WORLD, epsilon=0.0, delta=_DELTA), _N, "n", effort)


def _feature_trap(effort: Effort) -> list[Claim]:
    return _about(feature_trap(_WORLD, epsilon=0.0, delta=_DELTA), _N + 1, "n+1", effort)


def _about(trap: Trap, k: int, power: str, effort: Effort) -> list[Claim]:
    return [
        _instability(trap, k, power, effort),
        _identical(trap, effort),
        _coincidence(trap, effort),
    ]


def _instability(trap: Trap, k: int, power: str, effort: Effort) -> Claim:
    expected = 1 - (1 - 0.1) * (1 - trap.c) ** k
    text = f"{trap.kind} trap: instability 1-(1-delta*)(1-c)^({power})"
    return simulated("B, (B.3)", text, expected, effort.instability(trap, 0.0, 8000, seed=3))


def _beyond_delta() -> Claim:
    """Beyond c = 1 − ((1−δ)/(1−δ*))^(1/k) a trap is not stable, and c is just above it."""
    wrong = cases = 0
    for n, delta, (build, extra) in product(
        (2, 5, 20), (0.05, 0.2, 0.6), ((label_trap, 0), (feature_trap, 1))
    ):
        for delta_star in (0.0, 0.5 * delta):
            world = zoo.memorising(n, delta_star)
            trap = build(world, epsilon=0.5, delta=delta)
            unstable = 1 - (1 - delta_star) * (1 - trap.c) ** (n + extra)
            at = 1 - (1 - delta_star) * (1 - trap.threshold) ** (n + extra)
            cases += 1
            wrong += not (delta < unstable < delta + 1e-5 and np.isclose(at, delta, rtol=1e-9))
    text = "both traps are only just not (eps, delta)-stable"
    return holds("B, (B.3)", text, cases, wrong)


def _identical(trap: Trap, effort: Effort) -> Claim:
    """Both verdicts occur on data from P, and they are the same for A and A′."""
    test = BinomialTest(n=_N, epsilon=0.0, delta=_DELTA, alpha=0.1, randomized=True)
    found = same_verdict(
        test,
        trap,
        n_labeled=121,
        replications=effort.count(200),
        random_state=4,
        n_jobs=effort.n_jobs,
    )
    one_sided = found.stable in (0, found.replications)
    text = f"{trap.kind} trap: A and A' get the same verdict on data from P"
    return holds("B, (B.7)", text, found.replications, len(found.differing) + one_sided)


def _coincidence(trap: Trap, effort: Effort) -> Claim:
    found = effort.coincidence(trap, (60, 6), 2000, seed=5)
    rows, name, number = (60, "N_l", 6) if trap.kind == "label" else (66, "(N_l+N_u)", 5)
    text = f"{trap.kind} trap: data from P and P' coincide with prob. (1-c)^{name}"
    return simulated(f"B, (B.{number})", text, (1 - trap.c) ** rows, found)


def _ceilings() -> Claim:
    """Compare α(1−c)^−N of the better trap with Theorem 2: equal, apart from the excess of c."""
    wrong = cases = 0
    for n, labeled, unlabeled, delta_star in product((2, 7), (20, 33), (0, 1, 30), (0.0, 0.05)):
        world = zoo.memorising(n, delta_star)
        rows = {"label": labeled, "feature": labeled + unlabeled}
        bounds = []
        for build in (label_trap, feature_trap):
            trap = build(world, epsilon=0.5, delta=0.1)
            bounds.append(min(1.0, 0.05 * (1 - trap.c) ** -rows[trap.kind]))
            said = trap.ceiling(0.05, labeled, unlabeled)
            wrong += not np.isclose(said, bounds[-1], rtol=1e-9)
        bound = theory.power_bound(
            n, labeled, unlabeled, delta=0.1, delta_star=delta_star, alpha=0.05
        )
        cases += 1
        wrong += not bound <= min(bounds) <= bound * (1 + 1e-3)
    text = "alpha (1-c)^-N of the better trap is the ceiling of Theorem 2"
    return holds("B, (B.8), (B.9)", text, cases, wrong)


def _conclusion(effort: Effort) -> list[Claim]:
    """P(T(A′) = 1) ≥ P(T(A) = 1)(1−c)^N: with equality for the Binomial test of all rows."""
    world, m = zoo.constant(n=5), 6
    trap = label_trap(world, epsilon=0.0, delta=0.3, c=0.1)
    test = BinomialTest(n=5, epsilon=0.0, delta=0.3, alpha=0.1, randomized=True)
    power = 0.1 / 0.7**m  # .85: the first regime, k* = 0
    found = effort.accepted(test, trap, (5 * m, m), 1500, seed=6)
    heuristic = BootstrapTest(n=5, epsilon=0.0, delta=0.3, resamples=20)
    fooled = effort.accepted(heuristic, trap, (10, 5), 300, seed=7)
    return [
        simulated(
            "B, Theorem 1",
            "Binomial test on the label trap: its power on A times (1-c)^N_l",
            power * 0.9 ** (5 * m),
            found,
        ),
        claim_at_least(
            "B, (B.9)",
            "bootstrapped samples: power 1 on A, so at least (1-c)^N_l on A'",
            0.9**10,
            fooled,
        ),
    ]
