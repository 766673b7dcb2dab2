"""Every removal from one fit: the same changes as n + 1 fits a trial."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import poise
from poise.errors import PoiseError, PoiseWarning
from poise.shortcuts.ridge_and_least_squares import RidgeShortcut

N, TRIALS, POINTS = 12, 34, 2  # at least 32 trials: fewer are computed fit by fit


def rows(d: int = 3, *, seed: int = 0, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(TRIALS * (n + POINTS), d))
    return X, X[:, 0] + rng.normal(size=len(X))


def both_ways(estimator, X, y, n: int = N, removals="all", points=POINTS):
    def measured(fast: bool) -> np.ndarray:
        settings = {"n": n, "removals": removals, "points": points, "random_state": 3}
        return poise.measure(estimator, X, y, fast=fast, **settings).changes

    return measured(True), measured(False)


REGRESSORS = [
    Ridge(),
    Ridge(alpha=0.01, fit_intercept=False, solver="svd"),
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    KNeighborsRegressor(),
    KNeighborsRegressor(1, metric="manhattan"),
    KNeighborsRegressor(2, algorithm="kd_tree"),
    KernelRidge(kernel="rbf"),
    GaussianProcessRegressor(RBF(2.0) + WhiteKernel(0.5), optimizer=None, normalize_y=True),
    DummyRegressor(),
]
CLASSIFIERS = [
    KNeighborsClassifier(3),
    RidgeClassifier(),
    LinearDiscriminantAnalysis(),
    GaussianNB(),
    DummyClassifier(),
]


FEW = 8
ASKED = [("all", POINTS), (5, 1), (1, POINTS)]


def in_blocks(estimator, removals, points: int, *, fast: bool) -> np.ndarray:
    """Measure trials of the same rows: the first ones train, the next ones are first points."""
    X, y = (given[: TRIALS * (FEW + points)] for given in rows(n=FEW))
    settings = {"n": FEW, "removals": removals, "points": points, "shuffle": False, "fast": fast}
    return poise.measure(estimator, X, y, **settings).changes


@pytest.fixture(scope="module")
def fitted() -> Callable[[Any], np.ndarray]:
    """Return what the fits of an estimator say about every removal and point, fitted once."""
    return cache(partial(in_blocks, removals="all", points=POINTS, fast=False))


@pytest.mark.parametrize("estimator", REGRESSORS, ids=str)
@pytest.mark.parametrize(("removals", "points"), ASKED)
def test_the_changes_are_those_of_the_fits(estimator, removals, points, fitted) -> None:
    fast = in_blocks(estimator, removals, points, fast=True)
    slow = fitted(estimator)[:, : fast.shape[1], :points]
    assert fast.shape == (TRIALS, FEW if removals == "all" else removals, points)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(fast == 0, slow == 0)
    assert fast.max() > 0.01


@pytest.mark.parametrize(("removals", "points"), ASKED[1:])
def test_fewer_removals_and_points_are_some_of_all(removals, points, fitted) -> None:
    """So the fits of all of them serve above; one point is rounded otherwise than two."""
    some = in_blocks(REGRESSORS[0], removals, points, fast=False)
    of_all = fitted(REGRESSORS[0])[:, : some.shape[1], :points]
    np.testing.assert_allclose(some, of_all, rtol=0, atol=1e-14)


@pytest.mark.parametrize("labels", [[0, 1, 2], ["ham", "spam", "eggs"]], ids=["numbers", "text"])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
def test_labels_are_those_of_the_fits(estimator, labels) -> None:
    X, y = rows()
    classes = np.array(labels)[np.digitize(y, [-0.5, 0.5])]
    fast, slow = both_ways(estimator, X, classes, removals=6)
    np.testing.assert_array_equal(fast, slow)
    assert 0 < fast.mean() < 0.5


@pytest.mark.parametrize("estimator", [*REGRESSORS, *CLASSIFIERS], ids=str)
def test_one_fit_serves_all_removals(estimator, monkeypatch) -> None:
    """Only 8 trials are computed both ways, and one in three orders of its rows."""
    X, y = rows()
    # Three classes: where one of two leaves with its row, the trial is left to the fits.
    y = np.digitize(y, [-0.5, 0.5]) if estimator in CLASSIFIERS else y
    fits = count_fits(estimator, monkeypatch)
    poise.measure(estimator, X, y, n=N, removals="all", points=POINTS, random_state=3)
    assert len(fits) < TRIALS


def count_fits(estimator, monkeypatch) -> list[int]:
    fits: list[int] = []
    fit = type(estimator).fit

    def counted(self, X, y):
        fits.append(len(X))
        return fit(self, X, y)

    monkeypatch.setattr(type(estimator), "fit", counted)
    return fits


@pytest.mark.parametrize(
    ("estimator", "d", "n"),
    [
        (Ridge(), N, N),  # as many columns as rows: another form
        (LinearRegression(), N - 1, N),
        (KNeighborsRegressor(weights="distance"), 2, N),
        (KNeighborsClassifier(weights="distance"), 2, N),
    ],
    ids=str,
)
def test_what_the_formulas_do_not_cover_is_fitted(estimator, d, n) -> None:
    X, y = rows(d)
    y = (y > 0).astype(int) if isinstance(estimator, KNeighborsClassifier) else y
    fast, slow = both_ways(estimator, X, y, n, removals=2, points=1)
    np.testing.assert_array_equal(fast, slow)


def test_tied_neighbours_are_left_to_the_fits() -> None:
    X, y = rows(1)
    fast, slow = both_ways(KNeighborsRegressor(3), np.round(X), y, removals=4, points=1)
    np.testing.assert_array_equal(fast == 0, slow == 0)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-12)


def test_whole_responses_may_leave_a_mean_as_it_was() -> None:
    """A neighbour and its successor often have the same response: no change at all."""
    X, y = rows(2)
    fast, slow = both_ways(KNeighborsRegressor(2), X, np.round(y))
    np.testing.assert_array_equal(fast, slow)


def test_rows_that_are_nearly_dependent_are_left_to_the_fits() -> None:
    X, y = rows(3)
    X[:, 2] = X[:, 1] * (1 + 1e-7 * X[:, 0])
    fast, slow = both_ways(LinearRegression(), X, y, removals=2, points=1)
    np.testing.assert_array_equal(fast, slow)


def test_numbers_that_no_fit_accepts() -> None:
    X, y = rows()
    X[40, 1] = np.nan
    for fast in (True, False):
        with pytest.raises(PoiseError):
            poise.measure(Ridge(), X, y, n=N, removals=3, random_state=3, fast=fast)


def test_a_change_as_large_as_epsilon_is_computed_by_the_fits(monkeypatch) -> None:
    X, y = rows()
    exact, _ = both_ways(Ridge(), X, y, removals=3, points=1)
    settings = {
        "n": N,
        "removals": 3,
        "points": 1,
        "random_state": 3,
        "delta": 0.9,
        "stop_early": False,
    }
    fits = count_fits(Ridge(), monkeypatch)
    poise.stability_test(Ridge(), X, y, epsilon=0.1234, test="averaged", **settings)
    plain = len(fits)
    at = float(exact[5, 1, 0])
    poise.stability_test(Ridge(), X, y, epsilon=at, test="averaged", **settings)
    assert len(fits) - plain == plain + 4  # one trial: a full fit, and one per removal


@pytest.mark.parametrize("what", ["full", "reduced"])
def test_a_formula_that_is_wrong_is_noticed(what, monkeypatch) -> None:
    X, y = rows()
    correct = RidgeShortcut.tables

    def wrong(self, *given):
        found = correct(self, *given)
        return found._replace(**{what: getattr(found, what) * (1 + 1e-6)})

    monkeypatch.setattr(RidgeShortcut, "tables", wrong)
    with pytest.warns(PoiseWarning, match="every trial is computed fit by fit"):
        fast = poise.measure(Ridge(), X, y, n=N, removals=2, random_state=3).changes
    monkeypatch.undo()
    _, slow = both_ways(Ridge(), X, y, removals=2, points=1)
    np.testing.assert_array_equal(fast, slow)


def test_removal_j_takes_the_row_j_from_the_end() -> None:
    X, y = rows(2, seed=5)
    shortcut = RidgeShortcut(1.0, True)
    found = shortcut.tables(X[None, :N], y[None, :N], X[None, -3:], 4)
    assert found.trusted.all()
    for j in range(4):
        kept = np.delete(np.arange(N), N - 1 - j)
        fitted = Ridge().fit(X[kept], y[kept]).predict(X[-3:])
        np.testing.assert_allclose(found.reduced[0, j], fitted, rtol=1e-12)
    np.testing.assert_allclose(found.full[0], Ridge().fit(X[:N], y[:N]).predict(X[-3:]), rtol=1e-12)


def test_the_bound_of_the_error_holds_far_from_the_origin() -> None:
    """Cancellation: the further the rows, the fewer digits two correct computations share."""
    X, y = rows(2, seed=6)
    for distance in (0.0, 1e3, 1e6):
        far = X + distance
        found = RidgeShortcut(1.0, True).tables(far[None, :N], y[None, :N], far[None, -3:], N)
        kept = np.delete(np.arange(N), 4)
        fitted = Ridge().fit(far[kept], y[kept]).predict(far[-3:])
        assert (np.abs(found.reduced[0, N - 5] - fitted) <= found.slack[0]).all()


def test_a_singular_trial_does_not_spoil_the_others() -> None:
    X, y = rows(2)
    stack, responses = X[: 3 * N].reshape(3, N, 2).copy(), y[: 3 * N].reshape(3, N)
    stack[1] = 0.0
    shortcut = dataclasses.replace(RidgeShortcut(0.0, True), largest_condition=1e6)
    found = shortcut.tables(stack, responses, X[-3:, None], N)
    assert found.trusted.tolist() == [True, False, True]


def test_many_points_take_memory_and_give_the_changes_of_the_fits() -> None:
    """The changes of a trial are more numbers than its rows, and blocks are made for both."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(32 * (6 + 60), 2))
    fast, slow = both_ways(Ridge(), X, X[:, 0] + rng.normal(size=len(X)), n=6, points=60)
    assert fast.shape == (32, 6, 60)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-12)
