"""The shortcut for scikit-learn's DummyRegressor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.shortcuts.parameter_types import is_number
from poise.shortcuts.rounding_bounds import (
    ROUNDING,
    Estimate,
    RegressorShortcut,
    sums_are_exact,
)
from poise.shortcuts.shortcut import Floats

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
