"""Every seed inside a model of river is set from the random term of a trial."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from river import compat, ensemble, forest, preprocessing
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import poise
from poise.algorithms.estimator import EstimatorAlgorithm
from poise.algorithms.river_seeds import reseeded, river_models

X = np.random.default_rng(0).normal(size=(60, 2))
y = X[:, 0] + np.random.default_rng(1).normal(size=60)


def scaled(**given):
    return preprocessing.StandardScaler() | forest.ARFRegressor(n_models=2, **given)


MODELS = {
    "plain": (forest.ARFRegressor(n_models=2), lambda m: [m.seed]),
    "pipeline": (scaled(), lambda m: [m.steps["ARFRegressor"].seed]),
    "ensemble": (
        ensemble.BaggingRegressor(scaled(), n_models=2),
        lambda m: [m.model.steps["ARFRegressor"].seed, m.seed],
    ),
    "wrapped": (
        preprocessing.TargetStandardScaler(scaled()),
        lambda m: [m.regressor.steps["ARFRegressor"].seed],
    ),
    "list": (
        ensemble.EWARegressor([scaled(), forest.ARFRegressor(n_models=2)]),
        lambda m: [m[0].steps["ARFRegressor"].seed, m[1].seed],
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_every_seed_at_any_depth_is_another_one(kind: str) -> None:
    model, seeds_in = MODELS[kind]
    before = seeds_in(model)
    made = reseeded(model, itertools.count(7))
    assert seeds_in(made) == [7 + k for k in range(len(before))]
    assert seeds_in(model) == before == [None] * len(before)  # the user's model is not changed


def test_a_fit_is_a_function_of_rows_and_term() -> None:
    wrapped = make_pipeline(StandardScaler(), compat.River2SKLRegressor(scaled()))
    assert river_models(wrapped) == ["river2sklregressor__river_estimator"]
    algorithm = EstimatorAlgorithm(wrapped)
    said = [algorithm.fit(X, y, xi)(X[:3]).tolist() for xi in (5 << 33, 5 << 33, 6 << 33)]
    assert said[0] == said[1] != said[2]
    inner = algorithm.model(algorithm.fit(X, y, 5 << 33))[-1].river_estimator
    assert inner.steps["ARFRegressor"].seed == 5


def test_a_seed_that_the_user_gave_is_replaced_as_everywhere() -> None:
    fixed = compat.River2SKLRegressor(forest.ARFRegressor(n_models=2, seed=1))
    first, second = (EstimatorAlgorithm(fixed).fit(X, y, xi << 33) for xi in (1, 2))
    assert first(X[:3]).tolist() != second(X[:3]).tolist()


def test_the_checks_find_nothing_wrong_with_its_seeds() -> None:
    wrapped = compat.River2SKLRegressor(forest.ARFRegressor(n_models=2))
    report = poise.check_algorithm(wrapped, X, y, n=10, random_state=0)
    assert report["deterministic given its seed"].severity.value == "ok"


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_is_not_wrapped_is_told_how(name: str) -> None:
    """The message is one line that names the type, whatever the model prints about itself."""
    model = MODELS[name][0]
    with pytest.raises(poise.errors.AlgorithmError, match="convert_river_to_sklearn") as refused:
        poise.stability_test(model, X, y, n=5, epsilon=1, delta=0.2)
    message = str(refused.value)
    assert f"got {type(model).__name__} " in message
    assert "\n" not in message
    assert len(message) < 320
