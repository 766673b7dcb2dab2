"""The bootstrapped-sample test (Example 2) against its definition."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise.errors import ArgumentError
from poise.procedures import BootstrapTest
from poise.theory import pvalue
from shared.algorithms import mean
from shared.data import linear_rows

rng = np.random.default_rng(1)
X, y = linear_rows(25, [0.0, 0.0], rng)
extra = rng.normal(size=(7, 2))


def test_resamples_are_as_the_paper_says() -> None:
    test = BootstrapTest(n=12, epsilon=0.1, delta=0.5, resamples=300)
    run = poise.run(test, mean, X, y, X_unlabeled=extra, random_state=0)
    (stage,) = run.transcript.stages
    trained = np.array([task.full.train for task in stage.tasks])
    points = np.array([task.full.evaluate[0] for task in stage.tasks])
    assert trained.shape == (300, 12)
    assert set(trained.ravel()) == set(range(25))  # every labelled row, and no other
    assert set(points) == set(range(25, 32))  # test points are unlabelled rows
    # With replacement: 12 of 25 rows are distinct with probability 25!/(13! 25^12) = 0.042, so
    # more than 40 of 300 resamples are so with probability 4e-11.
    assert sum(len(set(rows)) == 12 for rows in trained.tolist()) <= 40
    for task in stage.tasks:
        np.testing.assert_array_equal(task.reduced.train, task.full.train[:-1])
        np.testing.assert_array_equal(task.reduced.evaluate, task.full.evaluate)
        assert task.reduced.xi == task.full.xi


def test_the_verdict_is_the_binomial_tests_on_the_count() -> None:
    test = BootstrapTest(n=12, epsilon=0.1, delta=0.5, resamples=300)
    run = poise.run(test, mean, X, y, random_state=0)
    (stage,) = run.transcript.stages
    by_hand = [
        abs(y[task.full.train].mean() - y[task.full.train[:-1]].mean()) for task in stage.tasks
    ]
    count = int((np.array(by_hand) > 0.1).sum())
    assert run.result.statistic == count
    assert run.result.n_trials == 300
    assert run.result.pvalue == pvalue(count, 300, 0.5)
    assert run.result.stable == (run.result.pvalue <= 0.05)
    assert run.counts.calls == 600


def test_without_unlabelled_rows_test_points_are_labelled_ones() -> None:
    test = BootstrapTest(n=5, epsilon=0.1, delta=0.5, resamples=200)
    (stage,) = poise.run(test, mean, X, y, random_state=0).transcript.stages
    assert {int(task.full.evaluate[0]) for task in stage.tasks} <= set(range(25))
    # Five given rows of 25 are all missed by 200 draws with probability 0.8^200 = 4e-20.
    assert len({int(task.full.evaluate[0]) for task in stage.tasks}) > 20


def test_independent_randomness() -> None:
    test = BootstrapTest(5, 0.1, 0.5, resamples=20, coupling="independent")
    (stage,) = poise.run(test, mean, X, y, random_state=0).transcript.stages
    assert all(task.full.xi != task.reduced.xi for task in stage.tasks)


def test_it_is_blind_to_a_row_that_is_not_in_the_sample() -> None:
    """The reason it certifies nothing: an algorithm that a rare row upsets looks stable."""

    def trap(X, y, seed):
        level = 1e6 if len(y) == 12 and np.max(y) > 90 else 0.0
        return lambda rows: np.full(len(rows), level)

    test = BootstrapTest(n=12, epsilon=0.1, delta=0.2, resamples=100)
    result = poise.run(test, trap, X, y, random_state=0).result
    assert result.stable
    assert not result.certifies
    assert "certifies nothing" in result.summary()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 1}, "n must be a whole number >= 2"),
        ({"epsilon": -1.0}, "epsilon must be"),
        ({"delta": 1.0}, r"delta must be in \[0, 1\), got 1.0"),
        ({"alpha": 0.0}, r"alpha must be in \(0, 1\), got 0.0"),
        ({"resamples": 0}, "resamples must be a whole number >= 1, got 0"),
        ({"coupling": "tight"}, "coupling must be"),
    ],
)
def test_bad_questions(changes, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        BootstrapTest(**({"n": 5, "epsilon": 0.1, "delta": 0.1} | changes))
