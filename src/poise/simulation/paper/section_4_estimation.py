"""Section 4.1: three targets that are one (Proposition 1)."""

from __future__ import annotations

from itertools import product

import numpy as np

from poise import theory
from poise.results import Design, Trials
from poise.simulation.paper.claim import CONFIDENCE, Claim, at_most, holds
from poise.simulation.worlds import Proportion, zoo

__all__ = ["claims"]

_REPLICATIONS = 2000
_TRIALS = 25


def claims() -> list[Claim]:
    """Check the equivalence of the targets, and Proposition 1 (a) to (d)."""
    return [_equivalent_targets(), _inverts(), *_coverage(), *_tests_from_estimates()]


def _equivalent_targets() -> Claim:
    world = zoo.mean_response(n=4)
    cases = list(product(np.linspace(0.0, 1.0, 41), np.linspace(0.0, 0.99, 41)))
    wrong = sum(
        (delta >= world.delta_star(epsilon)) != (epsilon >= world.epsilon_star(delta))
        for epsilon, delta in cases
    )
    text = "stable iff delta >= delta*_eps iff eps >= eps*_delta (mean of Gaussian responses)"
    return holds("4.1, (4.1)", text, len(cases), wrong)


def _inverts() -> Claim:
    """Compare test and estimates on random data, with ties and one ζ for the whole family."""
    rng = np.random.default_rng(0)
    wrong = cases = 0
    for _ in range(400):
        changes = rng.integers(0, 6, size=rng.integers(1, 30)) / 4
        epsilon, delta = rng.integers(0, 6) / 4, float(rng.uniform(0, 0.9))
        alpha, zeta = float(rng.uniform(0.02, 0.5)), float(rng.uniform(1e-6, 1))
        m, B = len(changes), int((changes > epsilon).sum())
        count, tie = theory.critical_value(m, delta, alpha)
        accepts = count > B or (count == B and zeta <= tie)
        cases += 1
        delta_hat = theory.delta_hat(B, m, alpha, zeta)
        epsilon_hat = theory.epsilon_hat(changes, delta, alpha, zeta)
        wrong += accepts != (delta_hat <= delta) or accepts != (epsilon_hat <= epsilon)
    return holds(
        "Proposition 1", "delta_hat <= delta iff accepted iff eps_hat <= eps", cases, wrong
    )


def _measured() -> list[Trials]:
    """Measurements of the mean predictor, each with a ζ of its own."""
    rng = np.random.default_rng(1)
    world = zoo.mean_response(n=4)
    changes = world.simulate_changes(_REPLICATIONS * _TRIALS, random_state=2)
    return [
        Trials(row, Design("mean", 4, 4 * _TRIALS, _TRIALS, zeta=1 - rng.random()))
        for row in changes.reshape(_REPLICATIONS, _TRIALS)
    ]


def _coverage() -> list[Claim]:
    world, alpha = zoo.mean_response(n=4), 0.1
    missed_delta = missed_epsilon = 0
    for trials in _measured():
        missed_delta += trials.delta_hat(0.3, alpha, True) < world.delta_star(0.3)
        missed_epsilon += trials.epsilon_hat(0.2, alpha, True) < world.epsilon_star(0.2)
    rows = []
    for part, name, missed in (("c", "delta_hat", missed_delta), ("d", "eps_hat", missed_epsilon)):
        text = f"P({name} misses its target) <= alpha = .1"
        found = Proportion(missed, _REPLICATIONS, CONFIDENCE)
        rows.append(at_most(f"Proposition 1 ({part})", text, alpha, found))
    return rows


def _tests_from_estimates() -> list[Claim]:
    """Measure the level of tests made from the estimates, just beyond the boundary."""
    world, alpha, epsilon = zoo.mean_response(n=4), 0.1, 0.3
    delta = world.delta_star(epsilon) * (1 - 1e-9)
    by_delta = by_epsilon = 0
    for trials in _measured():
        by_delta += trials.delta_hat(epsilon, alpha, True) <= delta
        by_epsilon += trials.epsilon_hat(delta, alpha, True) <= epsilon
    rows = []
    for part, name, count in (("a", "delta_hat", by_delta), ("b", "eps_hat", by_epsilon)):
        text = f"the test made of {name} has level at most alpha = .1"
        found = Proportion(count, _REPLICATIONS, CONFIDENCE)
        rows.append(at_most(f"Proposition 1 ({part})", text, alpha, found))
    return rows
