"""Fully connected networks in JAX, trained by Adam, thousands at once.

Initial weights, loss and penalty are those of scikit-learn's ``MLPRegressor`` and
``MLPClassifier``; the random numbers are JAX's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from poise import checks
from poise.algorithms.batched import missing, named_call
from poise.algorithms.jax_algorithm import JaxAlgorithm, jax_algorithm

try:
    import jax
    import jax.numpy as jnp
    import optax
except ModuleNotFoundError:  # told when they are needed
    optax = None

if TYPE_CHECKING:
    from jax import Array

Layers = list[tuple[Any, Any]]  # weights and bias of each layer


def mlp(
    hidden: int | Sequence[int] = (64,),
    *,
    classes: bool = False,
    response: str = "predict_proba",
    steps: int = 500,
    learning_rate: float = 1e-3,
    batch_size: int | None = None,
    penalty: float = 1e-4,
    activation: str = "relu",
    float64: bool = False,
    at_once: int | None = None,
) -> JaxAlgorithm:
    """Return a fully connected network, trained by Adam for a fixed number of steps.

    In each fit features and numeric responses are brought to mean 0 and standard deviation 1;
    predictions are in the units of the responses.

    Parameters
    ----------
    hidden : int or sequence of int
        Units of each hidden layer.
    classes, response
        What makes it a classifier, as in :func:`poise.jax_algorithm`.
    steps : int
        Steps of Adam.
    learning_rate : float
        Its step size.
    batch_size : int, optional
        Rows of one step, in a new random order for each pass over the rows; by default all rows.
    penalty : float
        Weight of the squared weights (``alpha`` in scikit-learn).
    activation : {"relu", "tanh", "logistic"}
        What follows every hidden layer.
    float64, at_once
        As in :func:`poise.jax_algorithm`.

    Examples
    --------
    >>> import poise
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> network = poise.networks.mlp(8, steps=50, learning_rate=0.01)
    >>> trials = poise.measure(network, X, y, n=20)
    >>> trials.n_trials, bool((trials.changes > 0).all())
    (21, True)
    """
    if optax is None:
        raise missing("JAX, or optax,", "jax")
    network = Network(
        tuple(checks.count("hidden", size, 1) for size in np.atleast_1d(hidden).tolist()),
        checks.count("steps", steps, 1),
        checks.positive("learning_rate", learning_rate),
        None if batch_size is None else checks.count("batch_size", batch_size, 1),
        checks.number("penalty", penalty, "a finite number >= 0"),
        checks.choice("activation", activation, ("relu", "tanh", "logistic")),
    )
    options: dict[str, Any] = {"classes": classes, "response": response}
    options |= {"float64": float64, "at_once": at_once}
    algorithm = jax_algorithm(network, **options)
    defaults, given = mlp.__kwdefaults__ or {}, vars(network) | options
    given = {"hidden": list(network.hidden)} | {name: given[name] for name in defaults}
    algorithm.name = named_call("mlp", given, defaults)
    algorithm.user_code = (jax.jit, optax.adam)
    return algorithm


@dataclass(frozen=True)
class Network:
    """Trains one network; the fields are the arguments of :func:`mlp`."""

    hidden: tuple[int, ...]
    steps: int
    learning_rate: float
    batch_size: int | None
    penalty: float
    activation: str

    def __call__(self, X: Array, y: Array, x: Array, key: Array, n_classes: int = 0) -> Array:
        """Predict numbers, or scores of classes, at one point."""
        mean, deviation = location_and_scale(X)
        X, x = (X - mean) / deviation, (x - mean) / deviation

        def learnt(targets: Array, outputs: int) -> Array:
            start = glorot(key, (X.shape[1], *self.hidden, outputs), X.dtype)
            return self.outputs(self.trained(start, X, targets, key), x)

        if n_classes:
            return learnt(y, n_classes)
        level, spread = location_and_scale(y)
        shape = y.shape[1:]
        return level + spread * learnt((y - level) / spread, math.prod(shape)).reshape(shape)

    def outputs(self, layers: Layers, X: Array) -> Array:
        """Send rows through the layers; the last one has no activation."""
        *inner, (weights, bias) = layers
        for w, b in inner:
            X = self.act(X @ w + b)
        return X @ weights + bias

    def act(self, X: Array) -> Array:
        """Apply the activation."""
        known = {"relu": jax.nn.relu, "tanh": jnp.tanh, "logistic": jax.nn.sigmoid}
        return known[self.activation](X)

    def trained(self, start: Layers, X: Array, y: Array, key: Array) -> Layers:
        """Return weights and biases after the last step."""
        from poise.algorithms import gpu_kernel

        if gpu_kernel.suits(self, X, y):
            return gpu_kernel.train(self, start, X, y)
        adam = optax.adam(self.learning_rate)

        def step(state: Any, rows: Any) -> Any:
            layers, memory = state
            some = (X, y) if rows is None else (X[rows], y[rows])
            updates, memory = adam.update(jax.grad(self.objective)(layers, *some), memory)
            return (optax.apply_updates(layers, updates), memory), None

        batches = minibatches(jax.random.fold_in(key, 1), len(X), self.batch_size, self.steps)
        state = start, adam.init(start)
        trained, _ = jax.lax.scan(step, state, batches, length=self.steps)
        layers: Layers = trained[0]
        return layers

    def objective(self, layers: Layers, X: Array, y: Array) -> Array:
        """Return the mean loss, half the squared error or the cross entropy, with the penalty."""
        found = self.outputs(layers, X)
        if jnp.issubdtype(y.dtype, jnp.integer):
            loss = optax.softmax_cross_entropy_with_integer_labels(found, y).mean()
        else:
            loss = jnp.mean((found - y.reshape(len(y), -1)) ** 2) / 2
        squares = sum(jnp.sum(weights**2) for weights, _ in layers)
        return loss + self.penalty / (2 * len(X)) * squares


def glorot(key: Array, sizes: Sequence[int], dtype: Any) -> Layers:
    """Draw weights and biases, uniform within ±√(6 / (inputs + outputs))."""
    shapes = list(pairwise(sizes))
    ends = np.cumsum([(i + 1) * o for i, o in shapes])
    # One draw compiles fastest, and in single precision both precisions start alike.
    draw = jax.random.uniform(key, (int(ends[-1]),), jnp.float32, minval=-1.0).astype(dtype)
    layers = []
    for (i, o), part in zip(shapes, jnp.split(draw, ends[:-1]), strict=True):
        part = part * math.sqrt(6 / (i + o))
        layers.append((part[o:].reshape(i, o), part[:o]))
    return layers


def minibatches(key: Array, rows: int, size: int | None, steps: int) -> Array | None:
    """Return the rows of each step; those that do not fill a last batch wait for the next pass."""
    if size is None or size >= rows:
        return None
    per_pass = rows // size
    keys = jax.random.split(key, -(-steps // per_pass))
    orders = jax.vmap(lambda k: jax.random.permutation(k, rows))(keys)
    return orders[:, : per_pass * size].reshape(-1, size)[:steps]


def location_and_scale(values: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation; 1 for columns that are constant up to rounding."""
    mean, spread = jnp.mean(values, axis=0), jnp.std(values, axis=0)
    rounding = 100 * np.finfo(values.dtype).eps * jnp.abs(mean)
    return mean, jnp.where(spread > rounding, spread, 1.0)
