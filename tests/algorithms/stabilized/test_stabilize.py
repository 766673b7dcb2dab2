"""Stable versions of estimators: what they promise, what they refuse, and how they fit in."""

from __future__ import annotations

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import poise
from poise import theory
from poise.errors import ArgumentError
from shared.data import three_columns


def stable_tree(**changes):
    asked = {"n": 40, "epsilon": 4.0, "delta": 0.2, "bounds": (-5, 5), "random_state": 0}
    return poise.stabilize(DecisionTreeRegressor(), **{**asked, **changes})


def stable_labels(**changes):
    asked = {"n": 40, "epsilon": 0.6, "delta": 0.3, "classes": ["a", "b", "c"], "random_state": 0}
    return poise.stabilize(DecisionTreeClassifier(), **{**asked, **changes})


def three_classes(n=40):
    X, y = three_columns(n)
    return X, np.array(["a", "b", "c"])[np.digitize(y, [-1, 1])]


@pytest.mark.filterwarnings("ignore")  # the checks warn on purpose
@pytest.mark.parametrize(
    "base", [DecisionTreeRegressor(), Ridge(), DecisionTreeClassifier(max_depth=3)]
)
def test_scikit_learn_accepts_them(base):
    epsilon = 0.95 if is_regressor(base) else 1.3
    model = poise.stabilize(base, n=30, epsilon=epsilon, delta=0.8, n_bags=6, random_state=0)
    results = check_estimator(model, on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}


def test_the_guarantee_is_the_theorem():
    model = stable_tree()
    promise = model.guarantee
    chosen = theory.choose_bags(40, epsilon=0.4, delta=0.2)
    assert (promise.n, promise.epsilon, promise.delta) == (40, 4.0, 0.2)
    assert promise.n_bags == model.n_bags == chosen.n_bags
    assert promise.bag_size == model.bag_size == chosen.bag_size
    assert (promise.units, promise.certificate) == ("response", True)
    for part in ("40 training rows", "more than 4 with probability at most 0.2", "accuracy"):
        assert part in promise.sentence


def test_without_bounds_the_statement_is_relative_and_no_certificate():
    model = stable_tree(bounds=None, epsilon=0.4)
    promise = model.guarantee
    assert promise.delta == pytest.approx(0.2 + 2 / 40)
    assert promise.bag_size == stable_tree().bag_size
    assert not promise.certificate
    for part in ("0.4 times the range", "no (ε, δ)-certificate", "no ground for intervals"):
        assert part in promise.sentence


def test_classes_have_vectors_of_probabilities():
    promise = stable_labels().guarantee
    width = theory.probability_width(3)
    assert promise.n_bags == theory.bags_needed(40, promise.bag_size, 0.6, 0.3, width)
    assert (promise.units, promise.certificate) == ("probabilities", True)
    assert "share at least k labels" in promise.sentence
    unknown = stable_labels(classes=None).guarantee
    assert unknown.n_bags == theory.bags_needed(40, unknown.bag_size, 0.6, 0.3, 2.0)
    assert "share at least k labels" not in unknown.sentence


def test_other_bags_change_the_guarantee():
    model = stable_tree()
    fewer = clone(model).set_params(n_bags=model.n_bags // 2).guarantee
    by_theorem_k = theory.finite_bag_delta(40, model.bag_size, model.n_bags // 2, 4.0, 10.0)
    assert 0.2 < fewer.delta <= by_theorem_k < 1
    more = clone(model).set_params(n_bags=2 * model.n_bags).guarantee
    assert (more.delta, more.n_bags) == (0.2, 2 * model.n_bags)
    none = clone(model).set_params(bag_size=39, n_bags=1).guarantee
    assert (none.delta, none.certificate) == (1.0, False)
    assert "Nothing is promised" in none.sentence


def test_what_is_left_open_is_chosen():
    model = poise.StabilizedRegressor(
        Ridge(), n=40, epsilon=4.0, delta=0.2, bounds=(-5, 5), random_state=0
    )
    chosen = poise.stabilize(Ridge(), n=40, epsilon=4.0, delta=0.2, bounds=(-5, 5))
    assert model.guarantee == chosen.guarantee
    assert len(model.fit(*three_columns()).estimators_) == chosen.n_bags
    assert stable_tree(n_bags=1000).bag_size > chosen.bag_size
    assert stable_tree(bag_size=2).n_bags < chosen.n_bags


def test_the_trade_off_lists_choices_that_keep_the_promise():
    model = stable_tree()
    listed = model.trade_off()
    assert len(listed) > 3
    for choice in listed:
        changed = clone(model).set_params(bag_size=choice.bag_size, n_bags=choice.n_bags)
        assert changed.guarantee.delta == 0.2


def test_one_seed_for_both_fits_takes_fewer_bags_and_says_so():
    free, shared = stable_tree(), stable_tree(shared_seed=True)
    assert shared.bag_size == free.bag_size
    assert shared.n_bags < free.n_bags
    assert "the same random_state" in shared.guarantee.sentence
    assert "the same random_state" not in free.guarantee.sentence


def test_predictions_are_averages_of_clipped_fits_to_the_bags():
    X, y = three_columns()
    model = stable_tree(bounds=(-1, 1), epsilon=0.8).fit(X, y)
    assert all(len(set(bag)) == model.bag_size for bag in model.bags_)
    states = [member.random_state for member in model.estimators_]
    assert len(set(states)) == model.n_bags
    by_hand = [
        DecisionTreeRegressor(random_state=state).fit(X[bag], y[bag]).predict(X).clip(-1, 1)
        for state, bag in zip(states, model.bags_, strict=True)
    ]
    assert model.predict(X) == pytest.approx(np.mean(by_hand, axis=0), rel=1e-12)


def test_the_training_range_is_that_of_all_rows():
    X, y = three_columns()
    model = poise.stabilize(LinearRegression(), n=40, epsilon=0.4, delta=0.2, random_state=0)
    model.fit(X, y)
    assert model.range_ == (y.min(), y.max())
    assert model.predict(100 * X).max() <= y.max()
    assert model.predict(100 * X).min() >= y.min()


@pytest.mark.parametrize("shared_seed", [False, True])
def test_fits_of_n_and_fewer_rows_share_the_bags_without_the_last_row(shared_seed):
    X, y = three_columns()
    model = stable_tree(shared_seed=shared_seed)
    full, reduced = clone(model).fit(X, y), clone(model).fit(X[:-1], y[:-1])
    kept = [39 not in bag for bag in full.bags_]
    assert 0 < sum(kept) < len(kept)
    for keeps, bag, other in zip(kept, full.bags_, reduced.bags_, strict=True):
        assert np.array_equal(bag, other) == keeps
        assert np.count_nonzero(bag != other) == (not keeps)
        assert len(set(other)) == len(bag)
        assert other.max() < 39


def test_bags_that_leave_out_one_row_keep_their_size():
    X, y = three_columns()
    model = stable_tree(epsilon=9.9, delta=0.9, bag_size=39, n_bags=10**4).set_params(n_bags=3)
    assert [len(bag) for bag in model.fit(X[:-1], y[:-1]).bags_] == [39] * 3


def test_votes_and_sets_of_labels():
    X, y = three_classes()
    model = stable_labels(bag_size=20).fit(X, y)
    probabilities = model.predict_proba(X)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(40))
    assert model.classes_.tolist() == ["a", "b", "c"]
    sets = model.predict_set(X)
    for labels, row, top in zip(sets, probabilities, model.predict(X), strict=True):
        assert top in labels
        assert labels.tolist() == [model.classes_[i] for i in theory.inflated_top(row, 1, 0.6)]
    assert {len(labels) for labels in sets} >= {1, 2}
    assert all(len(labels) >= 2 for labels in model.predict_set(X, k=2))
    assert all(len(labels) == 3 for labels in model.predict_set(X, k=3))


def test_labels_without_probabilities_and_bags_of_one_class():
    """SVC has no probabilities and refuses one class; a bag of one class votes for it."""
    X, y = three_classes()
    model = poise.stabilize(
        SVC(), n=40, epsilon=0.6, delta=0.3, classes=["a", "b", "c", "d"], random_state=0
    )
    model.set_params(bag_size=2).fit(X, y)
    votes = model.predict_proba(X)
    assert votes.shape == (40, 4)
    assert (votes[:, 3] == 0).all()
    assert votes.sum(axis=1) == pytest.approx(np.ones(40))


def test_results_do_not_depend_on_the_number_of_workers():
    X, y = three_columns()
    one = stable_tree().fit(X, y)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        two = stable_tree().fit(X, y)
    assert np.array_equal(one.predict(X), two.predict(X))
    again = pickle.loads(pickle.dumps(one))
    assert np.array_equal(one.predict(X), again.predict(X))


def test_rows_stay_in_the_container_they_came_in():
    X, y = three_columns()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = poise.stabilize(
        make_pipeline(StandardScaler(), ExtraTreeRegressor()),
        n=40, epsilon=4.0, delta=0.2, bounds=(-5, 5), random_state=0,
    )  # fmt: skip
    model.fit(frame, pd.Series(y))
    assert list(model.estimators_[0].feature_names_in_) == ["a", "b", "c"]
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert model.predict(frame) == pytest.approx(clone(model).fit(X, y).predict(X))
    ridge = poise.stabilize(Ridge(), n=40, epsilon=4.0, delta=0.2, bounds=(-5, 5), random_state=0)
    rows = sparse.csr_array(X)
    # Sparse and dense ridge use different solvers.
    assert ridge.fit(rows, y).predict(rows) == pytest.approx(ridge.fit(X, y).predict(X), rel=1e-3)


def test_they_are_estimators_of_their_kind():
    assert is_regressor(stable_tree())
    assert is_classifier(stable_labels())
    X, y = three_columns()
    scores = cross_val_score(stable_tree(), X, y, cv=3)
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()


def test_a_bag_that_cannot_be_fitted_is_named():
    from sklearn.neighbors import KNeighborsRegressor

    class Refuses(KNeighborsRegressor):
        def fit(self, X, y):
            raise ValueError("no")

    model = poise.stabilize(Refuses(), n=40, epsilon=4.0, delta=0.2, bounds=(-5, 5))
    with pytest.raises(ValueError, match="no") as caught:
        model.fit(*three_columns())
    assert f"bag of {model.bag_size} of the training rows" in caught.value.__notes__[0]


def test_predictions_that_are_no_numbers_are_errors():
    class Nan(Ridge):
        def predict(self, X):
            return np.full(len(X), np.nan)

    X, y = three_columns()
    model = poise.stabilize(Nan(), n=40, epsilon=4.0, delta=0.2, bounds=(-5, 5)).fit(X, y)
    with pytest.raises(ValueError, match="Nan predicted nan"):
        model.predict(X)

    class Unsure(DecisionTreeClassifier):
        def predict_proba(self, X):
            return np.zeros((len(X), len(self.classes_)))

    X, y = three_classes()
    model = poise.stabilize(Unsure(), n=40, epsilon=0.6, delta=0.3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="Unsure predicted no probabilities"):
        model.predict(X)


@pytest.mark.parametrize(
    ("base", "changes", "message"),
    [
        (Ridge, {}, "estimator must be a scikit-learn estimator"),
        (lambda x: x, {}, "estimator must be a scikit-learn estimator"),
        (KMeans(), {}, "estimator must be a regressor or a classifier"),
        (Ridge(), {"classes": [0, 1]}, "classes are for classifiers"),
        (SVC(), {"bounds": (0, 1)}, "bounds are for regressors"),
        (SVC(), {"classes": ["a"]}, "classes must hold at least two labels"),
        (Ridge(), {"bounds": (1, 0)}, "bounds must be two finite numbers, low < high"),
        (Ridge(), {"bounds": (0, np.inf)}, "bounds must be two finite numbers, low < high"),
        (Ridge(), {"bounds": 3}, "bounds must be a pair of numbers"),
        (Ridge(), {"n": 1}, "n must be a whole number >= 2"),
        (Ridge(), {"epsilon": 0}, "epsilon must be a finite number above 0"),
        (Ridge(), {"epsilon": 5}, "epsilon must be below 1 where no bounds are given, got 5"),
        (Ridge(), {"epsilon": 2, "bounds": (0, 2)}, "epsilon must be below 2, the width of bounds"),
        (SVC(), {"epsilon": 1.5}, "epsilon must be at most 1.414 for classes, got 1.5"),
        (Ridge(), {"delta": 0}, r"delta must be in \(0, 1\)"),
        (Ridge(), {"epsilon": 0.001}, "no bags make .* possible are epsilon above 0.02372"),
        (Ridge(), {"bag_size": 40}, "bag_size must be at most n - 1 = 39"),
        (Ridge(), {"n_bags": 2}, "n_bags must be at least"),
    ],
)
def test_refusals_before_the_first_fit(base, changes, message):
    asked = {"n": 40, "epsilon": 0.3, "delta": 0.06, **changes}
    with pytest.raises(ArgumentError, match=message):
        poise.stabilize(base, **asked)


def test_labels_that_were_not_announced_are_refused():
    X, y = three_classes()
    with pytest.raises(ArgumentError, match="classes must hold every label in y; 'c' is not"):
        stable_labels(classes=["a", "b"]).fit(X, y)
