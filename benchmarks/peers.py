"""Leave-one-out fits: cross_val_predict, MAPIE's jackknife, and poise's engine.

    python benchmarks/peers.py [--rounds 5] [--small]

Each of n rows is left out once, and predicted by the model fitted to the others.
Times are relative to the loop a user would write, run in turn with it: clone, fit,
predict. MAPIE fits once more, on all rows, to predict with later. poise runs the
fits as the queries of a black-box test, and keeps a transcript of them.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from mapie.regression import CrossConformalRegressor
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.algorithms.function import seed_from
from side_by_side import chosen, race, table

XI = 7  # one random term for all fits, so that everyone's seeds are the same
ALGORITHMS = {
    "Ridge": (Ridge(), 400, 20),
    "kNN": (KNeighborsRegressor(), 400, 20),
    "decision tree": (DecisionTreeRegressor(random_state=seed_from(XI)), 200, 20),
    "random forest": (RandomForestRegressor(20, random_state=seed_from(XI)), 60, 10),
}


def problem(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + rng.normal(size=n)


def without(i: int, n: int) -> np.ndarray:
    return np.delete(np.arange(n), i)


def by_loop(estimator, X, y) -> np.ndarray:
    predictions = np.empty(len(X))
    for i in range(len(X)):
        rows = without(i, len(X))
        predictions[i] = clone(estimator).fit(X[rows], y[rows]).predict(X[i : i + 1])[0]
    return predictions


def by_scikit_learn(estimator, X, y, n_jobs: int) -> np.ndarray:
    return cross_val_predict(estimator, X, y, cv=LeaveOneOut(), n_jobs=n_jobs)


def by_mapie(estimator, X, y, n_jobs: int) -> None:
    CrossConformalRegressor(
        clone(estimator), confidence_level=0.9, method="base", cv=-1, n_jobs=n_jobs
    ).fit_conformalize(X, y)


class Jackknife:
    """Ask for every leave-one-out prediction, in one batch."""

    def ask(self, sample, randomness):
        n = sample.n_labeled
        answers = yield poise.Batch(
            [poise.Query(without(i, n), np.array([i]), XI) for i in range(n)]
        )
        return np.concatenate(answers.predictions)


def by_poise(estimator, X, y, n_jobs: int) -> np.ndarray:
    return poise.run(Jackknife(), estimator, X, y, n_jobs=n_jobs, random_state=0).result


PEERS = {"cross_val_predict": by_scikit_learn, "MAPIE": by_mapie, "poise": by_poise}


def compared(name: str, n_jobs: int, rounds: int) -> list[str]:
    estimator, n, d = ALGORITHMS[name]
    X, y = problem(n, d)
    cells, loop, same = [], 0.0, True
    for peer in PEERS.values():
        # One at a time beside the loop: joblib starts its workers anew for each of them.
        result = race(
            {
                "loop": lambda: by_loop(estimator, X, y),
                "peer": lambda peer=peer: peer(estimator, X, y, n_jobs),
            },
            rounds,
        )
        cells.append(f"{result.ratios['peer']:.2f}")
        loop = result.seconds["loop"] / n
        found = result.results["peer"]
        same &= found is None or np.array_equal(found, result.results["loop"])
    about = [name, f"({n}, {d})", str(n_jobs), f"{1e3 * loop:.2f} ms"]
    return [*about, *cells, "identical" if same else "DIFFERENT"]


HEADERS = ["algorithm", "(n, d)", "workers", "loop/fit", *PEERS, "predictions"]


def main(rounds: int) -> None:
    cells = [(name, n_jobs) for n_jobs in (1, 2) for name in ALGORITHMS]
    print("time over that of a plain loop, in one process")
    print(table(HEADERS, [compared(name, n_jobs, rounds) for name, n_jobs in cells]))


if __name__ == "__main__":
    given = chosen(__doc__, rounds=5)
    main(1 if given.small else given.rounds)
