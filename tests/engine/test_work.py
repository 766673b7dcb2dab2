from __future__ import annotations

import ctypes
import os
import random
import sys
import time
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

import poise
from helpers import ask, needs, python, run
from poise.algorithms.algorithm import Algorithm
from poise.engine.oracle import converse
from poise.engine.surroundings import Settings, Surroundings
from poise.procedures.measure import measure


def changed_surroundings(X, y, seed):
    """Change whatever is global, then predict what the global generators say."""
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    warnings.showwarning = print
    sklearn.set_config(assume_finite=True)
    drawn = random.random() + np.random.normal()  # noqa: NPY002
    os.environ["POISE_TEST_THREADS"] = str(threads())
    sys.breakpointhook = print
    os.chdir("/")
    return lambda points: np.full(len(points), drawn)


def threads():
    from threadpoolctl import threadpool_info

    return max((pool["num_threads"] for pool in threadpool_info()), default=1)


def found():
    rest = threads(), sys.stdout, os.fstat(1).st_ino, sys.breakpointhook, os.getcwd()
    drawn = random.getstate(), str(np.random.get_state())  # noqa: NPY002
    told = list(warnings.filters), warnings.showwarning
    return np.geterr(), sklearn.get_config(), told, drawn, rest


def test_everything_global_is_left_as_it_was_found_also_by_threads():
    before = found()
    assert (run(changed_surroundings).changes == 0).all()  # both fits draw the same numbers
    expected = run(changed_surroundings, coupling="independent").changes
    assert (expected > 0).all()
    with ThreadPoolExecutor(4) as pool:  # which take turns
        runs = [pool.submit(run, changed_surroundings, coupling="independent") for _ in range(8)]
    for each in runs:
        np.testing.assert_array_equal(each.result().changes, expected)
    assert os.environ.pop("POISE_TEST_THREADS") == "1"

    def fails(X, y, seed):
        changed_surroundings(X, y, seed)
        raise ValueError

    assert run(fails, on_error="record").n_failed == 12
    this = ask(changed_surroundings)
    answers = this.oracle.work(this.trials).answers(range(12))
    next(answers)
    answers.close()  # a run that was stopped
    assert found() == before


def test_nothing_accumulates():
    kept = []

    def until(changes):
        kept.append(tracemalloc.get_traced_memory()[0])
        return False

    this = ask(lambda X, y, seed: lambda points: np.zeros(len(points)), trials=2000)
    tracemalloc.start()
    converse(measure(this.split, until), this.oracle)
    tracemalloc.stop()
    assert kept[-1] - kept[500] < 1500 * 64  # less than the list above takes


def test_a_fit_meets_the_settings_of_the_caller_and_not_those_of_an_earlier_fit():
    def settings(X, y, seed):
        told = np.geterr()["over"], sklearn.get_config()["transform_output"]
        np.seterr(over="ignore")
        return lambda points: np.array([told != ("raise", "pandas")] * len(points), dtype=float)

    with np.errstate(over="raise"), sklearn.config_context(transform_output="pandas"):
        for jobs in (1, 2):
            told = {"distance": lambda full, reduced: full + reduced, "n_jobs": jobs, "trials": 4}
            assert (run(settings, **told).changes == 0).all()


def test_what_fits_say_is_kept_and_told_once_with_the_number_of_fits(capfd):
    def says(X, y, seed):
        for value in X[:, 0]:
            warnings.warn(f"no convergence at {value}", RuntimeWarning, stacklevel=1)
        if X[0, 0] == 0:
            warnings.warn("only here", ConvergenceWarning, stacklevel=1)
        warnings.simplefilter("ignore")  # the next fit is heard all the same
        warnings.showwarning = lambda *warning, **more: None
        print(f"round {X[0, 0]} of training")
        os.write(1, b"straight\n")
        ctypes.CDLL(None).puts(b"compiled")
        return lambda points: np.zeros(len(points))

    everywhere = "(in 24 of 24 fits)"
    for jobs in (1, 2):
        this = ask(says, n_jobs=jobs)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            converse(measure(this.split), this.oracle)
            assert not caught
            this.oracle.heard.warn()
        assert [(str(w.message), w.category) for w in caught] == [
            (f"no convergence at 0.0 {everywhere}", RuntimeWarning),
            ("only here (in 2 of 24 fits)", ConvergenceWarning),
        ]
        printed = [
            f"{line} {everywhere}" for line in ("compiled", "round 0.0 of training", "straight")
        ]
        assert sorted(this.oracle.heard.printed()) == printed
    assert capfd.readouterr().out == ""
    with pytest.raises(RuntimeWarning, match="in 24 of 24 fits"):  # the caller's filters hold
        this.oracle.heard.warn()


def test_a_debugger_gets_the_terminal_back(capfd, monkeypatch):
    monkeypatch.setattr(sys, "breakpointhook", lambda: print("(Pdb)"))
    run(lambda X, y, seed: breakpoint() or (lambda points: points[:, 0]), trials=1)
    assert "(Pdb)" in capfd.readouterr().out


class Checked(Algorithm):
    """Counts its fits; where checks are skipped it fails without a reason."""

    name, has_own_code = "checked", True

    def __init__(self, bad=(), heals=False):
        self.bad, self.heals, self.skips, self.fits = bad, heals, False, []

    @contextmanager
    def unchecked(self):
        self.skips = True
        yield
        self.skips = False

    def fit(self, X, y, xi):
        self.fits.append((int(X[0, 0]) // 3, self.skips))
        if self.fits[-1][0] in self.bad and (self.skips or not self.heals):
            raise ValueError("?" if self.skips else "the reason")
        return lambda points: np.zeros(len(points))


def test_checks_are_skipped_after_a_good_trial_and_made_again_for_the_reason_of_a_bad_one():
    def answers(**bad):
        this = ask(Checked(**bad), trials=5)
        return this.oracle.algorithm.fits, [*this.oracle.work(this.trials).answers(range(5))]

    fits, found = answers(bad=(0, 2))
    reason = "ValueError: the reason"
    said = [each.failure and each.failure.message for each in found]
    assert said == [reason, None, reason, None, None]
    fits = [(k, skips) for k, skips in fits if k]
    assert fits == [(1, 0), (1, 0), (2, 1), (2, 0), (3, 0), (3, 0), (4, 1), (4, 1)]
    # a failure does not vanish because it was looked at again
    assert answers(bad=(2,), heals=True)[1][2].failure


def test_changes_and_errors_are_those_of_a_loop_by_hand():
    answer = np.zeros(2)

    def writes(X, y, seed):
        """Write into whatever it is given, and give every answer in one array."""
        model = LinearRegression().fit(X, y)
        X[:], y[:] = 0, 0

        def predict(points):
            answer[:] = model.predict(points)
            points[:] = 0
            return answer

        return predict

    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    answers = run(writes, n=4, trials=10, removals=2, points=2, X=X, y=y)
    for k in range(10):
        points, losses = [40 + k, 50 + k], []
        for j, last in enumerate((3, 2)):
            order = [*np.delete(np.arange(4 * k, 4 * k + 4), last), 4 * k + last]
            full, reduced = (
                LinearRegression().fit(X[r], y[r]).predict(X[points]) for r in (order, order[:3])
            )
            np.testing.assert_array_equal(answers.changes[k, j], abs(full - reduced))
            losses.append(abs(full - y[points]).mean())
        assert answers.errors[k] == pytest.approx(np.mean(losses), rel=1e-12)


def test_the_error_is_that_of_the_points_that_have_a_response():
    y, rows = np.arange(1.0, 22.0), np.arange(36.0)[:, None]
    for labeled, expected in ((20, y[15:20].tolist()), (17, [16.0, 17.0, *[np.nan] * 3])):
        asked = {"n": 3, "points_per_trial": 3, "max_trials": 5, "shuffle": False, "check": False}
        zero = lambda X, y, seed: lambda points: np.zeros(len(points))  # noqa: E731
        found = poise.measure(zero, rows[:labeled], y[:labeled], X_unlabeled=rows[21:], **asked)
        np.testing.assert_array_equal(found.errors, expected)


def test_a_fit_that_loads_libraries_with_threads_is_made_again_with_one_thread():
    code = """
from poise.engine.surroundings import Settings, Surroundings
def fit():
    import scipy.linalg
    from threadpoolctl import threadpool_info
    return max(pool["num_threads"] for pool in threadpool_info())
seen = []
with Surroundings(Settings.here()) as around:
    for _ in range(2):
        around.before_fit(7)
        seen += fit(), around.too_late()
print(*seen[1:])
"""
    two = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    assert python(code, env=two).stdout.split() == ["True", "1", "False"]


@needs("torch")
def test_the_generator_of_pytorch_is_set_and_restored():
    import torch

    before = torch.get_rng_state()
    with Surroundings(Settings.here()) as around:
        drawn = []
        for xi in (7, 7, 2**64 - 1):
            around.before_fit(xi)
            drawn.append(float(torch.rand(1)))
    assert drawn[0] == drawn[1] != drawn[2]
    assert torch.equal(torch.get_rng_state(), before)


# where a run stops


def test_a_run_stops_at_the_trial_that_decides_and_makes_no_fit_after_it():
    fits = []

    def counts(X, y, seed):
        fits.append(len(X))
        return lambda points: np.full(len(points), y[-1])

    whole = ask(counts, trials=7)
    expected = converse(measure(whole.split), whole.oracle).changes
    for last in range(7):
        fits.clear()
        shown = []
        this = ask(counts, trials=7)
        until = lambda changes: shown.append(changes) or len(shown) > last  # noqa: B023, E731
        answers = converse(measure(this.split, until), this.oracle)
        np.testing.assert_array_equal(answers.changes, expected[: last + 1])
        np.testing.assert_array_equal(shown, answers.changes)
        assert len(fits) == 2 * len(shown)


def test_answers_are_used_in_plan_order_and_nobody_waits_for_a_fit_that_nobody_needs(tmp_path):
    folder = str(tmp_path)

    def first_is_slow_and_the_last_are_endless(X, y, seed):
        open(f"{folder}/{os.getpid()}", "w").close()
        level = X[0, 0] // 3 + len(X)
        time.sleep(0.5 if level == 3 else 0.1 + 1000 * (level > 7))  # each is a chunk of its own
        return lambda points: np.full(len(points), level)

    distance = lambda full, reduced: full - 3  # noqa: E731
    this = ask(first_is_slow_and_the_last_are_endless, n_jobs=2, distance=distance)
    shown = []
    until = lambda changes: shown.append(changes.item()) or len(shown) == 5  # noqa: E731
    answers = converse(measure(this.split, until), this.oracle)
    assert shown == answers.changes.ravel().tolist() == [0, 1, 2, 3, 4]
    for process in tmp_path.iterdir():
        assert not os.path.exists(f"/proc/{process.name}")


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_in_the_stopping_rule_ends_the_run_and_the_fits(jobs):
    this = ask(lambda X, y, seed: lambda points: np.zeros(len(points)), n_jobs=jobs)
    with pytest.raises(ZeroDivisionError):
        converse(measure(this.split, lambda changes: 1 / 0), this.oracle)
