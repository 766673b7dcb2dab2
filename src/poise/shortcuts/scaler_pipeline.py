"""Shortcuts for a Pipeline of StandardScaler and an estimator.

The scaler's means and deviations change with the removed row too. So the rows
are standardised twice, once for each fit. The inner shortcut gives the full prediction
for one and the reduced prediction for the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.centred_moments import less
from poise.shortcuts.parameter_types import is_flag
from poise.shortcuts.rounding_bounds import Estimate, RegressorShortcut, Rows
from poise.shortcuts.shortcut import Floats, Pairs, PlainShortcut

__all__ = ["StandardizedClassifier", "StandardizedRegressor", "Standardizer", "find_standardized"]

_LARGEST_OFFSET = 1e4
"""Means beyond this many deviations leave too few digits."""

_SMALLEST_DEVIATION = 1e-300
"""An error that is next to none, but some."""


class Standardized(NamedTuple):
    """Rows and test points in units of the standard deviations of each trial."""

    X: Floats
    x: Floats
    offset: Floats  # distance from the origin in those units: digits lost, (trials,)
    flat: NDArray[np.bool_]  # a column is constant, (trials,)


@dataclass(frozen=True)
class Standardizer:
    """What a ``StandardScaler`` does to every trial."""

    centre: bool
    scale: bool

    def __call__(self, X: Floats, x: Floats, n: int) -> Standardized:
        """Fit the scaler to the first ``n`` rows; apply it to all rows and the test point."""
        seen = X[:, :n]
        averaging = np.full((1, n), 1.0 / n)
        mean = averaging @ seen
        standard = less(seen, mean)
        deviation = np.sqrt(averaging @ np.square(standard, out=standard))
        # Exactly; otherwise the rounding of the mean would look like variation.
        constant = (seen == seen[:, :1]).all(axis=1, keepdims=True)
        far = np.abs(mean) if self.centre else np.abs(seen).max(axis=1, keepdims=True)
        offset = np.where(np.isfinite(deviation), far / deviation, np.inf)
        offset[constant] = 0.0
        mean = np.where(constant, seen[:, :1], mean) if self.centre else np.zeros_like(mean)
        unit = np.where(constant, 1.0, deviation) if self.scale else np.ones_like(mean)
        standard = less(X, mean)
        standard /= unit
        point = ((x[:, None] - mean) / unit)[:, 0]
        return Standardized(standard, point, offset.max(axis=(1, 2)), constant.any(axis=(1, 2)))

    def workspace_bytes(self, n: int, d: int) -> int:
        """Estimate the memory that one trial needs beside its own rows."""
        return 8 * 4 * n * d


@dataclass(frozen=True)
class StandardizedRegressor(RegressorShortcut):
    """Another shortcut for a regressor, on standardised rows."""

    standardize: Standardizer
    inner: RegressorShortcut
    name: str

    def estimate(self, X: Floats, y: Floats, x: Floats) -> Estimate:
        """See :meth:`poise.shortcuts.rounding_bounds.RegressorShortcut.estimate`."""
        n = X.shape[1]
        for_full, for_reduced = self.standardize(X, x, n), self.standardize(X, x, n - 1)
        inner = self.inner.on_rounded_rows(_roundings(for_full, for_reduced))
        full = inner.estimate(for_full.X, y, for_full.x)
        reduced = inner.estimate(for_reduced.X, y, for_reduced.x)
        error = np.maximum(
            self._error(full.error, for_full), self._error(reduced.error, for_reduced)
        )
        if inner.vouches_for_zero:
            alike = np.flatnonzero(full.full == reduced.reduced)
            before, after = (_some(part, alike) for part in (for_full, for_reduced))
            error[alike[~inner.add_up_alike(before, after, y[alike])]] = np.inf
        return Estimate(full.full, reduced.reduced, error)

    def _error(self, error: Floats, rows: Standardized) -> Floats:
        """Add the error of the standardised rows: the inner bounds are for exact rows."""
        error = np.where(rows.offset <= _LARGEST_OFFSET, error * (1.0 + rows.offset), np.inf)
        # A constant column becomes 0, or the rounding error of its mean.
        return np.asarray(np.where(rows.flat, np.maximum(error, _SMALLEST_DEVIATION), error))

    @property
    def vouches_for_zero(self) -> bool:
        """See :attr:`poise.shortcuts.rounding_bounds.RegressorShortcut.vouches_for_zero`."""
        return self.inner.vouches_for_zero

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return self.inner.workspace_bytes(n, d) + self.standardize.workspace_bytes(n, d)


@dataclass(frozen=True)
class StandardizedClassifier:
    """Another shortcut for a classifier, on standardised rows."""

    standardize: Standardizer
    inner: PlainShortcut
    name: str

    @np.errstate(all="ignore")
    def pairs(self, X: Floats, y: NDArray[Any], x: Floats) -> Pairs:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.pairs`."""
        n = X.shape[1]
        for_full, for_reduced = self.standardize(X, x, n), self.standardize(X, x, n - 1)
        inner = self.inner.on_rounded_rows(_roundings(for_full, for_reduced))
        full = inner.pairs(for_full.X, y, for_full.x)
        reduced = inner.pairs(for_reduced.X, y, for_reduced.x)
        digits_left = np.maximum(for_full.offset, for_reduced.offset) <= _LARGEST_OFFSET
        return Pairs(full.full, reduced.reduced, full.trusted & reduced.trusted & digits_left)

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return self.inner.workspace_bytes(n, d) + self.standardize.workspace_bytes(n, d)


def _roundings(*parts: Standardized) -> Floats:
    """Count the roundings that rows have behind them, where they have digits left at all."""
    offset = np.maximum(*(part.offset for part in parts))
    return np.asarray(1.0 + np.where(offset <= _LARGEST_OFFSET, offset, 0.0))


def _some(rows: Standardized, trials: NDArray[np.intp]) -> Rows:
    return rows.X[trials], rows.x[trials]


def find_standardized(
    estimator: Any, find: Callable[[Any], PlainShortcut | None]
) -> StandardizedRegressor | StandardizedClassifier | None:
    """Return the shortcut of a two-step pipeline whose second step ``find`` recognises."""
    from sklearn.pipeline import Pipeline

    if type(estimator) is not Pipeline or len(estimator.steps) != 2:
        return None
    scaler, last = (step for _, step in estimator.steps)
    standardize, inner = _standardizer(scaler), find(last)
    if standardize is None or inner is None or estimator.memory is not None:
        return None
    name = f"{inner.name}, on rows standardised for each fit"
    if isinstance(inner, RegressorShortcut):
        return StandardizedRegressor(standardize, inner, name)
    return StandardizedClassifier(standardize, inner, name)


def _standardizer(scaler: Any) -> Standardizer | None:
    from sklearn.preprocessing import StandardScaler

    if type(scaler) is not StandardScaler:
        return None
    if not is_flag(scaler.with_mean) or not is_flag(scaler.with_std):
        return None
    return Standardizer(bool(scaler.with_mean), bool(scaler.with_std))
