"""A shortcut is chosen by exact type and parameters, and by nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, PairwiseKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import poise
from poise.shortcuts.find_shortcut import find_shortcut

KNOWN = (
    DummyRegressor(),
    DummyClassifier(),
    Ridge(),
    LinearRegression(),
    KNeighborsRegressor(),
    KNeighborsClassifier(),
    KernelRidge(),
    GaussianProcessRegressor(optimizer=None),
    RidgeClassifier(),
    LinearDiscriminantAnalysis(),
    GaussianNB(),
    StandardScaler,
)


def _without_addresses(value: object) -> str:
    """Name a case alike in every worker: where an object lies in memory differs."""
    return re.sub(r" at 0x\w+", "", str(value))


ESTIMATORS = [estimator for estimator in KNOWN if not isinstance(estimator, type)]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_known_estimator_has_a_shortcut_with_a_name(estimator) -> None:
    shortcut = find_shortcut(estimator)
    assert shortcut is not None
    assert shortcut.name
    assert shortcut.workspace_bytes(100, 10) > 0


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_subclass_has_none(estimator) -> None:
    """Not even one with the same name, in a module of the same name, that changes nothing."""
    kind = type(estimator)
    subclass = type(kind.__name__, (kind,), {"__module__": kind.__module__})
    assert find_shortcut(subclass(**estimator.get_params(deep=False))) is None


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_only_predict_has_shortcuts(estimator) -> None:
    assert find_shortcut(estimator, "predict") is not None
    assert find_shortcut(estimator, "predict_proba") is None
    assert find_shortcut(estimator, "decision_function") is None


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_scaler_in_front_is_covered_but_nothing_else_is(estimator) -> None:
    shortcut = find_shortcut(make_pipeline(StandardScaler(), estimator))
    assert shortcut is not None
    assert shortcut.name.startswith(find_shortcut(estimator).name)
    subclass = type("StandardScaler", (StandardScaler,), {})
    assert find_shortcut(make_pipeline(subclass(), estimator)) is None
    assert find_shortcut(make_pipeline(MinMaxScaler(), estimator)) is None
    assert find_shortcut(make_pipeline(StandardScaler(), StandardScaler(), estimator)) is None
    assert find_shortcut(type("Pipeline", (Pipeline,), {})([("a", estimator)])) is None


class _Distance:
    def __call__(self, a, b) -> float:
        return 0.0


@pytest.mark.parametrize(
    "estimator",
    [
        Lasso(),
        RidgeCV(),
        RandomForestRegressor(),
        *(DummyClassifier(strategy=name) for name in ("stratified", "uniform", "constant")),
        QuadraticDiscriminantAnalysis(),
        Ridge(alpha=[1.0]),
        Ridge(alpha=np.array(1.0)),
        Ridge(alpha=-1.0),
        Ridge(alpha=np.inf),
        Ridge(alpha=np.nan),
        Ridge(alpha="1"),
        Ridge(fit_intercept="no"),
        Ridge(positive=True),
        *(Ridge(solver=solver) for solver in ("lsqr", "sparse_cg", "sag", "saga", "lbfgs", "qr")),
        RidgeClassifier(class_weight="balanced"),
        RidgeClassifier(class_weight={0: 2.0}),
        RidgeClassifier(solver="sag"),
        RidgeClassifier(positive=True),
        LinearRegression(positive=True),
        LinearRegression(fit_intercept=None),
        LinearRegression(tol=-1.0),
        DummyRegressor(strategy="mode"),
        DummyRegressor(strategy="quantile"),
        DummyRegressor(strategy="quantile", quantile=1.5),
        DummyRegressor(strategy="constant"),
        DummyRegressor(strategy="constant", constant=[1.0]),
        DummyRegressor(strategy="constant", constant=np.inf),
        KNeighborsRegressor(0),
        KNeighborsRegressor(2.0),
        KNeighborsRegressor(p=0.5),
        KNeighborsRegressor(p=None),
        KNeighborsRegressor(weights=lambda distances: distances),
        KNeighborsRegressor(weights="gaussian"),
        KNeighborsRegressor(metric="cosine"),
        KNeighborsRegressor(metric=_Distance()),
        KNeighborsRegressor(metric="minkowski", metric_params={"w": np.ones(2)}),
        KNeighborsRegressor(algorithm="guess"),
        KNeighborsRegressor(leaf_size=0),
        KNeighborsClassifier(metric="precomputed"),
        KernelRidge(kernel="precomputed"),
        KernelRidge(kernel=np.dot),
        KernelRidge(kernel="chi2"),
        KernelRidge(alpha=np.ones(3)),
        KernelRidge(gamma=-1.0),
        KernelRidge(gamma="scale"),
        KernelRidge(degree=-1),
        KernelRidge(coef0=None),
        GaussianProcessRegressor(),
        GaussianProcessRegressor(RBF()),
        GaussianProcessRegressor(RBF() + WhiteKernel(noise_level_bounds="fixed")),
        GaussianProcessRegressor(PairwiseKernel(), optimizer=None),
        GaussianProcessRegressor(RBF() * PairwiseKernel(), optimizer=None),
        GaussianProcessRegressor(RBF() ** 2 + PairwiseKernel() ** 2, optimizer=None),
        GaussianProcessRegressor(type("RBF", (RBF,), {})(), optimizer=None),
        GaussianProcessRegressor(optimizer=None, alpha=np.ones(9)),
        GaussianProcessRegressor(optimizer=None, alpha=-1.0),
        GaussianProcessRegressor(optimizer=None, n_targets=2),
        LinearDiscriminantAnalysis(priors=[0.5, 0.5]),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
        LinearDiscriminantAnalysis(n_components=1),
        LinearDiscriminantAnalysis(tol=-1.0),
        LinearDiscriminantAnalysis(solver="newton"),
        GaussianNB(priors=[0.5, 0.5]),
        GaussianNB(var_smoothing=-1.0),
        make_pipeline(StandardScaler(with_mean="no"), Ridge()),
        make_pipeline(StandardScaler(), Lasso()),
        make_pipeline(StandardScaler(), "passthrough"),
        Pipeline([("scale", StandardScaler()), ("fit", Ridge())], memory="cache"),
        None,
        "sklearn.linear_model.Ridge",
        Ridge,
    ],
    ids=_without_addresses,
)
def test_parameters_outside_the_exact_ones_have_no_shortcut(estimator) -> None:
    assert find_shortcut(estimator) is None


@pytest.mark.parametrize(
    "estimator",
    [
        Ridge(alpha=np.float64(2)),
        Ridge(alpha=3),
        Ridge(fit_intercept=np.False_),
        Ridge(solver="cholesky", tol=1.0, max_iter=1, random_state=0, copy_X=False),
        LinearRegression(n_jobs=2),
        KNeighborsRegressor(np.int64(2), n_jobs=-1, weights=None),
        KNeighborsRegressor(p=np.inf),
        KNeighborsRegressor(metric="l1", p=0.5),
        GaussianProcessRegressor(RBF(length_scale_bounds="fixed")),
        GaussianProcessRegressor(2.0 * RBF([1.0, 2.0]) ** 2 + WhiteKernel(), optimizer=None),
        DummyRegressor(strategy="quantile", quantile=1),
    ],
    ids=str,
)
def test_parameters_that_change_nothing_essential_keep_the_shortcut(estimator) -> None:
    assert find_shortcut(estimator) is not None


def test_the_agreement_that_shortcuts_promise_is_written_once() -> None:
    folder = Path(poise.__file__).parent / "shortcuts"
    places = [path.name for path in folder.glob("*.py") if "1e-9" in path.read_text("utf-8")]
    assert places == ["shortcut.py"]
