"""Calls that exact formulas answer: the default ``poise.measure`` over the plain scikit-learn loop.

    python benchmarks/fast.py [--rounds 5] [--cpu]

The loop clones, fits and predicts, twice a trial; it is timed on a part of the trials, in the same
random order as poise reads them. "limit" is the same ratio for a call that only sorts as many keys
and takes the rows in that order. "all" is the time of a trial with each of its n rows removed in
turn over that of the default. The second table is what short calls cost, in milliseconds.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

import poise
from overhead import bare_loop
from side_by_side import race, table

SHAPES = {(50, 5): 8000, (200, 20): 2000, (1000, 50): 300}
GOALS = {"Ridge": (300, 50, 7), "neighbours": (380, 60, 9), "in order": (400, 60, 8)}
ESTIMATORS = {
    "Ridge": Ridge(),
    "least squares": LinearRegression(),
    "neighbours": KNeighborsRegressor(),
}
BLOCK = 4 << 20  # bytes


def sort_and_take(X: np.ndarray, y: np.ndarray) -> None:
    """Sort keys, and take rows and responses in a random order, in blocks that a cache holds."""
    words = np.random.Philox(key=1).random_raw(len(X))
    low = np.uint64((1 << len(X).bit_length()) - 1)
    words = np.sort(words & ~low | np.arange(len(X), dtype=np.uint64)) & low
    order = words.view(np.int64)
    step = BLOCK // (8 * X.shape[1])
    rows, responses = np.empty((step, X.shape[1])), np.empty(step)
    for start in range(0, len(order) - step, step):
        X.take(order[start : start + step], axis=0, out=rows, mode="clip")
        y.take(order[start : start + step], out=responses, mode="clip")


def one_row(name: str, shape: tuple[int, int], rounds: int, clock) -> list[str]:
    (n, d), trials, estimator = shape, SHAPES[shape], ESTIMATORS[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(trials * (n + 1), d))
    y = X[:, 0] + rng.normal(size=len(X))
    few = max(5, min(trials, 20_000 // n))
    random = rng.permutation(len(X))[: few * (n + 1)]
    some = X[random], y[random]

    def measured(**settings):
        return poise.measure(estimator, X, y, n=n, max_trials=None, **settings)

    one = {"removals_per_trial": 1}
    run = race(
        {
            "loop": lambda: bare_loop(estimator, *some, n, few, [0] * few),
            "default": lambda: measured(**one),
            "in order": lambda: measured(shuffle=False, **one),
            "all": lambda: measured(removals_per_trial="all"),
            "limit": lambda: sort_and_take(X, y),
        },
        rounds,
        clock,
    )
    place = list(SHAPES).index(shape)
    times = {each: trials / few / ratio for each, ratio in run.ratios.items()}
    goal = GOALS.get(name, ("",) * 3)[place]
    in_order = GOALS["in order"][place] if name == "Ridge" else ""
    return [
        name,
        f"({n}, {d})",
        f"{times['default']:.0f}",
        str(goal),
        f"{times['in order']:.0f}",
        str(in_order),
        f"{times['limit']:.0f}",
        f"{run.seconds['all'] / run.seconds['default']:.1f}",
    ]


def short_calls(rounds: int, clock) -> list[list[str]]:
    X, y = load_diabetes(return_X_y=True)
    few = X[:330], y[:330]
    calls = {
        "measure(Ridge), 442 rows, n = 10": lambda: poise.measure(Ridge(), X, y, n=10),
        "stability_test(Ridge), 30 trials": lambda: (
            poise.stability_test(Ridge(), *few, n=10, epsilon=50, delta=0.1).verdict
        ),
        "stability_test(Lasso), 30 trials": lambda: (
            poise.stability_test(Lasso(), *few, n=10, epsilon=50, delta=0.1).verdict
        ),
    }
    run = race(calls, 10 * rounds, clock)
    return [[name, f"{1e3 * seconds:.1f}"] for name, seconds in run.seconds.items()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="count seconds of the processor")
    given = parser.parse_args()
    clock = time.process_time if given.cpu else time.perf_counter
    print(
        table(
            ["", "(n, d)", "default", "goal", "in order", "goal", "limit", "all"],
            [one_row(name, shape, given.rounds, clock) for name in ESTIMATORS for shape in SHAPES],
        ),
        table(["call", "ms"], short_calls(given.rounds, clock)),
        sep="\n\n",
    )
