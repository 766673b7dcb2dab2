"""Scale columns to mean 0 and standard deviation 1, as part of the fit."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

__all__ = ["location_and_scale", "standardized"]


def location_and_scale(values: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation along the first axis; 1 for constant columns.

    Examples
    --------
    >>> mean, spread = location_and_scale(jnp.array([[0.0, 7.0], [2.0, 7.0]]))
    >>> mean.tolist(), spread.tolist()
    ([1.0, 7.0], [1.0, 1.0])
    """
    mean, spread = jnp.mean(values, axis=0), jnp.std(values, axis=0)
    rounding = 100 * np.finfo(values.dtype).eps * jnp.abs(mean)
    return mean, jnp.where(spread > rounding, spread, 1.0)


def standardized(X: Array, x: Array) -> tuple[Array, Array]:
    """Scale the rows, and a point by the mean and deviation of the rows."""
    mean, spread = location_and_scale(X)
    return (X - mean) / spread, (x - mean) / spread
