"""Classifiers in JAX that take their classes from the data."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from poise.algorithms.algorithm import Algorithm, Predict
from poise.algorithms.class_codes import Labels
from poise.algorithms.jax.jax_algorithm import JaxAlgorithm
from poise.algorithms.sklearn_suitability import objection_to_fractions
from poise.data.sample import Sample
from poise.errors import AlgorithmError

__all__ = ["ClassifierAlgorithm"]


class ClassifierAlgorithm(Algorithm):
    """A classifier that becomes a :class:`JaxAlgorithm` once its classes are known.

    Parameters
    ----------
    classifier : dataclass
        ``classifier(X, y, x, key)`` with fields ``classes``, their number, and ``response``.
    name, float64, memory
        As in :func:`poise.jax_algorithm`.

    Examples
    --------
    >>> from poise.networks import logistic_regression
    >>> algorithm = logistic_regression(response="predict")
    >>> algorithm.fit([[0.0], [1.0], [2.0]], ["low", "high", "high"], xi=0)([[9.0]]).tolist()
    ['high']
    """

    numbers_only = True

    def __init__(
        self, classifier: Any, name: str, float64: bool | None, memory: int | None
    ) -> None:
        self.classifier = classifier
        self.name = name
        self.options: dict[str, Any] = {"name": name, "float64": float64, "memory": memory}
        self._completed: dict[tuple[Any, ...], JaxAlgorithm] = {}

    def completed(self, classes: int | Sequence[Any]) -> JaxAlgorithm:
        """Return the algorithm for these classes; the same one each time, compiled once."""
        labels = Labels(classes, self.classifier.response)
        known = tuple(labels.classes.tolist())
        if known not in self._completed:
            model = dataclasses.replace(self.classifier, classes=len(labels))
            self._completed[known] = JaxAlgorithm(model, labels=labels, **self.options)
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
