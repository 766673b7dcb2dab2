"""The look that every test takes at its first trial once more: what it finds, and what it costs."""

from __future__ import annotations

import dataclasses
import itertools
import warnings

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.errors import PoiseWarning, TrialError
from shared.algorithms import constant
from shared.data import linear_rows

X, y = linear_rows(220, [0.0, 0.0])
ASKED = {"n": 10, "epsilon": 0.5, "delta": 0.2, "random_state": 0}


def counted(fit):
    """Wrap an algorithm so that its calls are counted."""

    def wrapped(X, y, seed):
        wrapped.calls += 1
        return fit(X, y, seed)

    wrapped.calls = 0
    return wrapped


def hidden(X, y, seed):
    return constant(np.random.default_rng().normal())


def drifting():
    """Remembers how often it was fitted."""
    fits = itertools.count()
    return lambda X, y, seed: constant(next(fits) ** 1.5)


@pytest.mark.parametrize("make", [lambda: hidden, drifting], ids=["hidden seed", "memory"])
def test_an_algorithm_that_is_no_function_of_rows_and_seed_is_noticed(make) -> None:
    with pytest.warns(PoiseWarning, match="first trial, computed once more, gave a change of"):
        poise.stability_test(make(), X, y, **ASKED)


def test_the_only_trial_is_looked_at_too() -> None:
    with pytest.warns(PoiseWarning, match="first trial, computed once more, gave a change of"):
        assert poise.measure(drifting(), X[:11], y[:11], n=10, random_state=0).n_trials == 1


def test_others_are_left_in_peace_for_two_fits() -> None:
    algorithm = counted(lambda X, y, seed: constant(np.random.default_rng(seed).choice(y)))
    result = poise.stability_test(algorithm, X, y, **ASKED)
    assert algorithm.calls == result.n_fits + 2
    assert result == poise.stability_test(algorithm, X, y, **ASKED, check=False)
    assert algorithm.calls == 2 * result.n_fits + 2


def test_the_look_comes_last_and_cannot_alter_the_result() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoiseWarning)
        looked = poise.stability_test(drifting(), X, y, **ASKED)
    assert len(looked.warnings) == 1
    unlooked = poise.stability_test(drifting(), X, y, **ASKED, check=False)
    assert dataclasses.replace(looked, warnings=()) == unlooked


def test_a_second_failure_is_a_finding_not_an_error() -> None:
    fits = itertools.count()

    def wears_out(X, y, seed):
        if next(fits) >= 40:
            raise ZeroDivisionError("worn out")
        return constant(0.0)

    with pytest.warns(PoiseWarning, match="failed .ZeroDivisionError: worn out"):
        result = poise.stability_test(wears_out, X, y, **ASKED, stop_early=False)
    assert result.n_fits == 40
    assert result.stable


@pytest.mark.parametrize("estimator", [DecisionTreeRegressor(), Ridge()])
def test_estimators_that_cannot_remember_are_not_asked(estimator, monkeypatch) -> None:
    def never(*arguments):
        raise AssertionError("looked again")

    monkeypatch.setattr("poise.running.oracle.Oracle.repeat", never)
    poise.stability_test(estimator, X, y, **ASKED)


def test_nothing_is_repeated_where_fits_are_slow_or_failed(monkeypatch) -> None:
    def fit(X, y, seed):
        clock.now += 0.06
        return constant(0.0)

    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    clock = Clock()
    algorithm = counted(fit)
    monkeypatch.setattr("poise.running.repeat_check.time", clock)
    slow = poise.stability_test(algorithm, X, y, **ASKED)
    assert algorithm.calls == slow.n_fits

    def failing(X, y, seed):
        raise ZeroDivisionError

    with pytest.raises(TrialError):
        poise.stability_test(failing, X, y, **ASKED)
    assert not poise.stability_test(failing, X, y, **ASKED, on_error="unstable").stable


def test_a_run_that_goes_on_from_a_journal_is_compared_with_the_trial_in_it(tmp_path) -> None:
    journal = tmp_path / "kept"
    with pytest.warns(PoiseWarning, match="first trial, computed once more, gave a change of"):
        noticed = poise.stability_test(hidden, X, y, **ASKED, journal=journal)
    assert len(noticed.warnings) == 1
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:4]))  # cut short: the header and three trials
    with pytest.warns(PoiseWarning, match="first trial, computed once more, gave a change of"):
        again = poise.stability_test(hidden, X, y, **ASKED, journal=journal)
    assert len(again.warnings) == 1


def test_a_run_with_a_journal_has_two_fits_more_unless_it_only_reads(tmp_path) -> None:
    algorithm = counted(lambda X, y, seed: constant(np.random.default_rng(seed).choice(y)))
    kept = poise.stability_test(algorithm, X, y, **ASKED, journal=tmp_path / "kept")
    assert algorithm.calls == kept.n_fits + 2
    assert poise.stability_test(algorithm, X, y, **ASKED, journal=tmp_path / "kept") == kept
    assert algorithm.calls == kept.n_fits + 2


def test_the_time_of_a_trial_is_that_of_the_trials_computed_now(tmp_path, monkeypatch) -> None:
    """Ten trials are read and ten computed, of 0.12 s each: over twenty they would look cheap."""

    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr("poise.running.repeat_check.time", clock)

    @counted
    def fit(X, y, seed):
        clock.now += 0.06
        return constant(0.0)

    asked = ASKED | {"stop_early": False, "journal": tmp_path / "kept"}
    whole = poise.stability_test(fit, X, y, **asked)
    assert (whole.n_trials, fit.calls) == (20, 40)
    lines = asked["journal"].read_bytes().splitlines(keepends=True)
    asked["journal"].write_bytes(b"".join(lines[:11]))
    poise.stability_test(fit, X, y, **asked)
    assert fit.calls == 40 + 20


def test_rounding_is_no_finding() -> None:
    noise = itertools.cycle([0.0, 1e-9, -1e-9])

    def rounds(X, y, seed):
        return constant(np.mean(y) + next(noise))

    poise.stability_test(rounds, X, y, **ASKED)


def test_it_looks_after_parallel_runs_too(monkeypatch) -> None:
    class Stopped:
        """A machine that is busy otherwise must not make these fits look slow."""

        def perf_counter(self):
            return 0.0

    def unseeded(X, y, seed):  # in here it travels by value: workers import none of this file
        level = np.random.default_rng().normal()
        return lambda rows: np.full(len(rows), level)

    monkeypatch.setattr("poise.running.repeat_check.time", Stopped())
    with pytest.warns(PoiseWarning, match="computed once more"):
        poise.stability_test(unseeded, X, y, **ASKED, n_jobs=2, backend="threading")
    # What worker processes do is not repeated here.
    poise.stability_test(unseeded, X, y, **ASKED, n_jobs=2, backend="loky")
