"""A ceiling is stated where one is proved, with the exponent that is proved, and nowhere else."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge

import poise
from poise.data.known_values import n_known_points
from poise.data.sample import Sample
from poise.data.tables import as_table
from poise.errors import PowerWarning

N, LABELED, EXTRA, DELTA, ALPHA = 20, 60, 30, 0.1, 0.05
KAPPA = min(LABELED / N, (LABELED + EXTRA) / (N + 1))
FEATURES = (LABELED + EXTRA) / (N + 1)
LARGE = (LABELED + EXTRA) / N


def ceiling(epsilon: float = 0.3, **settings) -> float | None:
    design = poise.Design("x", n=N, n_labeled=LABELED, n_unlabeled=EXTRA, **settings)
    return design.ceiling(DELTA, ALPHA, epsilon)


def worth(exponent: float) -> float:
    return pytest.approx(ALPHA * (1 - DELTA) ** -exponent, rel=1e-12)


@pytest.mark.parametrize(
    ("settings", "exponent"),
    [
        ({}, KAPPA),
        ({"coupling": "independent"}, KAPPA),
        ({"n_classes": 2}, FEATURES),
        ({"n_points": 8}, LABELED / N),
        ({"n_points": 8, "remove": 3}, LABELED / N),
        ({"set_aside": 20}, (LABELED + 20) / N),  # others could use them too
        ({"remove": 3}, KAPPA),
        ({"n_groups": 60}, KAPPA),
        ({"n_groups": 60, "remove": 2}, KAPPA),
        ({"n_groups": 40}, min(40 / N, 70 / (N + 1))),
        ({"replace": True}, min(LABELED / (N + 1), (LABELED + EXTRA) / (N + 2))),
        ({"replace": True, "n_classes": 2}, (LABELED + EXTRA) / (N + 2)),
        ({"labeled_test": True, "distance": "change of squared loss"}, KAPPA),
        ({"labeled_test": True, "distance": "change of absolute loss"}, KAPPA),
        ({"distance": "label"}, (LABELED + EXTRA) / N),
        ({"distance": "label", "n_classes": 5}, (LABELED + EXTRA) / N),
        ({"distance": "total_variation", "n_classes": 3}, FEATURES),
        ({"distance": "total_variation", "n_classes": 2}, FEATURES),
        ({"distance": "total_variation"}, (LABELED + EXTRA) / N),
        (
            {"distance": "total_variation", "n_classes": 3, "coupling": "independent"},
            (LABELED + EXTRA) / N,
        ),
    ],
    ids=str,
)
def test_the_exponent_that_is_proved(settings, exponent) -> None:
    assert ceiling(**settings) == worth(exponent)


@pytest.mark.parametrize(
    ("classes", "epsilon", "exponent"),
    [(2, 0.49, FEATURES), (2, 0.5, LARGE), (4, 0.74, FEATURES), (4, 0.75, LARGE), (4, 0.99, LARGE)],
)
def test_total_variation_keeps_its_ceiling_below_its_centre(classes, epsilon, exponent) -> None:
    """On K classes no point of the simplex is further than 1 − 1/K from its centre."""
    found = ceiling(epsilon, distance="total_variation", n_classes=classes)
    assert found == worth(exponent)


@pytest.mark.parametrize(
    "settings",
    [
        {"distance": "my own"},
        {"distance": "auto"},
        {"distance": "label", "epsilon": 1.0},  # no two labels are further apart
        {"distance": "total_variation", "epsilon": 1.0, "n_classes": 2},
        {"distance": "label", "remove": 2},
        {"distance": "total_variation", "n_groups": 60},
        {"distance": "label", "replace": True},
        {"replace": True, "remove": 2},
        {"replace": True, "n_groups": 60},
        {"labeled_test": True, "distance": "change of zero_one loss"},
        {"labeled_test": True, "distance": "change of hinge loss"},
        {"labeled_test": True, "distance": "change of log loss"},
        {"labeled_test": True, "distance": "change of squared loss", "remove": 2},
        {"labeled_test": True, "distance": "change of squared loss", "replace": True},
        {"from_rows": False},
        {"n_classes": 2, "n_points": 8},
        {"distance": "label", "n_points": 8},
        {"distance": "total_variation", "n_points": 8},
        {"replace": True, "n_points": 8},
        {"distance": "euclidean of probabilities"},
        {"distance": "absolute of labels"},
        {"distance": "absolute (own)"},
        {"labeled_test": True, "distance": "change of squared (own) loss"},
    ],
    ids=str,
)
def test_nothing_is_claimed_where_nothing_is_proved(settings) -> None:
    assert ceiling(**settings) is None


def test_a_classifier_with_many_unlabelled_rows_is_not_called_hopeless() -> None:
    """Three labels are worth 400 points: a test that tries both labels of every row has power 1."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3, 2)), np.array(["a", "b", "a"])
    with pytest.warns(PowerWarning) as caught:
        result = poise.stability_test(
            LogisticRegression(), X, y, n=3, epsilon=0, delta=0.1, random_state=0,
            X_unlabeled=rng.normal(size=(400, 2)), on_error="unstable",
        )  # fmt: skip
    assert all("no valid black-box test" not in str(warning.message) for warning in caught)
    assert result.power_bound == 1.0
    assert "no valid black-box test" not in result.summary()


@pytest.mark.parametrize(
    ("y", "count"),
    [
        (["a", "b", "a"], 2),
        ([float(i) for i in range(200)], 200),  # whole numbers, whatever their type
        ([i / 7 for i in range(200)], None),
        ([i % 3 / 7 for i in range(200)], 3),
        ([[i % 2, i % 3] for i in range(200)], 6),
        ([[i % 2, i / 7] for i in range(200)], None),
        ([f"class {i}" for i in range(200)], 200),
        ([0.1, 0.2, 0.3], None),
        (np.array([True, "a", 1.0], dtype=object), 2),
    ],
    ids=lambda value: str(value)[:20],
)
def test_responses_that_somebody_could_know_are_counted(y, count) -> None:
    assert Sample([[float(i)] for i in range(len(y))], y).n_classes == count


@pytest.mark.parametrize(
    ("X", "count"),
    [
        ([[0, "a"], [1, "b"], [0, "c"]], 6),
        (np.arange(200.0).reshape(100, 2), 10_000),
        (np.arange(600).reshape(100, 6), None),  # 100 to the sixth: nobody tries them all
        (np.arange(100).reshape(100, 1) / 7, None),
        ([{"a": 1}, {"a": 2}], None),
        ([[1, 2], [1]], None),
        (scipy.sparse.eye(5, format="csr"), None),
        (pd.DataFrame({"a": [1, 2, 2], "b": ["x", "y", None]}), 6),
    ],
    ids=lambda value: str(value)[:20],
)
def test_points_that_somebody_could_try_are_counted(X, count) -> None:
    assert n_known_points(as_table(X, "X")) == count


def test_responses_of_few_values_are_counted() -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    labels = poise.measure(LogisticRegression(), X, X[:, 0] > 0, n=20, random_state=0)
    assert labels.design.n_classes == 2
    scores = poise.measure(Ridge(), X, X[:, 0], n=20, random_state=0)
    assert scores.design.n_classes is None


def clipped(y: float, prediction: float) -> float:
    return min(1.0, abs(y - prediction))


@pytest.mark.parametrize("name", ["squared", "absolute"])
def test_a_loss_of_ones_own_has_no_ceiling_by_its_name(name, monkeypatch) -> None:
    monkeypatch.setattr(clipped, "__name__", name)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(330, 2)), rng.normal(size=330)
    trials = poise.measure(Ridge(), X, y, n=10, distance=poise.LossChange(clipped), random_state=0)
    assert trials.design.distance == f"change of {name} (own) loss"
    assert trials.test(epsilon=0.5, delta=0.1).power_bound is None


@pytest.mark.parametrize("name", ["absolute", "euclidean", "label", "total_variation"])
def test_a_distance_of_ones_own_has_nothing_by_its_name(name, monkeypatch) -> None:
    def far(a: float, b: float) -> float:
        return 5.0 + clipped(a, b)

    monkeypatch.setattr(far, "__name__", name, raising=False)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(330, 2)), rng.normal(size=330)
    question = {"n": 10, "epsilon": 2.0, "delta": 0.1, "random_state": 0}
    result = poise.stability_test(Ridge(), X, y, distance=far, **question)
    assert (result.power_bound, result.verdict) == (None, "unstable")
    assert result.design.distance == f"{name} (own)"


def test_probabilities_and_class_numbers_are_bounded_by_any_distance() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(330, 2)), rng.integers(0, 2, size=330)
    common = {"n": 10, "distance": "euclidean", "random_state": 0, "on_error": "unstable"}
    chances = poise.measure(LogisticRegression(), X, y, response="predict_proba", **common)
    assert chances.design.distance == "euclidean of probabilities"
    numbers = poise.measure(LogisticRegression(), X, y, **common)
    assert numbers.design.distance == "euclidean of labels"
    scores = poise.measure(LogisticRegression(), X, y, response="decision_function", **common)
    assert scores.design.distance == "euclidean"
    for trials, proved in ((chances, False), (numbers, False), (scores, True)):
        assert (trials.test(epsilon=0.1, delta=0.1).power_bound is not None) == proved


def test_features_that_can_be_tried_one_by_one_leave_the_trap_in_the_response() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(60, 3)), rng.normal(size=60)
    design = poise.measure(Ridge(), X, y, n=N, random_state=0).design
    assert (design.n_points, design.n_classes) == (8, None)
    assert design.ceiling(DELTA, ALPHA, 0.3) == worth(60 / N)
    coded = poise.measure(Ridge(), X, np.round(y), n=N, random_state=0).design
    assert coded.ceiling(DELTA, ALPHA, 0.3) is None


def test_the_part_that_is_tested_after_exploring_knows_its_responses() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(800, 2)), rng.integers(0, 3, size=800)
    test = poise.procedures.ExploreThenTest(n=10, delta=0.2, epsilon=0.0)
    assert poise.run(test, DummyClassifier(), X, y, random_state=0).result.n_trials == 54


def test_the_allowed_change_counts_in_the_warning_too() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, size=60)
    question = {"n": 20, "delta": 0.1, "random_state": 0, "distance": "label"}
    with pytest.warns(PowerWarning, match="no valid black-box test has more than"):
        poise.stability_test(LogisticRegression(), X, y, epsilon=0.5, **question)


def test_changes_measured_elsewhere_know_no_rows() -> None:
    trials = poise.Trials.from_changes([0.1] * 30, n=5)
    result = trials.test(epsilon=0.2, delta=0.1)
    assert result.power_bound is None
    assert trials.facts()["rows"] == "not known"
    assert "ceiling on the power" not in result.summary()
    assert poise.Trials.from_json(trials.to_json()).test(0.2, 0.1) == result
    counted = dataclasses.replace(trials.design, from_rows=True)
    assert dataclasses.replace(trials, design=counted).test(0.2, 0.1).power_bound is not None
