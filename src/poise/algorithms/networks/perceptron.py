"""Fully connected networks in JAX, trained by Adam.

Initialisation, loss, penalty and optimiser are those of scikit-learn's
``MLPRegressor`` and ``MLPClassifier``; the random numbers are JAX's own.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import DTypeLike

from poise.algorithms.networks.activations import ACTIVATIONS
from poise.algorithms.networks.adam import adam, minibatches
from poise.algorithms.networks.input_scaling import location_and_scale, standardized

__all__ = ["ClassifierNetwork", "Network", "RegressorNetwork"]

Layers: TypeAlias = list[tuple[Array, Array]]
"""The weights and the bias of each layer."""


@dataclass(frozen=True)
class Network(abc.ABC):
    """The base class of networks; the parameters are those of ``mlp_regressor``."""

    hidden: tuple[int, ...]
    steps: int
    learning_rate: float
    batch_size: int | None
    penalty: float
    activation: str
    standardize: bool
    precision: str

    def outputs(self, parameters: Layers, X: Array) -> Array:
        """Send rows through the layers; the last one has no activation."""
        *inner, (weights, bias) = parameters
        for inner_weights, inner_bias in inner:
            X = ACTIVATIONS[self.activation](X @ inner_weights + inner_bias)
        return X @ weights + bias

    def trained(self, start: Layers, X: Array, y: Array, key: Array) -> Layers:
        """Return the parameters after the last step."""
        batches, size = None, self.rows_per_step(X)
        if size < len(X):
            batches = minibatches(jax.random.fold_in(key, 1), len(X), size, self.steps)
        slope: Callable[[Layers, Array, Array], Layers] = jax.grad(self._penalized_loss)

        def gradient(parameters: Layers, rows: Array | None) -> Layers:
            some = (X, y) if rows is None else (X[rows], y[rows])
            return slope(parameters, *some)

        return adam(gradient, start, self.steps, self.learning_rate, batches)

    def rows_per_step(self, X: Array) -> int:
        """Return how many rows a step uses; by default all."""
        return len(X) if self.batch_size is None else self.batch_size

    def _penalized_loss(self, parameters: Layers, X: Array, y: Array) -> Array:
        squares = sum(jnp.sum(weights**2) for weights, _ in parameters)
        return self.loss(self.outputs(parameters, X), y) + self.penalty / (2 * len(X)) * squares

    @abc.abstractmethod
    def loss(self, outputs: Array, y: Array) -> Array:
        """Return the mean loss over rows."""


@dataclass(frozen=True)
class RegressorNetwork(Network):
    """One output and half the mean squared error."""

    def __call__(self, X: Array, y: Array, x: Array, key: Array) -> Array:
        """Train on (X, y) and predict the response at x."""
        level, spread = location_and_scale(y) if self.standardize else (0.0, 1.0)
        rows, point = standardized(X, x) if self.standardize else (X, x)
        with jax.default_matmul_precision(self.precision):
            start = glorot(key, (X.shape[1], *self.hidden, 1), X.dtype)
            parameters = self.trained(start, rows, (y - level) / spread, key)
            return level + spread * self.outputs(parameters, point)[0]

    def trained(self, start: Layers, X: Array, y: Array, key: Array) -> Layers:
        """Return the parameters after the last step; on a GPU in one kernel, if possible."""
        if not self._fits_one_kernel(X):
            return super().trained(start, X, y, key)
        from poise.algorithms.networks.gpu_kernel import Training, train

        how = Training(
            self.steps, self.learning_rate, self.penalty, self.activation, self.precision
        )
        return train(how, start, X, y)

    def _fits_one_kernel(self, X: Array) -> bool:
        shallow = (
            len(self.hidden) == 1 and self.rows_per_step(X) >= len(X) and X.dtype == jnp.float32
        )
        if not shallow or jax.default_backend() != "gpu":
            return False
        from poise.algorithms.networks.gpu_kernel import available, is_small

        return is_small(X.shape[1], self.hidden[0], self.precision) and available()

    def loss(self, outputs: Array, y: Array) -> Array:
        """Return half the mean squared error."""
        return jnp.mean((outputs[:, 0] - y) ** 2) / 2


@dataclass(frozen=True)
class ClassifierNetwork(Network):
    """One output per class, softmax, and cross-entropy."""

    classes: int
    response: str

    def __call__(self, X: Array, y: Array, x: Array, key: Array) -> Array:
        """Train on (X, y) and predict the class at x, or the probability of each."""
        rows, point = standardized(X, x) if self.standardize else (X, x)
        with jax.default_matmul_precision(self.precision):
            start = glorot(key, (X.shape[1], *self.hidden, self.classes), X.dtype)
            scores = self.outputs(self.trained(start, rows, y, key), point)
        return jnp.argmax(scores) if self.response == "predict" else jax.nn.softmax(scores)

    def loss(self, outputs: Array, y: Array) -> Array:
        """Return the mean negative log-likelihood."""
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(outputs), y[:, None], axis=1))


def glorot(key: Array, sizes: tuple[int, ...], dtype: DTypeLike) -> Layers:
    """Draw weights and biases of all layers, uniform within ±√(6 / (inputs + outputs)).

    Examples
    --------
    >>> (weights, bias), _ = glorot(jax.random.key(0), (3, 5, 1), jnp.float32)
    >>> weights.shape, bias.shape, bool(abs(weights).max() <= (6 / 8) ** 0.5)
    ((3, 5), (5,), True)
    """
    shapes = list(pairwise(sizes))
    ends = np.cumsum([inputs * outputs + outputs for inputs, outputs in shapes])
    # One draw for all layers: drawing takes longest to compile. And the same draw in
    # either precision, so that the two differ by rounding alone.
    draw = jax.random.uniform(key, (int(ends[-1]),), jnp.float32, minval=-1.0).astype(dtype)
    layers = []
    for (inputs, outputs), part in zip(shapes, jnp.split(draw, ends[:-1]), strict=True):
        part = part * math.sqrt(6 / (inputs + outputs))
        layers.append((part[outputs:].reshape(inputs, outputs), part[:outputs]))
    return layers
