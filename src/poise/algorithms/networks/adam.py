"""The Adam optimiser (Kingma & Ba, 2015) as one compiled loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

__all__ = ["adam", "minibatches", "moved", "step_sizes"]

_KEEP_MEAN, _KEEP_SQUARE, _TINY = 0.9, 0.999, 1e-8  # the constants of the paper

Parameters = TypeVar("Parameters")
"""Any structure of arrays."""


def adam(
    gradient: Callable[[Parameters, Array | None], Parameters],
    start: Parameters,
    steps: int,
    learning_rate: float,
    batches: Array | None = None,
) -> Parameters:
    """Take ``steps`` steps of Adam from ``start`` and return the parameters.

    Parameters
    ----------
    gradient : callable
        ``gradient(parameters, batch)``, of the same structure as the parameters.
    start : any structure of arrays
        Initial parameters.
    steps : int
        How many steps to take.
    learning_rate : float
        Size of a step.
    batches : array, optional
        One batch per step along the first axis; None if every step sees everything.

    Examples
    --------
    >>> bottom = adam(lambda p, _: 2 * (p - 3.0), jnp.zeros(()), steps=2000, learning_rate=0.1)
    >>> round(float(bottom), 3)
    3.0
    """
    rates = step_sizes(steps, learning_rate)

    def step(
        state: tuple[Parameters, Parameters, Parameters], now: tuple[Array, Array | None]
    ) -> tuple[tuple[Parameters, Parameters, Parameters], None]:
        rate, batch = now
        return moved(state, gradient(state[0], batch), rate), None

    zero = jax.tree.map(jnp.zeros_like, start)
    (parameters, _, _), _ = jax.lax.scan(step, (start, zero, zero), (jnp.asarray(rates), batches))
    return parameters


def moved(
    state: tuple[Parameters, Parameters, Parameters], slope: Parameters, rate: Array
) -> tuple[Parameters, Parameters, Parameters]:
    """Take one step from (parameters, mean gradient, mean square) along a gradient."""
    parameters, mean, square = state
    mean = jax.tree.map(lambda m, g: _KEEP_MEAN * m + (1 - _KEEP_MEAN) * g, mean, slope)
    square = jax.tree.map(lambda v, g: _KEEP_SQUARE * v + (1 - _KEEP_SQUARE) * g * g, square, slope)
    parameters = jax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v) + _TINY), parameters, mean, square
    )
    return parameters, mean, square


def step_sizes(steps: int, learning_rate: float) -> NDArray[np.float64]:
    """Return the size of each step, with the correction for averages that began at zero."""
    t = np.arange(1, steps + 1)
    sizes: NDArray[np.float64] = learning_rate * np.sqrt(1 - _KEEP_SQUARE**t) / (1 - _KEEP_MEAN**t)
    return sizes


def minibatches(key: Array, rows: int, size: int, steps: int) -> Array:
    """Return the row numbers of one batch per step, shape (steps, size).

    Rows are put in a new random order for every pass over the data; rows that do not fill
    a last batch are left out of that pass.

    Examples
    --------
    >>> batches = minibatches(jax.random.key(0), rows=7, size=3, steps=4)
    >>> batches.shape, len(set(batches[:2].ravel().tolist()))
    ((4, 3), 6)
    """
    per_pass = rows // size
    keys = jax.random.split(key, -(-steps // per_pass))
    orders = jax.vmap(lambda k: jax.random.permutation(k, rows))(keys)
    return orders[:, : per_pass * size].reshape(-1, size)[:steps]
