"""Rows that cannot be used are refused before the first fit, with name, value, row and column."""

from __future__ import annotations

import datetime
import decimal
import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.rows import Rows, as_rows, is_sparse
from poise.errors import DataError

_MOST = 0.5  # of the training sets
_MOST_CLASSES = 20  # whole numbers with more distinct values are quantities
_LOOKED_AT = 1_000  # rows in which the values of features are counted
_COULD_BE_TRIED = 10_000  # combinations of values
Place = tuple[str | int, int, Any]  # column, row, value


def check_responses(y: Rows) -> None:
    """Refuse missing, infinite or unsuitable responses, and say where the first is."""
    if is_sparse(y.native):
        raise DataError("must not be sparse", argument="y", remedy="give y.toarray()")
    if getattr(y.native, "ndim", 1) > 2:
        raise DataError("must have one or two dimensions", argument="y", got=y.native.shape)
    for values in y.columns():
        _check_kind(values)
    refuse_missing(y, "y", "remove those rows, or give them as X_unlabeled")


def check_weights(weights: Rows, name: str) -> None:
    """Refuse weights that are not finite numbers: one of them would spoil one trial."""
    found = first_not_number(weights) or first_missing(weights)
    _refuse(weights, found, name, "must hold finite numbers")


def refuse_missing(rows: Rows, name: str, remedy: str) -> None:
    """Refuse values that are missing or infinite, and say where the first is."""
    _refuse(rows, first_missing(rows), name, "must not be missing or infinite", remedy)


def _refuse(rows: Rows, found: Place | None, name: str, rule: str, remedy: str = "") -> None:
    if found is not None:
        column, row, value = found
        where = f"row {row} (counting from 0)" + ("" if rows.single else f", column {column!r}")
        raise DataError(f"{rule}, got {value!s} in {where}", argument=name, remedy=remedy)


def first_missing(rows: Rows) -> Place | None:
    """Return column, row and value of the first entry that is missing or infinite."""
    return _first(rows, _not_finite)


def first_not_number(rows: Rows) -> Place | None:
    """Return column, row and value of the first entry that no number can be made of."""
    return _first(rows, _not_numbers)


def _first(rows: Rows, wrong: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> Place | None:
    found = []
    for column, values in zip(rows.labels, rows.columns(), strict=True):
        bad = wrong(values)
        if bad.any():
            row = int(bad.argmax())
            found.append((column, row, values[row]))
    return min(found, key=lambda place: place[1], default=None)


def _not_finite(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(~np.isfinite(as_floats(values)))


def as_floats(values: NDArray[Any]) -> NDArray[Any]:
    """Write nan where a value is missing, an infinity where it is one, and anything elsewhere."""
    if values.dtype.kind in "fc":
        return values
    if values.dtype.kind in "Mm":
        return np.where(np.isnat(values), math.nan, 0.0)
    if values.dtype.kind != "O":
        return np.zeros(values.shape)
    found = [math.nan if is_missing(value) else _as_float(value) for value in values.flat]
    return np.array(found).reshape(values.shape)


def _as_float(value: Any) -> float:
    real = isinstance(value, (float, np.floating, decimal.Decimal))
    return float(value) if real else 0.0


def _not_numbers(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind in "biufcMm":
        return np.full(len(values), values.dtype.kind in "Mm")
    return np.array([not (is_missing(value) or is_number(value)) for value in values], np.bool_)


def is_number(value: Any) -> bool:
    """Tell whether a value is a number or reads as one."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def is_missing(value: object) -> bool:
    """Tell whether a single value stands for none: None, NaN, NaT or NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, decimal.Decimal):  # a signalling NaN fails when it is compared
        return value.is_nan()
    return isinstance(value, (numbers.Number, np.generic)) and bool(value != value)


def holds_labels(y: Rows) -> bool:
    """Tell whether responses are text or categories, also categories that are numbers."""
    categories = "categ" in str(getattr(y.native, "dtype", "")).lower()
    return categories or any(map(is_text, y.columns()))


def is_text(array: NDArray[Any]) -> bool:
    """Tell whether an array holds text."""
    if array.dtype.kind in "UST":
        return True
    return array.dtype.kind == "O" and any(isinstance(v, (str, bytes)) for v in array.flat)


def is_classification(y: Rows) -> bool:
    """Tell whether responses are classes: labels, truths, or few whole numbers, each often."""
    return holds_labels(y) or all(map(_few_whole_numbers, y.columns()))


def _few_whole_numbers(values: NDArray[Any]) -> bool:
    if values.dtype.kind not in "iuf" or not (values == np.round(values)).all():
        return values.dtype.kind == "b"
    return 2 <= len(np.unique(values)) <= min(_MOST_CLASSES, len(values) // 5)


def _check_kind(values: NDArray[Any]) -> None:
    first = values.flat[0]
    dates = (datetime.date, datetime.time, datetime.timedelta)
    if values.dtype.kind == "c":
        raise DataError("must hold numbers or classes, got complex numbers", argument="y")
    if values.dtype.kind in "Mm" or isinstance(first, dates):
        problem = f"must hold numbers or classes, got dates and times ({first} in row 0)"
        remedy = "give the time since some moment as a number"
        raise DataError(problem, argument="y", remedy=remedy)


def rare_class(classes: Mapping[Any, int], n: int) -> str | None:
    """Say that most training sets of n rows lack a class, if they do; given how often each is."""
    rare, total = min(classes, key=classes.__getitem__), sum(classes.values())
    rows = classes[rare]
    if (1 - rows / total) ** n <= _MOST:
        return None
    return (
        f"Class {rare} has {rows:,} of {total:,} rows, so most training sets of {n:,} rows have "
        "none of it. You may want a larger n."
    )


def few_values(X: Rows) -> bool:
    """Tell whether features have so few values that all could be tried: then no ceiling holds."""
    numbers = as_rows(X.take(np.arange(min(len(X), _LOOKED_AT))), "X").numbers()
    if numbers is None or numbers.ndim != 2 or len(numbers) < 30:
        return False
    combinations = math.prod(len(np.unique(column)) for column in numbers.T)
    return combinations <= min(_COULD_BE_TRIED, len(numbers))
