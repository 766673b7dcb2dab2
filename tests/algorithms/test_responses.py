"""Probabilities and scores: columns mean the same in both fits of a trial."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from poise.algorithms.distances import as_distance
from poise.algorithms.estimator import Estimator
from poise.algorithms.predictions import Undefined
from poise.data.sample import Sample

rng = np.random.default_rng(5)
X = rng.normal(size=(200, 3))
two = np.where(X[:, 0] + 0.5 * rng.normal(size=200) > 0, 1, 0)
points = X[100:104]


def asked(estimator, response, all_of_y, rows=slice(0, 60), y=None):
    """Fit on some rows, knowing the classes of all of them."""
    algorithm = Estimator(estimator, response).prepared(Sample.of(X[: len(all_of_y)], all_of_y))
    return algorithm.fit(X[rows], (all_of_y if y is None else y)[rows], 0)(points)


def test_a_class_that_a_fit_did_not_see_has_probability_zero():
    y = np.where(np.arange(200) == 59, "b rare", np.where(two == 1, "c", "a"))
    full, reduced = (asked(GaussianNB(), "predict_proba", y, slice(0, s)) for s in (60, 59))
    by_hand = GaussianNB().fit(X[:59], y[:59]).predict_proba(points)
    assert reduced.tolist() == [[p, 0.0, q] for p, q in by_hand]
    assert (full == GaussianNB().fit(X[:60], y[:60]).predict_proba(points)).all()
    assert (as_distance("total_variation")(full, reduced) <= 1).all()


class Smoothed(ClassifierMixin, BaseEstimator):
    """Gives a class that it does not name a share of what there is."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile([0.9, 0.1], (len(X), 1))


def test_columns_that_hold_something_but_have_no_class_are_undefined():
    y = np.resize(["a", "b"], 200)
    with pytest.raises(Undefined, match=r"\['a'\] that this fit saw.*larger n.*response='predict'"):
        asked(Smoothed(), "predict_proba", y, y=np.full(200, "a"))


class Silent(Smoothed):
    """Does not say which classes it saw."""

    def fit(self, X, y):
        return self


def test_a_classifier_that_does_not_say_which_classes_it_saw_is_left_alone():
    assert asked(Silent(), "predict_proba", two).tolist() == [[0.9, 0.1]] * 4


def test_each_of_several_outputs_is_aligned_by_its_own_classes():
    rare = np.where(np.arange(200) == 59, "rare", "common")
    both = np.column_stack([np.where(two == 1, "up", "down"), rare])
    tree = DecisionTreeClassifier(max_depth=2)
    full, reduced = (asked(tree, "predict_proba", both, slice(0, s)) for s in (60, 59))
    hand = tree.set_params(random_state=0).fit(X[:59], both[:59]).predict_proba(points)
    assert full.shape == reduced.shape == (4, 4)
    assert reduced.tolist() == np.column_stack([hand[0], np.ones(4), np.zeros(4)]).tolist()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_probability_per_output_becomes_two():
    both = np.column_stack([two, X[:, 1] > 0]).astype(int)
    for model in (OneVsRestClassifier(LogisticRegression()), MLPClassifier((3,), max_iter=9)):
        got = asked(model, "predict_proba", both, slice(0, 200))
        seeded = model.set_params(random_state=0) if hasattr(model, "random_state") else model
        hand = seeded.fit(X, both).predict_proba(points)
        p, q = hand.T
        np.testing.assert_array_equal(got, np.column_stack([1 - p, p, 1 - q, q]))


def test_one_score_against_two_columns():
    """Two of three classes seen: the score is that of the second, the absent class has −∞."""
    y = np.resize([0, 1, 2], 200)
    seen = 2 * two
    got = asked(LogisticRegression(), "decision_function", y, y=seen)
    scores = LogisticRegression().fit(X[:60], seen[:60]).decision_function(points)
    assert got.tolist() == [[0.0, -math.inf, s] for s in scores]
    everything = asked(LogisticRegression(), "decision_function", y)
    assert as_distance("auto")(got, everything).tolist() == [math.inf] * 4


def test_scores_of_fits_that_saw_every_class_are_left_alone():
    score = asked(LogisticRegression(), "decision_function", two)
    assert (score == LogisticRegression().fit(X[:60], two[:60]).decision_function(points)).all()
    four = np.digitize(X[:, 0], [-0.7, 0.0, 0.7])
    pairwise = SVC(decision_function_shape="ovo")
    got = asked(pairwise, "decision_function", four, slice(0, 100))
    assert got.shape == (4, 6)
    assert (got == pairwise.fit(X[:100], four[:100]).decision_function(points)).all()
