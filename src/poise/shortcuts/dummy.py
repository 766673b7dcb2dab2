"""The shortcut for scikit-learn's DummyRegressor."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.parameter_types import is_number
from poise.shortcuts.rounding_bounds import (
    ROUNDING,
    Estimate,
    RegressorShortcut,
    as_numbers,
    sums_are_exact,
    trusted_tables,
)
from poise.shortcuts.shortcut import Floats, Tables

__all__ = ["DummyShortcut", "find_dummy"]


@dataclass(frozen=True)
class DummyShortcut(RegressorShortcut):
    """A statistic of the responses with and without the last one."""

    strategy: str
    quantile: float | None = None
    constant: float | None = None

    @property
    def name(self) -> str:
        """Say in a few words what is done instead of two fits."""
        return f"{self.strategy} of the responses"

    def estimate(self, X: Floats, y: Floats, x: Floats) -> Estimate:
        """See :meth:`poise.shortcuts.rounding_bounds.RegressorShortcut.estimate`."""
        full, reduced = self._statistic(y), self._statistic(y[:, :-1])
        # Order statistics are selected, not computed: they have no error.
        exact = (self.strategy != "mean") | sums_are_exact(y)
        error = np.where(exact, 0.0, ROUNDING * np.abs(y).mean(axis=1))
        return Estimate(full, reduced, error)

    def removes_all(self, n: int, d: int) -> bool:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.removes_all`."""
        return n > 1

    @np.errstate(all="ignore")
    def tables(self, X: Floats, y: NDArray[Any], points: Floats, removals: int) -> Tables:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.tables`."""
        numbers = as_numbers(y)
        full, error = self.estimate(X, numbers, points[:, 0])[::2]
        removed = self._without_each(numbers)[:, : -removals - 1 : -1]
        at_points = np.ones((1, points.shape[1]))
        # The model is a constant: it predicts the same at all points.
        found = [(part * at_points) for part in (full[:, None], error[:, None])]
        return trusted_tables(found[0], removed[..., None] * at_points, found[1], numbers, points)

    def _without_each(self, y: Floats) -> Floats:
        """Return the statistic without each response."""
        n = y.shape[1]
        if self.strategy == "mean":
            return np.asarray((y.sum(axis=1, keepdims=True) - y) / (n - 1))
        order = y.argsort(axis=1)
        ordered = np.take_along_axis(y, order, axis=1)
        by_rank = np.empty_like(y)
        for low, high in _runs(self._middle(n - 1), n):
            by_rank[:, low:high] = self._statistic(np.delete(ordered, low, axis=1))[:, None]
        found = np.empty_like(y)
        np.put_along_axis(found, order, by_rank, axis=1)
        return found

    def _middle(self, n: int) -> float:
        """Return the place of the statistic among n responses in ascending order."""
        return (0.5 if self.quantile is None else self.quantile) * (n - 1)

    def _statistic(self, y: Floats) -> Floats:
        if self.strategy == "mean":
            return np.asarray(y.mean(axis=1))
        if self.strategy == "median":
            return np.asarray(np.median(y, axis=1))
        if self.quantile is not None:
            return np.asarray(np.percentile(y, 100.0 * self.quantile, axis=1))
        return np.full(len(y), self.constant, dtype=np.float64)

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return 8 * 3 * n


def _runs(place: float, n: int) -> list[tuple[int, int]]:
    """Cut n ranks into runs: which rank of a run is removed makes no difference to the place.

    The next ranks on both sides are runs of their own, in case the place itself is rounded.

    Examples
    --------
    >>> _runs(4.5, 11)
    [(0, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 11)]
    """
    near = range(max(0, math.floor(place) - 1), min(n, math.floor(place) + 4))
    cuts = sorted({0, *near, n})
    return list(itertools.pairwise(cuts))


def find_dummy(estimator: Any) -> DummyShortcut | None:
    """Return the shortcut of a ``DummyRegressor``, whatever its strategy."""
    from sklearn.dummy import DummyRegressor

    if type(estimator) is not DummyRegressor:
        return None
    strategy, quantile, constant = estimator.strategy, estimator.quantile, estimator.constant
    if strategy in ("mean", "median"):
        return DummyShortcut(strategy)
    if strategy == "quantile" and is_number(quantile, 0, math.nextafter(1.0, 2.0)):
        return DummyShortcut(strategy, quantile=float(quantile))
    if strategy == "constant" and is_number(constant, -math.inf) and math.isfinite(constant):
        return DummyShortcut(strategy, constant=float(constant))
    return None
