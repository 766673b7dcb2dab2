"""What is refused before the first fit is what a fit would refuse, and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import GammaRegressor, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.utils import all_estimators

from poise.algorithms.refused import require_suitable
from poise.data.sample import Sample
from poise.errors import AlgorithmError

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
y = X[:, 0] + rng.normal(size=200)
damaged = X.copy()
damaged[173, 1] = np.nan
NAMES = ["a", "b", "c"]


def objection(estimator, X, y=y, **more) -> str:
    try:
        require_suitable(estimator, Sample.of(X, y, **more))
    except AlgorithmError as error:
        return str(error)
    return ""


def fails(estimator, X, y) -> bool:
    try:
        estimator.fit(X, y)
    except (ValueError, TypeError):
        return True
    return False


@pytest.mark.filterwarnings("ignore")
def test_whatever_is_refused_its_fit_refuses():
    """Every estimator of scikit-learn, with one NaN, and with ordinary rows of either sign."""
    small = np.abs(X[:60])
    hole = np.where(np.arange(60)[:, None] == 7, np.nan, small)
    classes = (X[:60, 0] > 0).astype(int)
    refused, unforeseen = 0, []
    for kind in ("regressor", "classifier"):
        for name, make in all_estimators(type_filter=kind):
            try:
                estimator = make()
            except TypeError:  # needs another estimator
                continue
            several = "Multi" in name and name != "MultinomialNB"
            responses = np.column_stack([classes, 1 - classes]) if several else classes
            for rows in (small, hole, X[:60]):
                for found in (responses, responses - 0.5, responses * 3 - 1):
                    said = objection(estimator, rows, found)
                    refused += bool(said)
                    assert not said or fails(estimator, rows, found), said
            if not several and fails(estimator, hole, classes):
                foreseen = objection(estimator, hole, classes) or fails(estimator, small, classes)
                unforeseen += [] if foreseen else [name]
    assert refused > 100
    assert unforeseen == ["CategoricalNB"]


def test_the_place_is_named_in_every_container():
    polars = pl.DataFrame(damaged, schema=NAMES)
    frames = pd.DataFrame(damaged, columns=NAMES), polars, polars.fill_nan(None)
    plain = damaged, damaged.tolist(), damaged.astype(object), scipy.sparse.csr_array(damaged)
    for rows in (*plain, *frames):
        column = "'b'" if hasattr(rows, "columns") else 1
        said = objection(Ridge(), rows)
        assert f"column {column} of X holds n" in said
        assert "in row 173" in said
    assert "holds -inf in row 173" in objection(Ridge(), np.where(np.isnan(damaged), -np.inf, X))
    said = objection(Ridge(), X, X_unlabeled=damaged)
    assert "column 1 of X_unlabeled holds nan in row 173" in said
    frame = pd.DataFrame(X, columns=NAMES).astype(object)
    frame.loc[23, "c"] = "three"
    assert "column 'c' of X holds 'three' in row 23" in objection(Ridge(), frame)
    frame.loc[23, "c"], frame.loc[3, "a"] = "3.5", "-1"  # text that reads as numbers is numbers
    assert objection(Ridge(), frame) == ""
    late = damaged.astype(object)
    late[190, 2] = "x"
    assert "'x' in row 190" in objection(RandomForestRegressor(), late)  # nan is welcome there
    assert "Expected 2D array" in objection(Ridge(), X[:, 0])


class Filling(RegressorMixin, BaseEstimator):
    """A composite of the user's own, which knows what to do with a hole."""

    def __init__(self, estimator=None):
        self.estimator = estimator


def test_composites_and_what_takes_a_hole():
    search = GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=2)
    scaled, unchanged = (make_pipeline(each, Ridge()) for each in (StandardScaler(), "passthrough"))
    imputed, boosting = make_pipeline(SimpleImputer(), Ridge()), HistGradientBoostingRegressor()
    takes_none = [
        *(scaled, unchanged, search, make_pipeline(StandardScaler(), MinMaxScaler(), search)),
        BaggingRegressor(KNeighborsRegressor(3), n_estimators=2),
    ]
    takes_it = [
        *(boosting, imputed, make_pipeline(StandardScaler(), imputed)),
        GridSearchCV(imputed, {"ridge__alpha": [1.0]}, cv=2),
        GridSearchCV(unchanged, {"passthrough": [SimpleImputer(), KNNImputer()]}),
        GridSearchCV(scaled, [{"ridge": [boosting]}]),
        make_pipeline(StandardScaler()),
        type("Own", (Ridge,), {"__module__": "mine"})(),
        make_pipeline(ColumnTransformer([("all", SimpleImputer(), [0, 1, 2])]), Ridge()),
        *(Filling(Ridge()), make_pipeline(Filling(), Ridge())),
    ]
    for estimator in takes_none:
        assert "holds nan in row 173" in objection(estimator, damaged), estimator
    for estimator in takes_it:
        assert objection(estimator, damaged) == "", estimator
    towns = pd.DataFrame({"town": rng.choice(["Ulm", "Bonn"], 200)})
    filled = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(), Ridge())
    for estimator in (filled, HistGradientBoostingRegressor(categorical_features=["town"])):
        assert objection(estimator, towns) == ""
    assert objection(make_pipeline(CountVectorizer(), Ridge()), ["a text"] * 200) == ""
    counts = make_pipeline(MinMaxScaler(), MultinomialNB())
    assert objection(counts, X) == ""
    assert "Negative values" in objection(counts[1], X)
    with sklearn.config_context(assume_finite=True):
        assert objection(Ridge(), damaged) == ""


def test_responses():
    classes = (y > 0).astype(int)
    words = np.where(y > 0, "up", "down").astype(object)
    assert "a regressor, and column 0 of y holds 'down' in row 0" in objection(Ridge(), X, words)
    assert objection(Ridge(), X, y.astype(str).astype(object)) == ""
    assert "needs responses >= 0" in objection(GammaRegressor(), X)
    assert "Negative values" in objection(MultinomialNB(), X, classes)
    assert objection(make_pipeline(OneHotEncoder(), MultinomialNB()), X, classes) == ""
