"""Seeds come from ξ, wherever a library hides them; a fit uses one thread."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostRegressor
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import BaggingRegressor, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from xgboost import XGBClassifier, XGBRegressor

import poise
from poise.algorithms import seeds_and_threads
from poise.algorithms.estimator import EstimatorAlgorithm
from poise.errors import AlgorithmError
from shared.data import linear_rows
from shared.paper_loop import changes_by_hand

X, y = linear_rows(205, [1.0, 0.0, 0.0], 2)


def cat(**parameters):
    return CatBoostRegressor(iterations=4, verbose=False, allow_writing_files=False, **parameters)


BOOSTERS = [
    LGBMRegressor(
        n_estimators=4,
        subsample=0.5,
        subsample_freq=1,
        colsample_bytree=0.5,
        min_child_samples=2,
        verbose=-1,
    ),
    XGBRegressor(n_estimators=4, subsample=0.5, colsample_bytree=0.5),
]


@pytest.mark.parametrize("booster", [*BOOSTERS, cat()], ids=lambda b: type(b).__name__)
def test_boosters_depend_on_rows_and_xi_alone(booster) -> None:
    algorithm = EstimatorAlgorithm(booster)
    first, again, other = (
        algorithm.fit(X[:60], y[:60], xi)(X[60:]) for xi in (7 << 33, 7 << 33, 1)
    )
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
    one = poise.measure(booster, X, y, n=40, random_state=0)
    two = poise.measure(booster, X, y, n=40, random_state=0, n_jobs=2)
    assert one.changes.tolist() == two.changes.tolist()


@pytest.mark.parametrize("booster", BOOSTERS, ids=lambda b: type(b).__name__)
def test_boosters_use_one_thread_and_like_to_share_a_process(booster) -> None:
    algorithm = EstimatorAlgorithm(booster)
    assert algorithm.model(algorithm.fit(X[:40], y[:40], 0)).n_jobs == 1
    assert algorithm.thread_safe
    assert algorithm.threads_from == 2000
    inner = EstimatorAlgorithm(make_pipeline(StandardScaler(), booster))
    fitted = inner.model(inner.fit(X[:40], y[:40], 0))
    assert fitted[-1].n_jobs == 1
    assert not inner.thread_safe
    assert booster.n_jobs is None, "the user's object is never touched"


def test_a_function_as_a_parameter_may_do_anything() -> None:
    assert not seeds_and_threads.is_thread_safe(
        XGBRegressor(objective=lambda a, b: (a - b, np.ones(len(a))))
    )
    assert not seeds_and_threads.is_thread_safe(BaggingRegressor(DecisionTreeRegressor()))
    assert seeds_and_threads.is_thread_safe(RandomForestRegressor())


@pytest.mark.parametrize("response", ["predict", "predict_proba"])
@pytest.mark.parametrize(
    "booster",
    [
        LGBMClassifier(n_estimators=3, min_child_samples=2, verbose=-1),
        XGBClassifier(n_estimators=3),
    ],
    ids=lambda b: type(b).__name__,
)
def test_boosted_classifiers(booster, response) -> None:
    classes = np.digitize(y, [-0.5, 0.5])
    got = poise.measure(booster, X, classes, n=40, response=response, random_state=0, shuffle=False)
    kind = "label" if response == "predict" else "probability"
    expected = changes_by_hand(booster, X, classes, n=40, response=response, kind=kind)
    assert got.changes.tolist() == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_threads() -> None:
    assert seeds_and_threads.threads(RandomForestRegressor(n_jobs=4)) == {"n_jobs": 1}
    assert seeds_and_threads.threads(RandomForestRegressor(n_jobs=1)) == {}
    # LogisticRegression warns about any n_jobs, even 1; None means one thread there.
    assert seeds_and_threads.threads(LogisticRegression()) == {}
    nested = make_pipeline(StandardScaler(), BaggingRegressor(XGBRegressor(), n_jobs=-1))
    assert seeds_and_threads.threads(nested) == {
        "baggingregressor__n_jobs": 1,
        "baggingregressor__estimator__n_jobs": 1,
    }


class Seeded(RegressorMixin, BaseEstimator):
    """Spells its seed and its threads in other ways."""

    def __init__(self, random_seed=None, seed=0, nthread=8):
        self.random_seed = random_seed
        self.seed = seed
        self.nthread = nthread

    def fit(self, X, y):
        self.level_ = float(self.random_seed + 2 * self.seed + self.nthread)
        return self

    def predict(self, X):
        return np.full(len(X), self.level_)


def test_other_spellings() -> None:
    assert seeds_and_threads.seeds(Seeded()) == ["random_seed", "seed"]
    assert seeds_and_threads.threads(Seeded()) == {"nthread": 1}
    assert set(poise.measure(Seeded(), X, y, n=40, random_state=0).changes) == {0.0}
    drawn = poise.measure(Seeded(), X, y, n=40, random_state=0, coupling="independent")
    assert (drawn.changes > 0).all()


@pytest.mark.parametrize(
    "given", [{}, {"random_state": 3}, {"random_seed": 3, "thread_count": 2}], ids=str
)
def test_catboost_lists_only_what_was_set(given) -> None:
    seed = "random_state" if "random_state" in given else "random_seed"
    assert seeds_and_threads.seeds(cat(**given)) == [seed]
    assert seeds_and_threads.threads(cat(**given)) == {"thread_count": 1}
    algorithm = EstimatorAlgorithm(make_pipeline(StandardScaler(), cat(**given)))
    model = algorithm.model(algorithm.fit(X[:40], y[:40], xi=5 << 33))[-1]
    assert model.get_params()[seed] == 5
    assert model.get_params()["thread_count"] == 1


@pytest.mark.parametrize("wrap", [lambda m: m, lambda m: make_pipeline("passthrough", m)])
def test_a_list_of_categories_cannot_be_cloned_and_the_error_says_what_helps(wrap) -> None:
    with pytest.raises(AlgorithmError, match=r"cat_features; give cat_features as a tuple"):
        seeds_and_threads.cloned(wrap(cat(cat_features=["colour"])))


def test_categories_are_answered_before_the_first_fit_and_by_the_check() -> None:
    table = pd.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "blue")})
    listed = cat(cat_features=["colour"])
    with pytest.raises(AlgorithmError, match=r"as a tuple.*or make it in a function"):
        poise.measure(listed, table, y, n=40, random_state=0, on_error="unstable")
    report = poise.check_algorithm(cat(), table, y, n=40, random_state=0)
    remedy = report.failed[0].remedy
    assert "cat_features=('colour',)" in remedy
    assert "catboost.Pool in a function" in remedy


def test_what_helps_against_a_list_of_categories_is_the_same_fit() -> None:
    table = pd.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 1] > 0, "red", "blue")})
    as_tuple = poise.measure(cat(cat_features=("colour",)), table, y, n=40, random_state=0)
    in_fit = poise.measure(
        cat(), table, y, n=40, random_state=0, fit_params={"cat_features": ["colour"]}
    )
    assert as_tuple.changes.tolist() == in_fit.changes.tolist()


class Copies(RegressorMixin, BaseEstimator):
    def __init__(self, columns):
        self.columns = list(columns)


def test_other_constructors_that_copy_are_made_in_a_function() -> None:
    with pytest.raises(AlgorithmError, match=r"parameter columns; make it in a function"):
        seeds_and_threads.cloned(Copies([0, 1]))


class Streaming:
    """Like a model of river: it has a seed, but no get_params."""

    seed = None


class Wrapped(RegressorMixin, BaseEstimator):
    """Like river's own wrapper for scikit-learn."""

    def __init__(self, river_estimator):
        self.river_estimator = river_estimator


def test_a_seed_is_set_at_any_depth_but_only_where_it_is_a_parameter() -> None:
    nested = BaggingRegressor(Seeded())
    assert seeds_and_threads.seeds(nested) == [
        "estimator__random_seed",
        "estimator__seed",
        "random_state",
    ]
    assert seeds_and_threads.seeds(Wrapped(Streaming())) == []


def test_plain_estimators_are_built_from_their_parameters() -> None:
    assert seeds_and_threads.plain_parameters(Ridge(alpha=3.0))["alpha"] == 3.0
    assert seeds_and_threads.plain_parameters(BaggingRegressor(Ridge())) is None
    assert seeds_and_threads.plain_parameters(Seeded()) is None
