"""A missing value that is certain to fail some trial is refused before the first fit."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import all_estimators

import poise
from poise.algorithms.missing_values import _refuses_missing_values
from poise.errors import AlgorithmError

rng = np.random.default_rng(0)
X = rng.normal(size=(2_000, 3))
y = X[:, 0] + rng.normal(size=2_000)


def damaged(value=np.nan):
    rows = X.copy()
    rows[1_703, 1] = value
    return rows


def measure(estimator, rows, **settings):
    return poise.measure(estimator, rows, y, n=20, random_state=0, **settings)


NAMES = ["a", "b", "c"]
CONTAINERS = {
    "array": (lambda rows: rows, 1),
    "list": (lambda rows: rows.tolist(), 1),
    "objects": (lambda rows: rows.astype(object), 1),
    "sparse": (scipy.sparse.csr_array, 1),
    "pandas": (lambda rows: pd.DataFrame(rows, columns=NAMES), "b"),
    "polars": (lambda rows: pl.DataFrame(rows, schema=NAMES), "b"),
    "polars null": (lambda rows: pl.DataFrame(rows, schema=NAMES).fill_nan(None), "b"),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_column_and_row_are_named_before_the_first_fit(kind) -> None:
    make, column = CONTAINERS[kind]
    message = rf"Ridge cannot .* column {column!r} of X holds \w+ in row 1703 \(counting from 0\)"
    with pytest.raises(AlgorithmError, match=message):
        measure(Ridge(), make(damaged()))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused_too(value) -> None:
    with pytest.raises(AlgorithmError, match=f"holds {value} in row 1703"):
        measure(Ridge(), damaged(value))


def test_unlabelled_rows_are_looked_at_as_well() -> None:
    with pytest.raises(AlgorithmError, match="column 1 of X_unlabeled holds nan in row 1703"):
        measure(Ridge(), X, X_unlabeled=damaged())


SEARCH = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=2)


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), Ridge()),
        SEARCH,
        BaggingRegressor(KNeighborsRegressor(3), n_estimators=2),
        make_pipeline(StandardScaler(), SEARCH),
    ],
    ids=["pipeline", "search", "bagging", "search in a pipeline"],
)
def test_composites_whose_first_part_takes_none(estimator) -> None:
    with pytest.raises(AlgorithmError, match="fill it in with an imputer in a pipeline"):
        measure(estimator, damaged())


@pytest.mark.parametrize(
    "estimator",
    [
        HistGradientBoostingRegressor(max_iter=2),
        RandomForestRegressor(n_estimators=2),
        make_pipeline(SimpleImputer(), Ridge()),
        make_pipeline(StandardScaler(), SimpleImputer(), Ridge()),
        GridSearchCV(make_pipeline(SimpleImputer(), Ridge()), {"ridge__alpha": [1.0]}, cv=2),
    ],
    ids=["boosting", "forest", "imputer", "imputer later", "imputer in a search"],
)
def test_estimators_that_take_missing_values_get_them(estimator) -> None:
    some = slice(1_650, 1_750)
    trials = poise.measure(estimator, damaged()[some], y[some], n=9, random_state=0)
    assert np.isfinite(trials.changes).all()


def test_whoever_switched_the_check_off_is_not_refused() -> None:
    with sklearn.config_context(assume_finite=True):
        assert not _refuses_missing_values(Ridge())


def test_a_class_of_ones_own_may_know_what_to_do() -> None:
    class Filling(Ridge):
        def fit(self, A, b):
            return super().fit(np.nan_to_num(A), b)

        def predict(self, A):
            return super().predict(np.nan_to_num(A))

    assert np.isfinite(measure(Filling(), damaged()).changes).all()


def _plain_estimators():
    for name, kind in all_estimators(type_filter=["classifier", "regressor"]):
        try:
            estimator = kind()
        except (TypeError, FutureWarning):  # needs another estimator, or is on its way out
            continue
        if _refuses_missing_values(estimator):
            yield pytest.param(estimator, id=name)


@pytest.mark.parametrize("estimator", list(_plain_estimators()))
def test_what_the_tags_say_is_what_the_fit_does(estimator) -> None:
    rows = np.abs(X[:60])
    labels = (rows[:, 0] > np.median(rows[:, 0])).astype(int)
    rows[7, 1] = np.nan
    name = type(estimator).__name__
    responses = np.column_stack([labels, 1 - labels]) if "Multi" in name else labels
    features = rows[:, 1] if name == "IsotonicRegression" else rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="NaN"):
            estimator.fit(features, responses)
