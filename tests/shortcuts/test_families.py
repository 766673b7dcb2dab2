"""A formula is chosen by exact type and parameters, and by nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from poise.shortcuts import family_of

KNOWN = (
    *(Ridge(), LinearRegression(), RidgeClassifier()),
    *(KNeighborsRegressor(), KNeighborsClassifier()),
)


def found(estimator, classes=None):
    """The family for twenty rows of three columns."""
    named = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    few = 3 if type(named).__name__.endswith("Classifier") else 0
    return family_of(estimator, 20, 3, few if classes is None else classes)


@pytest.mark.parametrize("estimator", KNOWN)
def test_known_estimators_have_one_alone_and_behind_a_scaler(estimator):
    kind = type(estimator)
    assert found(estimator) is not None
    assert found(make_pipeline(StandardScaler(), estimator)) is not None
    assert found(estimator, classes=0 if found(estimator).classes else 3) is None
    # one that is called the same, in a module that is called the same
    subclass = type(kind.__name__, (kind,), {"__module__": kind.__module__})()
    scaler = type("StandardScaler", (StandardScaler,), {"__module__": StandardScaler.__module__})()
    for other in (
        subclass,
        make_pipeline(StandardScaler(), subclass),
        make_pipeline(scaler, estimator),
        make_pipeline(MinMaxScaler(), estimator),
        make_pipeline(StandardScaler(with_mean=False), estimator),
        make_pipeline(StandardScaler(), StandardScaler(), estimator),
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), estimator)),
        make_pipeline(StandardScaler(), estimator, memory="folder"),
        type("Pipeline", (Pipeline,), {})([("a", StandardScaler()), ("b", estimator)]),
    ):
        assert found(other, found(estimator).classes) is None


@pytest.mark.parametrize(
    "estimator",
    [
        *(Lasso(), RidgeCV(), RandomForestRegressor()),
        *(Ridge(alpha) for alpha in ([1.0], np.array(1.0), -1.0, np.inf, np.nan, "1", None)),
        *(Ridge(fit_intercept="no"), Ridge(positive=True)),
        *(Ridge(solver=name) for name in ("svd", "lsqr", "sparse_cg", "sag", "saga", "qr")),
        *(RidgeClassifier(class_weight="balanced"), RidgeClassifier(class_weight={0: 2.0})),
        *(LinearRegression(positive=True), LinearRegression(fit_intercept=None)),
        *(KNeighborsRegressor(k) for k in (0, 20, 2.0)),
        *(KNeighborsRegressor(p=p) for p in (1, 0.5, np.inf, None)),
        *(KNeighborsRegressor(weights=w) for w in ("distance", "none", lambda d: d)),
        *(KNeighborsRegressor(metric=m) for m in ("cosine", "precomputed", lambda a, b: 0.0)),
        KNeighborsRegressor(metric_params={"w": np.ones(3)}),
        *(KNeighborsRegressor(algorithm="guess"), KNeighborsRegressor(leaf_size=0)),
        *(make_pipeline(StandardScaler(), "passthrough"), make_pipeline(Ridge()), None, Ridge),
    ],
)
def test_other_parameters_have_none(estimator):
    assert found(estimator) is None


def test_parameters_that_change_no_number_keep_it():
    for estimator in (
        *(Ridge(np.float64(2)), Ridge(3), Ridge(fit_intercept=np.False_)),
        Ridge(solver="cholesky", tol=1.0, max_iter=1, random_state=0, copy_X=False),
        *(LinearRegression(n_jobs=2), KNeighborsRegressor(np.int64(2), n_jobs=-1, weights=None)),
        *(KNeighborsRegressor(metric="l2", p=1), KNeighborsRegressor(19, algorithm="brute")),
    ):
        assert found(estimator) is not None
    interpolates = [family_of(LinearRegression(), n, 3) is None for n in (4, 5, 6, 7)]
    assert interpolates == [True, True, False, False]  # it is left to fits
