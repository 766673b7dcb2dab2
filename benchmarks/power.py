"""Power of the averaged test beside the Binomial test, on the same rows, for eleven estimators.

    OMP_NUM_THREADS=1 python benchmarks/power.py [--pool 1000] [--runs 2000] [--points 20] [--n 30]

Every estimator is really fitted: ``--pool`` trials of n rows, each with and without its last row,
compared at ``--points`` fresh points. Epsilon is set so that the change exceeds it with
probability delta/2 in that pool (a little less where many changes are equal; nearest neighbours
stop at zero). Then ``--runs`` runs of m trials are drawn from the pool, with replacement, and both
tests are asked for (epsilon, delta) at level alpha: the averaged test about all points of a trial,
the Binomial test about one of them. So in both tests delta* is that of the pool, exactly.

A cell has the powers in percent, without and with the coin: Binomial -> averaged. The last line
repeats them for shares that are 0 or 1, on which the two tests are the same.
"""

from __future__ import annotations

import argparse
import os

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
from poise.theory import critical_value
from poise.theory.many_hedges import hedge_side_by_side
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
    """Fit the estimator in every trial; return the changes, one row per trial."""
    rng = np.random.default_rng(0)
    X, spare = rng.normal(size=(size * n, 3)), rng.normal(size=(size * points, 3))
    y = X @ [1.0, 2.0, 3.0] + np.sin(2 * X[:, 0]) + rng.normal(size=len(X))
    settings = {"n": n, "points": points, "X_unlabeled": spare, "random_state": 0}
    return poise.measure(estimator, X, y, **settings).changes[:, 0, :]


def exceed(changes: np.ndarray, probability: float) -> np.ndarray:
    """Say which changes exceed the epsilon that so many of them exceed at most."""
    falling = np.sort(changes, axis=None)[::-1]
    return changes > falling[int(probability * changes.size)]


def powers(larger: np.ndarray, delta: float, m: int, runs: int) -> str:
    rng = np.random.default_rng(1)
    trials = rng.integers(len(larger), size=(runs, m))
    point = rng.integers(larger.shape[1], size=(runs, m))
    single = larger[trials, point].sum(axis=1)
    critical, tie = critical_value(m, delta, ALPHA)
    bets = hedge_side_by_side(larger.mean(axis=1)[trials], delta, ALPHA)
    binomial = (
        np.mean(single < critical + (tie >= 1)),
        np.mean((single < critical) + tie * (single == critical)),
    )
    averaged = np.mean(bets.accepted), np.mean(np.minimum(1.0, bets.values))
    return " -> ".join(
        "/".join(f"{100 * value:.0f}" for value in pair) for pair in (binomial, averaged)
    )


def line(name: str, changes: np.ndarray, runs: int) -> list[str]:
    cells = [powers(exceed(changes, delta / 2), delta, m, runs) for delta, m in ASKED]
    larger = exceed(changes, 0.05)
    share = larger.mean(axis=1)
    spread = (share**2).mean() / share.mean()
    return [name, f"{share.mean():.3f}", f"{spread:.2f}", *cells]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option, default in (("pool", 1000), ("runs", 2000), ("points", 20), ("n", 30)):
        parser.add_argument(f"--{option}", type=int, default=default)
    given = parser.parse_args()
    about = given.pool, given.n, given.points
    lines = [
        line(name, pooled(estimator, *about), given.runs) for name, estimator in ESTIMATORS.items()
    ]
    coins = np.repeat(np.random.default_rng(2).random((given.pool, 1)), given.points, axis=1)
    lines.append(line("0/1 shares", coins, given.runs))
    head = ["estimator", "delta* at .1", "spread", *(f"{delta:g}, {m}" for delta, m in ASKED)]
    print(table(head, lines))


if __name__ == "__main__":
    main()
