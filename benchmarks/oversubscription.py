"""Threads inside of workers: models that start threads of their own, in two workers.

    python benchmarks/oversubscription.py [--rounds 3] [--small]

Time per trial, relative to poise with one worker. Without any limits, each of two
processes starts as many threads as there are cores, and they wait for each other.
poise gives every fit one thread, and never becomes slower by a second worker. Threads
instead of processes would share Python's lock; poise takes them by itself only for fits
on 2,000 rows or more. The last column is the estimator in a plain loop, with the threads
it likes; where other programs are running too, that alone can be a hundred times
slower. What is not limited is stopped after a few seconds, for that reason.
"""

from __future__ import annotations

import os
import time
from itertools import count
from multiprocessing import get_context

os.environ.pop("OMP_NUM_THREADS", None)  # nothing is limited, as on anyone's machine

import numpy as np
from lightgbm import LGBMRegressor
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from xgboost import XGBRegressor

import poise
from side_by_side import chosen, race, table

N, D = 500, 20
PATIENCE = 4.0  # seconds for what may be slow
MODELS = {
    "random forest, n_jobs=-1": RandomForestRegressor(n_estimators=15, n_jobs=-1),
    "HistGradientBoosting": HistGradientBoostingRegressor(max_iter=20),
    "LightGBM, n_jobs=-1": LGBMRegressor(n_estimators=50, n_jobs=-1, verbose=-1),
    "XGBoost, n_jobs=-1": XGBRegressor(n_estimators=20, n_jobs=-1),
}


def problem(trials: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(trials * (N + 1), D))
    return X, X[:, 0] + rng.normal(size=len(X))


def change(estimator, X, y, k: int, trials: int) -> float:
    """Compute one trial as anyone would."""
    rows, point = slice(k * N, (k + 1) * N), X[trials * N + k : trials * N + k + 1]
    shorter = slice(rows.start, rows.stop - 1)
    predictions = [clone(estimator).fit(X[r], y[r]).predict(point)[0] for r in (rows, shorter)]
    return abs(float(predictions[0] - predictions[1]))


def work(name: str, trials: int, done) -> None:
    """Compute trials for ever, and count them."""
    X, y = problem(trials)
    for k in count():
        change(MODELS[name], X, y, k % trials, trials)
        with done.get_lock():
            done.value += 1


def unlimited(name: str, processes: int, trials: int, one: float) -> str:
    """Let processes do as they like for some seconds; return time per trial over ``one``."""
    context = get_context("spawn")  # OpenMP does not survive a fork
    done = context.Value("i", 0)
    workers = [context.Process(target=work, args=(name, trials, done)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    began = time.perf_counter()
    while done.value < processes and time.perf_counter() - began < 3 * PATIENCE:
        time.sleep(0.05)  # libraries are loaded, and each has done its first trial
    began, before = time.perf_counter(), done.value
    time.sleep(PATIENCE)
    found = done.value - before
    for worker in workers:
        worker.kill()
    ratio = (time.perf_counter() - began) / max(1, found) / one
    return f"{ratio:.1f}" if found else f"> {ratio:.0f}"


def compared(name: str, trials: int, rounds: int) -> list[str]:
    estimator, (X, y) = MODELS[name], problem(trials)

    def by_poise(n_jobs: int, backend: str | None = None) -> np.ndarray:
        trial = {"n": N, "shuffle": False, "random_state": 0}
        return poise.measure(estimator, X, y, n_jobs=n_jobs, backend=backend, **trial).changes

    ways = {
        "one": lambda: by_poise(1),
        "two": lambda: by_poise(2),
        "two threads": lambda: by_poise(2, "threading"),
    }
    result = race(ways, rounds)
    one = result.seconds["one"] / trials
    same = len({changes.tobytes() for changes in result.results.values()}) == 1
    return [
        name,
        f"{1e3 * one:.0f} ms",
        f"{result.ratios['two']:.2f}",
        f"{result.ratios['two threads']:.2f}",
        unlimited(name, 2, trials, one),
        unlimited(name, 1, trials, one),
        "identical" if same else "DIFFERENT",
    ]


HEADERS = [
    "model",
    "poise, one worker",
    "two workers",
    "two threads",
    "two processes, no limits",
    "loop, no limits",
    "changes",
]


def main(trials: int, rounds: int) -> None:
    print(f"{os.cpu_count()} cores; n = {N}, d = {D}; time per trial, relative to one worker")
    print(table(HEADERS, [compared(name, trials, rounds) for name in MODELS]))


if __name__ == "__main__":
    given = chosen(__doc__, rounds=3, small="few trials, one round")
    main(10 if given.small else 30, 1 if given.small else given.rounds)
