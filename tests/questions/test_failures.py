"""A trial that cannot be computed is never dropped, and nothing measured is lost."""

from __future__ import annotations

import math
import weakref

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.svm import SVR

import poise
from poise.errors import TrialError

X = np.random.default_rng(0).normal(size=(300, 3))
y = X[:, 0]


def fails_on(trial: int, what):
    """An algorithm that misbehaves on the training rows of one trial (unshuffled, n = 10)."""

    def fit(A, b, seed):
        bad = bool(np.isclose(A[0], X[trial * 10]).all())
        return lambda rows: [what() if bad else 0.25]

    return fit


def explode():
    raise ZeroDivisionError("the fit went wrong")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_raise_names_the_trial_keeps_the_cause_and_what_was_measured(n_jobs) -> None:
    with pytest.raises(TrialError, match=r"trial 7 failed: ZeroDivisionError: the fit") as caught:
        poise.measure(fails_on(7, explode), X, y, n=10, shuffle=False, n_jobs=n_jobs)
    assert caught.value.trial == 7
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    partial = caught.value.partial
    assert isinstance(partial, poise.Trials)
    assert partial.changes.tolist() == [0.0] * 7


@pytest.mark.parametrize("what", [explode, lambda: math.nan], ids=["raises", "nan"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_unstable_counts_a_failed_trial_as_an_infinite_change(what, n_jobs) -> None:
    trials = poise.measure(
        fails_on(7, what), X, y, n=10, shuffle=False, on_error="unstable", n_jobs=n_jobs
    )
    assert trials.n_trials == len(trials.changes) == 27
    assert np.flatnonzero(np.isinf(trials.changes)).tolist() == [7]
    assert len(trials.failures) == 1
    assert trials.test(epsilon=1e9, delta=0.5).statistic == 1


def test_nan_prediction_raises_by_default() -> None:
    with pytest.raises(TrialError, match="not a number"):
        poise.measure(fails_on(3, lambda: math.nan), X, y, n=10, shuffle=False)


@pytest.mark.parametrize(
    ("full", "reduced", "change"),
    [
        (math.inf, math.inf, 0.0),
        (math.inf, -math.inf, math.inf),
        (math.inf, 1.0, math.inf),
        (-math.inf, -math.inf, 0.0),
    ],
)
def test_infinite_predictions(full, reduced, change) -> None:
    def fit(A, b, seed):
        return lambda rows: [full if len(A) == 10 else reduced]

    assert set(poise.measure(fit, X, y, n=10).changes) == {change}


def test_a_wrong_number_of_predictions_is_a_failure() -> None:
    with pytest.raises(TrialError, match=r"shape \(2,\) for one row"):
        poise.measure(lambda A, b, s: lambda rows: [1.0, 2.0], X, y, n=10)


def test_function_that_returns_no_predictor() -> None:
    with pytest.raises(TrialError, match="must return a function"):
        poise.measure(lambda A, b, s: 3, X, y, n=10)


def test_checks_skipped_for_speed_still_give_their_own_message() -> None:
    # Huge but finite rows: scikit-learn refuses them only with its checks on.
    bad = X.copy()
    bad[100] = 1e308
    with pytest.raises(TrialError) as caught:
        poise.measure(SVR(kernel="poly", degree=9), bad, y, n=10, shuffle=False, fast=False)
    assert caught.value.trial == 10


def test_an_exception_that_cannot_travel_still_tells_its_story() -> None:
    class Odd(Exception):
        def __init__(self, first, second):
            super().__init__(first)

    def fit(A, b, seed):
        raise Odd("strange", 1)

    with pytest.raises(TrialError, match="Odd: strange"):
        poise.measure(fit, X, y, n=10, n_jobs=2)


def test_failures_count_against_stable_and_never_for_unstable() -> None:
    seen = []

    def fit(A, b, seed):
        seen.append(1)
        raise RuntimeError("always")

    result = poise.stability_test(
        fit, X, y, n=10, epsilon=1.0, delta=0.2, on_error="unstable", stop_early=False
    )
    assert result.verdict == "inconclusive"
    assert (result.pvalue, result.pvalue_unstable) == (1.0, 1.0)
    assert (result.n_failures, result.n_moved) == (27, 0)
    assert len(seen) == 27
    assert "failed" in result.summary()
    with pytest.raises(TrialError):
        poise.stability_test(Ridge(alpha=-1.0), X, y, n=10, epsilon=1.0, delta=0.2)


def test_a_run_with_failures_stops_early_with_the_verdict_of_the_full_run() -> None:
    """Trials fail, move or stand still in turn; a failure must not end the run as unstable."""

    def fit(A, b, seed, trials=[]):  # noqa: B006
        if len(A) == 10:
            trials.append(1)
            if len(trials) % 3 == 0:
                raise RuntimeError("every third trial")
        return lambda rows: [float(len(A) == 10 and len(trials) % 2 == 0)]

    def run(stop_early):
        fit.__defaults__[0].clear()
        settings = {"n": 10, "epsilon": 0.5, "delta": 0.2, "shuffle": False, "check": False}
        return poise.stability_test(
            fit, X, y, on_error="unstable", stop_early=stop_early, progress=False, **settings
        )

    full, early = run(False), run(True)
    assert (full.n_failures, full.n_moved) == (9, 9)
    assert full.verdict == early.verdict == "inconclusive"
    assert full.pvalue_unstable == pytest.approx(stats.binom.sf(8, 27, 0.2))


def test_a_failed_trial_keeps_no_rows_in_memory() -> None:
    """A traceback holds on to the variables of every call in it, training rows included."""
    seen, alive = [], []

    def fit(A, b, seed):
        seen.append(weakref.ref(A))
        alive.append(sum(rows() is not None for rows in seen))
        raise RuntimeError("always")

    poise.measure(fit, X, y, n=10, on_error="unstable")
    assert len(alive) == 27
    assert max(alive) <= 2


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("code", [0, 3, "enough"])
def test_a_fit_that_ends_the_program_ends_its_own_trial(code, n_jobs) -> None:
    def quits(A, b, seed):
        if A[0, 0] == 30:
            raise SystemExit(code)
        return lambda rows: [0.0]

    rows = np.arange(110.0).reshape(-1, 1)
    question = {"n": 10, "shuffle": False, "n_jobs": n_jobs, "random_state": 0}
    with pytest.raises(TrialError, match=f"trial 3 failed: SystemExit: {code}"):
        poise.measure(quits, rows, rows[:, 0], **question)
    trials = poise.measure(quits, rows, rows[:, 0], on_error="unstable", **question)
    assert np.flatnonzero(np.isinf(trials.changes)).tolist() == [3]
