"""Shortcuts for KNeighborsRegressor and KNeighborsClassifier.

Removing a row changes nothing unless it is among the k nearest, and the
distances are the same either way: one computation of them serves both fits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.class_labels import choose, encode, label_pairs
from poise.shortcuts.factorizations import norm
from poise.shortcuts.nearest_rows import Neighborhood
from poise.shortcuts.neighbor_removals import mean_tables, vote_tables
from poise.shortcuts.parameter_types import is_count, is_number
from poise.shortcuts.rounding_bounds import (
    ROUNDING,
    Estimate,
    RegressorShortcut,
    Rows,
    finite_trials,
    sums_are_exact,
)
from poise.shortcuts.shortcut import Floats, Pairs, Tables

__all__ = ["NeighborsClassifierShortcut", "NeighborsRegressorShortcut", "find_neighbors"]


class Prediction(NamedTuple):
    """The prediction of the neighbours of each trial, and its error bound."""

    values: NDArray[Any]  # (trials,)
    error: Floats  # bound on the error of a value; infinite where a tie makes it uncertain
    radius: Floats  # rows beyond this distance do not matter
    ordered: NDArray[np.bool_]  # whether the order of the neighbours is certain


class Predict(Protocol):
    """Predicts from the first n rows of each trial, given the distances of all rows."""

    def __call__(self, distances: Floats, rows: int, x: Floats, y: NDArray[Any]) -> Prediction: ...


_POWERS = {
    "euclidean": 2.0,
    "l2": 2.0,
    "manhattan": 1.0,
    "l1": 1.0,
    "cityblock": 1.0,
    "chebyshev": math.inf,
}


class BothFits(NamedTuple):
    """Both predictions of every trial."""

    full: NDArray[Any]
    reduced: NDArray[Any]
    error: Floats
    apart: NDArray[np.bool_]  # the removed row is no neighbour, and the order is certain


def both_fits(
    neighborhood: Neighborhood, X: Floats, y: NDArray[Any], x: Floats, predict: Predict
) -> BothFits:
    """Predict without the last row, and again only where it would have been a neighbour."""
    trials, n = X.shape[:2]
    if neighborhood.k >= n:  # too few rows for the smaller fit
        return BothFits(y[:, 0], y[:, 0], np.full(trials, np.inf), np.zeros(trials, np.bool_))
    distances = neighborhood.distances(X, x)
    reduced, error, radius, ordered = predict(distances, n - 1, x, y)
    error = np.where(finite_trials(distances), error, np.inf)
    full = reduced.copy()
    near = np.flatnonzero(distances[:, -1] <= radius)
    full[near], full_error, _, _ = predict(distances[near], n, x[near], y[near])
    error[near] = np.maximum(error[near], full_error)
    ordered[near] = False
    return BothFits(full, reduced, error, ordered)


@dataclass(frozen=True)
class _NeighborsShortcut:
    """What the shortcuts for numbers and for classes share."""

    neighborhood: Neighborhood
    name: str = "one search for the neighbours of both fits"

    def removes_all(self, n: int, d: int) -> bool:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.removes_all`."""
        return self.neighborhood.k < n and not self.neighborhood.by_distance

    @property
    def seldom_needs_fits(self) -> bool:
        """Neighbours that tie are left to the fits, and whole numbers tie often."""
        return False

    def on_rounded_rows(self, roundings: Floats) -> Self:
        """See :meth:`poise.shortcuts.shortcut.PlainShortcut.on_rounded_rows`."""
        return replace(self, neighborhood=self.neighborhood.on_rounded_rows(roundings))


@dataclass(frozen=True)
class NeighborsRegressorShortcut(_NeighborsShortcut, RegressorShortcut):
    """Mean response of the nearest rows, from one computation of the distances."""

    def estimate(self, X: Floats, y: Floats, x: Floats) -> Estimate:
        """See :meth:`poise.shortcuts.rounding_bounds.RegressorShortcut.estimate`."""
        weighted = self.neighborhood.by_distance
        predict = self._weighted_mean if weighted else self._mean
        full, reduced, error, apart = both_fits(self.neighborhood, X, y, x, predict)
        # The same mean; its rounding depends on the order of the neighbours.
        alike = np.flatnonzero((full == reduced) & ~apart)
        exact = sums_are_exact(y[alike]) & (not weighted)
        error[alike] = np.where(exact, error[alike], np.inf)
        return Estimate(full, reduced, error)

    def _mean(self, distances: Floats, rows: int, x: Floats, y: Floats) -> Prediction:
        """Average the nearest responses; ties are treated separately."""
        found = self.neighborhood.nearest(distances, rows, x)
        responses = y.reshape(-1).take(found.places)
        mean = responses.sum(axis=0) / self.neighborhood.k
        error = ROUNDING * np.abs(responses).sum(axis=0)
        zero = np.flatnonzero(mean == 0)
        error[zero[sums_are_exact(responses[:, zero].T)]] = 0.0
        nearest = distances.reshape(-1).take(found.places.T)
        ordered = np.zeros(len(distances), dtype=np.bool_)
        ordered[found.clear] = self.neighborhood.are_ordered(nearest, x[found.clear])
        if not found.clear.all():
            tied = ~found.clear
            shared = self._weighted_mean(distances[tied], rows, x[tied], y[tied])
            mean = _merged(found.clear, mean, shared.values)
            error = _merged(found.clear, error, shared.error)
        return Prediction(mean, error, found.radius, ordered)

    def _weighted_mean(self, distances: Floats, rows: int, x: Floats, y: Floats) -> Prediction:
        y = y[:, :rows]
        votes = self.neighborhood.votes(distances[:, :rows], x, y)
        weighted = self.neighborhood.by_distance
        total = votes.weights.sum(axis=1) if weighted else self.neighborhood.k
        mean = np.vecdot(votes.weights, y) / total
        error = np.where(votes.clear, votes.error * norm(y), np.inf)
        order = self.neighborhood.in_order(distances[:, :rows], x)
        return Prediction(mean, error, votes.radius, order[:, 0] >= 0)

    def tables(self, X: Floats, y: NDArray[Any], points: Floats, removals: int) -> Tables:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.tables`."""
        return mean_tables(self.neighborhood, X, y, points, removals)

    def add_up_alike(self, full: Rows, reduced: Rows, y: Floats) -> NDArray[np.bool_]:
        """See :meth:`poise.shortcuts.rounding_bounds.RegressorShortcut.add_up_alike`."""
        near = self.neighborhood
        if near.k >= full[0].shape[1]:  # too few rows for the smaller fit
            return np.zeros(len(y), dtype=np.bool_)
        before = near.in_order(near.distances(*full), full[1])
        after = near.in_order(near.distances(*reduced)[:, :-1], reduced[1])
        same = (before == after).all(axis=1) & (before[:, 0] >= 0)
        # Weights are computed from distances, which differ.
        return np.asarray((same | sums_are_exact(y)) & (not near.by_distance))

    @property
    def vouches_for_zero(self) -> bool:
        """See :attr:`poise.shortcuts.rounding_bounds.RegressorShortcut.vouches_for_zero`."""
        return True

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return 8 * n * 6


def _merged(where: NDArray[np.bool_], values: Floats, others: Floats) -> Floats:
    """Merge the values of the marked trials with those of the others."""
    merged = np.empty(len(where))
    merged[where], merged[~where] = values, others
    return merged


@dataclass(frozen=True)
class NeighborsClassifierShortcut(_NeighborsShortcut):
    """Vote of the nearest rows, from one computation of the distances."""

    @np.errstate(all="ignore")
    def pairs(self, X: Floats, y: NDArray[Any], x: Floats) -> Pairs:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.pairs`."""
        classes = encode(y)
        numbers = np.arange(len(classes.names))[:, None]

        def vote(distances: Floats, rows: int, x: Floats, y: NDArray[Any]) -> Prediction:
            codes = y[:, :rows]
            votes = self.neighborhood.votes(distances[:, :rows], x, codes)
            member = codes[:, None, :] == numbers
            scores = np.vecdot(votes.weights[:, None, :].astype(np.float64), member)
            best, leads = np.rint(scores).argmax(axis=1), votes.clear
            if self.neighborhood.by_distance:
                best, leads = choose(scores, votes.error * scores.sum(axis=1))
                leads &= votes.clear
            # Whole votes: equal numbers are an exact tie, which goes to the first class.
            # A vote is counted, not added up: its order does not matter.
            ordered = np.ones(len(best), dtype=np.bool_)
            return Prediction(best, np.where(leads, 0.0, np.inf), votes.radius, ordered)

        codes = classes.member.argmax(axis=1)
        full, reduced, error, _ = both_fits(self.neighborhood, X, codes, x, vote)
        return label_pairs(classes, full, reduced, error == 0)

    def tables(self, X: Floats, y: NDArray[Any], points: Floats, removals: int) -> Tables:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.tables`."""
        return vote_tables(self.neighborhood, X, y, points, removals)

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return 8 * n * 20


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
