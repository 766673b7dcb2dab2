from __future__ import annotations

import itertools
import os
import time

import numpy as np
import pytest

from poise.engine.oracle import converse
from poise.procedures.measure import measure


def test_every_sequence_of_seven_trials_stops_where_it_is_decided(ask):
    """Changes are 0 or 1; a run stops with its third 1, or when three can no longer be reached."""
    fits = []

    def first_response(X, y, seed):
        fits.append(float(X[0, 0]))
        moved = y[-1] if len(y) == 3 else 0.0
        return lambda points: np.full(len(points), moved)

    for sequence in itertools.product((0.0, 1.0), repeat=7):
        ones = np.cumsum(sequence)
        decided = [k for k in range(7) if ones[k] == 3 or ones[k] + 6 - k < 3]
        y = np.zeros(28)
        y[2:21:3] = sequence
        shown = []

        def until(changes, shown=shown):
            shown.append(changes.item())
            return sum(shown) == 3 or sum(shown) + 7 - len(shown) < 3

        fits.clear()
        this = ask(first_response, trials=7, y=y)
        answers = converse(measure(this.split, until), this.oracle)
        assert answers.changes.ravel().tolist() == shown == list(sequence[: decided[0] + 1])
        assert len(fits) == 2 * len(shown)


def test_answers_are_used_in_plan_order_also_if_the_first_is_the_slowest(ask, tmp_path):
    def slow_first(X, y, seed):
        time.sleep(0.5 * (X[0, 0] == 0))
        level = X[0, 0] // 3 + len(X)
        return lambda points: np.full(len(points), level)

    this = ask(slow_first, n_jobs=2, distance=lambda full, reduced: full - 3)
    shown = []
    answers = converse(
        measure(this.split, lambda changes: shown.append(changes.item()) or len(shown) == 5),
        this.oracle,
    )
    assert shown == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(answers.changes.ravel(), shown)


def test_nobody_waits_for_a_fit_that_nobody_needs(ask, tmp_path):
    folder = str(tmp_path)

    def last_is_endless(X, y, seed):
        open(f"{folder}/{os.getpid()}", "w").close()
        time.sleep(1000 * (X[0, 0] >= 3))
        return lambda points: np.zeros(len(points))

    this = ask(last_is_endless, n_jobs=2)
    answers = converse(measure(this.split, lambda changes: True), this.oracle)
    assert len(answers.changes) == 1
    for process in tmp_path.iterdir():
        assert not os.path.exists(f"/proc/{process.name}")


def test_an_error_in_the_stopping_rule_ends_the_run_and_the_fits(ask):
    for jobs in (1, 2):
        this = ask(lambda X, y, seed: lambda points: np.zeros(len(points)), n_jobs=jobs)
        with pytest.raises(ZeroDivisionError):
            converse(measure(this.split, lambda changes: 1 / 0), this.oracle)
