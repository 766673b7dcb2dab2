"""Distances between two predictions: the change Δ.

A distance takes two predictions for one point and returns a number >= 0. Numbers of
any type are subtracted. Only text, bytes, booleans and categories are labels, and they
are compared by a distance that says so: one of numbers refuses text, also text that
reads as a number. Whatever else comes back, and a prediction that is missing (NaN,
None, masked), has no distance to anything: that is a failure of the trial, never a
small change. Equal infinities are at distance zero; an infinity and anything else are
infinitely far apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.code_digest import code_digest
from poise.algorithms.numbers_of_any_type import (
    Undefined,
    difference,
    is_missing,
    is_number,
    objection_to,
    shown,
)
from poise.algorithms.prediction_arrays import Category, as_array
from poise.errors import AlgorithmError, ArgumentError

__all__ = [
    "CLASS_DISTANCES",
    "CLUSTER_NUMBERS",
    "DISTANCES",
    "LABELS_ONLY",
    "Distance",
    "Undefined",
    "as_distance",
    "distance_code",
    "distance_name",
    "needs_response",
    "own_name",
    "shown",
    "single",
]

Distance = Callable[..., float]
"""Takes two predictions; one that needs the true response takes it as a third argument."""

_LABELS = (str, bytes, bool, int, np.integer, np.str_, np.bool_)
LABELS_ONLY = "labels only"
CLUSTER_NUMBERS = "cluster numbers"
CLASS_DISTANCES = ("label", LABELS_ONLY, "total_variation")  # natural where classes are predicted
_CLUSTERS = (
    "algorithm numbers its clusters, in an order that means nothing: another fit may give the same "
    "cluster another number, and no distance of poise sees that it is the same. Ask for something "
    "that has no number, such as the centre of a row's cluster: lambda X, y, seed: (lambda m: "
    "lambda rows: m.cluster_centers_[m.predict(rows)])(KMeans(3, random_state=seed).fit(X)); or "
    "give a distance=function of your own that is invariant under renaming"
)


def single(predictions: object) -> Any:
    """Return the one prediction; refuse any other number of predictions."""
    array = predictions if type(predictions) is np.ndarray else as_array(predictions)
    if array.ndim == 0 or array.shape[0] != 1:
        raise Undefined(
            f"predict returned an array of shape {array.shape} for one row; "
            "it must return one prediction per row"
        )
    return array[0]


def absolute(a: object, b: object) -> float:
    """Absolute difference of two numbers.

    Examples
    --------
    >>> absolute(1.0, 3.5)
    2.5
    >>> absolute(math.inf, math.inf), absolute(math.inf, -math.inf)
    (0.0, inf)
    """
    if not (isinstance(a, float) and isinstance(b, float)):
        return difference(_only(a), _only(b))
    x, z = float(a), float(b)
    if x == z:
        return 0.0
    change = abs(x - z)
    if math.isnan(change):
        raise Undefined(f"a prediction is not a number: {x} and {z}")
    return change


def _only(value: object) -> Any:
    """Return the one number of an array that holds one."""
    if not isinstance(value, np.ndarray):
        return value
    if value.size != 1:
        raise Undefined(f"predictions must be single numbers, got {shown(value)}")
    return value.reshape(-1)[0]


def euclidean(a: object, b: object) -> float:
    """Absolute difference of numbers, Euclidean norm of vectors of them.

    Examples
    --------
    >>> euclidean(np.array([0.0, 0.0]), np.array([3.0, 4.0]))
    5.0
    >>> euclidean("cat", "dog")
    Traceback (most recent call last):
    poise.algorithms.numbers_of_any_type.Undefined: predictions are text ('cat'), which is not ...
    """
    if isinstance(a, float) and isinstance(b, float):
        return absolute(a, b)
    return math.hypot(*_differences(a, b))


def _differences(a: object, b: object) -> Iterable[float]:
    """Return the differences of two numbers, or of the numbers in two arrays of one shape."""
    first, second = np.asarray(a), np.asarray(b)
    if first.shape != second.shape:
        raise Undefined(f"predictions differ in shape: {first.shape} and {second.shape}")
    return map(absolute, _values(first), _values(second))


def _values(array: NDArray[Any]) -> Iterable[Any]:
    """Return the numbers of an array; floats as those of Python, which are faster to compare."""
    plain = array.dtype.kind == "f" and array.dtype.itemsize <= 8
    return array.ravel().tolist() if plain else array.ravel()


def label(a: object, b: object) -> float:
    """0 if the two labels agree and 1 if they do not.

    Labels are text, bytes, booleans, categories, or numbers that stand for classes.

    Examples
    --------
    >>> label("spam", "spam"), label("spam", "ham")
    (0.0, 1.0)
    """
    plain = isinstance(a, _LABELS) and isinstance(b, _LABELS)
    if plain or (isinstance(a, float) and isinstance(b, float) and a == a and b == b):
        return 0.0 if a == b else 1.0
    first, second = np.asarray(a), np.asarray(b)
    for array in (first, second):
        if array.dtype.kind not in "biuUSTf":
            _require_labels(array)
        elif array.dtype.kind == "f" and np.isnan(array).any():
            raise Undefined(f"a prediction is missing: {shown(a)} and {shown(b)}")
    return 0.0 if np.array_equal(first, second) else 1.0


def _require_labels(array: NDArray[Any]) -> None:
    """Refuse values that are not labels."""
    for value in array.ravel():
        if is_missing(value):
            raise Undefined(f"a prediction is missing: {shown(value)}")
        if not isinstance(value, _LABELS) and not is_number(value):
            raise Undefined(str(objection_to(value)))


class _LabelsOnly:
    """The distance "auto" if responses are text or categories: it refuses numbers.

    A function that gets labels and returns numbers may return codes or probabilities. Only
    its author knows whether a difference of 0.01 is a change.
    """

    __name__ = "label"

    def __call__(self, a: object, b: object) -> float:
        for value in (a, b):
            array = np.asarray(value)
            found = array.reshape(-1)[:1].tolist()
            if array.dtype.kind != "b" and found and is_number(found[0]):
                raise Undefined(
                    f"y holds labels and the algorithm returns numbers ({shown(value)}); say "
                    "distance='euclidean' to ask how far they move, or distance='label' if they "
                    "stand for classes"
                )
        return label(a, b)


def total_variation(a: object, b: object) -> float:
    """Half the sum of absolute differences of two lists of probabilities.

    For one response this is the largest change of the probability of any event.
    For several responses, side by side, it is the sum over them, which bounds
    the change for all of them together.

    Examples
    --------
    >>> total_variation(np.array([0.5, 0.5, 0.0]), np.array([0.5, 0.0, 0.5]))
    0.5
    """
    first, second = np.asarray(a), np.asarray(b)
    numeric = first.dtype.kind in "biufO" and second.dtype.kind in "biufO"
    if first.ndim != 1 or first.shape != second.shape or not numeric:
        raise Undefined(
            "total variation compares one probability per class, the same classes in both fits, "
            f"got {shown(a)} and {shown(b)}; response='predict_proba' asks for them"
        )
    return 0.5 * math.fsum(_differences(first, second))


DISTANCES: dict[str, Distance] = {
    "absolute": absolute,
    "euclidean": euclidean,
    "label": label,
    "total_variation": total_variation,
}

_OF_ANY_SIZE = ("absolute", "euclidean", "change of squared loss", "change of absolute loss")

_UNLISTED: dict[str, Distance] = {LABELS_ONLY: _LabelsOnly()}


def as_distance(distance: str | Distance, natural: str = "euclidean") -> Distance:
    """Turn a name or a function into a distance; ``"auto"`` means ``natural``.

    Examples
    --------
    >>> as_distance("auto")(1.0, 4.0)
    3.0
    >>> as_distance("manhattan")
    Traceback (most recent call last):
    poise.errors.ArgumentError: distance must be 'auto', ..., got 'manhattan'
    """
    if callable(distance):
        known_already = needs_response(distance) or any(distance is d for d in DISTANCES.values())
        return distance if known_already else _Checked(distance)
    if natural == CLUSTER_NUMBERS:
        raise AlgorithmError(_CLUSTERS)
    name = natural if distance == "auto" else distance
    known = DISTANCES | _UNLISTED
    if name not in known:
        listed = ", ".join(repr(known) for known in ("auto", *DISTANCES))
        raise ArgumentError(
            f"distance must be {listed}, a loss such as 'loss:squared' or a function, "
            f"got {distance!r}"
        )
    return known[name]


def distance_name(distance: Distance, natural: str = "euclidean") -> str:
    """Return the name of a distance for records; ``natural`` is that of the algorithm.

    Predictions that are classes or probabilities have bounded distances.

    Examples
    --------
    >>> distance_name(absolute), distance_name(euclidean, "total_variation")
    ('absolute', 'euclidean of probabilities')
    """
    name = getattr(distance, "__name__", "unnamed")
    kinds = {"label": "labels", "total_variation": "probabilities"}
    if natural not in kinds or name not in _OF_ANY_SIZE:
        return name
    return f"{name} of {kinds[natural]}"


def own_name(function: Callable[..., Any], taken: Iterable[str]) -> str:
    """Return the name of a user's function, marked if poise has a function of that name.

    Examples
    --------
    >>> own_name(absolute, DISTANCES), own_name(as_distance, DISTANCES)
    ('absolute (own)', 'as_distance')
    """
    name = str(getattr(function, "__name__", type(function).__name__))
    return f"{name} (own)" if name in taken else name


def distance_code(distance: Distance) -> str:
    """Return a digest of a user's distance or loss; "" for those of poise, known by name.

    Examples
    --------
    >>> first, second = as_distance(lambda a, b: abs(a - b)), as_distance(lambda a, b: 0.0)
    >>> first.__name__ == second.__name__, distance_code(first) == distance_code(second)
    (True, False)
    >>> distance_code(absolute)
    ''
    """
    own = getattr(distance, "function", getattr(distance, "loss", None))
    return code_digest(own) if callable(own) else ""


def needs_response(distance: Distance) -> bool:
    """Tell whether a distance compares losses, and so needs the true response.

    Examples
    --------
    >>> needs_response(absolute)
    False
    """
    return bool(getattr(distance, "needs_response", False))


class _Checked:
    """A user's distance; each value is checked: a number >= 0, never NaN."""

    def __init__(self, function: Distance) -> None:
        self.function = function
        self.__name__ = own_name(function, DISTANCES)

    def __call__(self, a: object, b: object) -> float:
        value = float(self.function(Category.plain(a), Category.plain(b)))
        if not value >= 0:  # NaN is not
            raise Undefined(f"distance {self.__name__} returned {value}; it must be >= 0")
        return value
