"""Nearest neighbours: the k + 1 rows nearest to a point say everything about every removal."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from poise.shortcuts.cells import ROUNDING, Array, Cells, last, members

_EXACT = 2.0**53  # sums of whole numbers below it are not rounded


@dataclass(frozen=True)
class Neighbours:
    """The mean, or the vote, of the k nearest rows; ties for a place are left to fits."""

    k: int
    classes: int = 0
    noise: Array | None = None  # error of a coordinate, where rows were computed and not given
    removes_all: bool = True

    def numbers(self, n: int, d: int, removals: int, points: int) -> int:
        """Return how many numbers a trial keeps in memory."""
        return n * d + 3 * removals * points + 2 * n * max(points, self.classes)

    def on_rounded_rows(self, roundings: Array) -> Neighbours:
        """Return the family for rows that have so many roundings behind them."""
        return replace(self, noise=ROUNDING * roundings[:, None, None])

    def cells(self, X: Array, y: Array, points: Array, removals: int) -> Cells:
        """Search once for the neighbours of all fits."""
        X = X[:]
        if points.shape[1] == 1:
            distances = distance(X, X - 2.0 * points)[:, None]
        else:
            distances = points @ X.mT
            distances *= -2.0
            distances += ((X * X) @ np.ones(X.shape[2]))[:, None]
        return self.nearest(distances, y, points, removals)

    def nearest(self, distances: Array, y: Array, points: Array, removals: int) -> Cells:
        """Find the neighbours by the distances (m, T, n) of rows from points."""
        nearest, apart = self._sorted(distances, points)
        ordered, clear = np.all(apart, axis=2), np.all(apart[..., self.k - 1 :], axis=2)
        k = self.k
        chosen, heir = distances <= nearest[..., k - 1, None], distances == nearest[..., k, None]
        vote = self._vote if self.classes else self._mean
        full, reduced, rounding = vote(chosen, heir, y, removals)
        gone = last(chosen, removals).mT
        if self.noise is not None and not self.classes:  # another fit may have another order
            full = _in_order(distances, nearest[..., :k], y)
            reduced = np.where(gone, reduced, full[:, None])
        # Without a neighbour nothing changes: the same numbers are added in the same order.
        slack = np.where(~gone & ordered[:, None], 0.0, rounding[:, None])
        slack[~clear.all(axis=1)] = np.inf
        return Cells(full, reduced, slack, clear & (ordered | (rounding == 0)))

    def _sorted(self, distances: Array, points: Array) -> tuple[Array, Array]:
        """Return the k + 2 smallest distances, (m, T, k + 2), and which of these are not ties."""
        d = points.shape[2]
        nearest = np.sort(distances, axis=2)[..., : self.k + 2]  # as fast as a partition
        size = np.vecdot(points, points)[..., None]
        square = np.maximum(size + nearest, 0.0)
        margin = ROUNDING * (1.0 + d / 4) * (np.sqrt(size) + np.sqrt(square)) ** 2
        if self.noise is not None:
            margin += self.noise * (2.0 * np.sqrt(d * square) + d * self.noise)
        apart = np.diff(nearest, axis=2) > 2.0 * margin[..., 1:]
        # A row that is not a number sorts last, where nobody would look for it.
        return nearest, apart & np.isfinite(distances.sum(axis=2))[..., None]

    def _mean(
        self, chosen: Array, heir: Array, y: Array, removals: int
    ) -> tuple[Array, Array, Array]:
        total = np.vecdot(chosen, y[:, None])
        instead = np.vecdot(heir, y[:, None])[:, None] - last(y, removals)[..., None]  # (m, R, T)
        reduced = (total[:, None] + last(chosen, removals).mT * instead) / self.k
        largest, whole = np.abs(y).max(axis=1), y[:, 0] == np.rint(y[:, 0])
        whole[whole] = (y[whole] == np.rint(y[whole])).all(axis=1)
        rounded = np.where(whole & (largest * self.k < _EXACT), 0.0, (self.k + 1) * largest)
        return total / self.k, reduced, ROUNDING * rounded[:, None]

    def _vote(
        self, chosen: Array, heir: Array, codes: Array, removals: int
    ) -> tuple[Array, Array, Array]:
        member = members(codes, self.classes).mT.astype(np.float64)
        votes, freed = chosen @ member, heir @ member  # (m, T, c)
        full = votes.argmax(axis=2)  # of equal votes the first class wins
        # What the vote would be without a neighbour of each class.
        without = ((votes + freed)[..., None, :] - np.eye(self.classes)).argmax(axis=3)
        gone = last(codes, removals)[:, None].astype(np.intp)
        gone = np.broadcast_to(gone, (*full.shape, removals))
        others = np.take_along_axis(without, gone, axis=2)
        others = np.where(last(chosen, removals), others, full[..., None])
        return full, others.mT, np.zeros(full.shape)


def distance(X: Array, shifted: Array) -> Array:
    """Return |x − p|² less |p|² of rows x from points p, of which x − 2p is given.

    It depends on nothing but the two, wherever they stand.
    """
    found: Array = np.einsum("...j,...j->...", shifted, X)
    return found


def _in_order(distances: Array, nearest: Array, y: Array) -> Array:
    """Return the mean response of the nearest rows, added up in their order as an estimator does.

    So two fits that find the same rows in another order differ here if they differ at all.
    """
    places = [(distances == each[..., None]).argmax(axis=2) for each in np.moveaxis(nearest, 2, 0)]
    found = np.take_along_axis(y[:, None], np.stack(places, axis=2), axis=2)
    means: Array = found.reshape(-1, len(places), 1).mean(axis=1)
    return means.reshape(nearest.shape[:2])
