"""Fit an algorithm on rows given by number, and record times and changed inputs."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import Algorithm, Predict
from poise.algorithms.global_state import GlobalGenerators
from poise.algorithms.numbers_of_any_type import Undefined, difference
from poise.algorithms.prediction_arrays import as_array
from poise.data.sample import Sample, fingerprint

__all__ = ["ROUNDING", "OutOfTime", "Probe", "differ", "equal", "magnitude"]

ROUNDING = 1e-9  # sums taken in another order differ by this much, relative to their size
_MOST_POINTS = 64  # at most so many predictions are compared: more would cost memory

Rows = NDArray[np.int64]


class OutOfTime(Exception):
    """No further fit is started, because the time allowed for the checks is over."""


class Probe(Algorithm):
    """The algorithm under check, trained on rows of a sample by their numbers.

    Its features and responses are row numbers. So checks that reorder or select rows
    work for every kind of table, and for weights.

    Parameters
    ----------
    algorithm : Algorithm
        The black box.
    sample : Sample
        The sample that holds the rows.
    max_seconds : float
        No fit is started after this much time.

    Attributes
    ----------
    seconds : list of float
        Time of each fit with its first predictions.
    changed : set of str
        Which of "X", "y" and "test rows" the algorithm wrote to.

    Examples
    --------
    >>> from poise.algorithms.as_algorithm import as_algorithm
    >>> def spoiler(X, y, seed):
    ...     y[:] = 0.0
    ...     return lambda rows: np.zeros(len(rows))
    >>> sample = Sample(np.ones((4, 1)), np.ones(4))
    >>> probe = Probe(as_algorithm(spoiler), sample, max_seconds=60)
    >>> probe.predictions(np.array([0, 1]), np.array([2, 3]), xi=0).tolist(), probe.changed
    ([0.0, 0.0], {'y'})
    """

    def __init__(self, algorithm: Algorithm, sample: Sample, max_seconds: float) -> None:
        self.algorithm, self.sample = algorithm, sample
        self.name = algorithm.name
        self.seconds: list[float] = []
        self.changed: set[str] = set()
        self.deadline = time.perf_counter() + max_seconds
        self.alter: Callable[[Any], Any] | None = None

    def with_responses(self, alter: Callable[[Any], Any]) -> Probe:
        """Return the same probe, but with altered responses in every fit."""
        other = copy.copy(self)
        other.alter = alter
        return other

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Train on the rows whose numbers are in ``X``; predict at rows by number."""
        self.check_time()
        rows = np.asarray(X, dtype=np.int64).ravel()
        features, responses = self.sample.training(rows)
        if self.alter is not None:
            responses = self.alter(responses)
        before = fingerprint(features), fingerprint(responses)
        began = time.perf_counter()
        predict = self._fitted(features, responses, int(xi), rows)
        seconds = time.perf_counter() - began
        after = fingerprint(features), fingerprint(responses)
        self.changed |= {n for n, a, b in zip("Xy", before, after, strict=True) if a != b}
        return _Predictor(self, predict, seconds)

    @property
    def n_fits(self) -> int:
        """Number of fits so far, including those of copies of this probe."""
        return len(self.seconds)

    def check_time(self) -> None:
        """Raise if the time is over; called before every fit and prediction."""
        if time.perf_counter() > self.deadline:
            raise OutOfTime

    def _fitted(self, features: object, responses: object, xi: int, rows: Rows) -> Predict:
        if self.sample.fit_params is None:
            return self.algorithm.fit(features, responses, xi)
        arguments = self.sample.fit_params.of(rows)
        return self.algorithm.fit_with(features, responses, xi, arguments)

    def predictions(self, train: Rows, points: Rows, xi: int) -> NDArray[Any]:
        """Train and predict as in a trial: the global generators are seeded with ξ."""
        with GlobalGenerators() as ambient:
            return np.asarray(self.governed(ambient, train, xi)(points))

    def governed(self, ambient: GlobalGenerators, train: Rows, xi: int) -> Predict:
        """Train with the global generators seeded with ξ; ``ambient`` restores them."""
        return ambient.seeded(int(xi), lambda: self.fit(train, train, xi))


class _Predictor:
    """Predict at rows given by number."""

    def __init__(self, probe: Probe, predict: Predict, seconds: float) -> None:
        self.probe, self.predict, self.seconds = probe, predict, seconds
        self.timed = False

    def __call__(self, rows: object) -> NDArray[Any]:
        self.probe.check_time()
        numbers = np.asarray(rows, dtype=np.int64).ravel()
        points = self.probe.sample.points(numbers[:: -(-len(numbers) // _MOST_POINTS)])
        before, began = fingerprint(points), time.perf_counter()
        values = as_array(self.predict(points))
        self.seconds += time.perf_counter() - began
        if not self.timed:
            # A program fits when it is asked to predict, so this time counts as fitting.
            self.probe.seconds.append(self.seconds)
            self.timed = True
        if fingerprint(points) != before:
            self.probe.changed.add("test rows")
        return values


def equal(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Tell whether predictions agree, up to the rounding of sums taken in another order.

    Examples
    --------
    >>> equal(np.array([0.1 + 0.2]), np.array([0.3])), equal(np.array(["a"]), np.array(["b"]))
    (True, False)
    """
    return a.shape == b.shape and differ(a, b) == 0.0


def differ(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return the largest difference of predictions; 0 if it is no more than rounding."""
    if a.dtype.kind not in "fiub" or b.dtype.kind not in "fiub":
        return _differ_in_any_type(a, b)
    first, second = a.astype(np.float64), b.astype(np.float64)
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    gap = float(np.max(np.abs(np.where(same, 0.0, first - second)), initial=0.0))
    return gap if gap > ROUNDING * magnitude(first) else 0.0


def _differ_in_any_type(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Return the largest difference of other numbers than floats, or 1 if labels differ."""
    try:
        return max(map(difference, a.ravel(), b.ravel()), default=0.0)
    except Undefined:
        return float(np.any(a != b))


def magnitude(values: NDArray[Any]) -> float:
    """Return the size of the largest finite prediction; 0 for labels."""
    if values.dtype.kind not in "fiub":
        return 0.0
    sizes = np.abs(values.astype(np.float64))
    return float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
