"""What poise adds to the fits: ``poise.measure`` over the loop a user would write.

    python benchmarks/overhead.py [--rounds 15]

The bare loop clones, sets ``random_state``, fits and predicts, twice per block
of n rows. Both sides compute the same changes, bit for bit. What others add to
their fits is in ``peers.py``.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.algorithms.function import seed_from
from poise.protocol.randomness import Randomness
from side_by_side import race, table

SHAPES = [(50, 5), (200, 20), (1000, 50)]
ALGORITHMS = {
    "Ridge": (Ridge(), {50: 200, 200: 100, 1000: 20}),
    "kNN": (KNeighborsRegressor(), {50: 200, 200: 100, 1000: 20}),
    "decision tree": (DecisionTreeRegressor(), {50: 200, 200: 40, 1000: 5}),
    "random forest": (RandomForestRegressor(n_estimators=20), {50: 5, 200: 3, 1000: 1}),
}


def problem(n: int, d: int, trials: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(trials * (n + 1), d))
    return X, X[:, 0] + rng.normal(size=len(X))


def bare_loop(estimator, X, y, n: int, trials: int, seeds: list[int]) -> np.ndarray:
    changes = np.empty(trials)
    for k in range(trials):
        rows, point = slice(k * n, (k + 1) * n), X[trials * n + k : trials * n + k + 1]
        predictions = []
        for block in (rows, slice(rows.start, rows.stop - 1)):
            model = clone(estimator)
            if "random_state" in model.get_params():
                model.set_params(random_state=seeds[k])
            model.fit(X[block], y[block])
            predictions.append(model.predict(point)[0])
        changes[k] = abs(predictions[0] - predictions[1])
    return changes


HEADERS = ["algorithm", "(n, d)", "loop/trial", "poise/loop", "changes"]


def compare_with_bare_loop(name: str, n: int, d: int, rounds: int) -> list[str]:
    estimator, counts = ALGORITHMS[name]
    trials = counts[n]
    X, y = problem(n, d, trials)
    seeds = [seed_from(int(word)) for word in Randomness(0).block("xi", 0, trials)[:, 0]]

    def loop() -> np.ndarray:
        return bare_loop(estimator, X, y, n, trials, seeds)

    def measured() -> np.ndarray:
        return poise.measure(
            estimator, X, y, n=n, shuffle=False, random_state=0, fast=False
        ).changes

    result = race({"loop": loop, "poise": measured}, rounds)
    same = np.array_equal(result.results["loop"], result.results["poise"])
    return [
        name,
        f"({n}, {d})",
        f"{1e3 * result.seconds['loop'] / trials:.2f} ms",
        f"{result.ratios['poise']:.3f}",
        "identical" if same else "DIFFERENT",
    ]


def main(rounds: int) -> None:
    cells = [(name, n, d) for name in ALGORITHMS for n, d in SHAPES]
    print(table(HEADERS, [compare_with_bare_loop(name, n, d, rounds) for name, n, d in cells]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    main(parser.parse_args().rounds)
