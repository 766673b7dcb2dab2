"""An ε that no change can exceed is a gate that cannot fail: it is refused, not passed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier

import poise
from poise.errors import ArgumentError

rng = np.random.default_rng(0)
X = rng.normal(size=(220, 2))
labels = np.where(X[:, 0] > 0, "up", "down")
QUESTION = {"n": 10, "delta": 0.3, "random_state": 0}


@pytest.mark.parametrize("epsilon", [1, 1.0, 5])
def test_labels(epsilon) -> None:
    message = rf"epsilon must be below 1 where .* labels, got {epsilon}.*labels: use epsilon=0"
    for model in (LogisticRegression(), lambda A, b, seed: lambda rows: [b[0]]):
        with pytest.raises(ArgumentError, match=message):
            poise.stability_test(model, X, labels, epsilon=epsilon, **QUESTION)
    with pytest.raises(ArgumentError, match=message):
        poise.compare([Ridge(), DummyClassifier()], X, X[:, 0] > 0, epsilon=epsilon, **QUESTION)
    trials = poise.measure(DummyClassifier(), X, labels, n=10, random_state=0)
    with pytest.raises(ArgumentError, match="use epsilon=0"):
        trials.test(epsilon=epsilon, delta=0.3)
    test = poise.procedures.BinomialTest(n=10, epsilon=epsilon, delta=0.3)
    with pytest.raises(ArgumentError, match="use epsilon=0"):
        poise.run(test, DummyClassifier(), X, labels)


@pytest.mark.parametrize(
    ("settings", "limit"),
    [
        ({"response": "predict_proba"}, 1.0),
        ({"response": "predict_proba", "distance": "euclidean"}, 2**0.5),
        ({"distance": poise.LossChange("zero_one")}, 1.0),
    ],
)
def test_probabilities_and_losses(settings, limit) -> None:
    for epsilon in (limit, limit + 1):
        with pytest.raises(ArgumentError, match="every algorithm would pass"):
            poise.stability_test(
                LogisticRegression(), X, labels, epsilon=epsilon, **settings, **QUESTION
            )
    below = np.nextafter(limit, 0)
    poise.stability_test(LogisticRegression(), X, labels, epsilon=below, **settings, **QUESTION)


def test_total_variations_of_several_responses_add_up() -> None:
    two = np.column_stack([labels, labels[::-1]])
    settings = {"response": "predict_proba", **QUESTION}
    poise.stability_test(KNeighborsClassifier(3), X, two, epsilon=1.5, **settings)
    with pytest.raises(ArgumentError, match="below 2"):
        poise.stability_test(KNeighborsClassifier(3), X, two, epsilon=2.0, **settings)


def test_numbers_have_no_limit() -> None:
    result = poise.stability_test(Ridge(), X, X[:, 0], epsilon=1e6, **QUESTION)
    assert result.verdict == "stable"


@pytest.mark.parametrize("test", ["binomial", "averaged"])
def test_an_infinite_epsilon_is_no_question_of_probabilities(test) -> None:
    trials = poise.Trials.from_changes([0.1] * 40, n=5)
    with pytest.raises(ArgumentError, match="epsilon must be a finite number >= 0"):
        trials.test(float("inf"), 0.1, test=test)
