"""How far apart two predictions, or two losses, are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, Ridge

import poise
from poise import Batch, Comparison
from poise.algorithms.distance import (
    DISTANCES,
    Undefined,
    absolute,
    as_distance,
    label,
    total_variation,
)
from poise.algorithms.losses import LOSSES, LossChange
from poise.errors import ArgumentError, TrialError
from shared.algorithms import mean
from shared.data import linear_rows

numbers = st.floats(allow_nan=False, width=32)


@given(numbers, numbers, numbers)
def test_absolute_is_a_metric_with_infinities(a, b, c) -> None:
    assert absolute(a, a) == 0.0
    assert absolute(a, b) == absolute(b, a) >= 0
    if math.isinf(a) and a != b:
        assert absolute(a, b) == math.inf
    assert absolute(a, c) <= absolute(a, b) + absolute(b, c) or math.isinf(absolute(a, c))


@pytest.mark.parametrize("name", DISTANCES)
def test_not_a_number_has_no_distance(name) -> None:
    bad, good = (math.nan, 1.0) if name != "total_variation" else ([math.nan, 1.0], [0.5, 0.5])
    for pair in ((bad, good), (good, bad), (bad, bad)):
        with pytest.raises(Undefined):
            DISTANCES[name](*(np.array(value) for value in pair))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6))
def test_total_variation_is_the_largest_change_of_any_event(pairs) -> None:
    p = np.array([a for a, _ in pairs]) + 1e-3
    q = np.array([b for _, b in pairs]) + 1e-3
    p, q = p / p.sum(), q / q.sum()
    events = (
        abs(sum(p[i] - q[i] for i in range(len(p)) if mask >> i & 1)) for mask in range(1 << len(p))
    )
    assert total_variation(p, q) == pytest.approx(max(events), abs=1e-12)
    assert 0 <= total_variation(p, q) <= 1 + 1e-12


def test_total_variation_needs_the_same_classes() -> None:
    for a, b in [([0.5, 0.5], [1.0]), (0.5, 0.7), (["a"], ["b"])]:
        with pytest.raises(Undefined, match="one probability per class"):
            total_variation(np.array(a), np.array(b))


def test_labels_of_several_outputs_flip_as_one() -> None:
    assert label(np.array(["a", "b"]), np.array(["a", "b"])) == 0.0
    assert label(np.array(["a", "b"]), np.array(["a", "c"])) == 1.0
    with pytest.raises(Undefined, match="missing"):
        label("a", None)


@pytest.mark.parametrize("value", [-1.0, math.nan])
def test_a_distance_of_ones_own_is_held_to_the_contract(value) -> None:
    with pytest.raises(Undefined, match="must be >= 0"):
        as_distance(lambda a, b: value)(1.0, 2.0)


# Losses


def test_losses_against_their_definitions() -> None:
    assert LOSSES["squared"](np.array([1.0, 5.0]), np.array([3.0, 2.0])) == 4.0 + 9.0
    assert LOSSES["absolute"](np.array([1.0, 5.0]), np.array([3.0, 2.0])) == 2.0 + 3.0
    assert LOSSES["zero_one"]("a", "b") == 1.0
    assert LOSSES["zero_one"](np.array([1, 2]), np.array([1, 2])) == 0.0
    assert LOSSES["log"](1, np.array([0.2, 0.7, 0.1])) == pytest.approx(-math.log(0.7))
    assert LOSSES["log"](0, np.array([0.0, 1.0])) == math.inf
    assert LOSSES["log"](1, 0.3) == pytest.approx(-math.log(0.3))


@given(numbers, numbers, numbers)
def test_a_change_of_loss_is_a_difference_of_losses(full, reduced, y) -> None:
    got = LossChange("absolute")(full, reduced, y) if math.isfinite(y) else 0.0
    if math.isfinite(y):
        assert got == absolute(abs(y - full), abs(y - reduced))


def test_equally_wrong_predictions_have_the_same_loss() -> None:
    assert LossChange("squared")(1.0, -1.0, 0.0) == 0.0
    assert absolute(1.0, -1.0) == 2.0


@pytest.mark.parametrize(
    ("change", "prediction", "y", "message"),
    [
        (LossChange("log"), np.array([1.5, -0.5]), 0, "needs probabilities"),
        (LossChange("log"), np.str_("spam"), 0, "got 'spam'; .*response='predict_proba'"),
        (LossChange(lambda y, p: "much"), 0.5, 0, "loss of 0.5 at y = 0 is 'much', which is not"),
        (LossChange("log", classes=["a", "b"]), np.array([0.5, 0.5]), "c", "not among the classes"),
        (LossChange("log", classes=["a", "b", "c"]), np.array([0.5, 0.5]), "c", "more classes"),
        (LossChange("squared"), "spam", 1.0, "needs numbers"),
        (LossChange("squared"), np.array([1.0, 2.0]), 1.0, "differ in shape"),
        (LossChange(lambda y, p: math.nan), 1.0, 1.0, "not a number"),
    ],
)
def test_losses_that_are_not_defined(change, prediction, y, message) -> None:
    with pytest.raises(Undefined, match=message):
        change(prediction, prediction, y)


def test_unknown_losses_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"loss must be 'squared', .* or a function, got 'hin"):
        LossChange("hinge")


rng = np.random.default_rng(0)
X, y = linear_rows(330, [1.0, 0.0], rng)
words = np.where(y > 0, "up", "down")


def test_changes_of_the_loss_equal_a_loop_by_hand() -> None:
    trials = poise.measure(
        Ridge(), X, y, n=10, distance=LossChange("squared"), shuffle=False, random_state=0
    )
    m = 330 // 11
    expected = []
    for k in range(m):
        losses = [
            (
                y[10 * m + k]
                - Ridge()
                .fit(X[10 * k : s], y[10 * k : s])
                .predict(X[10 * m + k : 10 * m + k + 1])[0]
            )
            ** 2
            for s in (10 * k + 10, 10 * k + 9)
        ]
        expected.append(abs(losses[0] - losses[1]))
    assert trials.n_trials == m
    assert trials.changes.tolist() == pytest.approx(expected, rel=1e-9)
    assert trials.design.distance == "change of squared loss"


def test_unlabelled_rows_do_not_help_and_the_result_says_so() -> None:
    spare = rng.normal(size=(500, 2))
    kwargs = {"n": 10, "epsilon": 1.0, "delta": 0.2, "X_unlabeled": spare, "random_state": 0}
    loss = poise.stability_test(Ridge(), X, y, distance=LossChange("absolute"), **kwargs)
    plain = poise.stability_test(Ridge(), X, y, **kwargs)
    assert (loss.n_trials, plain.n_trials) == (330 // 11, 330 // 10)
    assert loss.kappa == 30
    assert loss.power_bound == 1.0
    text = loss.summary()
    assert "500 unlabelled rows could not serve" in text
    assert "stable in its loss at n = 10" in text
    assert "compares losses at a fresh labelled row" in text
    assert "No ceiling on the power of other tests" not in text
    mine = LossChange(lambda y, prediction: min(1.0, abs(y - prediction)))
    bounded = poise.stability_test(Ridge(), X, y, distance=mine, **kwargs)
    assert bounded.power_bound is None
    assert "No ceiling on the power of other tests is proved for this variant" in str(bounded)
    assert poise.StabilityResult.from_json(loss.to_json()) == loss


def test_log_loss_of_probabilities_knows_the_classes() -> None:
    trials = poise.measure(
        LogisticRegression(),
        X,
        words,
        n=20,
        distance=LossChange("log"),
        response="predict_proba",
        shuffle=False,
    )
    m, n = trials.n_trials, 20
    assert m == 330 // 21
    column = ["down", "up"].index(words[m * n])
    losses = [
        -math.log(
            LogisticRegression()
            .fit(X[:stop], words[:stop])
            .predict_proba(X[m * n : m * n + 1])[0, column]
        )
        for stop in (n, n - 1)
    ]
    assert trials.changes[0] == pytest.approx(abs(losses[0] - losses[1]), rel=1e-6)


def test_a_loss_of_ones_own_and_of_a_function() -> None:
    def pinball(y, prediction):
        return max(0.9 * (y - prediction), 0.1 * (prediction - y))

    trials = poise.measure(mean, X, y, n=10, distance=LossChange(pinball), shuffle=False)
    full, reduced, truth = y[:10].mean(), y[:9].mean(), y[10 * trials.n_trials]
    expected = abs(pinball(truth, full) - pinball(truth, reduced))
    assert trials.changes[0] == pytest.approx(expected, rel=1e-12)
    assert trials.design.distance == "change of pinball loss"


def test_a_loss_on_several_responses() -> None:
    both = np.column_stack([y, 2 * y])
    trials = poise.measure(Ridge(), X, both, n=20, distance=LossChange("squared"), random_state=0)
    assert (trials.changes > 0).all()
    with pytest.raises(ArgumentError, match="log loss is that of one response, got 2"):
        poise.measure(Ridge(), X, both, n=20, distance=LossChange("log"))


def test_the_wrong_prediction_for_a_loss_is_a_failed_trial() -> None:
    with pytest.raises(TrialError, match="this loss needs numbers"):
        poise.measure(LogisticRegression(), X, words, n=20, distance=LossChange("squared"))


def test_a_procedure_without_labelled_test_rows_is_told() -> None:
    class AtTheLastRow:
        def ask(self, sample, randomness):
            last = np.array([sample.n_labeled + sample.n_unlabeled - 1])
            yield Batch([Comparison.without_last(np.arange(30), last, xi=0, xi_reduced=0)])

    settings = {"X_unlabeled": rng.normal(size=(500, 2)), "distance": LossChange("squared")}
    with pytest.raises(TrialError, match="needs labelled test rows"):
        poise.run(AtTheLastRow(), Ridge(), X, y, **settings)
    test = poise.procedures.BinomialTest(n=30, epsilon=1.0, delta=0.3)
    run = poise.run(test, Ridge(), X, y, **settings)
    assert run.result.n_trials == 330 // 31


def test_two_worker_processes_compute_the_same_losses() -> None:
    settings = {"n": 20, "distance": LossChange("absolute"), "random_state": 0}
    one = poise.measure(Ridge(), X, y, **settings)
    two = poise.measure(Ridge(), X, y, n_jobs=2, **settings)
    assert one.changes.tolist() == two.changes.tolist()
