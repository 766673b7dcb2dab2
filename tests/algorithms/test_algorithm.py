"""What can be given as an algorithm, and what is told to who gives something else."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from poise.algorithms.algorithm import as_algorithm
from poise.data.sample import Sample
from poise.errors import AlgorithmError, ArgumentError

X = np.arange(12.0).reshape(6, 2)
y = np.arange(6.0)


def test_functions_and_algorithms():
    def mean(X, y, seed, power=1):
        return lambda rows: [y.mean() ** power + seed] * len(rows)

    algorithm = as_algorithm(mean)
    assert algorithm.has_own_code
    assert algorithm.fit(X, y, 5 << 33)(X[:1]) == [y.mean() + 5]
    assert algorithm.fit(X, y, 0, power=2)(X[:1]) == [y.mean() ** 2]
    assert as_algorithm(algorithm) is algorithm
    assert as_algorithm(lambda X, y, seed: None).name == "a lambda"
    assert as_algorithm(functools.partial(mean, power=3)).name == (
        "functools.partial(<function test_functions_and_algorithms.<locals>.mean>, power=3)"
    )
    algorithm.prepared(Sample.of(X, y, fit_params={"power": 2}))
    with pytest.raises(AlgorithmError, match="weight"):
        algorithm.prepared(Sample.of(X, y, fit_params={"weight": 2}))
    with pytest.raises(AlgorithmError, match="weight"):
        as_algorithm(Ridge()).prepared(Sample.of(X, y, fit_params={"weight": 2}))
    with pytest.raises(TypeError, match="must return a function from rows to predictions, got int"):
        as_algorithm(lambda X, y, seed: 3).fit(X, y, 0)


class Exits(BaseEstimator):
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X

    def __repr__(self):
        raise SystemExit(0)


class BadTags(ClassifierMixin, BaseEstimator):
    fit, predict = Exits.fit, Exits.predict

    def __sklearn_tags__(self):
        raise SystemExit(0)


def test_what_is_no_algorithm_is_told_what_would_be():
    refused = [
        (Ridge, "predict", r"instance, not a class.*write Ridge\(\)"),
        ("ridge", "predict", "must be an estimator with fit and predict, or a function"),
        (StandardScaler(), "predict", r"must have a method predict\(X\).*pipeline"),
        (Ridge(), "predict_proba", "must have a method predict_proba.*response='predict'"),
        (lambda X, y: X, "predict", r"must accept \(X, y, seed\)"),
        (lambda X, y, seed: X, "predict_proba", "is for estimators"),
        (Exits(), "predict", "Exits cannot be described: SystemExit: 0"),
        (BadTags(), "predict", "BadTags cannot be described: SystemExit: 0"),
    ]
    for candidate, response, message in refused:
        with pytest.raises(AlgorithmError, match=message):
            as_algorithm(candidate, response)
    with pytest.raises(ArgumentError, match="response must be 'predict'"):
        as_algorithm(Ridge(), "transform")
