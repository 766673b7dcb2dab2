"""Small algorithms with a known answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.algorithms.algorithm import Algorithm
from poise.simulation.traps.linear_models import LinearModel


def constant(level: float) -> Callable[[Any], np.ndarray]:
    """Predict the same number everywhere."""
    return lambda rows: np.full(len(rows), float(level))


def mean(X: Any, y: Any, seed: int) -> Callable[[Any], np.ndarray]:
    """Predict the mean response."""
    return constant(np.mean(y))


def drift(X: Any, y: Any, seed: int) -> Callable[[Any], np.ndarray]:
    """Changes between 0 and 1, uniform, whatever the rows."""
    return constant(np.random.default_rng(seed).uniform() * len(y))


@dataclass(frozen=True)
class Slope(Algorithm):
    """Least squares of y on X with an intercept, shrunk a little: linear, and fast."""

    name: str = "slope"

    def fit(self, X: Any, y: Any, xi: int) -> Any:
        centred = X - X.mean(axis=0)
        gram = centred.T @ centred + 0.1 * np.eye(X.shape[1])
        coef = np.linalg.solve(gram, centred.T @ (y - y.mean()))
        return LinearModel(coef, float(y.mean() - X.mean(axis=0) @ coef)).predict
