"""The scores of a stabilised estimator and of its original."""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.questions.cost_of_stability import cost_of_stability

RNG = np.random.default_rng(2)
X = RNG.normal(size=(90, 4))
Y = X[:, 0] + RNG.normal(size=90)


def _cost(estimator: object, seed: int, **more: object):
    stable = poise.stabilize(estimator, n=60, epsilon=0.5, delta=0.3, **more)
    return cost_of_stability(stable, X, Y, splits=2, random_state=seed)


def test_one_seed_gives_the_same_scores_of_an_original_without_a_seed() -> None:
    """A tree without a seed breaks ties by the global generator, and a forest draws from it."""
    forest = make_pipeline(StandardScaler(), RandomForestRegressor(n_estimators=3))
    assert _cost(forest, 0) == _cost(forest, 0)
    assert _cost(forest, 0) != _cost(forest, 1)


def test_a_seed_of_ones_own_is_kept() -> None:
    noisy = [DecisionTreeRegressor(max_features=1, random_state=seed) for seed in (0, 1)]
    first, second = (_cost(tree, 0, random_state=5).original for tree in noisy)
    assert first != second
