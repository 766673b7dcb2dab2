"""What algorithms in JAX and in PyTorch share: stacks of data sets, classes as codes."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from poise import checks
from poise.algorithms.algorithm import Algorithm, Predict, name_of
from poise.algorithms.distances import LABELS_ONLY
from poise.errors import AlgorithmError

if TYPE_CHECKING:
    from poise.data.sample import Sample

Stack = NDArray[Any]

_ON_CPU, _ON_GPU = 32, 8192  # larger stacks gain little, and small runs would fill them in vain
_SEEN = 1000  # rows that are read before the first fit


class Batched(Algorithm):
    """Trains a stack of data sets in one computation.

    A classifier sees codes 0, 1, 2, … of the classes of all rows: one training set may lack a
    class.
    """

    library: str
    classes: NDArray[Any] | None = None

    def __init__(self, name: str, classes: bool, response: str, at_once: int | None) -> None:
        self.name = name
        self.response = checks.choice("response", response, ("predict", "predict_proba"))
        self.at_once = None if at_once is None else checks.count("at_once", at_once, 1)
        self.is_classifier = checks.flag("classes", classes)
        if classes:
            self.natural_distance = "label" if response == "predict" else "total_variation"

    @abc.abstractmethod
    def outputs(self, X: Stack, y: Stack, points: Stack, xi: NDArray[np.uint64]) -> Stack:
        """Train; return numbers, codes of labels, or probabilities of classes."""

    @abc.abstractmethod
    def where(self) -> str:
        """Name the accelerator that is used, "" if it is the processor."""

    def prepared(self, sample: Sample) -> Self:
        """Take the classes from the rows, and refuse rows that are not numbers."""
        super().prepared(sample)
        y = np.asarray(sample.responses(np.arange(sample.n_labeled)))
        ready = self.on(sample)
        if ready.is_classifier:
            ready.classes = np.unique(y)
            ready.n_classes = len(ready.classes)
        if ready.natural_distance == LABELS_ONLY:
            raise AlgorithmError("y holds labels", remedy="say classes=True")
        ready.targets(y)
        ready.numbers("X", sample.points(np.arange(min(sample.n_labeled, _SEEN))))
        ready.device = self.where()
        ready.at_once = self.at_once or (_ON_GPU if ready.device else _ON_CPU)
        return ready

    def many(self, X: Any, y: Any, points: Any, xi: NDArray[np.uint64]) -> Stack:
        """Return predictions (fits, T), or (fits, T, outputs)."""
        X, points = self.numbers("X", X), self.numbers("X", points)
        found = self.outputs(X, self.targets(y), points, xi)
        labels = self.classes is not None and self.response == "predict"
        return self.classes[found] if labels else found  # type: ignore[index]

    def fit(self, X: Any, y: Any, xi: int) -> Predict:  # type: ignore[override]  # no weights
        """Train on one data set; it is trained again for every call of the predictor."""
        rows, responses, term = np.asarray(X)[None], np.asarray(y)[None], np.array([xi], np.uint64)
        return lambda points: self.many(rows, responses, np.asarray(points)[None], term)[0]

    def numbers(self, name: str, values: Any) -> NDArray[np.float64]:
        """Return numbers, or say that these are none."""
        try:
            return np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise AlgorithmError(f"{name} must hold numbers for {self.library}: {error}") from None

    def targets(self, y: Any) -> Stack:
        """Return responses as numbers, or labels as codes."""
        if self.classes is None:
            return self.numbers("y", y)
        return np.asarray(np.searchsorted(self.classes, y).astype(np.int32))


def named_call(name: str, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """Write a call with what differs from the defaults."""
    shown = [
        f"{argument}={name_of(value) if callable(value) else repr(value)}"
        for argument, value in given.items()
        if argument not in defaults or value != defaults[argument]
    ]
    return f"{name}({', '.join(shown)})"


def missing(library: str, extra: str) -> AlgorithmError:
    """Return the error for a library that is not installed."""
    return AlgorithmError(f"{library} is not installed", remedy=f"pip install 'poise[{extra}]'")
