"""Small regression networks, each trained inside one GPU kernel.

A general compiler writes the hidden layer to the GPU's memory and reads it back several
times per step; for many small networks this takes most of the time.
Here a network, its gradient and Adam's averages stay in one multiprocessor from
the first step to the last. The arithmetic is that of :mod:`poise.algorithms.networks.perceptron`,
in another order of summation.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array
from jax.experimental import pallas as pl

from poise.algorithms.networks.activations import ACTIVATIONS, SLOPES
from poise.algorithms.networks.adam import moved, step_sizes

if TYPE_CHECKING:
    from jax.experimental.pallas import triton

    from poise.algorithms.networks.perceptron import Layers

__all__ = ["Training", "available", "is_small", "train"]

_ROWS = 16  # rows at a time: the fewest that a product may have, and the fastest
_LARGEST = 4096  # inputs times units: a network and Adam's averages must stay in registers
_PER_WARP = 1024
_PRODUCTS = {
    "float32": jax.lax.DotAlgorithmPreset.F32_F32_F32,
    "tensorfloat32": jax.lax.DotAlgorithmPreset.TF32_TF32_F32,
}


class Training(NamedTuple):
    """How to train: the parameters of ``mlp_regressor`` that matter here."""

    steps: int
    learning_rate: float
    penalty: float
    activation: str
    precision: str


class Weights(NamedTuple):
    """A network filled up with zeros to powers of two, as a kernel needs it."""

    inner: Array  # (inputs, units); the bias is one more input
    outer: Array  # (units,)
    offset: Array  # (1,)


Networks: TypeAlias = tuple[Weights, Weights, Weights]
"""A network, and Adam's averages of its gradient and of the squares."""


def is_small(features: int, units: int, precision: str) -> bool:
    """Tell whether a network is small enough, and whether kernels have its products."""
    size = _power_of_two(features + 1) * _power_of_two(units)
    return size <= _LARGEST and precision in _PRODUCTS


@cache
def available() -> bool:
    """Tell whether this machine can, by compiling a tiny network: not every GPU or JAX can."""
    shape = partial(jax.ShapeDtypeStruct, dtype=jnp.float32)
    start = [(shape((1, 2)), shape((2,))), (shape((2, 1)), shape((1,)))]
    training = Training(1, 0.1, 0.0, "relu", "float32")
    try:
        jax.jit(partial(train, training)).lower(start, shape((2, 1)), shape((2,))).compile()
    except Exception:  # whatever the reason, the general way still works
        return False
    return True


def train(training: Training, start: Layers, X: Array, y: Array, interpret: bool = False) -> Layers:
    """Return the parameters after the last step, all rows in every step.

    Parameters
    ----------
    training : Training
        How to train.
    start : [(weights, bias), (weights, bias)]
        Initial parameters of the two layers.
    X, y : arrays
        Rows and responses, shapes (n, d) and (n,), float32.
    interpret : bool
        Run the kernel's text without a GPU, slowly.

    Examples
    --------
    >>> start = [(jnp.ones((1, 2)), jnp.zeros(2)), (jnp.ones((2, 1)), jnp.zeros(1))]
    >>> training = Training(200, 0.01, 0.0, "relu", "float32")
    >>> X = jnp.array([[1.0], [2.0]])
    >>> (inner, bias), (outer, offset) = train(training, start, X, 3 * X[:, 0], interpret=True)
    >>> outputs = jax.nn.relu(X @ inner + bias) @ outer + offset
    >>> outputs[:, 0].round().tolist()
    [3.0, 6.0]
    """
    rows, responses = _padded_rows(X, y)
    (features, units), n = start[0][0].shape, len(X)
    weights = _packed(start, rows.shape[1])
    kernel = pl.pallas_call(
        partial(_kernel, training, n, features, units),
        out_shape=tuple(jax.typeof(part) for part in weights),
        interpret=interpret,
        compiler_params=None if interpret else _compiler_params(weights.inner.size),
    )
    sizes = jnp.asarray(step_sizes(training.steps, training.learning_rate), X.dtype)
    return _unpacked(Weights(*kernel(rows, responses, *weights, sizes)), start)


def _compiler_params(size: int) -> triton.CompilerParams:
    from jax.experimental.pallas import triton

    return triton.CompilerParams(num_warps=max(1, size // _PER_WARP), num_stages=1)


def _kernel(training: Training, n: int, features: int, units: int, *references: Array) -> None:
    """Train one network: read it, take all steps, write it."""
    X, y, *start, sizes = references[:6]
    weights = Weights(*(part[...] for part in start))
    gradient = partial(_gradient, training, X, y, n, units)
    # Weights are penalised, biases are not; the padding is zero and stays zero.
    is_weight = jnp.arange(weights.inner.shape[0])[:, None] < features
    shrink = training.penalty / n

    def step(number: Array, state: Networks) -> Networks:
        weights, _, _ = state
        slope = gradient(weights)
        inner = slope.inner + jnp.where(is_weight, shrink * weights.inner, 0.0)
        slope = Weights(inner, slope.outer + shrink * weights.outer, slope.offset)
        return moved(state, slope, sizes[number])

    zero = jax.tree.map(jnp.zeros_like, weights)
    trained, _, _ = jax.lax.fori_loop(0, training.steps, step, (weights, zero, zero))
    for reference, value in zip(references[6:], trained, strict=True):
        reference[...] = value


def _gradient(
    training: Training, X: Array, y: Array, n: int, units: int, weights: Weights
) -> Weights:
    """Return the gradient of half the mean squared error, a few rows at a time."""
    activation, slope = ACTIVATIONS[training.activation], SLOPES[training.activation]
    is_unit = jnp.arange(weights.outer.shape[0])[None, :] < units

    def add_rows(block: Array, sums: Weights) -> Weights:
        place = pl.ds(block * _ROWS, _ROWS)
        rows = X[place, :]
        hidden = jnp.where(is_unit, activation(_product(rows, weights.inner, training)), 0.0)
        output = jnp.sum(hidden * weights.outer[None, :], axis=1) + weights.offset
        is_row = block * _ROWS + jnp.arange(_ROWS) < n
        error = jnp.where(is_row, (output - y[place]) / n, 0.0)[:, None]
        back = error * weights.outer[None, :] * slope(hidden)
        return Weights(
            sums.inner + _product(rows.T, back, training),
            sums.outer + jnp.sum(error * hidden, axis=0),
            sums.offset + jnp.sum(error),
        )

    zero = jax.tree.map(jnp.zeros_like, weights)
    sums: Weights = jax.lax.fori_loop(0, -(-n // _ROWS), add_rows, zero)
    return sums


def _product(a: Array, b: Array, training: Training) -> Array:
    algorithm = _PRODUCTS[training.precision]
    return jnp.dot(a, b, precision=algorithm, preferred_element_type=a.dtype)


def _padded_rows(X: Array, y: Array) -> tuple[Array, Array]:
    """Add a column of ones for the bias, and fill up with zeros."""
    n, features = X.shape
    filled = -(-n // _ROWS) * _ROWS
    rows = jnp.zeros((filled, _power_of_two(features + 1)), X.dtype)
    rows = rows.at[:n, :features].set(X).at[:n, features].set(1.0)
    return rows, jnp.zeros(filled, X.dtype).at[:n].set(y)


def _packed(start: Layers, inputs: int) -> Weights:
    (weights, bias), (outer, offset) = start
    features, units = weights.shape
    filled = _power_of_two(units)
    inner = jnp.zeros((inputs, filled), weights.dtype)
    inner = inner.at[:features, :units].set(weights).at[features, :units].set(bias)
    return Weights(inner, jnp.zeros(filled, outer.dtype).at[:units].set(outer[:, 0]), offset)


def _unpacked(trained: Weights, start: Layers) -> Layers:
    features, units = start[0][0].shape
    inner = trained.inner[:, :units]
    return [(inner[:features], inner[features]), (trained.outer[:units, None], trained.offset)]


def _power_of_two(count: int) -> int:
    """Return the smallest power of two that is at least ``count``, and at least 16."""
    return max(16, 1 << (count - 1).bit_length())
