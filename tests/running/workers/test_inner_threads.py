"""Inside a fit there is one thread, wherever it runs and whatever the estimator would like."""

from __future__ import annotations

import lightgbm  # noqa: F401  brings an OpenMP of its own
import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import BaggingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

import poise

X = np.random.default_rng(0).normal(size=(210, 2))
y = X[:, 0]
WHERE = [(1, None), (2, "threading"), (2, "loky")]


def most_threads(A, b, seed):
    """Predict (threads allowed) · (rows): the change of a trial is the number of threads."""
    _ = A.T @ A  # BLAS is loaded and used
    pools = threadpool_info()
    assert {pool["user_api"] for pool in pools} >= {"blas"}
    level = max(pool["num_threads"] for pool in pools) * len(b)
    return lambda rows: [float(level)] * len(rows)


class Greedy(RegressorMixin, BaseEstimator):
    """Predicts (threads it was told to use) · (rows)."""

    def __init__(self, n_jobs=-1):
        self.n_jobs = n_jobs

    def fit(self, A, b):
        threads = 99 if self.n_jobs in (None, -1) else self.n_jobs
        self.level_ = float(threads * len(b))
        return self

    def predict(self, A):
        return np.full(len(A), self.level_)


@pytest.mark.parametrize(("n_jobs", "backend"), WHERE)
def test_libraries_use_one_thread(n_jobs, backend) -> None:
    trials = poise.measure(most_threads, X, y, n=20, n_jobs=n_jobs, backend=backend)
    assert trials.changes.tolist() == [1.0] * 10


@pytest.mark.parametrize(("n_jobs", "backend"), WHERE)
@pytest.mark.parametrize(
    "estimator",
    [
        Greedy(),
        Greedy(n_jobs=4),
        make_pipeline(StandardScaler(), Greedy()),
        BaggingRegressor(Greedy(), n_estimators=2, n_jobs=-1),
    ],
    ids=["all cores", "four", "in a pipeline", "in a bag"],
)
def test_threads_of_estimators_are_not_multiplied(estimator, n_jobs, backend) -> None:
    trials = poise.measure(estimator, X, y, n=20, n_jobs=n_jobs, backend=backend)
    assert trials.changes.tolist() == [1.0] * 10


def test_limits_end_with_the_run() -> None:
    def threads() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info()]

    before = threads()
    for n_jobs, backend in WHERE:
        poise.measure(most_threads, X, y, n=20, n_jobs=n_jobs, backend=backend)
        assert threads() == before
