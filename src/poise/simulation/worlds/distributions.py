"""Distributions P of one row (X, Y), from which simulations draw."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from poise.data.sample import Sample

__all__ = ["Distribution", "EmpiricalRows", "GaussianRows", "UniformCoins", "UniformRows"]


@runtime_checkable
class Distribution(Protocol):
    """Anything that draws independent rows.

    A class may add ``radius(a)``, an L with P(‖X‖ > L) ≤ a: traps that must stay
    within a class of models need one, and otherwise estimate it.

    Examples
    --------
    >>> class Coins:
    ...     def draw(self, rng, size):
    ...         return rng.integers(2, size=(size, 1)), rng.integers(2, size=size)
    >>> isinstance(Coins(), Distribution)
    True
    """

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Any, Any]:
        """Return ``size`` independent rows as (X, y)."""
        ...


@dataclass(frozen=True)
class GaussianRows:
    """X ~ N(0, I), Y = slope·(sum of X) + N(0, σ²): everything continuous.

    Parameters
    ----------
    n_features : int
        Columns of X, at least 1.
    sigma : float
        Standard deviation of the noise, >= 0.
    slope : float
        Coefficient of every feature; 0 makes Y independent of X.

    Examples
    --------
    >>> X, y = GaussianRows(2).draw(np.random.default_rng(0), 5)
    >>> X.shape, y.shape
    ((5, 2), (5,))
    """

    n_features: int = 1
    sigma: float = 1.0
    slope: float = 0.0

    def draw(
        self, rng: np.random.Generator, size: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw rows."""
        X = rng.standard_normal((size, self.n_features))
        noise = self.sigma * rng.standard_normal(size)
        return X, noise + self.slope * X.sum(axis=1) if self.slope else noise

    def radius(self, a: float) -> float:
        """Return L with P(‖X‖ > L) = a, from the chi-square law of ‖X‖²."""
        from scipy.special import chdtri

        return math.sqrt(float(chdtri(self.n_features, a)))


@dataclass(frozen=True)
class UniformRows:
    """X uniform on the unit cube, Y ~ N(0, σ²) independent of it.

    Examples
    --------
    >>> X, y = UniformRows(3).draw(np.random.default_rng(0), 4)
    >>> bool((0 <= X).all() and (X < 1).all()), UniformRows(4).radius(0.0)
    (True, 2.0)
    """

    n_features: int = 1
    sigma: float = 1.0

    def draw(
        self, rng: np.random.Generator, size: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw rows."""
        return rng.random((size, self.n_features)), self.sigma * rng.standard_normal(size)

    def radius(self, a: float) -> float:
        """Return the radius of a ball that holds the whole cube."""
        return math.sqrt(self.n_features)


@dataclass(frozen=True)
class UniformCoins:
    """X uniform on the unit cube, Y a fair coin, 0.0 or 1.0, independent of it.

    Examples
    --------
    >>> X, y = UniformCoins().draw(np.random.default_rng(0), 4)
    >>> X.shape, sorted(set(y.tolist()))
    ((4, 1), [0.0, 1.0])
    """

    n_features: int = 1

    def draw(
        self, rng: np.random.Generator, size: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Draw rows."""
        return rng.random((size, self.n_features)), rng.integers(2, size=size).astype(np.float64)

    def radius(self, a: float) -> float:
        """Return the radius of a ball that holds the whole cube."""
        return math.sqrt(self.n_features)


class EmpiricalRows:
    """Rows drawn with replacement from data: your own table as the population.

    Examples
    --------
    >>> rows = EmpiricalRows([[1.0], [2.0]], [10.0, 20.0])
    >>> X, y = rows.draw(np.random.default_rng(0), 3)
    >>> [10 * x[0] for x in X] == y
    True
    """

    def __init__(self, X: Any, y: Any) -> None:
        sample = Sample(X, y)
        self.X, self.y = sample.X, sample.y

    def __repr__(self) -> str:
        return f"EmpiricalRows({len(self.X):,} rows)"

    def draw(self, rng: np.random.Generator, size: int) -> tuple[Any, Any]:
        """Draw rows, in the container the data came in."""
        rows = rng.integers(len(self.X), size=size)
        return self.X.take(rows), self.y.take(rows)
