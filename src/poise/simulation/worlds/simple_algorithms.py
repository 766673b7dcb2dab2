"""Small algorithms whose stability can be worked out on paper."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.algorithms.algorithm import Algorithm, Predict
from poise.protocol.randomness import as_uniform

__all__ = [
    "Constant",
    "Flipping",
    "MeanResponse",
    "Memorising",
    "NearestNeighbours",
    "UnluckySets",
]


def _everywhere(level: float) -> Predict:
    """Return the model that predicts the same at every point."""
    return lambda rows: np.full(len(rows), level)


@dataclass(frozen=True)
class Constant(Algorithm):
    """Predicts one number, whatever the data: perfectly stable."""

    value: float = 0.0

    @property
    def name(self) -> str:  # type: ignore[override]  # a frozen class has no attribute to set
        """The algorithm in words."""
        return f"constant {self.value:g}"

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Ignore the data."""
        return _everywhere(self.value)


@dataclass(frozen=True)
class MeanResponse(Algorithm):
    """Predicts the mean of the responses: Δ = |Y_n − mean of the others| / n."""

    name: str = "mean response"

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Average the responses."""
        return _everywhere(float(np.add.reduce(y)) / len(y))


@dataclass(frozen=True)
class NearestNeighbours(Algorithm):
    """Averages the responses of the k nearest rows (of all rows, if there are fewer)."""

    k: int = 1

    @property
    def name(self) -> str:  # type: ignore[override]
        """The algorithm in words."""
        return f"{self.k} nearest neighbours"

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Keep the rows."""
        k = min(self.k, len(y))

        def predict(rows: Any) -> Any:
            distances = ((rows[:, None, :] - X[None]) ** 2).sum(axis=2)
            return y[np.argpartition(distances, k - 1, axis=1)[:, :k]].mean(axis=1)

        return predict


@dataclass(frozen=True)
class Flipping(Algorithm):
    """Ignores the data and predicts 0 or ``height``, depending on ξ and the parity of the size.

    It shows how far the notions of Appendix E can be apart; see
    :class:`~poise.simulation.worlds.change_laws.FlippingChange`.
    """

    probability: float = 0.05
    height: float = 1.0

    @property
    def name(self) -> str:  # type: ignore[override]
        """The algorithm in words."""
        return f"coin with probability {self.probability:g}"

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Read ξ forwards on an even number of rows, backwards on an odd one."""
        term = as_uniform(xi if len(y) % 2 == 0 else xi ^ (2**64 - 1))
        return _everywhere(self.height if term < self.probability else 0.0)


@dataclass(frozen=True)
class Memorising(Algorithm):
    """Predicts ``height`` times the number of rare rows it has seen.

    A row is rare if its first feature is below ``rarity``. On uniform features
    the removed row is rare with exactly that probability: Δ = ``height`` then, else 0.
    """

    rarity: float = 0.05
    height: float = 1.0

    @property
    def name(self) -> str:  # type: ignore[override]
        """The algorithm in words."""
        return f"memory of rows rarer than {self.rarity:g}"

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Count the rare rows."""
        return _everywhere(self.height * int(np.count_nonzero(X[:, 0] < self.rarity)))


@dataclass(frozen=True)
class UnluckySets(Algorithm):
    """Predicts ``height`` on a few training sets of n rows, and 0 on all others.

    A set is unlucky if the sum of its first features has a fractional part below
    ``probability``. On uniform features this part is uniform. So one training set is unstable at
    every point and for every removed row, or at none (the example of Proposition I).
    """

    n: int
    probability: float = 0.05
    height: float = 1.0

    @property
    def name(self) -> str:  # type: ignore[override]
        """The algorithm in words."""
        return f"unlucky sets of {self.n} rows, probability {self.probability:g}"

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Add the features; the exact sum does not depend on their order."""
        unlucky = len(y) == self.n and math.fsum(X[:, 0]) % 1.0 < self.probability
        return _everywhere(self.height if unlucky else 0.0)
