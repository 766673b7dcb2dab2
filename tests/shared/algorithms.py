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


def nearest(X: Any, y: Any, seed: int) -> Callable[[Any], np.ndarray]:
    """Predict the response of the nearest row, whatever the order of the rows."""
    X, y = np.asarray(X), np.asarray(y)
    return lambda rows: y[((np.asarray(rows)[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)]


def same_point(X: Any, y: Any, seed: int) -> Callable[[Any], np.ndarray]:
    """Predict the mean response of the rows with the same x; -1 where there is none."""
    seen = {x: y[X[:, 0] == x].mean() for x in set(X[:, 0].tolist())}
    return lambda rows: np.array([seen.get(x, -1.0) for x in rows[:, 0].tolist()])


def majority(X: Any, y: Any, seed: int) -> Callable[[Any], np.ndarray]:
    """Predict the most frequent label."""
    labels, counts = np.unique(y, return_counts=True)
    return lambda rows: np.full(len(rows), labels[np.argmax(counts)])


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


class Spy(Algorithm):
    """Remembers which rows it was trained on and asked about; the first feature is the row."""

    name = "spy"

    def __init__(self) -> None:
        self.trained: list[list[int]] = []
        self.asked: list[int] = []

    def fit(self, X: Any, y: Any, xi: int) -> Any:
        self.trained.append(X[:, 0].astype(int).tolist())

        def predict(rows: Any) -> list[float]:
            self.asked.append(int(rows[0, 0]))
            return [0.0]

        return predict

    def trials(self) -> list[tuple[list[int], list[int], int]]:
        """Return (full, reduced, point) of each trial."""
        assert self.asked[::2] == self.asked[1::2]
        return list(zip(self.trained[::2], self.trained[1::2], self.asked[::2], strict=True))


class CountsFits:
    """Predicts the mean and counts fits; a first response above the limit is an error."""

    def __init__(self, limit: float = np.inf) -> None:
        self.fits = 0
        self.limit = limit

    def __call__(self, X, y, seed):
        self.fits += 1
        if y[0] > self.limit:
            raise RuntimeError("too large")
        return mean(X, y, seed)


def order_dependent() -> Any:
    """Return an algorithm that depends on the order of its rows, and on nothing else.

    It is defined in a function, so that workers need not import the tests.
    """

    def weighted(X: Any, y: Any, seed: int) -> Any:
        level = float(np.dot(np.arange(1, len(y) + 1), y)) / len(y)
        return lambda rows: level * np.asarray(rows)[:, 0]

    return weighted
