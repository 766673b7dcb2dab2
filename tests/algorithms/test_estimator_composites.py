"""Pipelines, searches, stacks and the like: each equals a loop written by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    BaggingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import poise
from poise.errors import AlgorithmError
from shared.paper_loop import changes_by_hand

rng = np.random.default_rng(3)
X = rng.normal(size=(155, 4))
y = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=155)
classes = np.array(["a", "b", "c"])[np.digitize(y, [0.3, 1.4])]
N = 30

trees = [("tree", DecisionTreeRegressor(max_features=2)), ("ridge", Ridge())]
votes = [("tree", DecisionTreeClassifier(max_depth=2)), ("naive", GaussianNB())]

REGRESSORS = [
    make_pipeline(StandardScaler(), PolynomialFeatures(2), SelectKBest(f_regression, k=5), Ridge()),
    make_pipeline(
        FeatureUnion([("pca", PCA(2)), ("best", SelectKBest(f_regression, k=2))]), Lasso(alpha=0.1)
    ),
    GridSearchCV(KNeighborsRegressor(), {"n_neighbors": [2, 4]}, cv=3),
    RandomizedSearchCV(Ridge(), {"alpha": np.logspace(-3, 3, 50)}, n_iter=3, cv=3),
    StackingRegressor(trees, final_estimator=RandomForestRegressor(5), cv=3),
    VotingRegressor(trees),
    TransformedTargetRegressor(Ridge(), func=np.arcsinh, inverse_func=np.sinh),
    GridSearchCV(StackingRegressor(trees, cv=2), {"ridge__alpha": [0.1, 10.0]}, cv=2),
]

CLASSIFIERS = [
    make_pipeline(StandardScaler(), LogisticRegression()),
    GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 3]}, cv=2),
    StackingClassifier(votes, cv=2),
    VotingClassifier(votes, voting="soft"),
    CalibratedClassifierCV(GaussianNB(), cv=2),
    CalibratedClassifierCV(SVC(), cv=2),
    BaggingClassifier(LogisticRegression(), n_estimators=3, max_samples=0.7),
]


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda e: type(e).__name__)
def test_regressors(estimator) -> None:
    got = poise.measure(estimator, X, y, n=N, shuffle=False, random_state=0)
    assert got.changes.tolist() == pytest.approx(
        changes_by_hand(estimator, X, y, n=N, kind="number"), rel=1e-9
    )


def test_folds_drawn_from_the_global_generator_are_pinned_too() -> None:
    folds = KFold(3, shuffle=True)
    search = GridSearchCV(DecisionTreeRegressor(), {"max_depth": [1, 3]}, cv=folds)
    one = poise.measure(search, X, y, n=N, random_state=0)
    two = poise.measure(search, X, y, n=N, random_state=0, n_jobs=2, backend="threading")
    assert one.changes.tolist() == two.changes.tolist()


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("response", ["predict", "predict_proba"])
def test_classifiers(estimator, response) -> None:
    kind = "label" if response == "predict" else "probability"
    got = poise.measure(
        estimator, X, classes, n=N, shuffle=False, random_state=0, response=response
    )
    expected = changes_by_hand(estimator, X, classes, n=N, kind=kind, response=response)
    assert got.changes.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert got.design.distance == {"label": "label", "probability": "total_variation"}[kind]


def test_a_table_with_text_categories_and_holes() -> None:
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(155) < 0.1, np.nan, X[:, 0]),
            "town": rng.choice(["Ulm", "Bonn", "Kiel"], 155),
            "note": rng.choice(["quiet old house", "new house", "quiet flat"], 155),
        }
    )
    columns = ColumnTransformer(
        [
            ("numbers", SimpleImputer(), make_column_selector(dtype_include="number")),
            ("town", OneHotEncoder(handle_unknown="ignore"), ["town"]),
            ("note", CountVectorizer(), "note"),
        ]
    )
    response = pd.Series(y, name="price")
    model = make_pipeline(columns, RandomForestRegressor(5))
    got = poise.measure(model, frame, response, n=N, shuffle=False, random_state=0)
    expected = changes_by_hand(model, frame, response, n=N, kind="number")
    assert got.changes.tolist() == pytest.approx(expected, rel=1e-9)


def test_what_a_part_needs_is_left_to_the_whole() -> None:
    """MultinomialNB refuses negative features, but not behind a one-hot encoder."""
    encoded = make_pipeline(OneHotEncoder(handle_unknown="ignore"), MultinomialNB())
    poise.measure(encoded, np.round(X), classes, n=N, random_state=0)
    with pytest.raises(AlgorithmError, match=r"MultinomialNB .*: it needs features >= 0"):
        poise.measure(MultinomialNB(), X, classes, n=N)


@pytest.mark.parametrize("response", ["predict", "predict_proba"])
def test_several_outputs(response) -> None:
    both = np.column_stack([classes, np.where(X[:, 2] > 0, "up", "down")])
    forest = RandomForestClassifier(5, max_depth=3)
    kind = "label" if response == "predict" else "probability"
    settings = {"n": 12, "response": response}
    got = poise.measure(forest, X, both, shuffle=False, random_state=0, **settings)
    expected = changes_by_hand(forest, X, both, kind=kind, **settings)
    assert got.changes.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert response == "predict" or got.changes.max() > 0


def test_several_numbers() -> None:
    both = np.column_stack([y, -2 * y])
    for estimator in (Ridge(), DecisionTreeRegressor(), KNeighborsRegressor(3)):
        got = poise.measure(estimator, X, both, n=N, shuffle=False, random_state=0)
        expected = changes_by_hand(estimator, X, both, n=N, kind="number")
        assert got.changes.tolist() == pytest.approx(expected, rel=1e-9)
