"""What poise adds to the fits: ``poise.measure`` over the loop a user would write.

    python benchmarks/overhead.py [--rounds 15] [--jobs]

The bare loop clones, sets ``random_state``, fits and predicts, twice for each block of n rows. Both
sides compute the same changes, bit for bit. ``--jobs`` compares two worker processes with one.
"""

from __future__ import annotations

import argparse
import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.algorithms.algorithm import seed_from
from poise.data.randomness import Randomness
from side_by_side import race, table

SHAPES = [(50, 5), (200, 20), (1000, 50)]
ALGORITHMS = {
    "Ridge": (Ridge(), [200, 100, 60]),
    "kNN": (KNeighborsRegressor(), [200, 100, 60]),
    "decision tree": (DecisionTreeRegressor(), [200, 60, 30]),
    "random forest": (RandomForestRegressor(n_estimators=20), [60, 30, 10]),
}


def rows(n: int, d: int, trials: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(trials * (n + 1), d))
    return X, X[:, 0] + rng.normal(size=len(X))


def bare_loop(estimator, X, y, n: int, trials: int, seeds: list[int]) -> np.ndarray:
    changes = np.empty(trials)
    for k in range(trials):
        first, point = k * n, X[trials * n + k : trials * n + k + 1]
        predictions = []
        for last in (first + n, first + n - 1):
            model = clone(estimator)
            if "random_state" in model.get_params():
                model.set_params(random_state=seeds[k])
            model.fit(X[first:last], y[first:last])
            predictions.append(model.predict(point)[0])
        changes[k] = abs(predictions[0] - predictions[1])
    return changes


def one_row(name: str, shape: int, rounds: int) -> list[str]:
    estimator, counts = ALGORITHMS[name]
    (n, d), trials = SHAPES[shape], counts[shape]
    X, y = rows(n, d, trials)
    seeds = [seed_from(int(word)) for word in Randomness(0).block("xi", 0, trials)[:, 0]]

    def measured() -> np.ndarray:
        found = poise.measure(estimator, X, y, n=n, shuffle=False, fast=False, points_per_trial=1)
        return found.values

    run = race(
        {"loop": lambda: bare_loop(estimator, X, y, n, trials, seeds), "poise": measured}, rounds
    )
    same = np.array_equal(run.results["loop"], run.results["poise"])
    each = f"{1e3 * run.seconds['loop'] / trials:.2f} ms"
    return [
        name,
        f"({n}, {d})",
        each,
        f"{run.ratios['poise']:.3f}",
        "same" if same else "DIFFERENT",
    ]


def two_workers(rounds: int) -> list[list[str]]:
    """Ridge at (50, 5), many trials: wall-clock time over that of the bare loop."""
    trials = 3000
    X, y = rows(50, 5, trials)
    seeds = [0] * trials
    settings = {"n": 50, "shuffle": False, "fast": False, "points_per_trial": 1}
    runs = {
        "loop": lambda: bare_loop(Ridge(), X, y, 50, trials, seeds),
        "n_jobs=1": lambda: poise.measure(Ridge(), X, y, n_jobs=1, **settings).values,
        "n_jobs=2": lambda: poise.measure(Ridge(), X, y, n_jobs=2, **settings).values,
    }
    run = race(runs, rounds)
    assert np.array_equal(run.results["n_jobs=1"], run.results["n_jobs=2"])
    return [[name, f"{run.seconds[name]:.2f} s", f"{run.ratios[name]:.3f}"] for name in runs]


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # the order of rows matters to trees: one line a run
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--jobs", action="store_true")
    given = parser.parse_args()
    if given.jobs:
        print(table(["Ridge (50, 5)", "time", "over loop"], two_workers(given.rounds)))
    else:
        cells = [(name, shape) for name in ALGORITHMS for shape in range(len(SHAPES))]
        print(
            table(
                ["algorithm", "(n, d)", "loop/trial", "poise/loop", "changes"],
                [one_row(name, shape, given.rounds) for name, shape in cells],
            )
        )
