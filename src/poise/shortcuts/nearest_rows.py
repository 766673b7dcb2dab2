"""The nearest rows of a test point, and their weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.factorizations import norm
from poise.shortcuts.rounding_bounds import ROUNDING, SMALLEST
from poise.shortcuts.row_distances import differences_to_power, expanded_squares
from poise.shortcuts.shortcut import Floats

__all__ = ["Nearest", "Neighborhood", "Votes"]


class Votes(NamedTuple):
    """The weight of each row in the prediction of its trial."""

    weights: NDArray[Any]  # 0 outside the neighbourhood, (trials, n)
    error: Floats  # relative error of a weight, (trials,)
    clear: NDArray[np.bool_]  # no tie that could matter, (trials,)
    radius: Floats  # distance to the last neighbour, plus a margin for ties, (trials,)


class Nearest(NamedTuple):
    """The k nearest rows of the trials in which no tie makes them uncertain."""

    places: NDArray[np.intp]  # in all rows of all trials, end to end, (k, clear trials)
    clear: NDArray[np.bool_]  # (trials,)
    radius: Floats  # as in Votes


@dataclass(frozen=True)
class Neighborhood:
    """Which rows vote, and with which weight.

    Distances are kept as sums of p-th powers, which have the same order.
    """

    k: int
    power: float
    by_distance: bool
    exact_zeros: bool  # differences are formed before squaring, whatever the shape
    noise: float = 0.0  # error of a coordinate, if rows were computed and not given

    def on_rounded_rows(self, roundings: Floats) -> Self:
        """Return the same for rows with so many roundings of a unit; the largest number counts."""
        return replace(self, noise=ROUNDING * float(np.max(roundings)))

    def distances(self, X: Floats, x: Floats) -> Floats:
        """Measure how far the rows of each trial are from its test point."""
        if self._expands:
            return expanded_squares(X, x)
        return differences_to_power(X, x, self.power)

    @property
    def _expands(self) -> bool:
        """Whether to expand the square, as scikit-learn's brute-force search does.

        Rounding errors can then be larger than for differences. That does not matter if the
        estimator may do the same, and if distances only select the neighbours.
        """
        return self.power == 2 and not self.exact_zeros and not self.by_distance

    def slack(self, distances: Floats, x: Floats) -> Floats:
        """Bound the rounding error of ``distances``, one column of them.

        Searching by brute force, scikit-learn expands the square of a difference,
        and loses digits to the distance from the origin.
        """
        if self.exact_zeros:
            power = 1.0 if math.isinf(self.power) else self.power
            return np.asarray(ROUNDING * (1.0 + power) * distances) + self._blur(distances, x)
        extent = norm(x)[:, None] + np.sqrt(np.maximum(distances, 0.0))
        # Each of the three sums has as many terms as there are columns.
        terms = 1.0 + x.shape[1] / 4 if self._expands else 1.0
        return np.asarray(ROUNDING * terms * extent**2 + SMALLEST**2) + self._blur(distances, x)

    def _blur(self, distances: Floats, x: Floats) -> Floats | float:
        """Bound the effect of errors of coordinates on distances, by Hölder's inequality."""
        if self.noise == 0 or math.isinf(self.power):
            return self.noise
        p, d = self.power, x.shape[1]
        slope = p * d ** (1.0 / p) * np.maximum(distances, 0.0) ** ((p - 1.0) / p)
        return np.asarray(self.noise * slope + d * self.noise**p)

    def nearest(self, distances: Floats, rows: int, x: Floats) -> Nearest:
        """Find the k nearest among the first ``rows`` of each trial."""
        trials, n = distances.shape
        last, slack = self._last(distances[:, :rows], x)
        radius = last + slack
        chosen = distances <= radius
        chosen[:, rows:] = False
        places = np.flatnonzero(chosen)
        clear = np.ones(trials, dtype=np.bool_)
        if not _falls_into_rows(places, trials, n, self.k):
            clear = np.count_nonzero(chosen, axis=1) == self.k
            places = np.flatnonzero(chosen & clear[:, None])
        return Nearest(places.reshape(-1, self.k).T, clear, radius[:, 0])

    def are_ordered(self, nearest: Floats, x: Floats) -> NDArray[np.bool_]:
        """Tell in which trials the order of the neighbours is certain.

        The estimator adds up their responses in that order, and rounds accordingly; the sum
        of two is the same either way.
        """
        if self.k <= 2:
            return np.ones(len(nearest), dtype=np.bool_)
        nearest = np.sort(nearest, axis=1)
        return np.asarray((np.diff(nearest) > 2.0 * self.slack(nearest[:, 1:], x)).all(axis=1))

    def in_order(self, distances: Floats, x: Floats) -> NDArray[np.intp]:
        """List the k nearest rows of each trial, nearest first; −1 where that is not certain."""
        chosen = np.argpartition(distances, self.k - 1, axis=1)[:, : self.k]
        nearest = np.take_along_axis(distances, chosen, axis=1)
        chosen = np.take_along_axis(chosen, nearest.argsort(axis=1), axis=1)
        certain = self.are_ordered(nearest, x) & (self._tied(distances, x) == 0)
        return np.where(certain[:, None], chosen, -1)

    def _tied(self, distances: Floats, x: Floats) -> NDArray[np.intp]:
        """Count the rows beyond k that are as near as the last neighbour."""
        last, slack = self._last(distances, x)
        return np.asarray(np.count_nonzero(distances <= last + slack, axis=1) - self.k)

    def _last(self, distances: Floats, x: Floats) -> tuple[Floats, Floats]:
        """Return the distance to the last neighbour, and how close to it rows tie with it."""
        last = np.partition(distances, self.k - 1, axis=1)[:, self.k - 1, None]
        return last, 2.0 * self.slack(last, x)

    def votes(self, distances: Floats, x: Floats, y: NDArray[Any]) -> Votes:
        """Give the k nearest rows their weights.

        Where rows tie for the last places they share them, which makes no
        difference if they agree in ``y``; otherwise the trial is not clear.
        """
        last, slack = self._last(distances, x)
        chosen = distances <= last + slack
        weights = self._weights(distances, chosen) if self.by_distance else chosen
        clear = np.count_nonzero(chosen, axis=1) == self.k
        tied = np.flatnonzero(~clear)
        if tied.size:
            zone = chosen[tied] & (distances[tied] >= (last - slack)[tied])
            weights = weights.astype(np.float64)
            weights[tied] *= np.where(zone, self._shares(chosen[tied], zone), 1.0)
            clear[tied] = _agree(y[tied], zone)
        return Votes(weights, self._error(distances, x), clear, (last + slack)[:, 0])

    def _shares(self, chosen: NDArray[np.bool_], zone: NDArray[np.bool_]) -> Floats:
        """Divide the remaining places among the rows that tie for them."""
        tied = np.count_nonzero(zone, axis=1)
        places = self.k - (np.count_nonzero(chosen, axis=1) - tied)
        return np.asarray((places / tied)[:, None])

    def _weights(self, distances: Floats, chosen: NDArray[np.bool_]) -> Floats:
        """Weigh by inverse distance; if rows are at distance 0, the others have weight 0."""
        length = distances if math.isinf(self.power) else distances ** (1.0 / self.power)
        zero = distances == 0
        hit = zero.any(axis=1)
        return np.where(hit[:, None], zero, np.where(chosen, 1.0 / length, 0.0))

    def _error(self, distances: Floats, x: Floats) -> Floats:
        """Bound the relative error of the weights: that of the smallest distance."""
        if not self.by_distance:
            return np.full(len(distances), ROUNDING)
        nearest = distances.min(axis=1, keepdims=True)
        relative = self.slack(nearest, x) / nearest
        exact = (nearest == 0) & self.exact_zeros
        return np.asarray(np.where(exact, ROUNDING, ROUNDING + relative)[:, 0])


def _falls_into_rows(places: NDArray[np.intp], rows: int, length: int, each: int) -> bool:
    """Tell whether ascending positions in an array are equally many in each of its rows."""
    if len(places) != rows * each:
        return False
    starts = length * np.arange(rows)
    by_row = places.reshape(rows, each)
    return bool((by_row[:, 0] >= starts).all() and (by_row[:, -1] < starts + length).all())


def _agree(y: NDArray[Any], zone: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell whether the rows marked in ``zone`` have the same response in each trial."""
    first = np.take_along_axis(y, zone.argmax(axis=1)[:, None], axis=1)
    return np.asarray(np.all((y == first) | ~zone, axis=1))
