"""Algorithms whose trials are all computed at once: what those in JAX and in PyTorch share.

A library for arrays trains thousands of models in one computation. That computation is
the algorithm itself, not a shortcut that must agree with it.
"""

from __future__ import annotations

import abc
import uuid
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.algorithms.algorithm import Algorithm, BatchAlgorithm, Predict, Stack
from poise.algorithms.class_codes import Labels
from poise.data.sample import Sample
from poise.errors import DataError
from poise.shortcuts.shortcut import Pairs

__all__ = ["AllAtOnce"]

_DISTANCES = {"predict": "label", "predict_proba": "total_variation"}
_DEVICE_BYTES = 4 << 30  # an accelerator is fastest with large blocks


class AllAtOnce(Algorithm):
    """The base class of algorithms whose trials are all computed at once.

    Parameters
    ----------
    name : str
        How results refer to it.
    code : str
        Digest of the user's code.
    memory : int, optional
        Bytes of data and workspace to compute at once, >= 1.
    labels : Labels, optional
        Classes that the user's code is to see as 0, 1, 2, …
    """

    library: ClassVar[str]
    cache_bytes: ClassVar[int]  # on a CPU, blocks of this size are fastest
    numbers_only = True
    threads_from = 0

    def __init__(self, name: str, code: str, memory: int | None, labels: Labels | None) -> None:
        if memory is not None:
            arguments.count("memory", memory, minimum=1)
        self.name, self.code, self.memory, self.labels = name, code, memory, labels
        self.response = "predict" if labels is None else labels.response
        self.natural_distance = "euclidean" if labels is None else _DISTANCES[labels.response]
        self.workspace: dict[tuple[int, int], int] = {}
        self._token = uuid.uuid4().hex

    @abc.abstractmethod
    def fit_one(self, X: NDArray[Any], y: NDArray[Any], xi: int) -> Callable[[NDArray[Any]], Any]:
        """Train one model, and return the function from points to the values there."""

    @abc.abstractmethod
    def fit_all(self, stack: Stack) -> tuple[Any, Any]:
        """Train both models of every trial, and return their values at the points."""

    @abc.abstractmethod
    def platform(self) -> str:
        """Name the kind of device that computes: cpu, gpu or tpu."""

    @abc.abstractmethod
    def estimated_workspace(self, n: int, d: int) -> int:
        """Estimate the memory that one trial needs beside its rows."""

    @abc.abstractmethod
    def options(self) -> tuple[Callable[..., AllAtOnce], dict[str, Any]]:
        """Return what makes the same algorithm in another process."""

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Train one model, outside the computation of all trials."""
        labels, features = self.labels, self.numbers("X", X)
        responses = self.numbers("y", y) if labels is None else labels.encode_all(np.asarray(y))
        values = self.fit_one(features, responses, xi)
        return lambda rows: self.predictions(values(self.numbers("x", rows)))

    def prepared(self, sample: Sample) -> Algorithm:
        """Refuse rows that are not numbers, and unknown labels."""
        super().prepared(sample)
        first_row, _ = sample.training(slice(0, 1))
        self.numbers("X", first_row)
        if self.labels is None:
            self.numbers("y", sample.y.native)
        else:
            self.labels.encode_all(np.asarray(sample.y.native))
        return self

    def batch(self) -> BatchAlgorithm | None:
        """Return the same algorithm for many trials at once."""
        return _AllTrials(self)

    def predictions(self, values: Any) -> NDArray[Any]:
        """Turn the values at several points into predictions."""
        array = np.asarray(values)
        if array.ndim > 2:
            raise TypeError(
                f"{self.name} must predict a number or a vector, "
                f"got an array of shape {array.shape[1:]}"
            )
        if self.labels is not None:
            array = self.labels.predictions(array)
        # bfloat16 and similar types are floats that NumPy does not know.
        return array.astype(np.float64) if array.dtype.kind in "fV" else array

    def workspace_bytes(self, n: int, d: int) -> int:
        """Return the memory that one trial needs beside its rows; estimated once per shape."""
        if (n, d) not in self.workspace:
            try:
                self.workspace[n, d] = self.estimated_workspace(n, d)
            except Exception:  # of the user's code: every trial reports the reason
                self.workspace[n, d] = 0
        return self.workspace[n, d]

    def numbers(self, name: str, values: Any) -> NDArray[np.float64]:
        """Return floats, or say that this library needs numbers."""
        try:
            return np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{name} must hold numbers only for a function in {self.library}: {error}"
            ) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (self._token, *self.options(), self.workspace)


class _AllTrials:
    """Such an algorithm as one that computes many trials at once."""

    exact = False

    def __init__(self, algorithm: AllAtOnce) -> None:
        self.algorithm = algorithm
        self.workspace_bytes = algorithm.workspace_bytes

    @property
    def name(self) -> str:
        return f"{self.algorithm.library}, all trials at once ({self.algorithm.platform()})"

    @property
    def block_bytes(self) -> int:
        on_cpu = self.algorithm.platform() == "cpu"
        return self.algorithm.memory or (self.algorithm.cache_bytes if on_cpu else _DEVICE_BYTES)

    def pairs(self, stack: Stack) -> Pairs:
        """Compute both predictions of every trial."""
        y, trusted = self._responses(stack.y)
        full, reduced = self.algorithm.fit_all(stack._replace(y=y))
        places = stack.x.shape[:-1]
        return Pairs(self._predictions(full, places), self._predictions(reduced, places), trusted)

    def _predictions(self, values: Any, places: tuple[int, ...]) -> NDArray[Any]:
        """Turn the values of the function into predictions, one per point of every trial."""
        array = np.asarray(values)
        found = self.algorithm.predictions(array.reshape(-1, *array.shape[len(places) :]))
        return found.reshape(*places, *found.shape[1:])

    def _responses(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the responses, and which trials have only responses that a fit accepts."""
        if self.algorithm.labels is None:
            return self.algorithm.numbers("y", y), np.ones(len(y), dtype=np.bool_)
        codes = self.algorithm.labels.encode(y)
        return codes, np.asarray((codes >= 0).all(axis=1))


_REVIVED: dict[str, AllAtOnce] = {}


def _revived(
    token: str,
    make: Callable[..., AllAtOnce],
    options: dict[str, Any],
    workspace: dict[tuple[int, int], int],
) -> AllAtOnce:
    """Unpickle an algorithm; a worker keeps the last few with their compiled code."""
    if token not in _REVIVED:
        while len(_REVIVED) >= 8:
            _REVIVED.pop(next(iter(_REVIVED)))
        _REVIVED[token] = make(**options)
        _REVIVED[token]._token = token
    _REVIVED[token].workspace.update(workspace)
    return _REVIVED[token]
