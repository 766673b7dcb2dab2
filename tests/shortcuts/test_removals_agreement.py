"""Trusted tables agree with n + 1 fits, whatever the rows look like."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.gaussian_process.kernels import RBF, DotProduct, Matern, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB

from poise.shortcuts import discriminant_removals
from poise.shortcuts.find_shortcut import find_shortcut
from shared.shortcut_rows import constant_column, gp, huge, plain, unequal_scales

TRIALS, POINTS = 2, 2
Rng = np.random.Generator


DUMMIES = [
    DummyRegressor(),
    DummyRegressor(strategy="median"),
    DummyRegressor(strategy="quantile", quantile=0.3),
    DummyRegressor(strategy="quantile", quantile=1.0),
    DummyRegressor(strategy="constant", constant=2.0),
]
REGRESSORS = [
    Ridge(0.1),
    LinearRegression(),
    KernelRidge(alpha=0.1),
    KernelRidge(alpha=1e-3, kernel="rbf"),
    KernelRidge(kernel="poly", degree=2, coef0=0.5),
    KernelRidge(kernel="laplacian"),
    gp(2.0 * RBF() + WhiteKernel(0.01), normalize_y=True),
    gp(DotProduct(1.0) ** 2, alpha=0.1, normalize_y=True),
    gp(Matern(1.0, nu=1.5), alpha=1e-6),
]


def _far(rng: Rng, X: Any, x: Any) -> None:
    offsets = 10.0 ** rng.uniform(0, 7, size=X.shape[2])
    X += offsets
    x += offsets


def _dependent(rng: Rng, X: Any, x: Any) -> None:
    slack = 10.0 ** rng.uniform(-9, -1)
    for rows in (X, x):
        rows[..., -1] = rows[..., 0] + slack * rows[..., -1]


def _tied(rng: Rng, X: Any, x: Any) -> None:
    """Whole numbers, a row twice, and a point that is a row."""
    X[:], x[:] = np.rint(X), np.rint(x)
    X[:, 0] = X[:, -1]
    x[:, 0] = X[:, 2]


def _outlying(rng: Rng, X: Any, x: Any) -> None:
    X[:, rng.integers(X.shape[1])] *= 10.0 ** rng.uniform(0, 8)
    x[:, -1] *= 10.0 ** rng.uniform(0, 4)


def _nearly_constant(rng: Rng, X: Any, x: Any) -> None:
    X[..., 0] = 1.0 + 10.0 ** rng.uniform(-16, -6) * X[..., 0]


CLASSIFIERS = [
    RidgeClassifier(),
    RidgeClassifier(0.01, fit_intercept=False),
    RidgeClassifier(solver="svd"),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(solver="lsqr"),
    LinearDiscriminantAnalysis(solver="eigen"),
    GaussianNB(),
    GaussianNB(var_smoothing=0.5),
]
COUNTING = [DummyClassifier(), DummyClassifier(strategy="most_frequent")]
NASTY = (
    _far,
    unequal_scales,
    _dependent,
    _tied,
    _outlying,
    constant_column,
    _nearly_constant,
    huge,
)
RESPONSES: tuple[Callable[[Rng, Any], Any], ...] = (
    lambda rng, X: X[..., 0] + rng.normal(size=X.shape[:2]),
    lambda rng, X: 1e6 + rng.normal(size=X.shape[:2]),
    lambda rng, X: np.full(X.shape[:2], rng.choice([0.0, 1 / 3])),
    lambda rng, X: rng.choice([-1.0, 1.0], size=X.shape[:2]),
)


def _problem(make_nasty, seed: int) -> tuple[Rng, Any, Any]:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 10)), int(rng.integers(2, 5))
    X, points = rng.normal(size=(TRIALS, n, d)), rng.normal(size=(TRIALS, POINTS, d))
    make_nasty(rng, X, points)
    return rng, X, points


def _fits(estimator, X, y, points) -> tuple[Any, Any]:
    """Predict by a fit to all rows, and by one without each, the last row first."""
    n = len(X)
    kept = [np.arange(n), *(np.delete(np.arange(n), n - 1 - j) for j in range(n))]
    model = clone(estimator)
    with warnings.catch_warnings(), sklearn.config_context(skip_parameter_validation=True):
        warnings.simplefilter("ignore")
        full, *reduced = (model.fit(X[k], y[k]).predict(points) for k in kept)
    return full, np.array(reduced)


@pytest.mark.parametrize("estimator", [*REGRESSORS, *DUMMIES], ids=str)
@pytest.mark.parametrize("nasty", [plain, *NASTY])
def test_trusted_numbers_are_within_the_bound(estimator, nasty) -> None:
    for seed, respond in enumerate(RESPONSES):
        rng, X, points = _problem(nasty, seed)
        y = respond(rng, X)
        found = find_shortcut(estimator).tables(X, y, points, X.shape[1])
        for trial in np.flatnonzero(found.trusted):
            full, reduced = _fits(estimator, X[trial], y[trial], points[trial])
            assert (np.abs(found.full[trial] - full) <= found.slack[trial]).all()
            assert (np.abs(found.reduced[trial] - reduced) <= found.slack[trial]).all()


@pytest.mark.parametrize("estimator", REGRESSORS, ids=str)
def test_ordinary_trials_are_trusted(estimator) -> None:
    rng = np.random.default_rng(1)
    X, points = rng.normal(size=(40, 20, 3)), rng.normal(size=(40, POINTS, 3))
    y = X[..., 0] + rng.normal(size=(40, 20))
    assert find_shortcut(estimator).tables(X, y, points, 20).trusted.mean() >= 0.95


@pytest.mark.parametrize("estimator", REGRESSORS, ids=str)
def test_a_bad_number_spoils_its_own_trial_only(estimator) -> None:
    rng = np.random.default_rng(2)
    X, points = rng.normal(size=(5, 15, 3)), rng.normal(size=(5, POINTS, 3))
    y = X[..., 0] + rng.normal(size=(5, 15))
    X[0, 4, 1], y[1, 3], points[2, 1, 0] = np.nan, np.inf, -np.inf
    X[3] = X[3, :1]  # all rows the same: a singular system, unless there is a penalty
    found = find_shortcut(estimator).tables(X, y, points, 15)
    assert not found.trusted[:3].any()
    assert found.trusted[4]
    full, reduced = _fits(estimator, X[4], y[4], points[4])
    np.testing.assert_allclose(found.full[4], full, rtol=1e-9)
    np.testing.assert_allclose(found.reduced[4], reduced, rtol=1e-9)


@pytest.mark.parametrize("estimator", DUMMIES, ids=str)
@pytest.mark.parametrize("n", [2, 3, 4, 9, 10])
def test_statistics_of_the_responses_are_those_of_the_fits(estimator, n) -> None:
    """Order statistics are the same to the last digit, and so are means of whole numbers."""
    rng = np.random.default_rng(n)
    X, points = np.zeros((6, n, 1)), np.zeros((6, 1, 1))
    for y in (rng.normal(size=(6, n)), rng.integers(-2, 3, size=(6, n))):
        found = find_shortcut(estimator).tables(X, y, points, n)
        exact = estimator.strategy != "mean" or y.dtype.kind == "i"
        assert found.trusted.all() or not exact
        for trial in np.flatnonzero(found.trusted):
            full, reduced = _fits(estimator, X[trial], y[trial], points[trial])
            slack = 0.0 if exact else 1e-14
            np.testing.assert_allclose(found.full[trial], full, rtol=0, atol=slack)
            np.testing.assert_allclose(found.reduced[trial], reduced, rtol=0, atol=slack)


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *COUNTING], ids=str)
@pytest.mark.parametrize("nasty", [plain, *NASTY])
def test_trusted_labels_are_those_of_the_fits(estimator, nasty) -> None:
    """Classes are of any size: of one row, too, which leaves with it."""
    trusted = 0
    for seed in range(4):
        rng, X, points = _problem(nasty, seed)
        classes = int(rng.integers(2, 5))
        shares = rng.dirichlet(np.full(classes, 0.7))
        y = rng.choice(classes, size=X.shape[:2], p=shares)
        X[..., 0] += y * np.abs(X[..., 0]).max()
        found = find_shortcut(estimator).tables(X, y, points, X.shape[1])
        for trial in np.flatnonzero(found.trusted):
            trusted += 1
            full, reduced = _fits(estimator, X[trial], y[trial], points[trial])
            np.testing.assert_array_equal(found.full[trial], full)
            np.testing.assert_array_equal(found.reduced[trial], reduced)
    assert trusted or nasty is not plain


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *COUNTING], ids=str)
def test_ordinary_classes_are_trusted(estimator) -> None:
    rng = np.random.default_rng(1)
    X, points = rng.normal(size=(40, 30, 3)), rng.normal(size=(40, POINTS, 3))
    y = rng.permuted(np.tile(np.arange(30) % 3, (40, 1)), axis=1)
    assert find_shortcut(estimator).tables(X, y, points, 30).trusted.mean() >= 0.95


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
def test_a_class_of_one_row_leaves_with_it(estimator) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(2, 12, 2)), rng.integers(0, 2, size=(2, 12))
    y[:, 5] = 2
    X += 2.0 * y[..., None]
    X[:, 5] = [20.0, -20.0]  # far from the others, or linear scores would not choose it
    y[1] = np.where(y[1] == 0, 1, y[1])  # here one class would be left
    points = X[:, 5:6]
    found = find_shortcut(estimator).tables(X, y, points, 12)
    assert found.trusted.tolist() == [True, False]
    full, reduced = _fits(estimator, X[0], y[0], points[0])
    assert full[0] == 2
    assert reduced[6, 0] != 2
    np.testing.assert_array_equal(found.full[0], full)
    np.testing.assert_array_equal(found.reduced[0], reduced)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=str)
def test_classes_that_tie_are_left_to_the_fits(estimator) -> None:
    X = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])[None, :, None]
    y = np.array([[0, 0, 0, 1, 1, 1]])
    found = find_shortcut(estimator).tables(X, y, np.zeros((1, 1, 1)), 6)
    assert not found.trusted.any()


@pytest.mark.parametrize("estimator", COUNTING, ids=str)
def test_of_equal_counts_the_first_class_wins(estimator) -> None:
    """Every removal moves the majority, or makes a tie."""
    y = np.array([["b", "a", "b", "a"], ["b", "a", "b", "c"], ["c", "c", "c", "c"]])
    X, points = np.full((3, 4, 1), np.nan), np.zeros((3, 2, 1))  # no row is looked at
    found = find_shortcut(estimator).tables(X, y, points, 4)
    assert found.trusted.all()
    assert found.full.tolist() == [["a", "a"], ["b", "b"], ["c", "c"]]
    assert found.reduced[..., 1].tolist() == [list("baba"), list("baba"), list("cccc")]


def test_a_row_that_holds_all_variation_of_a_column_is_left_to_the_fits() -> None:
    """Without it the squares are those of rounding, and no downdate knows them."""
    rng = np.random.default_rng(9)
    y = np.tile(np.arange(12) % 2, (4, 1))
    X, points = rng.normal(size=(4, 12, 2)), rng.normal(size=(4, 1, 2))
    X[..., 0] = 1e8 * (1.0 + 1e-15 * X[..., 0])
    X[:2, 6, 0] *= 1.5
    trusted = find_shortcut(GaussianNB()).tables(X, y, points, 12).trusted
    assert not trusted[:2].any()
    X[:2, 6, 0] /= 1.5
    X[..., 0] -= 1e8
    X[..., 0] += rng.normal(size=(4, 12))
    assert find_shortcut(GaussianNB()).tables(X, y, points, 12).trusted.all()


def test_directions_of_many_classes_are_looked_at_in_parts(monkeypatch) -> None:
    """Some trials drop a direction by the tolerance, the same ones in parts as at once."""
    rng = np.random.default_rng(7)
    y = rng.permuted(np.tile(np.arange(30) % 5, (12, 1)), axis=1)
    X, points = rng.normal(size=(12, 30, 5)), rng.normal(size=(12, 1, 5))
    X += y[..., None] * rng.normal(size=(12, 1, 5))
    shortcut = find_shortcut(LinearDiscriminantAnalysis(tol=3e-3))
    whole = shortcut.tables(X, y, points, 30)
    assert 0 < whole.trusted.sum() < 12
    monkeypatch.setattr(discriminant_removals, "_NUMBERS_AT_ONCE", 12 * 25 * 7)
    parts = shortcut.tables(X, y, points, 30)
    np.testing.assert_array_equal(parts.trusted, whole.trusted)


def test_smoothing_by_a_variance_that_lost_its_digits() -> None:
    """The variance of all rows is put together from class means, which are rounded."""
    rng = np.random.default_rng(5)
    estimator = GaussianNB(var_smoothing=0.5)
    for _ in range(20):
        y = rng.permuted(np.arange(9) % 3)
        X, points = 1 / 3 * (1.0 + 1e-7 * rng.normal(size=(9, 1))), rng.normal(size=(1, 1))
        member = (y == np.arange(3)[:, None]).astype(float)
        scores, error = find_shortcut(estimator).score(X[None], member[None], points)
        other = estimator.fit(X, y).predict_joint_log_proba(points)
        assert np.abs(scores - other).max() <= 2.0 * error[0]


def test_the_bound_of_the_scores_holds() -> None:
    """Scores without a row differ from those of the fit by less than the bound on each."""
    rng = np.random.default_rng(11)
    for estimator, scores in _SCORED:
        for offset, sharp in ((0.0, 1e-8), (1e2, 1e-2)):
            y = rng.permuted(np.tile(np.arange(15) % 3, (2, 1)), axis=1)
            X, points = rng.normal(size=(2, 15, 3)) + offset, rng.normal(size=(2, 2, 3)) + offset
            X[..., 0] += y
            X[:, 4] += 3.0  # a row of much weight: the others are what is left of it
            member = (y[:, None, :] == np.arange(3)[:, None]).astype(float)
            found = find_shortcut(estimator).score_removals(X, member, points, 15)
            for trial, j in np.ndindex(2, 15):
                kept = np.delete(np.arange(15), 14 - j)
                fit = clone(estimator).fit(X[trial, kept], y[trial, kept])
                other = scores(fit, points[trial])
                mine = found.reduced[trial, :, j].T
                apart = np.abs((mine - mine[:, :1]) - (other - other[:, :1])).max(axis=1)
                assert (apart <= 2.0 * found.reduced_error[trial, j]).all()
                assert (found.reduced_error[trial, j] < sharp).all()


_SCORED: list[tuple[Any, Callable[[Any, Any], Any]]] = [
    (LinearDiscriminantAnalysis(), lambda fit, x: fit.decision_function(x)),
    (LinearDiscriminantAnalysis(solver="lsqr"), lambda fit, x: fit.decision_function(x)),
    (GaussianNB(), lambda fit, x: fit.predict_joint_log_proba(x)),
    (GaussianNB(var_smoothing=0.5), lambda fit, x: fit.predict_joint_log_proba(x)),
]
