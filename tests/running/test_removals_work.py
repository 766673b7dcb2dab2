"""One full fit and R reduced fits a trial if the order of rows does not matter; else R pairs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Lasso

import poise

N, TRIALS, REMOVALS = 6, 10, 4
rng = np.random.default_rng(0)
X = rng.normal(size=(TRIALS * (N + 1), 2))
y = X[:, 0] + rng.normal(size=len(X))


class Median(poise.Algorithm):
    """The median of the responses; it counts the fits by their number of rows."""

    name = "median"

    def __init__(self, declared: bool) -> None:
        self.ignores_row_order = declared
        self.fits: Counter[int] = Counter()

    def fit(self, X: Any, y: Any, xi: int) -> Any:
        self.fits[len(y)] += 1
        level = float(np.median(y))
        return lambda rows: np.full(len(rows), level)


def measured(algorithm: Any, removals: int | str = REMOVALS) -> poise.Trials:
    return poise.measure(algorithm, X, y, n=N, removals=removals, random_state=0)


@pytest.mark.parametrize("declared", [True, False])
def test_a_declaration_saves_all_full_fits_but_one(declared: bool) -> None:
    median = Median(declared)
    trials = measured(median)
    # The first trial is computed twice; three orders of its rows are looked at before that.
    again = TRIALS + 1
    assert median.fits[N - 1] == again * REMOVALS
    assert median.fits[N] == (again + 3 if declared else again * REMOVALS)
    assert trials.n_fits == TRIALS * (1 + REMOVALS if declared else 2 * REMOVALS)
    assert trials.design.one_full_fit == declared


def test_the_changes_are_the_same_with_and_without_the_declaration() -> None:
    np.testing.assert_array_equal(measured(Median(True)).changes, measured(Median(False)).changes)


def test_an_estimator_that_poise_does_not_know_can_be_declared() -> None:
    lasso = poise.as_algorithm(Lasso(0.1, tol=1e-12))
    lasso.ignores_row_order = True
    declared, undeclared = measured(lasso, "all"), measured(Lasso(0.1, tol=1e-12), "all")
    assert (declared.n_fits, undeclared.n_fits) == (TRIALS * (N + 1), TRIALS * 2 * N)
    np.testing.assert_allclose(declared.changes, undeclared.changes, rtol=0, atol=1e-9)


def test_one_removal_is_a_pair_whatever_was_declared() -> None:
    median = Median(True)
    trials = poise.measure(median, X, y, n=N, removals=1, random_state=0)
    assert median.fits == Counter({N: TRIALS + 1, N - 1: TRIALS + 1})
    assert trials.n_fits == 2 * TRIALS


def test_all_removals_may_be_one_block_of_rows() -> None:
    block = {"n": 3, "remove": 2, "random_state": 0}
    every = poise.measure(Median(True), X, y, **block, removals="all")  # 3 // 2 = 1
    np.testing.assert_array_equal(every.changes, poise.measure(Median(True), X, y, **block).changes)
    assert not every.design.one_full_fit
