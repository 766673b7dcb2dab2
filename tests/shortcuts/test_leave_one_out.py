"""Leave-one-out models in closed form, against fits without each row."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, LinearRegression, Ridge

from poise.shortcuts.leave_one_out import find_left_out
from poise.shortcuts.shortcut import AGREEMENT

ESTIMATORS = [
    Ridge(),
    Ridge(alpha=0.01, fit_intercept=False),
    Ridge(alpha=50.0, solver="svd"),
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    KernelRidge(alpha=0.5, kernel="rbf", gamma=0.2),
    KernelRidge(kernel="laplacian"),
    KernelRidge(alpha=2.0, kernel="poly", degree=2, coef0=0.5),
    KernelRidge(alpha=3.0, kernel="linear"),
]


def data(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 20, size=d) + rng.normal(size=d)
    return X, 3.0 + X @ rng.normal(size=d) / d + rng.normal(size=n)


def fitted(estimator, X, y, points):
    keep = [np.delete(np.arange(len(y)), i) for i in range(len(y))]
    return np.stack(
        [clone(estimator).fit(X[rows], y[rows]).predict(points) for rows in keep], axis=1
    )


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("shape", [(25, 3), (20, 20), (12, 30)])
def test_predictions_are_those_of_the_fits(estimator, shape):
    X, y = data(*shape)
    models = find_left_out(estimator, X, y)
    if models is None:  # least squares through all points, or a kernel too steep: fits are made
        return
    points = np.concatenate([X, data(7, shape[1], seed=1)[0]])
    exact = fitted(estimator, X, y, points)
    scale = np.maximum(np.abs(exact), np.abs(y).mean())
    assert np.abs(models(points) - exact).max() <= AGREEMENT * scale.max()
    assert np.array_equal(pickle.loads(pickle.dumps(models))(points), models(points))


def test_most_settings_have_a_closed_form():
    found = [find_left_out(estimator, *data(25, 3)) is not None for estimator in ESTIMATORS]
    assert sum(found) >= len(found) - 1


def test_what_is_not_known_or_not_certain_is_left_to_fits():
    X, y = data(25, 3)
    assert find_left_out(ElasticNet(), X, y) is None
    assert find_left_out(type("Mine", (Ridge,), {})(), X, y) is None
    assert find_left_out(Ridge(solver="sag"), X, y) is None
    assert find_left_out(Ridge(), X.astype(np.float32), y) is None
    assert find_left_out(Ridge(), X.tolist(), y) is None
    assert find_left_out(Ridge(), np.where(X > 1, np.nan, X), y) is None
    assert find_left_out(Ridge(alpha=1e-9), np.c_[X, X[:, 0] + 1e-7], y) is None
    alone = np.c_[X, np.eye(25)[:, :1]]  # a column that only row 0 has: without it, rank is lost
    assert find_left_out(LinearRegression(), alone, y) is None
