"""Beyond the paper: one given training set, and Proposition I."""

from __future__ import annotations

from functools import partial

import numpy as np

from poise import theory
from poise.questions.conditional.conditional_test import conditional_test, measure_conditional
from poise.results.conditional_result import ConditionalResult
from poise.simulation.paper.claim import (
    CONFIDENCE,
    Claim,
    beyond,
    claim_at_most,
    computed,
    simulated,
)
from poise.simulation.paper.effort import Effort
from poise.simulation.worlds import Proportion, World, zoo

__all__ = ["claims"]

_SIZE_OF = {"deployed": 5, "jackknife": 5, "add-one": 6}  # the n whose δ* the notion averages to
_UNLUCKY, _ALLOWED = 0.3, 0.1


def claims(effort: Effort) -> list[Claim]:
    """Check what a certificate for one training set says, and what it does not say."""
    averages = (partial(_average_over_training_sets, effort, notion) for notion in _SIZE_OF)
    return computed("beyond", *averages, partial(_no_bridge, effort), partial(_level, effort))


def _average_over_training_sets(effort: Effort, notion: str) -> Claim:
    """Average δ_D over training sets: the paper's δ* at the size of the larger fit."""
    size, epsilon, runs = _SIZE_OF[notion], 0.25, effort.count(1000, 150)
    rng, algorithm = np.random.default_rng(5), zoo.mean_response(n=5).algorithm
    moved = 0
    for seed in range(runs):
        rows = zoo.mean_response(n=5).draw(rng, 7)
        data = np.asarray(rows.X.native), np.asarray(rows.y.native)
        D, fresh = [part[:5] for part in data], [part[5:] for part in data]
        record = measure_conditional(
            algorithm, *D, *fresh, notion=notion, random_state=seed, progress=False
        )
        # One change of each training set: all have the same law.
        moved += bool(record.changes[0, 0] > epsilon)
    text = f"Proposition I, mean response: E δ_D of {notion!r} is δ* at n = {size}"
    expected = zoo.mean_response(n=size).delta_star(epsilon)
    return simulated("beyond", text, expected, Proportion(moved, runs, CONFIDENCE))


def _no_bridge(effort: Effort) -> list[Claim]:
    """Certify training sets of an algorithm that is not stable: almost all of them pass."""
    world, runs = zoo.unlucky_sets(n=5, probability=_UNLUCKY), effort.count(600, 100)
    verdicts = [_asked(world, seed).verdict.value for seed in range(runs)]
    stable, unstable = verdicts.count("stable"), verdicts.count("unstable")
    text = "Proposition I, unlucky sets (δ* = 0.3, δ = 0.1): {}"
    certified = Proportion(stable, runs, CONFIDENCE)
    settled = Proportion(runs - stable - unstable, runs, CONFIDENCE)
    return [
        simulated("beyond", text.format("D is certified if it is lucky"), 1 - _UNLUCKY, certified),
        beyond(
            "beyond", text.format("far more often than a test of δ* may say it"), 0.05, certified
        ),
        claim_at_most("beyond", text.format("every other D is found out"), 0.0, settled),
    ]


def _asked(world: World, seed: int) -> ConditionalResult:
    rows = world.draw(np.random.default_rng([9, seed]), 5, 40)
    assert rows.X_unlabeled is not None
    data = rows.X.native, rows.y.native, rows.X_unlabeled.native
    ask = partial(conditional_test, epsilon=0.5, delta=_ALLOWED, gamma=0.0, progress=False)
    return ask(world.algorithm, *data, random_state=seed)


def _level(effort: Effort) -> list[Claim]:
    """Ask often about one training set at the edge: the share of rows above a point has mean δ."""
    X, runs, trials = np.array([0.05, 0.1, 0.2, 0.25, 0.4])[:, None], effort.count(800, 200), 24
    # Given the training set all fresh rows are independent: one measurement holds many runs.
    points = np.random.default_rng(3).random((runs * trials, 1))
    record = measure_conditional(_steps, X, np.ones(5), points, random_state=0, progress=False)
    shares = record.shares(0.5).reshape(runs, trials)
    found = [theory.verdict(some, delta=0.2, alpha=0.2).verdict for some in shares]
    text = "Given D, at E[S|D] = δ: 'deployed' says {} with probability at most α"
    return [
        claim_at_most(
            "beyond", text.format(said), 0.2, Proportion(found.count(said), runs, CONFIDENCE)
        )
        for said in ("stable", "unstable")
    ]


def _steps(X: np.ndarray, y: np.ndarray, seed: int) -> object:
    """Count the training rows above a point."""
    return lambda rows: (y * (X[:, 0] > rows[:, :1])).sum(axis=1)
