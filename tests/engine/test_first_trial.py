from __future__ import annotations

import os
import random
import sys
import threading
import time
import types
import warnings

import cloudpickle
import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

from helpers import ask, kill
from poise.algorithms.decisions import flips
from poise.engine.first_trial import look
from poise.engine.oracle import converse
from poise.errors import TrialError
from poise.procedures.measure import measure

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import this file

STATE, ORDER = "not a function", "another order"
BATCH, CONSTANT = "predicted with it", "the same for"


def at_level(level):
    return lambda points: level + points[:, 0]


def mean(X, y, seed):
    return at_level(float(np.mean(y)))


def memo(key):
    memory = {}
    return lambda X, y, seed: at_level(memory.setdefault(key(X, seed), float(np.mean(y))))


def unseeded(X, y, seed):
    return at_level(int.from_bytes(os.urandom(4)))


def global_cache(X, y, seed):
    cache = sys.modules.setdefault("poise_test_cache", types.ModuleType("poise_test_cache"))
    return at_level(vars(cache).setdefault(str(seed), float(np.mean(y))))


def batch(X, y, seed):
    return lambda points: points[:, 0] - np.mean(points[:, 0]) + np.mean(y)


def batch_at_one_point(X, y, seed):
    return lambda points: points[:, 0] + (len(points) > 1) * (points[:, 0] == 48) * (len(X) == 2)


def alone_fails(X, y, seed):
    return lambda points: points[:, 0] if len(points) > 1 else 1 / 0


def one_draw(X, y, seed):
    return lambda points: points[:, 0] + random.random()


def last_row(X, y, seed):
    return at_level(float(y[-1]))


def order_fails(X, y, seed):
    return at_level(0.0 if X[0, 0] < X[-1, 0] else 1 / 0)


def begun(algorithm, fresh=False, **settings):
    """A run; only those that are about state have a process that has fitted nothing."""
    this = ask(algorithm, **settings)
    this.oracle.algorithm.has_own_code = fresh
    return this


def seen(algorithm, position="last", **settings):
    """The look, what it says when all has been seen, and the answers."""
    this = begun(algorithm, position=position, **settings)
    found = look(this.oracle, this.trials, position)
    split = this.split.with_fewer(1, 1) if found.given_up else this.split
    answers = converse(measure(split, known=found.known), this.oracle)
    return found, [*found.warnings, *found.finish()], answers


def test_state_between_fits_is_noticed_with_any_number_of_workers():
    for jobs in (1, 2):
        by_seed, by_size = memo(lambda X, seed: seed), memo(lambda X, seed: len(X))
        # A memo in a notebook travels with its function, filled with the seeds of a first call.
        for algorithm in (by_seed, by_seed, by_size, unseeded, global_cache):
            said = seen(algorithm, fresh=True, n_jobs=jobs, trials=2)[1]
            assert any(STATE in text for text in said), (algorithm, jobs)
    assert seen(mean, fresh=True)[1] == []


def test_a_fit_that_fails_or_dies_elsewhere_is_said():
    here, lock = os.getpid(), threading.Lock()

    def only_here(X, y, seed):
        assert os.getpid() == here, "elsewhere"
        return mean(X, y, seed)

    def dies(X, y, seed):
        return mean(X, y, seed) if os.getpid() == here else kill()

    def cannot_travel(X, y, seed):
        with lock:
            return mean(X, y, seed)

    for algorithm, words in ((only_here, "elsewhere"), (dies, "SIGKILL"), (cannot_travel, "lock")):
        [text] = seen(algorithm, fresh=True, trials=2)[1]
        assert words in text
        assert "n_jobs" not in text  # it is 1 already
    this = ask(Ridge())  # no process for estimators of scikit-learn
    assert look(this.oracle, this.trials)._fresh is None


class Ends:
    """A prediction that ends the program when it is looked at."""

    def __repr__(self):
        sys.exit(0)

    def __eq__(self, other):
        sys.exit(0)

    __hash__ = None


def arrays(X, y, seed):
    return lambda points: np.array([*([np.ones(2)] * len(points)), None], dtype=object)[:-1]


def test_predictions_that_cannot_be_compared_are_failures_like_any_other():
    for points in (1, 3):
        for algorithm in (arrays, lambda X, y, seed: lambda rows: [Ends() for _ in rows]):
            assert seen(algorithm, points=points, on_error="record")[2].n_failed == 12
    infinite = seen(lambda X, y, seed: at_level(np.inf), on_error="record")
    assert (infinite[1], infinite[2].n_failed) == ([], 12)


def test_predictions_that_depend_on_their_batch_leave_one_point():
    for algorithm in (batch, batch_at_one_point, alone_fails):
        found, said, answers = seen(algorithm, points=3, on_error="record")
        assert (found.given_up, found.known) == (("points",), {})
        assert sum(BATCH in text for text in said) == 1
        assert answers.changes.shape == (12, 1, 1)
    assert seen(batch)[0].given_up == ()  # at one point nothing is given up
    assert seen(batch, points=3, distance=flips(0.0, of=3))[0].given_up == ()
    for jobs in (1, 2):
        for algorithm in (mean, one_draw):
            assert seen(algorithm, points=3, n_jobs=jobs)[0].given_up == ()


def test_the_order_of_the_rows_and_constant_predictions():
    for algorithm in (last_row, order_fails, RandomForestRegressor(3)):
        found, said, _ = seen(algorithm, n=6)
        assert found.order_matters
        assert any(ORDER in text for text in said)
        assert not any(ORDER in text for text in seen(algorithm, "uniform", n=6)[1])
    for algorithm in (mean, Ridge(), DummyRegressor()):
        found, said, _ = seen(algorithm)
        assert found.order_matters is False
        assert any(CONSTANT in text for text in said) == (type(algorithm) is DummyRegressor)
    assert seen(DummyRegressor(), y=np.zeros(48))[1] == []  # then it is right


def test_the_fits_of_the_look_are_the_answer_to_trial_0_and_not_made_again():
    fits = []

    def counts(X, y, seed):
        fits.append((tuple(X[:, 0]), seed))
        warnings.warn("rows", stacklevel=1)
        return mean(X, y, seed)

    for removals, points in ((1, 1), (2, 3)):
        expected = begun(counts, removals=removals, points=points)
        expected = converse(measure(expected.split), expected.oracle)
        fits.clear()
        this = begun(counts, removals=removals, points=points)
        found = look(this.oracle, this.trials)
        assert len(fits) == 2 * removals + 1
        answers = converse(measure(this.split, known=found.known), this.oracle)
        np.testing.assert_array_equal(answers.changes, expected.changes)
        np.testing.assert_array_equal(answers.errors, expected.errors)
        made = 2 * removals * 12
        assert len(set(fits)) == len(fits) == made + 1
        with pytest.warns(UserWarning, match=f"in {made} of {made} fits"):  # those of the trials
            this.oracle.heard.warn()


def test_the_look_moves_on_when_a_trial_fails():
    def fails(X, y, seed):
        assert X[0, 0] not in (0.0, 3.0)
        return last_row(X, y, seed)

    for how, seen in (("record", 3), ("raise", 1)):
        this = begun(fails, fresh=True, on_error=how)
        found = look(this.oracle, this.trials)
        assert found.finish() == []  # it fails everywhere alike
        assert found.order_matters is (True if seen == 3 else None)
        assert [*found.known] == [*range(seen)]
        again = measure(this.split, known=found.known)
        if how == "record":
            assert [f.trial for f in converse(again, this.oracle).failures] == [0, 1]
        else:
            with pytest.raises(TrialError, match="trial 0"):
                converse(again, this.oracle)


def test_a_death_in_the_look_costs_its_trial_only():
    def deadly(X, y, seed):
        return mean(X, y, seed) if X[0, 0] else kill()

    _, said, answers = seen(deadly, fresh=True, n_jobs=2, on_error="record", trials=3)
    assert said == []
    assert [(f.trial, f.kind) for f in answers.failures] == [(0, "death")]


def test_the_time_of_a_fit_is_not_that_of_all_its_predictions():
    def slow(X, y, seed):
        return lambda points: time.sleep(0.3) or points[:, 0]

    this = begun(slow, points=4, fit_timeout=1)
    assert look(this.oracle, this.trials).known[0].failure is None
