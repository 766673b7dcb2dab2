"""What several test files use."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
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
from poise.procedures.measure import MeasuredTrials, measure
from poise.results.design import Design
from poise.results.trials import Trials

ROOT = Path(__file__).parent.parent


def needs(package: str) -> pytest.MarkDecorator:
    """Skip a test where an optional package or program is missing; on CI that is a failure."""
    missing = find_spec(package) is None and shutil.which(package) is None
    return pytest.mark.skipif(missing and not os.environ.get("CI"), reason=f"needs {package}")


def trials_of(changes: Any, *, n: int = 10, **design: Any) -> Trials:
    """Trials with these changes, of a design that has just as many rows as they need."""
    table = np.asarray(changes, dtype=float)
    m, removals, points = table.shape
    shape = {"removals": removals, "points": points} | design
    rows = {"n": n, "n_labeled": n * m, "n_unlabeled": shape["points"] * m, "algorithm": "x"}
    return Trials(table, Design(**(rows | shape)))


def ask(
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


def run(algorithm: Any, **settings: Any) -> Answers:
    """What is answered to the trials of ``ask``."""
    this = ask(algorithm, **settings)
    return converse(measure(this.split), this.oracle)


def python(
    code: str, *arguments: str, env: dict[str, str] | None = None, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run code in a Python process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(env or {})},
        check=False,
    )


class Travels:
    """An algorithm that does something when a worker reads it."""

    def __init__(self, what: Any, *arguments: Any) -> None:
        self.reduced = what, arguments

    def __reduce__(self) -> Any:
        return self.reduced

    def __call__(self, X: Any, y: Any, seed: int) -> Any:
        return lambda points: np.zeros(len(points))


def kill(which: Any = os.getpid) -> None:
    """End a process: this one, or ``os.getppid``."""
    os.kill(which(), signal.SIGKILL)


def once(what: Any, mark: Path) -> Any:
    """Return what does something if it has not been done yet."""
    place = str(mark)

    def unless() -> None:
        if not os.path.exists(place):
            open(place, "w").close()
            what()

    return unless


kill.__module__ = "__main__"  # travels by value: workers cannot import this file


@contextmanager
def workers_of_dask(**settings: Any) -> Iterator[Any]:
    """Two workers of two threads; their nannies change the environment of this process."""
    import dask
    from distributed import Client, LocalCluster

    before = dict(os.environ)
    here = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=2, **here) as cluster,
        Client(cluster) as client,
    ):
        yield client
    os.environ.clear()
    os.environ.update(before)
