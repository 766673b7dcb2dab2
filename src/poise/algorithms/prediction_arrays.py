"""Predictions as arrays, with masked values and categories kept.

``numpy.asarray`` loses which values of a masked array are missing, and turns the
categories of pandas into numbers if they are named by numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.numbers_of_any_type import Undefined, objection_to

__all__ = ["REORDERED_SUMS", "Category", "as_array", "require_predictions"]

REORDERED_SUMS = 1e-9
"""Relative difference that predictions may have because sums were taken in another order."""


class Category(str):
    """A label that is the name of a category; ``value`` is the name in its own type.

    Examples
    --------
    >>> Category(3), Category(3).value, isinstance(Category(3), str)
    ('3', 3, True)
    """

    value: Any

    def __new__(cls, value: object) -> Category:
        """Make a label of any value."""
        label = super().__new__(cls, value)
        label.value = value
        return label

    @staticmethod
    def plain(prediction: object) -> Any:
        """Return a prediction as the algorithm gave it."""
        return prediction.value if isinstance(prediction, Category) else prediction


def as_array(predictions: object) -> NDArray[Any]:
    """Return predictions as a plain array; refuse masked ones, and keep categories labels.

    Examples
    --------
    >>> as_array([1.0, 2.0])
    array([1., 2.])
    >>> as_array(np.ma.masked_array([1.0, 2.0], mask=[False, True]))
    Traceback (most recent call last):
    poise.algorithms.numbers_of_any_type.Undefined: prediction 1 is missing: it is masked
    """
    if type(predictions) is np.ndarray:
        return predictions
    if isinstance(predictions, (list, tuple)):
        if any(isinstance(value, np.ma.MaskedArray) and value.mask.any() for value in predictions):
            raise Undefined("a prediction is missing: it is masked")
    elif isinstance(predictions, np.ma.MaskedArray):
        return _unmasked(predictions)
    elif str(getattr(predictions, "dtype", "")) == "category":
        return _categories(predictions)
    return np.asarray(predictions)


def _unmasked(predictions: Any) -> NDArray[Any]:
    mask = np.ma.getmaskarray(predictions)
    if mask.any():
        first = int(np.argwhere(np.atleast_1d(mask))[0, 0])
        raise Undefined(f"prediction {first} is missing: it is masked")
    return np.asarray(predictions.data)


def _categories(predictions: Any) -> NDArray[Any]:
    """Return the labels of pandas' categories; None where there is none."""
    labels = np.empty(len(predictions), dtype=object)
    labels[:] = [None if value != value else Category(value) for value in predictions]
    return labels


def require_predictions(array: NDArray[Any]) -> None:
    """Refuse predictions that are missing, or neither numbers nor labels.

    Examples
    --------
    >>> require_predictions(np.array([0.5, np.nan]))
    Traceback (most recent call last):
    poise.algorithms.numbers_of_any_type.Undefined: prediction 1 is not a number
    """
    if array.dtype.kind in "fc":
        if np.isnan(array).any():
            raise Undefined(f"prediction {int(np.argwhere(np.isnan(array))[0, 0])} is not a number")
    elif array.dtype.kind not in "biuUST":
        for value in array.ravel():
            reason = None if isinstance(value, (str, bytes)) else objection_to(value)
            if reason is not None:
                raise Undefined(reason)
