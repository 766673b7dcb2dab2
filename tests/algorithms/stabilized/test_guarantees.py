"""The promises of stabilised estimators, by simulation on trees and on hostile base estimators.

Each check compares a count with a limit that chance exceeds with probability at most 1e-7, so
the whole file raises a false alarm with probability below 1e-6; seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.tree import DecisionTreeRegressor

import poise
from poise import theory
from poise.algorithms.coupled_bags import draw_subbag

FALSE_ALARM = 1e-7


def tree_predictions(n, b, n_bags, n_points, seed):
    """Predict by trees fitted to random bags of one data set, and say which rows each bag held."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    y = (np.sin(3 * X[:, 0]) + 0.7 * rng.normal(size=n) > 0).astype(float)
    points = rng.uniform(-1, 1, size=(n_points, 2))
    bags = np.array([draw_subbag(seed, bag, n, b) for bag in range(n_bags)])
    held = np.zeros((n_bags, n), dtype=bool)
    np.put_along_axis(held, bags, True, axis=1)
    tree = DecisionTreeRegressor(random_state=0)
    # Trees compute in float32; given that, they need not look at their input 2,000 times.
    rows, at = X.astype(np.float32), points.astype(np.float32)
    with sklearn.config_context(skip_parameter_validation=True):
        said = [
            tree.fit(rows[bag], y[bag], check_input=False).predict(at, check_input=False)
            for bag in bags
        ]
    return np.array(said), held


def test_the_curve_of_half_subbagging_lies_below_its_bound_on_trees():
    """At most k°(ε) rows change the average over all bags by more than ε, at every point.

    The averages are over 2,000 random bags. Each of the n + 1 averages at a point is off by more
    than η with probability 2 exp(-2Mη²) at most (Hoeffding), M bags being in it.
    """
    n, n_bags, n_points = 40, 2000, 12
    said, held = tree_predictions(n, n // 2, n_bags, n_points, seed=6)
    without = (~held).T @ said / (~held).sum(axis=0)[:, None]
    changes = np.abs(said.mean(axis=0) - without)  # row × point
    fewest = (~held).sum(axis=0).min()
    eta = math.sqrt(math.log(2 * (n + 1) * n_points / FALSE_ALARM) / (2 * fewest))
    curve = np.arange(0.02, 0.3, 0.02)
    moved = np.array([(changes > eps + 2 * eta).sum(axis=0).max() for eps in curve])
    bound = theory.bag_count(n, n // 2, curve)
    assert (moved <= bound).all()
    # Not because nothing moves: the trees of full size jump between 0 and 1.
    assert changes.max() > 0.05
    assert (np.diff(bound) <= 0).all()
    assert bound[-1] < n / 4


class Majority(RegressorMixin, BaseEstimator):
    """Says 1 if most responses of the bag are above 0, else 0: as jumpy as a base fit can be."""

    def fit(self, X, y):
        self.said_ = float(np.count_nonzero(np.asarray(y) > 0) * 2 > len(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.said_)


@pytest.mark.parametrize(("bounds", "shared_seed"), [((0, 1), False), (None, True)])
def test_changes_beyond_epsilon_are_as_rare_as_promised(bounds, shared_seed):
    """The change of one removal, in 100 independent trials, with the estimator's own bags."""
    n, epsilon, delta, trials = 12, 0.4, 0.2, 100
    model = poise.stabilize(
        Majority(), n=n, epsilon=epsilon, delta=delta, bounds=bounds, shared_seed=shared_seed
    )
    rng = np.random.default_rng(1)
    exceedances = 0
    for trial in range(trials):
        y, X = rng.choice([-1.0, 1.0], size=n), np.zeros((n, 1))
        seeds = (trial, trial) if shared_seed else (2 * trial, 2 * trial + 1)
        full, reduced = (
            model.set_params(random_state=seed).fit(X[:rows], y[:rows]).predict(X[:1])[0]
            for seed, rows in zip(seeds, (n, n - 1), strict=True)
        )
        width = 1.0 if bounds else np.ptp(y)
        exceedances += abs(full - reduced) > epsilon * width
    assert exceedances <= stats.binom.isf(FALSE_ALARM, trials, model.guarantee.delta)


def test_poise_measures_a_stabilised_tree():
    """The changes that poise measures exceed ε less often than δ; the largest are smaller."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(420, 2))
    y = X[:, 0] + rng.normal(size=420)
    model = poise.stabilize(
        DecisionTreeRegressor(), n=20, epsilon=3.0, delta=0.3, bounds=(-4, 4),
        bag_size=10, shared_seed=True,
    )  # fmt: skip
    trials, alone = (
        poise.measure(algorithm, X, y, n=20, random_state=0)
        for algorithm in (model, DecisionTreeRegressor())
    )
    assert trials.n_trials == 20
    beyond = np.count_nonzero(trials.changes > 3.0)
    assert beyond <= stats.binom.isf(FALSE_ALARM, 20, 0.3)
    assert trials.changes.max() < alone.changes.max()


class Nearest(ClassifierMixin, BaseEstimator):
    """The label of the nearest row."""

    def fit(self, X, y):
        self.X_, self.y_, self.classes_ = X[:, 0], y, np.unique(y)
        return self

    def predict(self, X):
        return self.y_[np.abs(X - self.X_).argmin(axis=1)]


def test_sets_of_labels_share_a_label_except_as_rarely_as_promised():
    """Neighbouring sets are disjoint with probability at most δ."""
    n, delta, trials = 15, 0.2, 80
    model = poise.stabilize(Nearest(), n=n, epsilon=0.8, delta=delta, classes=[0, 1, 2])
    rng = np.random.default_rng(3)
    disjoint = 0
    for trial in range(trials):
        X, y, point = rng.normal(size=(n, 1)), rng.integers(0, 3, size=n), rng.normal(size=(1, 1))
        full, reduced = (
            model.set_params(random_state=2 * trial + rows % 2)
            .fit(X[:rows], y[:rows])
            .predict_set(point)[0]
            for rows in (n, n - 1)
        )
        disjoint += not set(full) & set(reduced)
    assert disjoint <= stats.binom.isf(FALSE_ALARM, trials, delta)
