"""Averages over bags that are stable by theorem: what they promise, compute and refuse."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.cluster import KMeans
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import poise
from poise import theory
from poise.checks import LARGEST_COUNT
from poise.errors import AlgorithmError, ArgumentError
from poise.questions import refits

RNG = np.random.default_rng(7)
X = RNG.normal(size=(40, 3))
y = X @ [1.0, -1.0, 0.5] + RNG.normal(size=40)
LABELS = np.array(["a", "b", "c"])[np.digitize(y, [-1, 1])]
FALSE_ALARM = 1e-7


def stable(base, **changes):
    asked = {"n": 40, "epsilon": 4.0, "delta": 0.2, "bounds": (-5, 5), "random_state": 0}
    return poise.stabilize(base, **asked | changes)


def stable_labels(base, **changes):
    asked = {"epsilon": 0.6, "delta": 0.3, "bounds": None, "classes": ["a", "b", "c"]}
    return stable(base, **asked | changes)


@pytest.mark.filterwarnings("ignore")  # the checks warn on purpose
@pytest.mark.parametrize("base", [Ridge(), DecisionTreeClassifier(max_depth=3), LinearSVC()])
def test_scikit_learn_accepts_them(base):
    epsilon = 0.95 if isinstance(base, Ridge) else 1.3
    model = poise.stabilize(base, n=30, epsilon=epsilon, delta=0.8).set_params(n_bags=12)
    results = check_estimator(model, on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}


WIDE = {"epsilon": 4.0, "delta": 0.2, "width": 10}
OF_LABELS = {"epsilon": 0.6, "delta": 0.3, "n_classes": 3}


@pytest.mark.parametrize(
    ("model", "asked", "delta", "words"),
    [
        (stable(Ridge()), WIDE, 0.2, "one of 40 training rows, drawn at random, is removed"),
        (stable(Ridge(), shared_seed=True), WIDE | {"coupled": True}, 0.2, "the last of 40"),
        (stable(Ridge(), bounds=None, epsilon=0.4), WIDE, 0.25, "0.4 times the range of the"),
        (stable_labels(GaussianNB()), OF_LABELS, 0.3, "share at least k labels (Theorem M)"),
        (
            stable_labels(GaussianNB(), classes=None),
            OF_LABELS | {"n_classes": LARGEST_COUNT},
            0.3,
            "change by 0.6 or more (Euclidean distance)",
        ),
    ],
)
def test_the_guarantee_is_the_theorem_in_words(model, asked, delta, words):
    choice = theory.choose_bags(40, **asked)
    assert (model.bag_size, model.n_bags) == (choice.bag_size, choice.n_bags)
    assert model.guarantee.delta == pytest.approx(delta)
    assert words in str(model.guarantee)


def test_too_few_rows_promise_nothing():
    few = stable(Ridge(), n=3, epsilon=0.9, delta=0.9, bounds=None)
    assert str(few.guarantee).startswith("Nothing is promised")
    assert stable(Ridge(), n=2, epsilon=0.9, delta=0.9, bounds=None).bags().n == 2


def test_it_is_the_average_of_clipped_fits_to_its_bags():
    model = stable(Ridge(), bounds=(-1, 1), epsilon=0.8).fit(X, y)
    fits = [Ridge().fit(X[rows], y[rows]).predict(X) for rows in model.bags_]
    np.testing.assert_allclose(model.predict(X), np.clip(fits, -1, 1).mean(axis=0))
    assert {len(set(rows)) for rows in model.bags_} == {model.bag_size}
    free = stable(Ridge(), bounds=None, epsilon=0.4).fit(X, y)
    fits = [Ridge().fit(X[rows], y[rows]).predict(9 * X) for rows in free.bags_]
    wanted = np.clip(fits, y.min(), y.max()).mean(axis=0)
    np.testing.assert_allclose(free.predict(9 * X), wanted)


@pytest.mark.parametrize("base", [GaussianNB(), LinearSVC(random_state=0)])
def test_classifiers_average_probabilities_or_votes(base):
    """Bags of one class, which some classifiers refuse, vote for it."""
    LABELS = np.where(np.arange(40) < 3, "b", "a")
    model = stable_labels(base, classes=["a", "b", "c", "d"]).fit(X, LABELS)
    assert any(len(set(LABELS[rows])) == 1 for rows in model.bags_)
    wanted = np.zeros((40, 4))
    for rows in model.bags_:
        if len(set(LABELS[rows])) == 1:
            wanted += LABELS[rows[0]] == model.classes_
            continue
        fit = clone(base).fit(X[rows], LABELS[rows])
        for k, label in enumerate(fit.classes_):
            votes = hasattr(fit, "predict_proba")
            wanted[:, "abcd".index(label)] += (
                fit.predict_proba(X)[:, k] if votes else fit.predict(X) == label
            )
    np.testing.assert_allclose(model.predict_proba(X), wanted / model.n_bags)
    assert (model.predict(X) == model.classes_[wanted.argmax(axis=1)]).all()
    sets = model.predict_set(X, k=2)
    wanted_sets = theory.inflated_mask(model.predict_proba(X), 2, 0.6)
    assert [each.tolist() for each in sets] == [model.classes_[row].tolist() for row in wanted_sets]


def test_processes_do_not_matter_and_fits_say_what_they_say_once(monkeypatch):
    base = ExtraTreeRegressor()
    here = stable(base, n_jobs=1).fit(X, y).predict(X)
    monkeypatch.setattr(refits, "_PATIENCE", 0.0)
    np.testing.assert_array_equal(stable(base, n_jobs=2).fit(X, y).predict(X), here)
    assert (stable(base, random_state=1).fit(X, y).predict(X) != here).any()
    with pytest.warns(UserWarning, match=r"this fit warns \(in \d+ of \d+ fits\)"):
        stable(Warns(), n_jobs=2).fit(X, y)
    with pytest.raises(ZeroDivisionError) as caught:
        stable(Warns(alpha=0)).fit(X, y)
    assert "bag 0, of 31 rows" in caught.value.__notes__[0]


class Warns(Ridge):
    """Warns at each fit, or fails."""

    def fit(self, X, y):
        warnings.warn("this fit warns", UserWarning, stacklevel=1)
        return super().fit(X, y) if self.alpha else 1 / 0


class Majority(RegressorMixin, BaseEstimator):
    """Says 1 if most responses of the bag are above 0, else 0: as jumpy as a fit can be."""

    seeds: ClassVar[list[int]] = []

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.seeds.append(self.random_state)
        self.said_ = float(np.count_nonzero(np.asarray(y) > 0) * 2 > len(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.said_)


@pytest.mark.parametrize(("bounds", "shared_seed"), [((0, 1), False), (None, True)])
def test_larger_changes_are_as_rare_as_promised(bounds, shared_seed):
    n, epsilon, delta, trials = 12, 0.4, 0.2, 60
    asked = {"bounds": bounds, "shared_seed": shared_seed, "n_jobs": 1}
    model = poise.stabilize(Majority(), n=n, epsilon=epsilon, delta=delta, **asked)
    rng, moved = np.random.default_rng(1), []
    for trial in range(trials):
        y, X = rng.choice([-1.0, 1.0], size=n), np.zeros((n, 1))
        seeds = (trial, trial) if shared_seed else (2 * trial, 2 * trial + 1)
        full, reduced = (
            model.set_params(random_state=seed).fit(X[:rows], y[:rows]).predict(X[:1])[0]
            for seed, rows in zip(seeds, (n, n - 1), strict=True)
        )
        moved.append(abs(full - reduced) / (1.0 if bounds else np.ptp(y)))
    beyond = np.count_nonzero(np.array(moved) > epsilon)
    assert beyond <= stats.binom.isf(FALSE_ALARM, trials, model.guarantee.delta)
    assert max(moved) > epsilon / 4  # it is not that nothing moves
    assert len(set(Majority.seeds[-model.n_bags :])) == model.n_bags


@pytest.mark.parametrize(
    ("base", "changes", "words"),
    [
        (Ridge(), {"epsilon": 10}, "epsilon must be below 10, the largest change"),
        (Ridge(), {"epsilon": 0}, "epsilon must be a finite number > 0"),
        (Ridge(), {"bounds": (5, -5)}, "bounds must be two finite numbers"),
        (Ridge(), {"classes": ["a", "b"]}, "classes is for classifiers"),
        (Ridge(), {"n": 4, "epsilon": 0.1}, "epsilon above"),
        (KMeans(), {}, "a regressor or a classifier"),
        (GaussianNB(), {"epsilon": 0.6}, "bounds is for regressors"),
        (GaussianNB(), {"epsilon": 1.5, "bounds": None}, r"epsilon must be below 1\.414"),
        (Ridge(), {"n_bags": 2}, "n_bags must be at least"),
        (GaussianNB(), {"epsilon": 0.6, "bounds": None, "classes": ["a", "b"]}, r"every .*\['c'\]"),
    ],
)
def test_what_cannot_be_promised_is_refused(base, changes, words):
    with pytest.raises((ArgumentError, AlgorithmError), match=words):
        stable(base, **changes).fit(X, LABELS)
