from __future__ import annotations

import asyncio
import gc
import os
import sys
import weakref

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from helpers import run
from poise.algorithms.decisions import flips
from poise.errors import TrialError


class UnprintableError(Exception):
    def __str__(self):
        raise SystemExit(0)


class Outside(BaseException):
    pass


def failing(error, *trials, size=None, value=0.0):
    """Predict the mean; raise an error, or predict a value, in some trials."""
    rows = [3.0 * k for k in trials]

    def fit(X, y, seed):
        here = set(rows) & set(X[:, 0]) and size in (None, len(X))
        if here and error is not None:
            raise error
        level = value if here else float(np.mean(y))
        return lambda points: np.full(len(points), level)

    return fit


RAISED = [
    ZeroDivisionError("nothing"),
    SystemExit(0),
    GeneratorExit(),
    StopIteration(),
    MemoryError(),
    RecursionError(),
    asyncio.CancelledError(),
    Outside("outside"),
    UnprintableError(),
]


def test_whatever_a_fit_raises_is_one_failed_trial():
    expected = run(failing(None)).changes
    for error in RAISED:
        answers = run(failing(error, 4), on_error="record")
        assert [(f.trial, f.kind) for f in answers.failures] == [(4, "error")]
        assert answers.failures[0].message.startswith(type(error).__name__)
        assert np.isnan(answers.changes[4]).all()
        np.testing.assert_array_equal(np.delete(answers.changes, 4, 0), np.delete(expected, 4, 0))


class Predictions(list):
    """A list that ends the program wherever it is asked for anything."""

    def __len__(self):
        raise SystemExit(0)

    __iter__ = __array__ = __getitem__ = __len__


def test_predictions_that_end_the_program_and_exits_are_failed_trials():
    class Hidden(LinearRegression):
        def fit(self, X, y):
            self.ends = X[0, 0] == 12
            return super().fit(X, y)

        def predict(self, X):
            return Predictions([0.0]) if self.ends else super().predict(X)

    def exits(X, y, seed):
        child = os.fork()
        if not child:
            os._exit(3)
        assert os.waitpid(child, 0)[1] == 3 << 8
        if X[0, 0] == 12:
            os._exit(0)  # a program that ends like this seems to say that all is well
        return lambda points: np.full(len(points), y.mean())

    real = os._exit
    for algorithm, message in ((Hidden(), "0"), (exits, "os._exit(0)")):
        for more in ({}, {"n_jobs": 2}):
            answers = run(algorithm, on_error="record", **more)
            assert os._exit is real
            assert [(f.trial, f.kind) for f in answers.failures] == [(4, "error")]
            assert answers.failures[0].message == f"SystemExit: {message}"


def test_errors_come_back_with_what_was_measured_also_if_they_cannot_travel():
    expected = run(failing(None))
    for jobs in (1, 2):
        for error in (ZeroDivisionError("nothing"), UnprintableError()):
            with pytest.raises(TrialError, match=r"trial 2 failed: .*2 tr") as caught:
                run(failing(error, 2), n_jobs=jobs)
            assert (caught.value.trial, caught.value.kind) == (2, "error")
            cause = caught.value.__cause__
            assert cause is error if jobs == 1 else "in fit" in str(cause)  # a traceback
            partial = caught.value.partial
            np.testing.assert_array_equal(partial.changes, expected.changes[:2])
            np.testing.assert_array_equal(partial.errors, expected.errors[:2])
        with pytest.raises(KeyboardInterrupt):  # which is no failed trial
            run(failing(KeyboardInterrupt(), 4), on_error="record", n_jobs=jobs)


def test_a_failed_fit_fails_its_own_comparisons_only():
    def one_reduced(X, y, seed):
        return sys.exit() if tuple(X[:, 0]) == (12.0, 14.0) else failing(None)(X, y, seed)

    for position in ("last", "uniform"):
        settings = {"removals": 3, "points": 2, "position": position, "on_error": "record"}
        assert np.isnan(run(failing(SystemExit(), 4, size=3), **settings).changes[4]).all()
        failed = np.isnan(run(one_reduced, **settings).changes)
        assert failed.sum() == 2  # one removal, at both points
        assert failed[4].any(axis=1).sum() == 1


def test_what_is_no_prediction_is_undefined_at_its_point():
    def at(value):
        return lambda X, y, seed: (
            lambda points: [value(len(X)) if row[0] == 60 else 1.0 for row in points]
        )

    for value, change in (
        (lambda n: np.nan, np.nan),
        (lambda n: np.nan if n == 3 else 1.0, np.nan),
        (lambda n: None, np.nan),
        (lambda n: np.inf, np.nan),  # a model that says infinity everywhere is not stable
        (lambda n: np.inf if n == 3 else -np.inf, np.nan),
        (lambda n: np.inf if n == 3 else 1.0, np.inf),
    ):
        answers = run(at(value), points=5, on_error="record")
        expected = np.zeros((12, 1, 5))
        expected[0, 0, 2] = change  # row 60 is the third point of trial 0
        np.testing.assert_array_equal(answers.changes, expected)
        failed = [(f.kind, "row 60" in f.message) for f in answers.failures]
        assert failed == ([("undefined", True)] if np.isnan(change) else [])
    answers = run(at(lambda n: "text"), points=5, on_error="record")
    assert np.isnan(answers.changes).any(axis=(1, 2)).tolist() == [True] + 11 * [False]
    for shape in ((), (1,), (4,), (0,)):
        fit = lambda X, y, seed, shape=shape: lambda points: np.zeros(shape)  # noqa: E731
        answers = run(fit, points=3, on_error="record", trials=1)
        assert [f.kind for f in answers.failures] == ["undefined"], shape
    answers = run(lambda X, y, seed: None, on_error="record", trials=1)
    assert answers.failures[0].kind == "error"


def test_distances_of_the_users_own_may_fail_too():
    answers = run(failing(None), distance=lambda a, b: sys.exit(0), on_error="record")
    assert answers.n_failed == 12
    assert answers.failures[0].message.startswith("SystemExit")
    decides = {"distance": flips(0.0, of=3), "points": 3}
    panel = run(failing(None, 4, value=np.nan), **decides, on_error="record")
    assert panel.changes.shape == (12, 1, 1)
    assert [f.trial for f in panel.failures] == [4]


def test_the_first_twenty_failures_keep_their_first_reason_and_no_rows():
    kept: list[weakref.ref[np.ndarray]] = []
    alive: list[int] = []

    def fails(X, y, seed):
        kept.append(weakref.ref(X))
        alive.append(sum(each() is not None for each in kept))
        raise ValueError(str(X[:, 0].tolist()))

    gc.disable()  # not even in a cycle
    try:
        answers = run(fails, removals=2, trials=30, on_error="record")
    finally:
        gc.enable()
    assert answers.n_failed == 30
    assert [f.trial for f in answers.failures] == list(range(20))
    assert answers.failures[0].message == "ValueError: [0.0, 1.0, 2.0]"
    assert max(alive) <= 2
    assert not any(each() is not None for each in kept)
