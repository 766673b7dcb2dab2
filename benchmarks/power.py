"""Power of the averaged test beside the Binomial test, on the same rows, for eleven estimators.

    python benchmarks/power.py [--pool 1000] [--runs 2000] [--points 20] [--n 30]

``--pool`` trials of n rows are fitted, each compared at ``--points`` fresh points. Epsilon is set
so that half of delta of the pool's changes exceed it. Then ``--runs`` runs of m trials are drawn
from the pool with replacement: in both tests delta* is that of the pool, exactly. A cell has both
powers in percent, Binomial -> averaged. The last line is for shares that are 0 or 1, for which the
two tests are the same.
"""

from __future__ import annotations

import argparse
import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import poise
from side_by_side import table

ALPHA = 0.05
ASKED = ((0.1, 60), (0.1, 100), (0.1, 300), (0.2, 30), (0.2, 60))
ESTIMATORS = {
    "mean": DummyRegressor(),
    "ridge": Ridge(),
    "least squares": LinearRegression(),
    "lasso": Lasso(0.1),
    "Huber": HuberRegressor(),
    "5-NN": KNeighborsRegressor(5),
    "1-NN": KNeighborsRegressor(1),
    "kernel ridge": KernelRidge(kernel="rbf"),
    "support vectors": SVR(),
    "tree of depth 3": DecisionTreeRegressor(max_depth=3),
    "forest of 10 trees": RandomForestRegressor(10),
}


def pooled(estimator, size: int, n: int, points: int) -> np.ndarray:
    """Fit the estimator in every trial; return the changes, one row a trial."""
    rng = np.random.default_rng(0)
    X, spare = rng.normal(size=(size * n, 3)), rng.normal(size=(size * points, 3))
    y = X @ [1.0, 2.0, 3.0] + np.sin(2 * X[:, 0]) + rng.normal(size=len(X))
    asked = {"removals_per_trial": 1, "points_per_trial": points, "max_trials": None}
    return poise.measure(estimator, X, y, n=n, X_unlabeled=spare, **asked).changes[:, 0, :]


def powers(larger: np.ndarray, delta: float, m: int, runs: int) -> str:
    """Judge runs of m trials, drawn from the pool, by both tests."""
    rng, n = np.random.default_rng(1), larger.shape[1]
    drawn = rng.integers(len(larger), size=(runs, m))
    first = larger[drawn, rng.integers(n, size=(runs, m))]
    tables = np.concatenate([first[..., None], larger[drawn]], axis=2)[:, :, None, :]
    asked = {"epsilon": 0.5, "delta": delta, "alpha": ALPHA}
    stable = {"binomial": 0, "averaged": 0}
    for changes in tables.astype(float):
        trials = {
            "binomial": poise.Trials.from_changes(changes[:, 0, 0], n=2),
            "averaged": poise.Trials.from_changes(changes[:, :, 1:], n=2),
        }
        for test in stable:
            stable[test] += trials[test].test(**asked, test=test).stable
    return " -> ".join(f"{100 * count / runs:.0f}" for count in stable.values())


def exceed(changes: np.ndarray, probability: float) -> np.ndarray:
    """Say which changes exceed the epsilon that so many of them exceed at most."""
    falling = np.sort(changes, axis=None)[::-1]
    return changes > falling[int(probability * changes.size)]


def line(name: str, changes: np.ndarray, runs: int) -> list[str]:
    cells = [powers(exceed(changes, delta / 2), delta, m, runs) for delta, m in ASKED]
    return [name, f"{exceed(changes, 0.05).mean():.3f}", *cells]


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # the mean ignores all features, and trees the order of none
    parser = argparse.ArgumentParser(description=__doc__)
    for option, default in (("pool", 1000), ("runs", 2000), ("points", 20), ("n", 30)):
        parser.add_argument(f"--{option}", type=int, default=default)
    given = parser.parse_args()
    about = given.pool, given.n, given.points
    lines = [
        line(name, pooled(estimator, *about), given.runs) for name, estimator in ESTIMATORS.items()
    ]
    coins = np.repeat(np.random.default_rng(2).random((given.pool, 1)), given.points, axis=1)
    lines.append(line("0/1 shares", coins, given.runs))
    head = ["estimator", "delta* at .1", *(f"{delta:g}, {m}" for delta, m in ASKED)]
    print(table(head, lines))
