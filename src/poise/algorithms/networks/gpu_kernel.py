"""Small regression networks, each trained inside one GPU kernel.

A general compiler writes the hidden layer to the GPU's memory and reads it back several
times per step; for many small networks this takes most of the time.
Here a network and its gradient stay in one multiprocessor from the first step to the
last. The arithmetic is that of :mod:`poise.algorithms.networks.perceptron`, in another order
of summation.

Products need powers of two. A few features beyond such a number are multiplied one by one,
which takes less time than filling up with zeros. Adam's averages, needed once a step, are in
memory: in registers they would leave room for fewer networks at a time.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

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
_LARGEST = 4096  # features times units: a network and its gradient must stay in registers
_PER_WARP = 1024
_ONE_BY_ONE = {"float32": 8, "tensorfloat32": 0}  # features not worth a product twice as wide
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


class Problem(NamedTuple):
    """What a kernel is compiled for."""

    training: Training
    n: int
    units: int
    interpret: bool


class Weights(NamedTuple):
    """A network filled up with zeros to powers of two, as a kernel needs it."""

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


def is_small(features: int, units: int, precision: str) -> bool:
    """Tell whether a network is small enough, and whether kernels have its products."""
    if precision not in _PRODUCTS:
        return False
    size = max(features, _width(features, precision)) * _power_of_two(units)
    return size <= _LARGEST


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
    width = _width(X.shape[1], training.precision)
    rows, weights = _padded_rows(X, y, width), _packed(start, width)
    shape = jax.tree.map(jax.typeof, weights)
    problem = Problem(training, len(X), start[0][0].shape[1], interpret)
    kernel = pl.pallas_call(
        partial(_kernel, problem),
        out_shape=(shape, shape, shape),
        interpret=interpret,
        compiler_params=None if interpret else _compiler_params(weights.inner.size),
    )
    sizes = jnp.asarray(step_sizes(training.steps, training.learning_rate), X.dtype)
    trained, _, _ = kernel(rows, weights, sizes)
    return _unpacked(trained, start)


def _compiler_params(size: int) -> triton.CompilerParams:
    from jax.experimental.pallas import triton

    return triton.CompilerParams(num_warps=max(1, size // _PER_WARP), num_stages=1)


def _kernel(
    problem: Problem,
    rows: Rows,
    start: Weights,
    sizes: Array,
    trained: Weights,
    mean: Weights,
    square: Weights,
) -> None:
    """Train one network: read it, take all steps, write it. Arrays are references to memory."""
    shrink = problem.training.penalty / problem.n
    weights = _read(start)
    for average in (mean, square):
        _write(average, jax.tree.map(jnp.zeros_like, weights))

    def step(number: Array, weights: Weights) -> Weights:
        slope = _penalized(_gradient(problem, rows, weights), weights, shrink)
        weights, *averages = moved((weights, _read(mean), _read(square)), slope, sizes[number])
        for place, average in zip((mean, square), averages, strict=True):
            _write(place, average)
        if not problem.interpret:
            _wait_for_all_threads()
        return weights

    _write(trained, jax.lax.fori_loop(0, problem.training.steps, step, weights))


def _read(references: Weights) -> Weights:
    weights: Weights = jax.tree.map(lambda reference: reference[...], references)
    return weights


def _write(references: Weights, weights: Weights) -> None:
    for reference, value in zip(*map(jax.tree.leaves, (references, weights)), strict=True):
        reference[...] = value


def _wait_for_all_threads() -> None:
    """Let each thread read what others wrote."""
    from jax.experimental.pallas import triton

    triton.debug_barrier()


def _penalized(slope: Weights, weights: Weights, shrink: float) -> Weights:
    """Weights are penalised, biases are not; the padding is zero and stays zero."""
    return Weights(
        slope.inner + shrink * weights.inner,
        tuple(s + shrink * w for s, w in zip(slope.further, weights.further, strict=True)),
        slope.bias,
        slope.outer + shrink * weights.outer,
        slope.offset,
    )


def _gradient(problem: Problem, rows: Rows, weights: Weights) -> Weights:
    """Return the gradient of half the mean squared error, a few rows at a time."""
    training, n, units, _ = problem
    activation, slope = ACTIVATIONS[training.activation], SLOPES[training.activation]
    is_unit = jnp.arange(weights.outer.shape[0])[None, :] < units

    def add_rows(block: Array, sums: Weights) -> Weights:
        place = pl.ds(block * _ROWS, _ROWS)
        inner = rows.inner[place, :]
        further = [column[place][:, None] for column in rows.further]
        inputs = _product(inner, weights.inner, training) + weights.bias[None, :]
        for column, weight in zip(further, weights.further, strict=True):
            inputs += column * weight[None, :]
        hidden = jnp.where(is_unit, activation(inputs), 0.0)
        output = jnp.sum(hidden * weights.outer[None, :], axis=1) + weights.offset
        is_row = block * _ROWS + jnp.arange(_ROWS) < n
        error = jnp.where(is_row, (output - rows.response[place]) / n, 0.0)[:, None]
        back = error * weights.outer[None, :] * slope(hidden)
        more = (jnp.sum(column * back, axis=0) for column in further)
        return Weights(
            sums.inner + _product(inner.T, back, training),
            tuple(map(jnp.add, sums.further, more)),
            sums.bias + jnp.sum(back, axis=0),
            sums.outer + jnp.sum(error * hidden, axis=0),
            sums.offset + jnp.sum(error),
        )

    zero = jax.tree.map(jnp.zeros_like, weights)
    sums: Weights = jax.lax.fori_loop(0, -(-n // _ROWS), add_rows, zero)
    return sums


def _product(a: Array, b: Array, training: Training) -> Array:
    algorithm = _PRODUCTS[training.precision]
    return jnp.dot(a, b, precision=algorithm, preferred_element_type=a.dtype)


def _padded_rows(X: Array, y: Array, width: int) -> Rows:
    """Fill up with zeros."""
    n, features = X.shape
    filled = -(-n // _ROWS) * _ROWS
    rows = jnp.zeros((filled, max(width, features)), X.dtype).at[:n, :features].set(X)
    response = jnp.zeros(filled, X.dtype).at[:n].set(y)
    return Rows(rows[:, :width], tuple(rows[:, width:].T), response)


def _packed(start: Layers, width: int) -> Weights:
    (weights, bias), (outer, offset) = start
    features, units = weights.shape
    filled = _power_of_two(units)
    inner = jnp.zeros((max(width, features), filled), weights.dtype)
    inner = inner.at[:features, :units].set(weights)
    nothing = jnp.zeros(filled, bias.dtype)
    bias, outer = nothing.at[:units].set(bias), nothing.at[:units].set(outer[:, 0])
    return Weights(inner[:width], tuple(inner[width:]), bias, outer, offset)


def _unpacked(trained: Weights, start: Layers) -> Layers:
    features, units = start[0][0].shape
    inner = jnp.vstack([trained.inner, *trained.further])[:features, :units]
    return [(inner, trained.bias[:units]), (trained.outer[:units, None], trained.offset)]


def _width(features: int, precision: str) -> int:
    """Return how many features a product takes; the others are multiplied one by one."""
    below = max(16, 1 << (features.bit_length() - 1))
    return below if features - below <= _ONE_BY_ONE[precision] else 2 * below


def _power_of_two(count: int) -> int:
    """Return the smallest power of two that is at least ``count``, and at least 16."""
    return max(16, 1 << (count - 1).bit_length())
