"""How far apart two predictions are: the number called Δ.

A distance takes two predictions for one point and returns a number >= 0. A
prediction that is not a number (NaN) has no distance to anything: that is a
failure of the trial, never a small change. Equal infinities are at distance
zero; an infinity and anything else are infinitely far apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from poise.errors import ArgumentError

__all__ = ["DISTANCES", "Distance", "Undefined", "as_distance", "needs_response", "shown", "single"]

Distance = Callable[..., float]
"""Takes two predictions; one that needs the true response takes it as a third argument."""


class Undefined(ValueError):
    """Two predictions that cannot be compared."""


def single(predictions: Any) -> Any:
    """Return the one prediction that was asked for, refusing any other number of them."""
    array = predictions if isinstance(predictions, np.ndarray) else np.asarray(predictions)
    if array.ndim == 0 or array.shape[0] != 1:
        raise Undefined(
            f"predict returned an array of shape {array.shape} for one row; "
            "it must return one prediction per row"
        )
    return array[0]


def shown(value: Any) -> str:
    """Write a value as its reader knows it, without the name of its NumPy type.

    Examples
    --------
    >>> shown(np.float64(0.5)), shown(np.str_("spam")), shown(np.array([1, 2]))
    ('0.5', "'spam'", '[1, 2]')
    """
    return repr(value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value)


def absolute(a: Any, b: Any) -> float:
    """Absolute difference of two numbers.

    Examples
    --------
    >>> absolute(1.0, 3.5)
    2.5
    >>> absolute(math.inf, math.inf), absolute(math.inf, -math.inf)
    (0.0, inf)
    """
    try:
        x, z = float(a), float(b)
    except (TypeError, ValueError):
        raise Undefined(
            f"predictions must be single numbers, got {shown(a)} and {shown(b)}"
        ) from None
    if x == z:
        return 0.0
    change = abs(x - z)
    if math.isnan(change):
        raise Undefined(f"a prediction is not a number: {x} and {z}")
    return change


def euclidean(a: Any, b: Any) -> float:
    """Absolute difference of numbers, Euclidean norm of vectors, 0 or 1 for labels.

    Examples
    --------
    >>> euclidean(np.array([0.0, 0.0]), np.array([3.0, 4.0]))
    5.0
    >>> euclidean("cat", "dog")
    1.0
    """
    if isinstance(a, float) and isinstance(b, float):
        return absolute(a, b)
    first, second = np.asarray(a), np.asarray(b)
    if first.shape != second.shape:
        raise Undefined(f"predictions differ in shape: {first.shape} and {second.shape}")
    if first.dtype.kind not in "biuf" or second.dtype.kind not in "biuf":
        return label(a, b)
    parts = [absolute(x, z) for x, z in zip(first.ravel(), second.ravel(), strict=True)]
    return math.hypot(*parts)


def label(a: Any, b: Any) -> float:
    """0 if the two labels agree and 1 if they do not.

    Examples
    --------
    >>> label("spam", "spam"), label("spam", "ham")
    (0.0, 1.0)
    """
    if any(value is None or np.any(value != value) for value in (a, b)):
        raise Undefined(f"a prediction is missing: {shown(a)} and {shown(b)}")
    return 0.0 if np.array_equal(np.asarray(a), np.asarray(b)) else 1.0


def total_variation(a: Any, b: Any) -> float:
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
    if first.ndim != 1 or first.shape != second.shape or first.dtype.kind not in "biuf":
        raise Undefined(
            "total variation compares one probability per class, the same classes in both fits, "
            f"got {shown(a)} and {shown(b)}; response='predict_proba' asks for them"
        )
    return 0.5 * math.fsum(absolute(x, z) for x, z in zip(first, second, strict=True))


DISTANCES: dict[str, Distance] = {
    "absolute": absolute,
    "euclidean": euclidean,
    "label": label,
    "total_variation": total_variation,
}


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
        return distance if needs_response(distance) else _Checked(distance)
    name = natural if distance == "auto" else distance
    if name not in DISTANCES:
        listed = ", ".join(repr(known) for known in ("auto", *DISTANCES))
        raise ArgumentError(f"distance must be {listed} or a function, got {distance!r}")
    return DISTANCES[name]


def needs_response(distance: Distance) -> bool:
    """Tell whether a distance compares losses, and so has to know the true response.

    Examples
    --------
    >>> needs_response(absolute)
    False
    """
    return bool(getattr(distance, "needs_response", False))


class _Checked:
    """A user's distance, held to the contract: a number >= 0, never NaN."""

    def __init__(self, function: Distance) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, a: Any, b: Any) -> float:
        value = float(self.function(a, b))
        if not value >= 0:  # NaN is not
            raise Undefined(f"distance {self.__name__} returned {value}; it must be >= 0")
        return value
