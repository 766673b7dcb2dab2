"""Estimates P̂ of the law of a row, from which rows are drawn (Example 3)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poise.data.sample import Sample
from poise.errors import ArgumentError, DataError

__all__ = ["Density", "Gaussian", "Law", "SmoothedBootstrap", "UserLaw", "as_law"]

Draw = Callable[[np.random.Generator, int], tuple[Any, Any]]
"""Draws rows (X, y) from P̂, independently."""


class Law(Protocol):
    """A way to estimate P from a sample."""

    def fit(self, sample: Sample) -> Draw:
        """Estimate; return what draws from the estimate."""
        ...


def as_law(estimate: object) -> Law:
    """Turn a name, a density or a function into a way to estimate P.

    Examples
    --------
    >>> as_law("gaussian")
    Gaussian()
    >>> as_law("poisson")
    Traceback (most recent call last):
    poise.errors.ArgumentError: estimate must be 'gaussian', ... got 'poisson'
    """
    if isinstance(estimate, str) and estimate in _NAMED:
        return _NAMED[estimate]()
    if hasattr(estimate, "fit") and hasattr(estimate, "sample"):
        return Density(estimate)
    if callable(estimate):
        return UserLaw(estimate)
    raise ArgumentError(
        "estimate must be 'gaussian', 'smoothed-bootstrap', a density with fit and sample, or a "
        f"function (X, y, rng, size) -> (X, y), got {estimate!r}"
    )


@dataclass(frozen=True)
class _Joined:
    """Features and response side by side, as numbers, and how to take them apart again."""

    values: NDArray[np.float64]
    columns: int
    y_shape: tuple[int, ...]

    @classmethod
    def of(cls, sample: Sample) -> _Joined:
        X, y = _numbers(sample.X.native, "X"), _numbers(sample.y.native, "y")
        rows = len(X)
        joined = np.hstack([X.reshape(rows, -1), y.reshape(rows, -1)])
        return cls(joined, joined.shape[1] - int(np.prod(y.shape[1:])), y.shape[1:])

    def apart(self, rows: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[Any]]:
        y = rows[:, self.columns :].reshape(len(rows), *self.y_shape)
        return rows[:, : self.columns].copy(), y.copy()


def _numbers(native: Any, name: str) -> NDArray[np.float64]:
    """Return an array of finite numbers, or say why rows cannot be simulated from it."""
    if isinstance(native, (np.ndarray, list, tuple)):
        array = np.asarray(native)
        if array.dtype.kind in "fiu" and np.isfinite(array).all():
            return array.astype(np.float64)
    raise DataError(
        f"{name} must be an array of finite numbers to estimate P from, got "
        f"{type(native).__name__}; give a function (X, y, rng, size) -> (X, y) as the estimate"
    )


@dataclass(frozen=True)
class Gaussian:
    """(X, y) jointly normal, with the mean and covariance of the labelled rows."""

    def fit(self, sample: Sample) -> Draw:
        """Estimate the mean and a square root of the covariance."""
        joined = _Joined.of(sample)
        mean = joined.values.mean(axis=0)
        spread, axes = np.linalg.eigh(np.cov(joined.values, rowvar=False))
        root = axes * np.sqrt(np.clip(spread, 0.0, None))

        def draw(rng: np.random.Generator, size: int) -> tuple[Any, Any]:
            return joined.apart(mean + rng.standard_normal((size, len(mean))) @ root.T)

        return draw


@dataclass(frozen=True)
class SmoothedBootstrap:
    """Rows drawn with replacement, plus normal noise of Silverman's bandwidth.

    A response that is not a real number (a class label, a count) is kept as drawn.
    """

    def fit(self, sample: Sample) -> Draw:
        """Choose the width of the noise."""
        X, y = _numbers(sample.X.native, "X"), np.asarray(sample.y.native)
        rows = len(X)
        smooth_y = y.dtype.kind == "f"
        dimension = X[0].size + (y[0].size if smooth_y else 0)
        width = (4.0 / ((dimension + 2) * rows)) ** (1.0 / (dimension + 4))

        def draw(rng: np.random.Generator, size: int) -> tuple[Any, Any]:
            chosen = rng.integers(rows, size=size)
            made_X = _jittered(X, chosen, width, rng)
            return made_X, _jittered(y, chosen, width, rng) if smooth_y else y[chosen]

        return draw


def _jittered(
    values: NDArray[Any], rows: NDArray[np.int64], width: float, rng: np.random.Generator
) -> NDArray[Any]:
    chosen = values[rows]
    noise = rng.standard_normal(chosen.shape) * (width * values.std(axis=0))
    return np.asarray(chosen + noise)


@dataclass(frozen=True)
class Density:
    """Any density with ``fit(Z)`` and ``sample(size)``, such as scikit-learn's, on Z = [X | y]."""

    density: Any

    def fit(self, sample: Sample) -> Draw:
        """Fit a copy of the density to the labelled rows."""
        from sklearn.base import clone

        joined = _Joined.of(sample)
        density = clone(self.density)
        if "random_state" in density.get_params():
            density.set_params(random_state=0)
        density.fit(joined.values)

        def draw(rng: np.random.Generator, size: int) -> tuple[Any, Any]:
            rows = _sampled(density, size, int(rng.integers(2**31)))
            # Mixtures hand back their rows sorted by component.
            return joined.apart(rows[rng.permutation(size)])

        return draw


def _sampled(density: Any, size: int, seed: int) -> NDArray[np.float64]:
    """Draw rows with a seed, whichever way the density takes one."""
    if "random_state" in inspect.signature(density.sample).parameters:
        drawn = density.sample(size, random_state=seed)
    else:
        if "random_state" in density.get_params():
            density.set_params(random_state=seed)
        drawn = density.sample(size)
    return np.asarray(drawn[0] if isinstance(drawn, tuple) else drawn, dtype=np.float64)


@dataclass(frozen=True)
class UserLaw:
    """A function ``(X, y, rng, size) -> (X, y)`` that is given the labelled rows."""

    function: Callable[[Any, Any, np.random.Generator, int], tuple[Any, Any]]

    def fit(self, sample: Sample) -> Draw:
        """Bind the function to the rows."""
        X, y = sample.X.native, sample.y.native

        def draw(rng: np.random.Generator, size: int) -> tuple[Any, Any]:
            return self.function(X, y, rng, size)

        return draw


_NAMED: dict[str, Callable[[], Law]] = {
    "gaussian": Gaussian,
    "smoothed-bootstrap": SmoothedBootstrap,
}
