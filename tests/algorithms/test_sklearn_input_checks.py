"""Data that an estimator cannot read are refused before the first fit, with row and column."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import BaggingRegressor, HistGradientBoostingRegressor
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVR

import poise
from poise.errors import AlgorithmError, DataError
from poise.running.oracle import Oracle
from shared.data import linear_rows

rng = np.random.default_rng(0)
X, y = linear_rows(60, [1.0, 0.0], rng)
TOWNS = np.array(["Bath", "Ely", "York"])[rng.integers(3, size=60)]


@pytest.fixture(autouse=True)
def no_fit(monkeypatch, request):
    """Whatever is refused is refused before the first fit."""
    if "refused" in request.node.name:
        monkeypatch.setattr(Oracle, "answer", None)


def measure(algorithm, X, labels=y, **settings):
    return poise.measure(algorithm, X, labels, n=8, random_state=0, **settings)


ENTRANCES = [
    Ridge(),
    make_pipeline(StandardScaler(), Ridge()),
    make_pipeline("passthrough", StandardScaler(), Ridge()),
    GridSearchCV(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [1.0]}, cv=2),
    BaggingRegressor(Ridge()),
]


@pytest.mark.parametrize("estimator", ENTRANCES, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    ("features", "message"),
    [
        (X[:, 0], r"X has one dimension; for one feature give X\.reshape\(-1, 1\)"),
        (X[:, 0].tolist(), "X has one dimension"),
        (pd.Series(X[:, 0]), "X has one dimension"),
        (pl.Series(X[:, 0]), "X has one dimension"),
        (TOWNS.tolist(), "X has one dimension"),
        (X.reshape(60, 2, 1), "X has 3 dimensions"),
        ([*X.tolist()[:7], [1.0], *X.tolist()[8:]], "row 7 of X has 1 value, and row 0 has 2"),
    ],
    ids=["array", "list", "pandas", "polars", "text", "cube", "ragged"],
)
def test_other_than_rows_and_columns_is_refused(estimator, features, message) -> None:
    with pytest.raises(AlgorithmError, match=message):
        measure(estimator, features)


def similarity(A, B):
    return np.ones((len(A), len(B)))


@pytest.mark.parametrize(
    ("estimator", "features"),
    [
        (IsotonicRegression(out_of_bounds="clip"), X[:, 0]),
        (make_pipeline(CountVectorizer(), Ridge()), TOWNS.tolist()),
        (make_pipeline(CountVectorizer(), Ridge()), pd.Series(TOWNS)),
        (make_pipeline(FunctionTransformer(np.atleast_2d), FunctionTransformer(), Ridge()), X),
        (DummyRegressor(), TOWNS),
        (SVR(kernel=similarity), [[float(a)] for a in X[:, 0]]),
        (Ridge(), list(X)),
        (Ridge(), [tuple(row) for row in X.tolist()]),
        (lambda X, y, seed: lambda rows: [sum(map(len, X))], TOWNS.tolist()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_may_have_another_shape_runs(estimator, features) -> None:
    assert measure(estimator, features).n_trials == 6


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "object array": lambda columns: np.array(list(columns.values()), dtype=object).T,
    "list": lambda columns: [list(row) for row in zip(*columns.values(), strict=True)],
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=list(FRAMES))
def test_text_for_a_plain_estimator_is_refused_with_row_and_column(make) -> None:
    slip = [str(round(value, 3)) for value in X[:, 1].tolist()]
    slip[23] = "three"
    name = "'rooms'" if hasattr(make({"size": [1]}), "columns") else "1"
    with pytest.raises(AlgorithmError, match=f"column {name} holds 'three' in row 23 "):
        measure(Ridge(), make({"size": X[:, 0].tolist(), "rooms": slip}))


def test_dates_for_a_plain_estimator_are_refused() -> None:
    when = [datetime.date(2024, 1, 1)] * 60
    with pytest.raises(AlgorithmError, match=r"column 'when' holds .*2024.* in row 0"):
        measure(Ridge(), pd.DataFrame({"size": X[:, 0], "when": pd.to_datetime(when)}))


ENCODED = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["town"]))


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (make_pipeline(ENCODED, Ridge()), "str"),
        (DummyRegressor(), "str"),
        (HistGradientBoostingRegressor(max_iter=2), "category"),
    ],
    ids=["encoded", "ignored", "categories"],
)
def test_text_reaches_what_can_use_it(estimator, kind) -> None:
    frame = pd.DataFrame({"town": pd.Series(TOWNS).astype(kind)})
    ordered = frame.assign(size=X[:, 0]) if kind == "category" else frame
    trials = measure(estimator, ordered)
    # Towns by number carry the same information, so the changes are the same.
    numbered = ordered.assign(town=pd.factorize(TOWNS, sort=True)[0])
    if kind == "category":
        numbered = numbered.astype({"town": "category"})
    expected = measure(estimator, numbered)
    assert trials.failures == expected.failures == ()
    np.testing.assert_allclose(trials.changes, expected.changes, rtol=1e-9, atol=1e-12)


def test_numbers_written_as_text_are_numbers_to_scikit_learn() -> None:
    text = pd.DataFrame(X).map(str).astype(object)
    assert measure(Ridge(), text).changes.tolist() == pytest.approx(
        measure(Ridge(), X).changes.tolist()
    )


@pytest.mark.parametrize("labels", [TOWNS, TOWNS.tolist(), pd.Series(TOWNS), pl.Series(TOWNS)])
def test_text_as_responses_of_a_regressor_is_refused(labels) -> None:
    with pytest.raises(AlgorithmError, match=r"is a regressor, and y holds '.*' in row 0"):
        measure(Ridge(), X, labels)


def test_text_as_classes_is_what_classifiers_are_for() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression())
    trials = measure(model, X, TOWNS)
    # A label is as far from another label as a number from another number: 0 or 1.
    numbered = measure(model, X, pd.factorize(TOWNS, sort=True)[0])
    assert trials.failures == ()
    assert trials.changes.tolist() == numbered.changes.tolist()
    assert set(trials.changes.tolist()) <= {0.0, 1.0}


DAY = datetime.date(2024, 1, 31)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([DAY] * 60, dtype="datetime64[D]"),
        np.array([3] * 60, dtype="timedelta64[s]"),
        pd.Series(pd.to_datetime([DAY] * 60)),
        pl.Series([DAY] * 60),
        pa.array([DAY] * 60),
        [DAY] * 60,
    ],
    ids=["array", "span", "pandas", "polars", "pyarrow", "list"],
)
def test_dates_as_responses_are_refused(labels) -> None:
    with pytest.raises(
        DataError, match=r"got dates and times \(.* in row 0 \(counting from 0\)\); give"
    ):
        measure(Ridge(), X, labels)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_missing_and_infinite_responses_are_refused_with_their_place(bad) -> None:
    labels = y.copy()
    labels[17] = bad
    for given in (labels, labels.tolist(), pd.Series(labels), labels.astype(object)):
        with pytest.raises(DataError, match=f"got {bad} in row 17 "):
            measure(Ridge(), X, given)
    with pytest.raises(DataError, match=rf"got {bad} in row 17 \(counting from 0\), column 1;"):
        measure(Ridge(), X, np.stack([y, labels], axis=1))
