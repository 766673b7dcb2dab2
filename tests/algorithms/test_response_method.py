"""Labels, probabilities and scores: columns mean the same in both fits of a trial."""

from __future__ import annotations

import math

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

import poise
from poise.algorithms.distance import Undefined
from poise.algorithms.estimator import EstimatorAlgorithm
from poise.algorithms.response_method import AlignedResponse
from poise.errors import AlgorithmError, ArgumentError
from shared.paper_loop import changes_by_hand

rng = np.random.default_rng(5)
X = rng.normal(size=(400, 3))
rare = rng.choice(["common", "other", "rare"], 400, p=[0.55, 0.4, 0.05])
rare[:12] = ["common", "other"] * 5 + ["other", "rare"]  # its only row is the one removed
two = np.where(X[:, 0] + 0.5 * rng.normal(size=400) > 0, 1, 0)


def test_a_class_missing_from_one_fit_has_probability_zero() -> None:
    got = poise.measure(
        GaussianNB(), X, rare, n=12, response="predict_proba", shuffle=False, random_state=0
    )
    expected = changes_by_hand(
        GaussianNB(), X, rare, n=12, response="predict_proba", kind="probability"
    )
    assert got.changes.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert set(rare[:12]) != set(rare[:11]), "the case that this test is about"


def test_worker_processes_align_too() -> None:
    settings = {"n": 12, "response": "predict_proba", "random_state": 0}
    one = poise.measure(DecisionTreeClassifier(), X, rare, **settings)
    many = poise.measure(DecisionTreeClassifier(), X, rare, n_jobs=2, **settings)
    assert one.changes.tolist() == many.changes.tolist()


def test_probabilities_are_in_the_order_of_all_classes() -> None:
    model = GaussianNB().fit([[0.0], [2.0], [5.0]], ["b", "d", "d"])
    ask = AlignedResponse(model, "predict_proba", (np.array(["a", "b", "c", "d"]),))
    first = model.predict_proba([[1.0]])[0]
    assert ask([[1.0]]).tolist() == [[0.0, first[0], 0.0, first[1]]]


@pytest.mark.parametrize("classes", [["a", "b"], ["a", "b", "c"]], ids=len)
@pytest.mark.parametrize("seen", ["a", "b"])
def test_lightgbm_answers_two_columns_for_one_class(classes, seen) -> None:
    model = LGBMClassifier(n_estimators=2, verbose=-1).fit(X[:30], [seen] * 30)
    assert model.predict_proba(X[:4]).shape == (4, 2), "the case that this test is about"
    answer = AlignedResponse(model, "predict_proba", (np.array(classes),))(X[:4])
    assert answer == pytest.approx(np.tile([float(c == seen) for c in classes], (4, 1)), abs=1e-9)


def test_xgboost_answers_two_columns_for_one_class() -> None:
    model = XGBClassifier(n_estimators=2).fit(X[:30], np.zeros(30, dtype=int))
    answer = AlignedResponse(model, "predict_proba", (np.array([0, 1, 2]),))(X[:4])
    assert answer == pytest.approx(np.tile([1.0, 0.0, 0.0], (4, 1)), abs=1e-5)


def test_a_removed_row_may_be_the_only_one_of_its_class() -> None:
    last = np.where(np.arange(400) % 12 == 11, "rare", "common")
    model = LGBMClassifier(n_estimators=3, min_child_samples=1, verbose=-1)
    got = poise.measure(
        model, X, last, n=12, response="predict_proba", shuffle=False, random_state=0
    )
    m = got.n_trials
    for k in range(3):
        rows = slice(12 * k, 12 * k + 12)
        full = model.set_params(random_state=0).fit(X[rows], last[rows])
        rare_chance = full.predict_proba(X[12 * m + k : 12 * m + k + 1])[0, 1]
        assert got.changes[k] == pytest.approx(rare_chance, abs=1e-9)
        assert rare_chance > 0.01


class Smoothed(ClassifierMixin, BaseEstimator):
    """Gives a class that it does not name a share of what there is."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile([0.9, 0.1], (len(X), 1))


def test_columns_that_hold_something_but_have_no_class_fail_and_say_what_helps() -> None:
    model = Smoothed().fit(X[:3], ["a"] * 3)
    ask = AlignedResponse(model, "predict_proba", (np.array(["a", "b"]),))
    with pytest.raises(Undefined, match=r"\['a'\] that this fit saw.*larger n.*response='predict'"):
        ask(X[:1])


def test_each_of_several_outputs_is_aligned_by_its_own_classes() -> None:
    both = np.column_stack([np.where(two == 1, "up", "down"), rare])
    tree = DecisionTreeClassifier(max_depth=2)
    settings = {"n": 12, "response": "predict_proba"}
    got = poise.measure(tree, X, both, shuffle=False, random_state=0, **settings)
    expected = changes_by_hand(tree, X, both, kind="probability", **settings)
    assert got.changes.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_one_probability_per_output_becomes_two() -> None:
    both = np.column_stack([two, X[:, 1] > 0]).astype(int)
    model = OneVsRestClassifier(LogisticRegression()).fit(X, both)
    ask = AlignedResponse(model, "predict_proba", (np.array([0, 1]), np.array([0, 1])))
    p, q = model.predict_proba(X[:1])[0]
    assert ask(X[:1]).tolist() == [[1 - p, p, 1 - q, q]]


def test_scores_of_two_classes_are_numbers() -> None:
    got = poise.measure(
        LogisticRegression(), X, two, n=20, response="decision_function", shuffle=False
    )
    expected = changes_by_hand(
        LogisticRegression(), X, two, n=20, response="decision_function", kind="number"
    )
    assert got.changes.tolist() == pytest.approx(expected, rel=1e-6)
    assert got.design.distance == "euclidean"


def test_scores_of_fits_that_saw_other_classes_are_infinitely_far_apart() -> None:
    model = OneVsRestClassifier(LogisticRegression())
    trials = poise.measure(
        model, X, rare, n=12, response="decision_function", shuffle=False, random_state=0
    )
    for k, change in enumerate(trials.changes):
        full, reduced = set(rare[12 * k : 12 * k + 12]), set(rare[12 * k : 12 * k + 11])
        assert math.isinf(change) == (full != reduced)
    assert math.isinf(trials.changes[0])


def test_one_score_against_two_columns() -> None:
    """Two of three classes seen: the score is that of the second, the absent class has −∞."""
    model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 2, 2])
    ask = AlignedResponse(model, "decision_function", (np.array([0, 1, 2]),))
    score = float(model.decision_function([[1.7]])[0])
    assert ask([[1.7]]).tolist() == [[0.0, -math.inf, score]]


def test_pairwise_scores_are_left_alone() -> None:
    model = SVC(decision_function_shape="ovo")
    y = np.digitize(X[:, 0], [-0.7, 0.0, 0.7])
    trials = poise.measure(model, X, y, n=40, response="decision_function", random_state=0)
    assert np.isfinite(trials.changes).all()
    assert (trials.changes > 0).all()


def test_several_binary_outputs_with_one_probability_each() -> None:
    both = np.column_stack([two, X[:, 1] > 0]).astype(int)
    model = OneVsRestClassifier(LogisticRegression())
    trials = poise.measure(model, X, both, n=40, response="predict_proba", shuffle=False)
    m, n = trials.n_trials, 40
    point = X[m * n : m * n + 1]
    p = model.fit(X[:n], both[:n]).predict_proba(point)[0]
    q = model.fit(X[: n - 1], both[: n - 1]).predict_proba(point)[0]
    assert trials.changes[0] == pytest.approx(abs(p - q).sum(), rel=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_multilabel_networks() -> None:
    both = np.column_stack([two, X[:, 1] > 0]).astype(int)
    network = MLPClassifier((4,), max_iter=5)
    trials = poise.measure(network, X, both, n=100, response="predict_proba", random_state=0)
    assert (trials.changes > 0).all()
    assert (trials.changes < 2).all()


@pytest.mark.parametrize(
    ("estimator", "response", "distance"),
    [
        (Ridge(), "predict", "euclidean"),
        (LogisticRegression(), "predict", "label"),
        (LogisticRegression(), "predict_proba", "total_variation"),
        (LogisticRegression(), "decision_function", "euclidean"),
        (IsolationForest(n_estimators=2), "predict", "label"),
        (IsolationForest(n_estimators=2), "decision_function", "euclidean"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_natural_distances(estimator, response, distance) -> None:
    algorithm = EstimatorAlgorithm(estimator, response)
    assert algorithm.natural_distance == distance
    trials = poise.measure(estimator, X, two, n=30, response=response, random_state=0)
    assert trials.design.distance == distance
    assert trials.design.algorithm == repr(estimator) + (
        "" if response == "predict" else f".{response}"
    )


def test_integer_labels_are_labels_not_numbers() -> None:
    y = 100 * two
    changes = poise.measure(DecisionTreeClassifier(), X, y, n=6, random_state=0).changes
    assert set(changes) == {0.0, 1.0}
    numbers = poise.measure(
        DecisionTreeClassifier(), X, y, n=6, random_state=0, distance="absolute"
    ).changes
    assert numbers.tolist() == (100 * changes).tolist()


def test_estimators_that_know_no_tags_are_taken_at_their_word() -> None:
    class Own:
        def fit(self, X, y):
            self.level = y.mean()

        def predict(self, X):
            return np.full(len(X), self.level)

    assert EstimatorAlgorithm(Own()).natural_distance == "euclidean"
    assert (poise.measure(Own(), X, X[:, 0], n=40).changes > 0).all()


def test_a_classifier_that_does_not_say_which_classes_it_saw() -> None:
    class Shares(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.shares_ = np.array([np.mean(y == c) for c in (0, 1)])
            return self

        def predict(self, X):
            return np.full(len(X), int(np.argmax(self.shares_)))

        def predict_proba(self, X):
            return np.tile(self.shares_, (len(X), 1))

    trials = poise.measure(Shares(), X, two, n=20, response="predict_proba", shuffle=False)
    expected = [
        abs(two[20 * k : 20 * k + 20].mean() - two[20 * k : 20 * k + 19].mean())
        for k in range(trials.n_trials)
    ]
    assert trials.changes.tolist() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("algorithm", "response", "error", "message"),
    [
        (LinearSVC(), "predict_proba", AlgorithmError, r"'predict' or 'decision_function'"),
        (Ridge(), "predict_proba", AlgorithmError, r"got Ridge, .*response='predict'"),
        (SGDClassifier(), "predict_proba", AlgorithmError, "got SGDClassifier"),
        (Ridge(), "transform", ArgumentError, "response must be one of 'predict', .*'transform'"),
        (lambda A, b, s: lambda r: [0], "predict_proba", AlgorithmError, "is for estimators"),
    ],
)
def test_responses_that_are_not_there(algorithm, response, error, message) -> None:
    with pytest.raises(error, match=message):
        poise.measure(algorithm, X, two, n=20, response=response)


def test_the_fitted_model_is_the_estimator() -> None:
    from poise.data.sample import Sample

    for response in ("predict", "predict_proba"):
        algorithm = EstimatorAlgorithm(RandomForestClassifier(2), response)
        ready = algorithm.prepared(Sample(X, two))
        predict = ready.fit(X[:20], two[:20], xi=0)
        assert isinstance(ready.model(predict), RandomForestClassifier)


def test_wrapped_estimators_align_too() -> None:
    from poise.notions import Symmetrized

    wrapped = Symmetrized(EstimatorAlgorithm(GaussianNB(), "predict_proba"))
    trials = poise.measure(wrapped, X, rare, n=12, random_state=0)
    assert np.isfinite(trials.changes).all()
    assert trials.design.distance == "total_variation"
