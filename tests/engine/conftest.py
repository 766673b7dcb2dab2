from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from poise.algorithms.algorithm import as_algorithm
from poise.algorithms.distances import as_distance
from poise.data.randomness import Randomness, as_coupling
from poise.data.sample import Sample
from poise.data.split import Split
from poise.engine.execution import Execution
from poise.engine.messages import Answers
from poise.engine.oracle import Oracle, converse
from poise.engine.pool import close_idle
from poise.procedures.measure import MeasuredTrials, measure


def asked(
    algorithm: Any,
    *,
    n: int = 3,
    trials: int = 12,
    removals: int = 1,
    points: int = 1,
    distance: Any = "auto",
    coupling: str = "shared",
    position: str = "last",
    X: Any = None,
    y: Any = None,
    **execution: Any,
) -> SimpleNamespace:
    """Everything that is needed to measure; row i holds i, and trial k trains on k·n, k·n + 1, …"""
    rows = trials * (n + points)
    X = np.arange(float(rows))[:, None] * [1.0, 1.0] if X is None else X
    y = np.random.default_rng(0).normal(size=rows) if y is None else y
    sample = Sample.of(X, y)
    prepared = as_algorithm(algorithm).prepared(sample)
    measured = as_distance(distance, prepared.natural_distance)
    oracle = Oracle(prepared, sample, measured, Execution(progress=False, **execution))
    shape = {"n": n, "trials": trials, "removals": removals, "n_points": points}
    how = {"position": position, "coupling": as_coupling(coupling), "shuffle": False}
    split = Split(sample, Randomness(0), **shape, **how)
    return SimpleNamespace(oracle=oracle, split=split, trials=MeasuredTrials(split))


@pytest.fixture(scope="session")
def ask() -> Callable[..., SimpleNamespace]:
    return asked


@pytest.fixture(scope="session")
def run() -> Callable[..., Answers]:
    def measured(algorithm: Any, **settings: Any) -> Answers:
        this = asked(algorithm, **settings)
        return converse(measure(this.split), this.oracle)

    return measured


@pytest.fixture(scope="session", autouse=True)
def idle_workers_end():
    yield
    close_idle()
