"""A StandardScaler before another family: rows are standardised anew for every fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.shortcuts.cells import Array, Cells, centred
from poise.shortcuts.linear import Linear
from poise.shortcuts.neighbours import Neighbours

_FARTHEST = 1e4  # means beyond this many deviations leave too few digits


@dataclass(frozen=True)
class Scaled:
    """Another family on standardised rows, once for the full fit and once for each removal."""

    inner: Linear | Neighbours
    removes_all: bool = False

    @property
    def classes(self) -> int:
        """How many the family behind it has."""
        return self.inner.classes

    def numbers(self, n: int, d: int, removals: int, points: int) -> int:
        """Return how many numbers a trial keeps in memory."""
        return 4 * n * d + self.inner.numbers(n, d, 1, points) + 2 * removals * points

    def cells(self, X: Array, y: Array, points: Array, removals: int) -> Cells:
        """Standardise and compute 1 + R times; the row to be removed comes last."""
        X, n = X[:], X.shape[1]
        full, parts = self._fitted(X, y, points, n), []
        for j in range(removals):
            rows = np.append(np.delete(np.arange(n), n - 1 - j), n - 1 - j)
            moved = (X, y) if j == 0 else (X.take(rows, axis=1), y.take(rows, axis=1))
            parts.append(self._fitted(*moved, points, n - 1))
        reduced = np.concatenate([part.reduced for part in parts], axis=1)
        slack = np.concatenate([np.broadcast_to(p.slack, p.reduced.shape) for p in parts], axis=1)
        both = np.maximum(slack, full.slack)
        if full.exact is not None:  # what the full fit adds, if the row that leaves is no neighbour
            both = np.where(full.exact[:, None], slack, both)
        return Cells(full.full, reduced, both)

    def _fitted(self, X: Array, y: Array, points: Array, n: int) -> Cells:
        """Return what the inner family says about rows standardised as the first n are."""
        seen, averaging = X[:, :n], np.full((1, n), 1.0 / n)
        mean = averaging @ seen
        rows = centred(seen, mean)
        deviation = np.sqrt(averaging @ (rows * rows))
        # Exactly; otherwise the rounding of the mean would look like variation.
        constant = (seen == seen[:, :1]).all(axis=1, keepdims=True)
        mean = np.where(constant, seen[:, :1], mean)
        far = np.where(constant, 0.0, np.abs(mean) / deviation).max(axis=(1, 2))
        unit = np.where(constant, 1.0, deviation)
        rows = centred(X, mean)
        rows /= unit
        sound = (far <= _FARTHEST) & np.isfinite(deviation).all(axis=(1, 2))
        inner = self.inner.on_rounded_rows(1.0 + np.where(sound, far, 0.0))
        found = inner.cells(rows, y, (points - mean) / unit, 1)
        slack = found.slack * np.where(sound, 1.0, np.nan)[:, None, None]
        exact = None if found.exact is None else found.exact & sound[:, None]
        return found._replace(slack=slack, exact=exact)
