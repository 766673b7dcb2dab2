"""The type of predictions, and whether the distance can compare them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.distance import Distance, Undefined, needs_response
from poise.algorithms.numbers_of_any_type import is_number
from poise.questions.check.check_report import Finding, Severity

__all__ = ["COMPARABLE", "compared_by", "in_words"]

COMPARABLE = "predictions can be compared"


def compared_by(distance: Distance, first: NDArray[Any], second: NDArray[Any]) -> Finding:
    """Name the type of two sets of predictions, and compare them as a trial would."""
    name = getattr(distance, "__name__", "a distance of your own")
    found = f"{in_words(first)}, compared by {name}"
    if needs_response(distance):
        return Finding(COMPARABLE, Severity.OK, found)
    try:
        for a, b in zip(first, second, strict=True):
            distance(a, b)
    except Undefined as error:
        remedy = "every trial would fail like this: return numbers, or labels with distance='label'"
        return Finding(COMPARABLE, Severity.FAIL, f"{in_words(first)}: {error}", remedy)
    return Finding(COMPARABLE, Severity.OK, found)


def in_words(predictions: NDArray[Any]) -> str:
    """Say what kind of thing a prediction is.

    Examples
    --------
    >>> in_words(np.zeros(3)), in_words(np.zeros((3, 2))), in_words(np.array(["a"]))
    ('a number (float64)', '2 numbers (float64)', 'a label (text)')
    >>> from fractions import Fraction
    >>> in_words(np.array([Fraction(1, 3)])), in_words(np.array(["2020-01-01"], "M8[D]"))
    ('a number (Fraction)', 'a value of type datetime64[D]')
    """
    inner = predictions.reshape(len(predictions), -1)
    kinds = sorted({_kind(value) for value in inner.ravel()}) or [("value", "nothing")]
    what = " or ".join(dict.fromkeys(kind for kind, _ in kinds))
    names = " and ".join(name for _, name in kinds)
    if predictions.dtype.kind != "O" and kinds[0][0] != "label":
        names = str(predictions.dtype)
    if what == "value":
        return f"a value of type {names}"
    return f"a {what} ({names})" if predictions.ndim == 1 else f"{inner.shape[1]} {what}s ({names})"


def _kind(value: object) -> tuple[str, str]:
    name = type(value).__name__
    if isinstance(value, (str, bytes)):
        return "label", "bytes" if isinstance(value, bytes) else "text"
    if isinstance(value, (bool, np.bool_)):
        return "label", "yes or no"
    return ("number", name) if is_number(value) else ("value", name)
