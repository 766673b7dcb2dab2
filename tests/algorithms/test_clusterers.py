"""Numbers of clusters mean nothing: they are not compared, and the remedy works."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import Birch, KMeans
from sklearn.linear_model import Ridge
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import poise
from poise.errors import AlgorithmError

rng = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
X = np.repeat(CENTRES, 110, axis=0) + rng.normal(size=(330, 2))
y = np.zeros(330)


@pytest.mark.parametrize("distance", ["auto", "label", "euclidean", "absolute"])
@pytest.mark.parametrize(
    "estimator",
    [
        KMeans(3, n_init=1),
        Birch(n_clusters=3),
        GaussianMixture(3),
        make_pipeline(StandardScaler(), KMeans(3)),
        GridSearchCV(KMeans(3), {"n_clusters": [2, 3]}),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_they_are_refused_with_the_remedy(estimator, distance) -> None:
    with pytest.raises(AlgorithmError, match=r"cluster_centers_.* invariant under renaming"):
        poise.measure(estimator, X, y, n=30, distance=distance)
    with pytest.raises(AlgorithmError, match="numbers its clusters"):
        poise.check_algorithm(estimator, X, y, n=30, distance=distance)


def test_probabilities_of_components_are_refused_too() -> None:
    with pytest.raises(AlgorithmError, match="numbers its clusters"):
        poise.measure(GaussianMixture(3), X, y, n=30, response="predict_proba")


def test_the_remedy_finds_stable_clusters_stable_where_their_numbers_change() -> None:
    def centre(X, y, seed):
        model = KMeans(3, n_init=5, random_state=seed).fit(X)
        return lambda rows: model.cluster_centers_[model.predict(rows)]

    def number(X, y, seed):
        model = KMeans(3, n_init=5, random_state=seed).fit(X)
        return lambda rows: model.predict(rows)

    settings = {"n": 30, "random_state": 0, "coupling": "independent"}
    assert poise.measure(centre, X, y, **settings).changes.max() < 2
    assert poise.measure(number, X, y, **settings).changes.max() >= 1


def test_a_distance_of_ones_own_is_taken_at_its_word() -> None:
    trials = poise.measure(KMeans(3, n_init=1), X, y, n=30, distance=lambda a, b: 0.0)
    assert set(trials.changes) == {0.0}


def test_clusters_inside_a_regressor_have_no_numbers_outside() -> None:
    model = make_pipeline(KMeans(3, n_init=1), Ridge())
    assert poise.measure(model, X, X[:, 0], n=30, random_state=0).n_trials == 10
