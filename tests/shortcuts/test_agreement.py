"""Every trusted trial of every shortcut agrees with scikit-learn, whatever the data look like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.gaussian_process.kernels import (
    RBF,
    ConstantKernel,
    DotProduct,
    ExpSineSquared,
    Matern,
    RationalQuadratic,
    WhiteKernel,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from poise.shortcuts.find_shortcut import find_shortcut
from shared.shortcut_rows import constant_column, gp, huge, plain, unequal_scales

TRIALS = 3
Rng = np.random.Generator


# Each takes a magnitude that Hypothesis draws over several orders, for a penalty or a scale.
REGRESSORS: dict[str, Callable[[float], Any]] = {
    "mean": lambda a: DummyRegressor(),
    "median": lambda a: DummyRegressor(strategy="median"),
    "quantile": lambda a: DummyRegressor(strategy="quantile", quantile=1 / (1 + a)),
    "constant": lambda a: DummyRegressor(strategy="constant", constant=a),
    "ridge": lambda a: Ridge(alpha=a),
    "ridge-through-origin": lambda a: Ridge(alpha=a, fit_intercept=False),
    "ridge-svd": lambda a: Ridge(alpha=a, solver="svd"),
    "ridge-unpenalised": lambda a: Ridge(alpha=0),
    "ridge-unpenalised-through-origin": lambda a: Ridge(alpha=0, fit_intercept=False),
    "least-squares": lambda a: LinearRegression(),
    "least-squares-through-origin": lambda a: LinearRegression(fit_intercept=False),
    "neighbours": lambda a: KNeighborsRegressor(3),
    "neighbours-weighted": lambda a: KNeighborsRegressor(4, weights="distance"),
    "neighbours-brute-weighted": lambda a: KNeighborsRegressor(
        2, weights="distance", algorithm="brute"
    ),
    "neighbours-tree-weighted": lambda a: KNeighborsRegressor(
        2, weights="distance", algorithm="kd_tree"
    ),
    "neighbours-city-block": lambda a: KNeighborsRegressor(2, p=1, algorithm="ball_tree"),
    "neighbours-chebyshev": lambda a: KNeighborsRegressor(3, metric="chebyshev"),
    "neighbours-minkowski": lambda a: KNeighborsRegressor(2, p=3.5, weights="distance"),
    "kernel-linear": lambda a: KernelRidge(alpha=a),
    "kernel-gaussian": lambda a: KernelRidge(alpha=a, kernel="rbf"),
    "kernel-gaussian-scaled": lambda a: KernelRidge(alpha=0.1, kernel="rbf", gamma=a),
    "kernel-polynomial": lambda a: KernelRidge(alpha=a, kernel="poly", degree=2, coef0=0.5),
    "kernel-laplacian": lambda a: KernelRidge(alpha=a, kernel="laplacian"),
    "gp-default": lambda a: gp(None, alpha=a),
    "gp-noiseless": lambda a: gp(RBF(a)),
    "gp-normalised": lambda a: gp(2.0 * RBF() + WhiteKernel(a), normalize_y=True),
    "gp-linear": lambda a: gp(DotProduct(a) + ConstantKernel(0.5), alpha=0.1, normalize_y=True),
    "gp-matern": lambda a: gp(Matern(a, nu=1.5) * 3, alpha=1e-3),
    "gp-composed": lambda a: gp(RationalQuadratic() * DotProduct() ** 2 + WhiteKernel(a)),
    "gp-periodic": lambda a: gp(ExpSineSquared(a), alpha=0.01),
    "scaled-ridge": lambda a: make_pipeline(StandardScaler(), Ridge(alpha=a)),
    "scaled-ridge-through-origin": lambda a: make_pipeline(
        StandardScaler(), Ridge(alpha=a, fit_intercept=False)
    ),
    "scaled-least-squares": lambda a: make_pipeline(StandardScaler(), LinearRegression()),
    "uncentred-ridge": lambda a: make_pipeline(StandardScaler(with_mean=False), Ridge(alpha=a)),
    "unscaled-neighbours": lambda a: make_pipeline(
        StandardScaler(with_std=False), KNeighborsRegressor(2)
    ),
    "scaled-neighbours": lambda a: make_pipeline(StandardScaler(), KNeighborsRegressor(3)),
    "scaled-kernel": lambda a: make_pipeline(StandardScaler(), KernelRidge(alpha=a, kernel="rbf")),
    "scaled-gp": lambda a: make_pipeline(StandardScaler(), gp(RBF(a), alpha=0.1)),
}

CLASSIFIERS: dict[str, Callable[[float], Any]] = {
    "neighbours": lambda a: KNeighborsClassifier(4),
    "neighbours-weighted": lambda a: KNeighborsClassifier(3, weights="distance"),
    "neighbours-brute": lambda a: KNeighborsClassifier(2, algorithm="brute"),
    "ridge": lambda a: RidgeClassifier(alpha=a),
    "ridge-through-origin": lambda a: RidgeClassifier(alpha=a, fit_intercept=False),
    "ridge-svd": lambda a: RidgeClassifier(alpha=a, solver="svd"),
    "discriminant": lambda a: LinearDiscriminantAnalysis(),
    "discriminant-lsqr": lambda a: LinearDiscriminantAnalysis(solver="lsqr"),
    "discriminant-eigen": lambda a: LinearDiscriminantAnalysis(solver="eigen"),
    "discriminant-coarse": lambda a: LinearDiscriminantAnalysis(tol=0.01),
    "most-frequent": lambda a: DummyClassifier(),
    "naive-bayes": lambda a: GaussianNB(),
    "naive-bayes-smoothed": lambda a: GaussianNB(var_smoothing=a),
    "naive-bayes-unsmoothed": lambda a: GaussianNB(var_smoothing=0.0),
    "scaled-neighbours": lambda a: make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
    "scaled-ridge": lambda a: make_pipeline(StandardScaler(), RidgeClassifier(alpha=a)),
    "scaled-discriminant": lambda a: make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
}


def _far_from_origin(rng: Rng, X: Any, x: Any) -> None:
    offsets = 10.0 ** rng.uniform(0, 6, size=X.shape[2])
    X += offsets
    x += offsets


def _collinear(rng: Rng, X: Any, x: Any) -> None:
    """The last column is nearly a combination of the others."""
    weights, slack = rng.normal(size=X.shape[2] - 1), 10.0 ** rng.uniform(-9, -1)
    for rows in (X, x):
        rows[..., -1] = rows[..., :-1] @ weights + slack * rows[..., -1]


def _duplicated(rng: Rng, X: Any, x: Any) -> None:
    """One column twice, one row twice, and a test point that is a row."""
    X[..., -1], x[..., -1] = X[..., 0], x[..., 0]
    X[:, 0] = X[:, -1]
    x[0] = X[0, rng.integers(X.shape[1])]


def _discrete(rng: Rng, X: Any, x: Any) -> None:
    """Few distinct values: distances tie, columns may be constant."""
    X[:] = np.rint(X)
    x[:] = np.rint(x)


def _outlying_point(rng: Rng, X: Any, x: Any) -> None:
    x *= 10.0 ** rng.uniform(0, 8)


def _outlying_row(rng: Rng, X: Any, x: Any) -> None:
    X[:, -1] *= 10.0 ** rng.uniform(0, 8)


FAMILIES = (
    plain,
    unequal_scales,
    _far_from_origin,
    _collinear,
    _duplicated,
    _discrete,
    _outlying_point,
    _outlying_row,
    constant_column,
    huge,
)

RESPONSES: dict[str, Callable[[Rng, Any], Any]] = {
    "linear": lambda rng, X: X @ rng.normal(size=X.shape[2]) + rng.normal(size=X.shape[:2]),
    "shifted": lambda rng, X: 1e6 + rng.normal(size=X.shape[:2]),
    "constant": lambda rng, X: np.full(X.shape[:2], rng.choice([0.0, 1 / 3, -1e6])),
    "signs": lambda rng, X: rng.choice([-1.0, 1.0], size=X.shape[:2]),
    "one spike": lambda rng, X: np.eye(X.shape[1])[rng.integers(X.shape[1], size=len(X))],
}


@st.composite
def problems(draw: st.DrawFn) -> tuple[Rng, Any, Any]:
    """Draw rows and test points: any shape, wide ones too, and any of the families."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 25)), draw(st.integers(1, 12))
    n = draw(st.sampled_from([n, n, d, d + 1, d + 2])) if d > 1 else n  # where ranks change
    X, x = rng.normal(size=(TRIALS, n, d)), rng.normal(size=(TRIALS, d))
    draw(st.sampled_from(FAMILIES))(rng, X, x)
    return rng, X, x


def _find(estimator: Any) -> Any:
    shortcut = find_shortcut(estimator)
    assert shortcut is not None
    return shortcut


@pytest.mark.parametrize("make", REGRESSORS.values(), ids=REGRESSORS.keys())
@settings(max_examples=20)
@given(
    problem=problems(),
    response=st.sampled_from(sorted(RESPONSES)),
    magnitude=st.floats(-6, 3).map(lambda power: 10.0**power),
)
def test_trusted_predictions_agree(fit_twice, make, problem, response, magnitude) -> None:
    rng, X, x = problem
    with np.errstate(all="ignore"):
        y = RESPONSES[response](rng, X)
    estimator = make(magnitude)
    pairs = _find(estimator).pairs(X, y, x)
    full, reduced = fit_twice(estimator, X, y, x, pairs.trusted)
    for trial in np.flatnonzero(pairs.trusted):
        size = max(abs(full[trial]), abs(reduced[trial]))
        assert abs(pairs.full[trial] - full[trial]) <= 1e-9 * size
        assert abs(pairs.reduced[trial] - reduced[trial]) <= 1e-9 * size


@pytest.mark.parametrize("make", CLASSIFIERS.values(), ids=CLASSIFIERS.keys())
@settings(max_examples=20)
@given(
    problem=problems(),
    classes=st.integers(1, 4),
    magnitude=st.floats(-6, 3).map(lambda power: 10.0**power),
)
def test_trusted_labels_agree(fit_twice, make, problem, classes, magnitude) -> None:
    rng, X, x = problem
    y = rng.integers(classes, size=X.shape[:2])
    with np.errstate(all="ignore"):  # classes that overlap, but differ
        X = X + 0.5 * y[:, :, None] * np.abs(X).max()
    estimator = make(magnitude)
    pairs = _find(estimator).pairs(X, y, x)
    full, reduced = fit_twice(estimator, X, y, x, pairs.trusted)
    for trial in np.flatnonzero(pairs.trusted):
        assert pairs.full[trial] == full[trial]
        assert pairs.reduced[trial] == reduced[trial]


def _well_behaved(n: int, d: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(n * d)
    X, x = rng.normal(size=(50, n, d)), rng.normal(size=(50, d))
    return X, X @ rng.normal(size=d) + rng.normal(size=(50, n)), x


@pytest.mark.parametrize("name", [k for k in REGRESSORS if k != "gp-periodic"])
@pytest.mark.parametrize(("n", "d"), [(30, 4), (20, 10)])
def test_well_behaved_regressions_are_trusted(name, n, d) -> None:
    pairs = _find(REGRESSORS[name](1.0)).pairs(*_well_behaved(n, d))
    # A scaler that moves may change who is second and who third: then the fits decide.
    assert np.mean(pairs.trusted) >= (0.8 if name == "scaled-neighbours" else 0.95)


@pytest.mark.parametrize("name", ["ridge", "least-squares", "kernel-linear", "scaled-ridge"])
def test_well_behaved_wide_regressions_are_trusted(fit_twice, name) -> None:
    X, y, x = _well_behaved(12, 40)
    pairs = _find(REGRESSORS[name](1.0)).pairs(X, y, x)
    assert pairs.trusted.all()
    full, reduced = fit_twice(REGRESSORS[name](1.0), X, y, x)
    np.testing.assert_allclose(pairs.full, full, rtol=0, atol=1e-11)
    np.testing.assert_allclose(pairs.reduced, reduced, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_well_behaved_classifications_are_trusted(name) -> None:
    X, y, x = _well_behaved(40, 3)
    pairs = _find(CLASSIFIERS[name](1.0)).pairs(X, np.digitize(y, [-1.0, 1.0]), x)
    # A coarse tolerance may drop a direction: then the fits decide.
    assert np.mean(pairs.trusted) >= (0.85 if name == "discriminant-coarse" else 0.95)


def test_a_periodic_kernel_is_trusted_in_one_dimension(fit_twice) -> None:
    """In several it is no covariance at all, and the fits decide."""
    X, y, x = _well_behaved(30, 1)
    pairs = _find(REGRESSORS["gp-periodic"](1.0)).pairs(X, y, x)
    assert np.mean(pairs.trusted) >= 0.95
    full, reduced = fit_twice(REGRESSORS["gp-periodic"](1.0), X, y, x)
    sure = pairs.trusted
    np.testing.assert_allclose(pairs.full[sure], np.array(full)[sure], rtol=1e-9)
    np.testing.assert_allclose(pairs.reduced[sure], np.array(reduced)[sure], rtol=1e-9)
    assert not _find(REGRESSORS["gp-periodic"](1.0)).pairs(*_well_behaved(30, 4)).trusted.any()


@pytest.mark.parametrize(
    ("tol", "least", "most"), [(1e-4, 1.0, 1.0), (0.01, 0.85, 0.99), (0.3, 0, 0)]
)
def test_a_discriminant_is_trusted_where_its_tolerance_drops_nothing(tol, least, most) -> None:
    X, y, x = _well_behaved(40, 3)
    pairs = _find(LinearDiscriminantAnalysis(tol=tol)).pairs(X, np.digitize(y, [-1.0, 1.0]), x)
    assert least <= np.mean(pairs.trusted) <= most
