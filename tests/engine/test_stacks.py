"""Algorithms that fit a stack of data sets at once."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from helpers import ask, kill, run
from poise.algorithms.algorithm import Algorithm
from poise.engine.messages import Batch
from poise.engine.oracle import converse
from poise.errors import ArgumentError, TrialError
from poise.procedures.measure import measure


class Stacked(Algorithm):
    """Predicts from the mean response, the random term, and a little from the place."""

    name, has_own_code = "stacked", False

    def __init__(self, at_once: int | None = 4, device: str = "", fails: Any = None) -> None:
        self.at_once, self.device, self.fails = at_once, device, fails
        self.stacks: list[np.ndarray] = []

    def fit(self, X, y, xi):
        return lambda points: y.mean() + points[:, 0] * (1 + xi % 1000)

    def many(self, X, y, points, xi):
        assert len(X) == len(y) == len(points) == len(xi) == self.at_once
        assert xi.dtype == np.uint64
        self.stacks.append(X[:, 0, 0])
        if self.fails and np.isin(X[:, 0, 0], [9.0, 18.0]).any():
            self.fails()
        values = y.mean(axis=1)[:, None] + points[:, :, 0] * (1 + xi % np.uint64(1000))[:, None]
        return values + 1e-6 * np.arange(self.at_once)[:, None] * points[:, :, 0]


@pytest.mark.parametrize(
    "settings", [{}, {"removals": 3, "points": 2}, {"coupling": "independent"}]
)
def test_changes_are_those_of_fits_one_by_one(settings):
    algorithm = Stacked(5)
    alone, stacked = run(Stacked(None), **settings), run(algorithm, **settings)
    np.testing.assert_allclose(stacked.changes, alone.changes, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(stacked.errors, alone.errors, rtol=1e-3)
    assert (stacked.changes > 0).all()
    firsts = [(stack // 3 * 3).tolist() for stack in algorithm.stacks]
    full = [[0, 3, 6, 9, 12], [15, 18, 21, 24, 27], [30, 33, 30, 30, 30]]
    fits = 2 * settings.get("removals", 1)
    assert firsts == [rows for rows in full for _ in range(fits)]  # each trial has its place


def test_bits_do_not_depend_on_company():
    this = ask(Stacked(), trials=11)
    whole = converse(measure(this.split), this.oracle).changes
    for some in ([3], [2, 5, 9], [10, 3, 7], [*range(1, 11)]):  # repeated, or resumed
        again = this.oracle.answer(Batch([this.trials[k] for k in some]))
        np.testing.assert_array_equal(again.changes, whole[some])
    queries = [query for k in (1, 6) for query in (*this.trials[k].full, *this.trials[k].reduced)]
    apart = [answer.values for answer in this.oracle.ask(queries)]  # the look at a trial
    np.testing.assert_array_equal(np.abs(np.subtract(apart[::2], apart[1::2])), whole[[1, 6], 0])
    unequal = this.oracle.answer(Batch([queries[0], queries[3]])).predictions
    np.testing.assert_array_equal(unequal, [apart[0], apart[3]])  # which are fitted one by one
    np.testing.assert_array_equal(
        ask(Stacked(), n_jobs=2, trials=11).oracle.answer(Batch(this.trials)).changes, whole
    )


@pytest.mark.parametrize(
    ("what", "jobs", "message"),
    [(sys.exit, 1, "SystemExit"), (sys.exit, 2, "SystemExit"), (kill, 2, "SIGKILL, twice")],
)
def test_a_failure_or_a_death_is_that_of_one_trial(what, jobs, message):
    whole = run(Stacked()).changes
    answers = run(Stacked(fails=what), on_error="record", n_jobs=jobs)
    assert [failed.trial for failed in answers.failures] == [3, 6]
    assert message in answers.failures[0].message
    whole[[3, 6]] = np.nan
    np.testing.assert_array_equal(answers.changes, whole)


def test_another_shape_and_a_limit_for_one_fit_are_refused_and_a_device_stays_here(monkeypatch):
    class Short(Stacked):
        def many(self, X, y, points, xi):
            return super().many(X, y, points, xi)[1:]

    with pytest.raises(TrialError, match=r"shape \(3, 1\); it must return one prediction"):
        run(Short())
    with pytest.raises(ArgumentError, match="fit_timeout cannot be kept: stacked fits 4 data sets"):
        run(Stacked(), fit_timeout=1.0)
    monkeypatch.delattr("poise.engine.pool.Pool.of")
    algorithm = Stacked(device="gpu")
    run(algorithm, n_jobs=2)
    assert algorithm.stacks
