"""Small networks for regression, each trained inside one kernel of a GPU.

A general compiler writes the hidden layer to the GPU's memory and reads it back several times a
step, which takes most of the time. Here a network and its gradient stay in one multiprocessor from
the first step to the last. The arithmetic is that of :mod:`poise.algorithms.networks` in another
order of summation.

Products need powers of two. A few features beyond such a number are multiplied one by one, which
takes less time than filling up with zeros. Adam's averages, needed once a step, are in memory: in
registers they would leave room for fewer networks at a time.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

if TYPE_CHECKING:
    from jax import Array

    from poise.algorithms.networks import Layers, Network

_ROWS = 16  # at a time: the fewest that a product may have, and the fastest
_LARGEST = 4096  # features times units: a network and its gradient must stay in registers
_PER_WARP = 1024
_ONE_BY_ONE = 8  # features not worth a product twice as wide


class Weights(NamedTuple):
    """A network, or its gradient, filled up with zeros to powers of two."""

    inner: Array  # (features of the product, units)
    further: tuple[Array, ...]  # (units,) for each feature beyond
    bias: Array  # (units,)
    outer: Array  # (units,)
    offset: Array  # (1,)


class Rows(NamedTuple):
    """Rows filled up with zeros."""

    inner: Array  # (rows, features of the product)
    further: tuple[Array, ...]  # (rows,) for each feature beyond
    response: Array  # (rows,)


def suits(network: Network, X: Array, y: Array) -> bool:
    """Tell whether there is a GPU whose kernels can train this network."""
    small = len(network.hidden) == 1 and y.shape == y.shape[:1] and X.dtype == jnp.float32
    if not small or (network.batch_size or len(X)) < len(X) or jax.default_backend() != "gpu":
        return False
    features = max(X.shape[1], _width(X.shape[1]))
    return features * _power_of_two(network.hidden[0]) <= _LARGEST and _available()


@cache
def _available() -> bool:
    """Compile a tiny network: not every GPU or JAX can."""
    from poise.algorithms.networks import Network

    shape = partial(jax.ShapeDtypeStruct, dtype=jnp.float32)
    start = [(shape((1, 2)), shape((2,))), (shape((2, 1)), shape((1,)))]
    network = Network((2,), 1, 0.1, None, 0.0, "relu")
    try:
        jax.jit(partial(train, network)).lower(start, shape((2, 1)), shape((2,))).compile()
    except Exception:  # whatever the reason, the general way works
        return False
    return True


def train(network: Network, start: Layers, X: Array, y: Array, interpret: bool = False) -> Layers:
    """Return weights and biases after the last step; ``interpret`` needs no GPU, and is slow."""
    n, width = len(X), _width(X.shape[1])
    rows, weights = _filled_rows(X, y, width), _filled(start, width)
    shape = jax.tree.map(jax.typeof, weights)
    warps = max(1, weights.inner.size // _PER_WARP)
    kernel = pl.pallas_call(
        partial(_kernel, network, n, interpret),
        out_shape=(shape, shape, shape),
        interpret=interpret,
        compiler_params=None if interpret else triton.CompilerParams(num_warps=warps, num_stages=1),
    )
    t = np.arange(1, network.steps + 1)
    unbiased = np.sqrt(1 - 0.999**t)
    rates = network.learning_rate * unbiased / (1 - 0.9**t), 1e-8 * unbiased
    trained, _, _ = kernel(rows, weights, jnp.asarray(np.stack(rates), X.dtype))
    return _unfilled(trained, start)


def _kernel(
    network: Network,
    n: int,
    interpret: bool,
    rows: Rows,
    start: Weights,
    rates: Array,
    trained: Weights,
    mean: Weights,
    square: Weights,
) -> None:
    """Train one network: read it, take all steps of Adam, write it. Arrays are references."""
    weights = jax.tree.map(lambda reference: reference[...], start)
    for average in (mean, square):
        _write(average, jax.tree.map(jnp.zeros_like, weights))

    def step(t: Array, weights: Weights) -> Weights:
        slope = _gradient(network, n, rows, weights)
        m = jax.tree.map(lambda old, g: 0.9 * old[...] + 0.1 * g, mean, slope)
        v = jax.tree.map(lambda old, g: 0.999 * old[...] + 0.001 * g * g, square, slope)
        _write(mean, m)
        _write(square, v)
        if not interpret:
            triton.debug_barrier()  # each thread reads what others wrote
        rate, tiny = rates[0, t], rates[1, t]
        next_weights: Weights = jax.tree.map(
            lambda w, m, v: w - rate * m / (jnp.sqrt(v) + tiny), weights, m, v
        )
        return next_weights

    _write(trained, jax.lax.fori_loop(0, network.steps, step, weights))


def _write(references: Weights, weights: Weights) -> None:
    for reference, value in zip(*map(jax.tree.leaves, (references, weights)), strict=True):
        reference[...] = value


def _gradient(network: Network, n: int, rows: Rows, weights: Weights) -> Weights:
    """Return the gradient of half the mean squared error with its penalty, a few rows at a time.

    By hand: ``jax.grad`` transposes the sums of products and takes a quarter more time.
    """
    is_unit = jnp.arange(weights.outer.shape[0])[None, :] < network.hidden[0]

    def add_rows(block: Array, sums: Weights) -> Weights:
        place = pl.ds(block * _ROWS, _ROWS)
        inner, response = rows.inner[place, :], rows.response[place]
        further = [column[place][:, None] for column in rows.further]
        inputs = _product(inner, weights.inner) + weights.bias[None, :]
        for column, weight in zip(further, weights.further, strict=True):
            inputs += column * weight[None, :]
        values, slopes = jax.vjp(network.act, inputs)
        hidden = jnp.where(is_unit, values, 0.0)
        output = jnp.sum(hidden * weights.outer[None, :], axis=1) + weights.offset
        is_row = block * _ROWS + jnp.arange(_ROWS) < n
        error = jnp.where(is_row, (output - response) / n, 0.0)[:, None]
        (back,) = slopes(error * weights.outer[None, :])
        return Weights(
            sums.inner + _product(inner.T, back),
            tuple(
                s + jnp.sum(c * back, axis=0) for s, c in zip(sums.further, further, strict=True)
            ),
            sums.bias + jnp.sum(back, axis=0),
            sums.outer + jnp.sum(error * hidden, axis=0),
            sums.offset + jnp.sum(error),
        )

    penalty = jax.tree.map(lambda w: network.penalty / n * w, weights)
    nothing = jnp.zeros_like(weights.bias), jnp.zeros_like(weights.offset)
    first = penalty._replace(bias=nothing[0], offset=nothing[1])
    sums: Weights = jax.lax.fori_loop(0, -(-n // _ROWS), add_rows, first)
    return sums


def _product(a: Array, b: Array) -> Array:
    exact = jax.lax.DotAlgorithmPreset.F32_F32_F32
    return jnp.dot(a, b, precision=exact, preferred_element_type=a.dtype)


def _filled_rows(X: Array, y: Array, width: int) -> Rows:
    n, features = X.shape
    more = -n % _ROWS
    rows = jnp.pad(X, ((0, more), (0, max(0, width - features))))
    return Rows(rows[:, :width], tuple(rows[:, width:].T), jnp.pad(y, (0, more)))


def _filled(start: Layers, width: int) -> Weights:
    (weights, bias), (outer, offset) = start
    features, units = weights.shape
    more = _power_of_two(units) - units
    inner = jnp.pad(weights, ((0, max(0, width - features)), (0, more)))
    bias, outer = (jnp.pad(part, (0, more)) for part in (bias, outer[:, 0]))
    return Weights(inner[:width], tuple(inner[width:]), bias, outer, offset)


def _unfilled(trained: Weights, start: Layers) -> Layers:
    features, units = start[0][0].shape
    inner = jnp.vstack([trained.inner, *trained.further])[:features, :units]
    return [(inner, trained.bias[:units]), (trained.outer[:units, None], trained.offset)]


def _width(features: int) -> int:
    """Return how many features a product takes; the others are multiplied one by one."""
    below = max(16, 1 << (features.bit_length() - 1))
    return below if features - below <= _ONE_BY_ONE else 2 * below


def _power_of_two(count: int) -> int:
    """Return the smallest power of two that is at least ``count``, and at least 16."""
    return max(16, 1 << (count - 1).bit_length())
