"""Trials computed many at a time: the same answers as fit by fit, or the fits themselves."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import poise
from poise.algorithms.distance import DISTANCES
from poise.algorithms.estimator import EstimatorAlgorithm
from poise.data.sample import Sample
from poise.errors import AlgorithmError, PoiseWarning
from poise.procedures.split_of_rows import Split, TrialSizes
from poise.protocol.randomness import Randomness, Shared
from poise.running.tasks import ComparisonWork
from poise.shortcuts.batched import compared_trials
from poise.shortcuts.discriminant_and_naive_bayes import NaiveBayesShortcut
from poise.shortcuts.fast_path import batched
from poise.shortcuts.ridge_and_least_squares import RidgeShortcut

REGRESSORS = (Ridge(), LinearRegression(), KNeighborsRegressor(3))
CLASSIFIERS = (KNeighborsClassifier(3), GaussianNB())


def _data(rows: int = 1100, d: int = 3, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, d))
    return X, X.sum(axis=1) + rng.normal(size=rows)


def _both(estimator, X, y, **question):
    fast = poise.measure(estimator, X, y, random_state=0, **question)
    slow = poise.measure(estimator, X, y, random_state=0, fast=False, **question)
    assert fast.design.path != slow.design.path == "fit by fit"
    return fast.changes, slow.changes


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("estimator", REGRESSORS, ids=str)
def test_changes_are_those_of_the_fits(estimator, shuffle) -> None:
    X, y = _data()
    fast, slow = _both(estimator, X, y, n=20, shuffle=shuffle)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-9 * np.abs(y).max())
    np.testing.assert_array_equal(fast == 0, slow == 0)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
def test_labels_change_in_the_same_trials(estimator) -> None:
    X, y = _data()
    fast, slow = _both(estimator, X, np.where(y > 0, "up", "down"), n=20)
    assert fast.tolist() == slow.tolist()
    assert 0 < fast.mean() < 1


def test_whole_responses_take_the_shortcut_without_a_warning() -> None:
    X, y = _data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fast, slow = _both(Ridge(), X, np.rint(5 * y).astype(np.int64), n=20)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-9 * 5 * np.abs(y).max())


def test_unlabelled_points_serve_too() -> None:
    X, y = _data()
    fast, slow = _both(Ridge(), X[:1000], y[:1000], X_unlabeled=X[1000:], n=20)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-9 * np.abs(y).max())


@pytest.mark.parametrize("seed", range(27))
def test_counts_and_verdicts_are_the_same(seed) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 16)), int(rng.integers(1, 5))
    X, y = _data(40 * (n + 1), d, seed)
    if seed % 3 == 0:
        X, y = np.rint(X), np.rint(y)  # ties, singular fits, changes that are exactly equal
    estimator = REGRESSORS[seed // 3 % len(REGRESSORS)]
    slow = poise.measure(estimator, X, y, n=n, random_state=seed, fast=False)
    # Thresholds at the changes themselves, where rounding would decide if it could.
    for epsilon in (0.0, *np.quantile(slow.changes, [0.3, 0.9], method="lower")):
        question = {"n": n, "epsilon": float(epsilon), "delta": 0.2, "random_state": seed}
        question |= {"stop_early": False, "test": "binomial"}
        fast = poise.stability_test(estimator, X, y, **question)
        expected = slow.test(float(epsilon), 0.2)
        assert (fast.statistic, fast.verdict) == (expected.statistic, expected.verdict)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("shuffle", [True, False])
def test_rows_that_the_estimator_refuses(bad, shuffle) -> None:
    X, y = _data()
    X[777, 1] = bad
    messages = set()
    for path in (True, False):
        with pytest.raises(AlgorithmError, match=r"column 1 of X holds .* in row 777") as caught:
            poise.measure(Ridge(), X, y, n=20, shuffle=shuffle, random_state=0, fast=path)
        messages.add(str(caught.value))
    assert len(messages) == 1, "before the first fit, for the same reason"


def test_a_row_that_is_refused_among_those_compared_first(monkeypatch) -> None:
    """The estimator itself refuses it, where nobody has looked at the rows before."""
    monkeypatch.setattr(EstimatorAlgorithm, "prepared", lambda self, sample: self)
    X, y = _data()
    X[3, 1] = np.nan  # in trial 0, which is computed both ways
    fast, slow = _both(Ridge(), X, y, n=20, shuffle=False, on_error="unstable")
    assert fast[0] == slow[0] == np.inf
    np.testing.assert_allclose(fast[1:], slow[1:], rtol=0, atol=1e-9 * np.abs(y).max())


def test_a_shortcut_that_disagrees_is_dropped_with_a_warning(monkeypatch) -> None:
    X, y = _data()
    right = RidgeShortcut.estimate

    def wrong(self, X, y, x):
        found = right(self, X, y, x)
        return found._replace(reduced=found.reduced * (1 + 1e-6))

    monkeypatch.setattr(RidgeShortcut, "estimate", wrong)
    with pytest.warns(PoiseWarning, match="'rank-one downdate of ridge' predicts .* in trial"):
        trials = poise.measure(Ridge(), X, y, n=20, random_state=0)
    assert trials.design.path == "fit by fit"
    slow = poise.measure(Ridge(), X, y, n=20, random_state=0, fast=False)
    assert trials.changes.tolist() == slow.changes.tolist()


def test_equal_changes_do_not_hide_wrong_predictions(monkeypatch) -> None:
    X, y = _data()
    labels = np.where(y > 0, 1, 0)
    right = NaiveBayesShortcut.pairs

    def always_the_same(self, X, y, x):
        found = right(self, X, y, x)
        return found._replace(full=np.zeros_like(found.full), reduced=np.zeros_like(found.full))

    monkeypatch.setattr(NaiveBayesShortcut, "pairs", always_the_same)
    with pytest.warns(PoiseWarning, match="predicts 0 and 0 in trial .* the fits predict 1 and 1"):
        trials = poise.measure(GaussianNB(), X, labels, n=20, random_state=0)
    assert trials.design.path == "fit by fit"


def test_labels_that_the_estimator_refuses_are_its_own_affair() -> None:
    X, y = _data()
    labels = np.array([0, "a"], dtype=object)[(y > 0).astype(int)]
    trials = poise.measure(GaussianNB(), X, labels, n=20, on_error="unstable")
    assert np.isinf(trials.changes).all()


def test_a_distance_that_does_not_suit_the_predictions_is_a_failed_trial() -> None:
    X, y = _data()
    question = {"n": 20, "distance": "total_variation", "on_error": "unstable"}
    trials = poise.measure(GaussianNB(), X, np.where(y > 0, 1, 0), **question)
    assert np.isinf(trials.changes).all()


@pytest.mark.parametrize("kind", [np.float32, np.bool_, object, str])
def test_responses_that_no_shortcut_is_certain_of_are_left_to_the_fits(kind) -> None:
    X, y = _data()
    y = np.where(y > 0, 1, 2).astype(kind)  # a few estimators read numbers written as text
    fast = poise.measure(Ridge(), X, y, n=20, random_state=0)
    slow = poise.measure(Ridge(), X, y, n=20, random_state=0, fast=False)
    assert fast.design.path == "fit by fit"
    assert fast.changes.tolist() == slow.changes.tolist()


def _batched(decision_points=(0.0,), shuffle=True):
    X, y = _data()
    sample = Sample(X, y)
    algorithm = EstimatorAlgorithm(Ridge()).prepared(sample)
    tasks = Split(TrialSizes(20, 50, 1100, 0), Randomness(0), Shared(), shuffle)
    work = ComparisonWork(algorithm, sample, tasks, False, DISTANCES["absolute"])
    return work, batched(work, algorithm.batch(), decision_points)


def test_a_change_that_rounding_could_put_on_either_side_is_computed_fit_by_fit() -> None:
    work, fast = _batched()
    exact = list(work(0, 50))
    changes, doubtful = fast.changes(0, 50)
    assert not doubtful.any()
    for near, expected in ((exact[7], [7]), (changes[7] + 1e-10, [7]), (changes[7] + 1e-3, [])):
        again = dataclasses.replace(fast, decision_points=(0.0, float(near)))
        _, doubtful = again.changes(0, 50)
        assert np.flatnonzero(doubtful).tolist() == expected
        answers = np.concatenate([np.atleast_1d(answer) for answer in again(0, 50)])
        assert answers[doubtful].tolist() == np.array(exact)[doubtful].tolist()


@pytest.mark.parametrize("shuffle", [True, False])
def test_blocks_of_any_size_give_the_same_bits(shuffle) -> None:
    _, fast = _batched(shuffle=shuffle)
    whole, _ = fast.changes(0, 50)
    for size in (1, 7, 13):
        parts = [fast.changes(i, min(i + size, 50))[0] for i in range(0, 50, size)]
        assert np.concatenate(parts).tolist() == whole.tolist()


FRAMES = {
    "pandas": lambda X, y: (pd.DataFrame(X).rename(columns=str), pd.Series(y)),
    "whole columns": lambda X, y: (pd.DataFrame(X).rename(columns=str).assign(w=[1, 2] * 550), y),
    "polars": lambda X, y: (pl.DataFrame(X), pl.Series(y)),
    "arrow": lambda X, y: (pa.table({str(k): column for k, column in enumerate(X.T)}), y),
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_data_frames_of_numbers_take_the_shortcut_too(kind, n_jobs) -> None:
    X, y = FRAMES[kind](*_data())
    fast, slow = _both(Ridge(), X, y, n=20, n_jobs=n_jobs)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["float32", "bool", "category"])
def test_other_columns_are_left_to_the_estimator(kind) -> None:
    X, y = _data()
    frame = pd.DataFrame(np.rint(X)).rename(columns=str).astype(kind)
    assert poise.measure(Ridge(), frame, y, n=20, random_state=0).design.path == "fit by fit"


def test_a_block_that_fails_alone_is_not_passed_over_in_silence(monkeypatch) -> None:
    work, fast = _batched()

    def out_of_memory(self, stack):
        raise MemoryError("no room")

    monkeypatch.setattr(type(fast), "_pairs", out_of_memory)
    with pytest.warns(PoiseWarning, match=r"failed \(MemoryError: no room\); trials 0 to 49 are"):
        answers = list(fast(0, 50))
    assert answers == list(work(0, 50))


@pytest.mark.parametrize(
    ("n", "columns", "expected"),
    [(50, 5, 8), (100_000, 10, 4), (10**7, 100, 2)],
)
def test_fewer_trials_are_computed_both_ways_if_they_are_large(n, columns, expected) -> None:
    split = Split(TrialSizes(n, 40, 40 * (n + 1), 0), Randomness(0), Shared(), False)
    chosen = compared_trials(split, columns)
    assert (len(chosen), chosen[0], chosen[-1]) == (expected, 0, 39)
