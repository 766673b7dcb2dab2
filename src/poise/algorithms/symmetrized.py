"""A wrapper that makes any algorithm symmetric: it first shuffles the rows."""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from poise.algorithms.algorithm import Algorithm, Predict
from poise.algorithms.as_algorithm import as_algorithm
from poise.data.sample import Sample
from poise.data.tables import as_table
from poise.protocol.randomness import Randomness

__all__ = ["Symmetrized"]


class Symmetrized(Algorithm):
    """Puts the rows in an order drawn from ξ, then runs the algorithm: symmetric by construction.

    The order is uniform and independent of the data, so the law of the fitted
    model does not depend on the order of the rows. With the same ξ the order of
    n − 1 rows is that of n rows with the last one left out, so that with a shared ξ the
    two fits differ only by the removed row.

    It is another algorithm than the one it wraps: a certificate for it is about
    the version that shuffles.

    Parameters
    ----------
    algorithm : Algorithm, estimator or function
        What to run on the reordered rows.

    Examples
    --------
    >>> def last_response(X, y, seed):
    ...     return lambda rows: [y[-1]] * len(rows)
    >>> shuffled = Symmetrized(last_response)
    >>> sorted({shuffled.fit([[0]] * 3, [1.0, 2.0, 3.0], xi)([[0]])[0] for xi in range(20)})
    [1.0, 2.0, 3.0]
    """

    def __init__(self, algorithm: Any) -> None:
        self.algorithm = as_algorithm(algorithm)
        self.name = f"symmetrized {self.algorithm.name}"
        self.natural_distance = self.algorithm.natural_distance

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Reorder the rows by ``xi`` and fit; the algorithm gets a term of its own."""
        features, responses = as_table(X, "X"), as_table(y, "y")
        randomness = Randomness(int(xi))
        order = np.argsort(randomness.generator("row order").random(len(features)))
        inner_xi = randomness.words("inner random term")
        return self.algorithm.fit(features.take(order), responses.take(order), inner_xi)

    def prepared(self, sample: Sample) -> Algorithm:
        """Prepare the wrapped algorithm; arguments that follow the rows are refused."""
        super().prepared(sample)
        ready = copy.copy(self)
        ready.algorithm = self.algorithm.prepared(sample)
        ready.natural_distance = ready.algorithm.natural_distance
        return ready

    def model(self, predict: Predict) -> Any:
        """Return the fitted model of the wrapped algorithm."""
        return self.algorithm.model(predict)

    def skip_checks(self) -> AbstractContextManager[Any]:
        """Skip the checks that the wrapped algorithm would skip."""
        return self.algorithm.skip_checks()
