"""Where the last digit decides: fast and slow count the same changes, zeros and labels included."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import poise


def both(estimator, X, y, n, **settings):
    """Return the changes of the shortcut and of the fits, and the path taken."""
    runs = [
        poise.measure(estimator, X, y, n=n, random_state=0, fast=fast, **settings)
        for fast in (True, False)
    ]
    return runs[0].changes, runs[1].changes, runs[0].design.path


def normal(n, d, trials, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(trials * (n + 1), d)), rng.normal(size=trials * (n + 1))


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), KNeighborsRegressor(5)),
        make_pipeline(StandardScaler(), KNeighborsRegressor(8)),
        make_pipeline(StandardScaler(), KNeighborsRegressor(3, weights="distance")),
        KNeighborsRegressor(5),
    ],
    ids=str,
)
def test_the_same_neighbours_in_another_order_round_differently(estimator) -> None:
    fast, slow, path = both(estimator, *normal(20, 3, 400), n=20)
    assert path != "fit by fit"
    assert np.array_equal(fast > 0, slow > 0)
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsRegressor(5),
        KNeighborsRegressor(5, algorithm="kd_tree", leaf_size=1),
        KNeighborsRegressor(8, p=1),
        KNeighborsRegressor(5, weights="distance"),
    ],
    ids=str,
)
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "fractions"])
def test_neighbours_that_tie(estimator, whole) -> None:
    X, y = normal(20, 3, 160)
    X, y = np.rint(X), np.rint(3 * y) if whole else y
    fast, slow, _ = both(estimator, X, y, n=20)
    assert np.array_equal(fast > 0, slow > 0)


@pytest.mark.parametrize("estimator", [KNeighborsRegressor(5), DummyRegressor()], ids=str)
@pytest.mark.parametrize("level", [1e15, 1e16, 1.7e18])
def test_whole_numbers_whose_sum_is_rounded(estimator, level) -> None:
    X, y = normal(10, 3, 200)
    fast, slow, _ = both(estimator, X, level + np.rint(400 * y), n=10)
    assert np.array_equal(fast > 0, slow > 0)


@pytest.mark.parametrize("last", [KernelRidge(), Ridge(fit_intercept=False), Ridge()], ids=str)
def test_of_a_constant_column_a_scaler_leaves_some_rounding(last) -> None:
    X, y = normal(20, 1, 60)
    X[:] = 7.3
    fast, slow, _ = both(make_pipeline(StandardScaler(), last), X, y, n=20)
    assert np.array_equal(fast > 0, slow > 0)


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize(
    "last",
    [
        RidgeClassifier(fit_intercept=False),
        KNeighborsClassifier(3, algorithm="kd_tree"),
        KNeighborsClassifier(3, p=1),
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(2))
def test_digits_that_a_scaler_loses_decide_between_classes(last, centre, seed) -> None:
    rng = np.random.default_rng(seed)
    for n, d in ((4, 5), (8, 2)):
        rows = (n + 1) * 40
        X = rng.integers(0, 2 if seed % 2 else 5, (rows, d)) + 2000.0
        y = rng.integers(0, 2, rows)
        scaled = make_pipeline(StandardScaler(with_mean=centre), last)
        fast, slow, _ = both(scaled, X, y, n=n, on_error="unstable")
        assert fast.tolist() == slow.tolist()


@pytest.mark.parametrize("ratio", [1e5, 5e7, 1e9])
@pytest.mark.parametrize("solver", ["lsqr", "eigen", "svd"])
def test_columns_of_very_different_size_are_dropped_by_least_squares(solver, ratio) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 6_000)
    X = (rng.normal(size=(6_000, 2)) + 0.8 * y[:, None]) * [1e-4, 1e-4 * ratio]
    fast, slow, path = both(LinearDiscriminantAnalysis(solver=solver), X, y, n=20)
    assert fast.tolist() == slow.tolist()
    assert (path == "fit by fit") == (solver == "lsqr" and ratio > 1e7)


@pytest.mark.filterwarnings("ignore:Singular matrix in solving dual problem")
@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("alpha", [1e13, 1e18])
def test_a_constant_that_cancels_in_the_kernel(degree, alpha) -> None:
    X, y = normal(20, 3, 60)
    kernel = KernelRidge(alpha=alpha, kernel="poly", degree=degree, coef0=-1e12, gamma=1 / 3)
    fast, slow, _ = both(kernel, X + 1e6, y, n=20)
    np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9 * np.median(slow))
