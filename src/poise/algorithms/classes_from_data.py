"""Classifiers that take their classes from the data, before the first fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from poise.algorithms.algorithm import Algorithm, Predict
from poise.algorithms.batched_algorithm import AllAtOnce
from poise.algorithms.class_codes import Labels
from poise.algorithms.sklearn_suitability import objection_to_fractions
from poise.data.sample import Sample
from poise.errors import AlgorithmError

__all__ = ["ClassesFromData"]


class ClassesFromData(Algorithm):
    """A classifier that becomes an :class:`AllAtOnce` algorithm once its classes are known.

    Parameters
    ----------
    complete : callable
        ``complete(labels)``, the algorithm for these classes.
    name : str
        How results refer to it.
    response : {"predict_proba", "predict"}
        What a prediction is.

    Examples
    --------
    >>> from poise.networks import logistic_regression
    >>> algorithm = logistic_regression(response="predict")
    >>> algorithm.fit([[0.0], [1.0], [2.0]], ["low", "high", "high"], xi=0)([[9.0]]).tolist()
    ['high']
    """

    numbers_only = True

    def __init__(self, complete: Callable[[Labels], AllAtOnce], name: str, response: str) -> None:
        self.complete, self.name, self.response = complete, name, response
        self._completed: dict[tuple[Any, ...], AllAtOnce] = {}

    def completed(self, classes: int | Sequence[Any]) -> AllAtOnce:
        """Return the algorithm for these classes; the same one each time, compiled once."""
        labels = Labels(classes, self.response)
        known = tuple(labels.classes.tolist())
        if known not in self._completed:
            self._completed[known] = self.complete(labels)
        return self._completed[known]

    def prepared(self, sample: Sample) -> Algorithm:
        """Take the classes that occur in the data; refuse numbers that are not classes."""
        reason = objection_to_fractions(sample)
        if reason is not None:
            raise AlgorithmError(f"{self.name} cannot be used with these data: {reason}")
        return self.completed(np.unique(sample.y.native)).prepared(sample)  # type: ignore[arg-type]

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Fit outside a run, with the classes that occur in these rows."""
        return self.completed(np.unique(y)).fit(X, y, xi)  # type: ignore[arg-type]
