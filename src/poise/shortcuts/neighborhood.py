"""Which rows are nearest to a test point, what each of them counts, and when that is certain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.factor import norm
from poise.shortcuts.protocol import Floats
from poise.shortcuts.regressor import ROUNDING

__all__ = ["Neighborhood", "Votes"]


class Votes(NamedTuple):
    """The say of each row in the prediction of its trial."""

    weights: NDArray[Any]  # 0 outside the neighbourhood, (trials, n)
    error: Floats  # relative error of a weight, (trials,)
    clear: NDArray[np.bool_]  # no tie that could matter, (trials,)
    radius: Floats  # distance to the last neighbour, with room for a tie, (trials,)


@dataclass(frozen=True)
class Neighborhood:
    """Which rows vote, and with which weight.

    Distances are kept as sums of p-th powers, which have the same order.
    """

    k: int
    power: float
    by_distance: bool
    exact_zeros: bool  # differences are formed before squaring, whatever the shape

    def distances(self, X: Floats, x: Floats) -> Floats:
        """Measure how far the rows of each trial are from its test point."""
        apart = np.repeat(-x[:, None, :], X.shape[1], axis=1)
        apart += X
        if self.power == 2:
            return np.asarray(np.vecdot(apart, apart))
        apart = np.abs(apart, out=apart)
        if math.isinf(self.power):
            return np.asarray(apart.max(axis=-1))
        if self.power != 1:
            apart **= self.power
        return apart @ np.ones(X.shape[2])

    def slack(self, distances: Floats, x: Floats) -> Floats:
        """Bound the rounding error of ``distances``, one column of them.

        Searching by brute force, scikit-learn expands the square of a difference,
        and loses digits to the distance from the origin.
        """
        if self.exact_zeros:
            power = 1.0 if math.isinf(self.power) else self.power
            return np.asarray(ROUNDING * (1.0 + power) * distances)
        return np.asarray(ROUNDING * (norm(x)[:, None] + np.sqrt(distances)) ** 2)

    def votes(self, distances: Floats, x: Floats, y: NDArray[Any]) -> Votes:
        """Give the k nearest rows their weights.

        Where rows tie for the last places they share them, which makes no
        difference if they agree in ``y``; otherwise the trial is not clear.
        """
        last = np.partition(distances, self.k - 1, axis=1)[:, self.k - 1, None]
        slack = 2.0 * self.slack(last, x)
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
        """Divide the places that are left among the rows that tie for them."""
        tied = np.count_nonzero(zone, axis=1)
        places = self.k - (np.count_nonzero(chosen, axis=1) - tied)
        return np.asarray((places / tied)[:, None])

    def _weights(self, distances: Floats, chosen: NDArray[np.bool_]) -> Floats:
        """Weigh by inverse distance; rows at distance 0 leave nothing to the others."""
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


def _agree(y: NDArray[Any], zone: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell whether the rows marked in ``zone`` have the same response in each trial."""
    first = np.take_along_axis(y, zone.argmax(axis=1)[:, None], axis=1)
    return np.asarray(np.all((y == first) | ~zone, axis=1))
