"""Penalised logistic regression in JAX, solved to convergence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import Array

from poise.algorithms.networks.gradient_descent import RULES, minimum
from poise.algorithms.networks.input_scaling import standardized

__all__ = ["LogisticRegression"]


@dataclass(frozen=True)
class LogisticRegression:
    """Minimises Σ loss + penalty/2 · |weights|²; intercepts are not penalised.

    Two classes share one row of weights, more have one each, as in scikit-learn
    with ``C = 1/penalty``. The key is not used: there is nothing random.
    """

    classes: int
    penalty: float
    solver: str
    steps: int
    standardize: bool
    response: str

    def __call__(self, X: Array, y: Array, x: Array, key: Array) -> Array:
        """Train on (X, y) and predict the class at x, or the probability of each."""
        rows, point = standardized(X, x) if self.standardize else (X, x)
        scores = 1 if self.classes == 2 else self.classes
        start = jnp.zeros(scores * (X.shape[1] + 1), X.dtype)
        # On a GPU, products in lower precision would stop a solver too early.
        with jax.default_matmul_precision("float32"):
            best = minimum(self._objective(rows, y, scores), start, RULES[self.solver], self.steps)
            found = _scores(best.reshape(scores, -1), point[None])[0]
        return jnp.argmax(found) if self.response == "predict" else jax.nn.softmax(found)

    def _objective(self, X: Array, y: Array, scores: int) -> Callable[[Array], Array]:
        def objective(flat: Array) -> Array:
            weights = flat.reshape(scores, -1)
            likelihoods = jax.nn.log_softmax(_scores(weights, X))
            loss = -jnp.sum(jnp.take_along_axis(likelihoods, y[:, None], axis=1))
            # Adding one number to all intercepts changes no probability; asking
            # them to sum to zero costs nothing and makes the minimum unique.
            shift = jnp.sum(weights[:, -1]) ** 2 / 2 if scores > 1 else 0.0
            return loss + self.penalty / 2 * jnp.sum(weights[:, :-1] ** 2) + shift

        return objective


def _scores(weights: Array, X: Array) -> Array:
    """Return one score per class; of two classes, the first has score 0."""
    found = X @ weights[:, :-1].T + weights[:, -1]
    return jnp.concatenate([jnp.zeros_like(found), found], axis=1) if len(weights) == 1 else found
