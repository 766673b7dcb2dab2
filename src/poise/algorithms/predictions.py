"""Predictions as arrays: numbers of any type, labels, and what is missing.

Numbers are subtracted in their own arithmetic, and only the difference becomes a float. Text and
bytes are labels. Whatever else comes back has no distance to anything.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.suitable import as_floats
from poise.errors import PoiseError

Floats = NDArray[np.float64]
Array = NDArray[Any]

_PROBABILITY = 1e-5  # how far rounding in single precision takes a probability outside [0, 1]
_HELPS = "return numbers, or labels as text, which distance='label' compares"


class Undefined(PoiseError, ValueError):  # noqa: N818 - it names what the change is
    """Predictions that cannot be compared; the trial counts as failed."""


def as_array(predictions: Any) -> Array:
    """Return predictions as an array of numbers and labels; missing ones are None or nan."""
    if isinstance(predictions, np.ma.MaskedArray):
        predictions = np.where(np.ma.getmaskarray(predictions), np.array(None), predictions.data)
    array = np.asarray(predictions)
    if array.ndim == 0:
        raise Undefined(f"predict must return one prediction per row, got {shown(array)}")
    if array.dtype.isbuiltin == 2:  # bfloat16 and its like, which numpy cannot subtract exactly
        return array.astype(np.float64)
    return array


def holes(a: Array, b: Array) -> NDArray[np.bool_] | None:
    """Tell at which points there is no change; None if there is one everywhere."""
    first, second = (as_floats(each).reshape(len(each), -1) for each in (a, b))
    if np.isfinite(first).all() and np.isfinite(second).all():
        return None
    missing = np.isnan(first).any(axis=1) | np.isnan(second).any(axis=1)
    finite = np.isfinite(first).any(axis=1) | np.isfinite(second).any(axis=1)
    without = np.asarray(missing | ~finite)
    return without if without.any() else None


def is_number(value: object) -> bool:
    """Tell whether a value is a number of any type; True and False count as 1 and 0."""
    # NumPy takes spans of time for whole numbers.
    return isinstance(value, (Number, np.bool_)) and not isinstance(value, np.timedelta64)


def gaps(a: Array, b: Array) -> Floats:
    """Return |a − b|; numbers that are not floats are subtracted in their own arithmetic."""
    a, b = as_numbers(a), as_numbers(b)
    with np.errstate(invalid="ignore", over="ignore"):
        differences: Floats = np.abs(a - b).astype(np.float64, copy=False)
        if np.isfinite(differences).all():
            return differences
        return np.where(a == b, 0.0, differences)  # equal infinities


def as_numbers(array: Array) -> Array:
    """Return an array whose values can be subtracted; refuse what is not a number."""
    kind = array.dtype.kind
    if kind in "fc":
        return array.astype(np.result_type(array, np.float64), copy=False)
    if kind in "biu":  # differences of unsigned ones would wrap around, large ones be rounded
        return array.astype(object)
    _require(array, is_number, "has no size")
    return array


def _require(array: Array, fits: Callable[[object], bool], problem: str) -> None:
    """Refuse the first value that does not fit."""
    for value in array.flat:
        if not fits(value):
            text = isinstance(value, (str, bytes))
            kind = "text" if text else f"of type {type(value).__name__}"
            raise Undefined(f"predictions are {kind} ({shown(value)}), which {problem}; {_HELPS}")


def require_labels(array: Array) -> None:
    """Refuse what is neither text nor a number, such as dates."""
    if array.dtype.kind not in "biufUST":
        _require(array, lambda v: isinstance(v, (str, bytes)) or is_number(v), "is not a label")


def are_probabilities(array: Array) -> bool:
    """Tell whether all values lie in [0, 1], up to rounding in single precision."""
    if array.dtype.kind not in "biufO":
        return False
    if array.dtype.kind == "O" and not all(map(is_number, array.flat)):  # text is none
        return False
    chances = array.astype(np.float64)
    return bool(((chances >= -_PROBABILITY) & (chances <= 1 + _PROBABILITY)).all())


def shown(value: object) -> str:
    """Write a prediction for a message, without the name of its NumPy type."""
    return repr(value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value)
