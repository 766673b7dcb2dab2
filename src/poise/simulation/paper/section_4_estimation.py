"""Section 4.1: estimation instead of testing (Proposition 1)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np

from poise import theory
from poise.results import Design, Trials
from poise.simulation.paper.claim import CONFIDENCE, Claim, computed, holds, simulated
from poise.simulation.paper.effort import Effort
from poise.simulation.worlds import Proportion, zoo

__all__ = ["claims"]

_REPLICATIONS = 1000
# (4/5)^4 is a little more than α = 2/5, so that k* = 0 at δ = 1/5: without its coin the
# test would never accept, and an estimator without ζ would never miss.
_TRIALS, _ALPHA = 4, 0.4
_WORLD = zoo.mean_response(n=4)


def claims(effort: Effort) -> list[Claim]:
    """Check the equivalence of the targets, Proposition 1 (a) to (d), and their ceilings."""
    return computed(
        "4.1",
        _equivalent_targets,
        _inverts,
        partial(_misses, effort),
        partial(_tests_from_estimates, effort),
        partial(_ceilings, effort),
    )


def _equivalent_targets() -> Claim:
    cases = list(product(np.linspace(0.0, 1.0, 41), np.linspace(0.0, 0.99, 41)))
    wrong = sum(
        (delta >= _WORLD.delta_star(epsilon)) != (epsilon >= _WORLD.epsilon_star(delta))
        for epsilon, delta in cases
    )
    text = "stable iff delta >= delta*_eps iff eps >= eps*_delta (mean response)"
    return holds("4.1, (4.1)", text, len(cases), wrong)


def _inverts() -> Claim:
    """Compare test and estimates on random data, with ties and one ζ for the whole family."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(150):
        changes = rng.integers(0, 6, size=rng.integers(1, 30)) / 4
        epsilon, delta = rng.integers(0, 6) / 4, float(rng.uniform(0, 0.9))
        alpha, zeta = float(rng.uniform(0.02, 0.5)), float(rng.uniform(1e-6, 1))
        m, B = len(changes), int((changes > epsilon).sum())
        count, tie = theory.critical_value(m, delta, alpha)
        accepts = count > B or (count == B and zeta <= tie)
        trials = Trials(changes, Design("any", 4, 4 * m, m, zeta=zeta))
        said = (
            trials.test(epsilon, delta, alpha, randomized=True).stable,
            trials.delta_hat(epsilon, alpha, randomized=True) <= delta,
            trials.epsilon_hat(delta, alpha, randomized=True) <= epsilon,
        )
        wrong += said != (accepts,) * 3
    text = "delta_hat <= delta iff accepted iff eps_hat <= eps"
    return holds("Proposition 1", text, 150, wrong)


def _share(effort: Effort, seed: int, event: Callable[[Trials], bool]) -> Proportion:
    """Measure the mean predictor many times, each time with its own ζ."""
    count, rng = effort.count(_REPLICATIONS), np.random.default_rng(seed)
    changes = _WORLD.simulate_changes(count * _TRIALS, random_state=seed)
    happened = sum(
        event(Trials(row, Design("mean", 4, 4 * _TRIALS, _TRIALS, zeta=1 - rng.random())))
        for row in changes.reshape(count, _TRIALS)
    )
    return Proportion(happened, count, CONFIDENCE)


def _misses(effort: Effort) -> list[Claim]:
    """Measure how often estimates made of exact tests miss their target: exactly α."""
    epsilon = _WORLD.epsilon_star(0.2)
    by_delta = _share(effort, 2, lambda trials: trials.delta_hat(epsilon, _ALPHA, True) < 0.2)
    by_epsilon = _share(effort, 3, lambda trials: trials.epsilon_hat(0.2, _ALPHA, True) < epsilon)
    text = "P({} misses its target) is alpha = .4 exactly, with its coin"
    return [
        simulated("Proposition 1 (c)", text.format("delta_hat"), _ALPHA, by_delta),
        simulated("Proposition 1 (d)", text.format("eps_hat"), _ALPHA, by_epsilon),
    ]


def _tests_from_estimates(effort: Effort) -> list[Claim]:
    """Compare tests made of the estimates with the Binomial test: same level at δ < δ* = 1/5."""
    epsilon, delta = _WORLD.epsilon_star(0.2), 0.15
    level = _ALPHA * (0.8 / (1 - delta)) ** _TRIALS
    by_delta, by_epsilon = _accepted(effort, 4, epsilon, delta)
    text = "the test made of {}: its level at delta* = .2, delta = .15"
    return [
        simulated("Proposition 1 (a)", text.format("delta_hat"), level, by_delta),
        simulated("Proposition 1 (b)", text.format("eps_hat"), level, by_epsilon),
    ]


def _accepted(
    effort: Effort, seed: int, epsilon: float, delta: float
) -> tuple[Proportion, Proportion]:
    """Simulate P(δ̂ ≤ δ) and P(ε̂ ≤ ε), on data of their own each."""
    return (
        _share(effort, seed, lambda trials: trials.delta_hat(epsilon, _ALPHA, True) <= delta),
        _share(effort, seed + 1, lambda trials: trials.epsilon_hat(delta, _ALPHA, True) <= epsilon),
    )


def _ceilings(effort: Effort) -> list[Claim]:
    """Theorem 2 with (a) and (b) bounds P(δ̂ ≤ δ) and P(ε̂ ≤ ε); for integer κ it is reached."""
    epsilon, delta = _WORLD.epsilon_star(0.05), 0.2
    ceiling = theory.power_bound(
        4, 4 * _TRIALS, _TRIALS, delta=delta, delta_star=0.05, alpha=_ALPHA
    )
    by_delta, by_epsilon = _accepted(effort, 6, epsilon, delta)
    text = "P({}) is at most the ceiling and reaches it, delta* = .05"
    return [
        simulated("4.1", text.format("delta_hat <= delta"), ceiling, by_delta),
        simulated("4.1", text.format("eps_hat <= eps"), ceiling, by_epsilon),
    ]
