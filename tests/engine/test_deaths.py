from __future__ import annotations

import ctypes
import os
import signal
import threading
import time

import numpy as np
import pytest

from poise.errors import AlgorithmError, TrialError


# Lambdas travel to workers by value; this file is not imported there.
def kill():
    os.kill(os.getpid(), signal.SIGKILL)


kill.__module__ = "__main__"
DEATHS = [
    ("SIGKILL", kill),
    ("SIGSEGV", lambda: ctypes.string_at(0)),
    ("status 0", lambda: ctypes.CDLL(None)._exit(0)),
    ("status 3", lambda: ctypes.CDLL(None)._exit(3)),
    ("SIGKILL", lambda: kill() if os.fork() else time.sleep(100)),  # leaves a fork
]
HANGS = {"sleeps": lambda: time.sleep(100), "holds the lock": lambda: ctypes.PyDLL(None).sleep(100)}


@pytest.fixture
def doing(tmp_path):
    """Mean of the responses; in the fits of some trials it does something first."""
    folder = str(tmp_path)

    def algorithm(what, *trials):
        rows = [3.0 * k for k in trials]

        def mean(X, y, seed):
            open(f"{folder}/{int(X[0, 0]) // 3}-{len(X)}-{time.perf_counter_ns()}", "w").close()
            if X[0, 0] in rows:
                what()
            level = float(np.mean(y))
            return lambda points: np.full(len(points), level)

        return mean

    return algorithm


@pytest.fixture
def full_fits(tmp_path):
    """How often the full fit of a trial was begun."""
    return lambda trial: len(list(tmp_path.glob(f"{trial}-3-*")))


@pytest.fixture(scope="module")
def expected(run):
    return run(lambda X, y, seed: lambda points: np.full(len(points), np.mean(y))).changes


def test_a_death_costs_its_own_trial(doing, run, expected):
    for how, what in DEATHS:
        answers = run(doing(what, 5), n_jobs=2, on_error="record")
        assert [(f.trial, f.kind) for f in answers.failures] == [(5, "death")], how
        assert how in answers.failures[0].message
        left = expected.copy()
        left[5] = np.nan
        np.testing.assert_array_equal(answers.changes, left)
    answers = run(doing(kill, *range(4)), trials=4, n_jobs=2, on_error="record")
    assert (answers.n_failed, np.isnan(answers.changes).all()) == (4, True)


def test_a_late_fit_costs_its_own_trial_and_is_tried_once(doing, full_fits, run, expected):
    for times, what in enumerate(HANGS.values(), 1):
        answers = run(doing(what, 7), n_jobs=2, on_error="record", fit_timeout=2)
        assert [(f.trial, f.kind) for f in answers.failures] == [(7, "timeout")]
        assert "fit_timeout=2" in answers.failures[0].message
        assert full_fits(7) == times
        np.testing.assert_array_equal(answers.changes[8:], expected[8:])


def test_a_time_limit_needs_no_second_worker_and_is_for_each_fit(doing, run, expected):
    answers = run(doing(lambda: time.sleep(0.4), 2), trials=3, n_jobs=1, fit_timeout=60)
    np.testing.assert_array_equal(answers.changes[:2], expected[:2])
    with pytest.raises(TrialError) as caught:
        run(doing(HANGS["sleeps"], 1), trials=3, fit_timeout=1.5)
    assert (caught.value.trial, caught.value.kind) == (1, "timeout")
    np.testing.assert_array_equal(caught.value.partial.changes, expected[:1])


def test_a_worker_killed_from_outside_costs_nothing(doing, run, expected, tmp_path):
    mark = str(tmp_path / "killed")

    def kill_once():
        if not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(os.getpid(), 9)

    np.testing.assert_array_equal(run(doing(kill_once, 5), n_jobs=2).changes, expected)
    assert os.path.exists(mark)


def test_a_long_fit_beside_a_death_is_not_begun_again(doing, full_fits, run):
    mean = doing(time.time)

    def slow_and_deadly(X, y, seed):
        predict = mean(X, y, seed)
        if X[0, 0] == 0 and len(X) == 3:
            time.sleep(2)
        if X[0, 0] == 3:
            ctypes.CDLL(None)._exit(1)
        return predict

    answers = run(slow_and_deadly, trials=4, n_jobs=2, on_error="record")
    assert [f.trial for f in answers.failures] == [1]
    assert (full_fits(0), full_fits(1)) == (1, 2)


def test_what_dies_or_fails_before_its_first_fit(run):
    class Travels:
        """Does something when a worker reads it."""

        def __init__(self, what, *arguments):
            self.reduced = what, arguments

        def __reduce__(self):
            return self.reduced

        def __call__(self, X, y, seed):
            return lambda points: np.zeros(len(points))

    run(lambda X, y, seed: lambda points: np.zeros(len(points)), n_jobs=2)
    with pytest.raises(TrialError, match="status 0") as caught:
        run(Travels(os._exit, 0), trials=2, n_jobs=2)
    assert (caught.value.trial, caught.value.kind) == (0, "death")
    for what in ((exec, "raise SystemExit(0)"), (__import__, "no_such_module")):
        with pytest.raises(
            AlgorithmError, match=r"cannot be sent to a worker.*(SystemExit|no_such)"
        ):
            run(Travels(*what), n_jobs=2)
    with pytest.raises(AlgorithmError, match="lock"):
        run(Travels(os.fspath, threading.Lock()), n_jobs=2)
