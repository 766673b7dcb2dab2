"""Shortcuts for scikit-learn's KNeighborsRegressor and KNeighborsClassifier.

Removing a row changes nothing unless it is among the k nearest, and the
distances are the same either way: one computation of them serves both fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.factor import norm
from poise.shortcuts.labels import choose, encode, label_pairs
from poise.shortcuts.neighborhood import Neighborhood, Votes
from poise.shortcuts.parameters import is_count, is_number
from poise.shortcuts.protocol import Floats, Pairs
from poise.shortcuts.regressor import Estimate, RegressorShortcut, finite_trials

__all__ = ["NeighborsClassifierShortcut", "NeighborsRegressorShortcut", "find_neighbors"]

Predict = Callable[[Votes, NDArray[Any]], tuple[NDArray[Any], Floats]]
"""From votes and responses to predictions and a bound on their error."""

_POWERS = {
    "euclidean": 2.0,
    "l2": 2.0,
    "manhattan": 1.0,
    "l1": 1.0,
    "cityblock": 1.0,
    "chebyshev": math.inf,
}


def both_fits(
    neighborhood: Neighborhood, X: Floats, y: NDArray[Any], x: Floats, predict: Predict
) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """Predict without the last row, and again only where it would have been a neighbour.

    Returns both predictions and a bound on their error, infinite where rows tie.
    """
    if neighborhood.k >= X.shape[1]:  # too few rows for the smaller fit
        return y[:, 0], y[:, 0], np.full(len(y), np.inf)
    distances = neighborhood.distances(X, x)
    votes = neighborhood.votes(distances[:, :-1], x, y[:, :-1])
    reduced, error = predict(votes, y[:, :-1])
    error = np.where(votes.clear & finite_trials(distances), error, np.inf)
    full = reduced.copy()
    near = np.flatnonzero(distances[:, -1] <= votes.radius)
    votes = neighborhood.votes(distances[near], x[near], y[near])
    full[near], full_error = predict(votes, y[near])
    error[near] = np.maximum(error[near], np.where(votes.clear, full_error, np.inf))
    return full, reduced, error


@dataclass(frozen=True)
class NeighborsRegressorShortcut(RegressorShortcut):
    """Mean response of the nearest rows, from one computation of the distances."""

    neighborhood: Neighborhood
    name: str = "one search for the neighbours of both fits"

    def estimate(self, X: Floats, y: Floats, x: Floats) -> Estimate:
        """See :meth:`poise.shortcuts.regressor.RegressorShortcut.estimate`."""
        return Estimate(*both_fits(self.neighborhood, X, y, x, self._mean))

    def _mean(self, votes: Votes, y: Floats) -> tuple[Floats, Floats]:
        weighted = self.neighborhood.by_distance
        total = votes.weights.sum(axis=1) if weighted else self.neighborhood.k
        mean = np.vecdot(votes.weights, y) / total
        error = votes.error * norm(y)
        if not weighted and (mean == 0).any():
            # Sums of whole numbers are exact, 0 included.
            error = np.where((y == np.rint(y)).all(axis=1), 0.0, error)
        return mean, error

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.Shortcut.workspace_bytes`."""
        return 8 * n * (2 * d + 6)


@dataclass(frozen=True)
class NeighborsClassifierShortcut:
    """Vote of the nearest rows, from one computation of the distances."""

    neighborhood: Neighborhood
    name: str = "one search for the neighbours of both fits"

    @np.errstate(all="ignore")
    def pairs(self, X: Floats, y: NDArray[Any], x: Floats) -> Pairs:
        """See :meth:`poise.shortcuts.Shortcut.pairs`."""
        classes = encode(y)
        numbers = np.arange(len(classes.names))[:, None]

        def vote(votes: Votes, codes: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats]:
            member = codes[:, None, :] == numbers
            scores = np.vecdot(votes.weights[:, None, :].astype(np.float64), member)
            if self.neighborhood.by_distance:
                best, leads = choose(scores, votes.error * scores.sum(axis=1))
                return best, np.where(leads, 0.0, np.inf)
            # Whole votes: equal numbers are an exact tie, which goes to the first class.
            return np.rint(scores).argmax(axis=1), np.zeros(len(codes))

        codes = classes.member.argmax(axis=1)
        full, reduced, error = both_fits(self.neighborhood, X, codes, x, vote)
        return label_pairs(classes, full, reduced, error == 0)

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.Shortcut.workspace_bytes`."""
        return 8 * n * (2 * d + 20)


def find_neighbors(
    estimator: Any,
) -> NeighborsRegressorShortcut | NeighborsClassifierShortcut | None:
    """Return the shortcut of a k-nearest-neighbour estimator with a Minkowski distance."""
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    if type(estimator) not in (KNeighborsClassifier, KNeighborsRegressor):
        return None
    neighborhood = _neighborhood(estimator)
    if neighborhood is None:
        return None
    if type(estimator) is KNeighborsRegressor:
        return NeighborsRegressorShortcut(neighborhood)
    return NeighborsClassifierShortcut(neighborhood)


def _neighborhood(estimator: Any) -> Neighborhood | None:
    power = _power(estimator)
    trees = ("kd_tree", "ball_tree")
    if (
        power is None
        or not is_count(estimator.n_neighbors, 1)
        or estimator.algorithm not in ("auto", "brute", *trees)
        or not is_count(estimator.leaf_size, 1)
        or not (estimator.weights is None or estimator.weights in ("uniform", "distance"))
    ):
        return None
    exact_zeros = power != 2 or estimator.algorithm in trees
    by_distance = estimator.weights == "distance"
    return Neighborhood(int(estimator.n_neighbors), power, by_distance, exact_zeros)


def _power(estimator: Any) -> float | None:
    """Return the exponent of the Minkowski distance, or None for another one."""
    metric = estimator.metric
    if not isinstance(metric, str) or estimator.metric_params is not None:
        return None
    if metric == "minkowski":
        return float(estimator.p) if is_number(estimator.p, 1) or estimator.p == math.inf else None
    return _POWERS.get(metric)
