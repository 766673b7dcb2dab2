"""Checks of responses: numbers or classes, never missing or infinite."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.tables import Table, is_sparse
from poise.errors import DataError

__all__ = ["check_responses", "holds_labels"]


def check_responses(y: Table, name: str = "y") -> None:
    """Refuse missing, infinite or unsuitable responses, and say where the first is.

    Parameters
    ----------
    y : Table
        The responses.
    name : str
        What they are called in messages.

    Examples
    --------
    >>> from poise.data.tables import as_table
    >>> check_responses(as_table([0.5, math.inf], "y"))
    Traceback (most recent call last):
    poise.errors.DataError: y must not hold missing or infinite values, got inf in row 1 ...
    """
    if is_sparse(y.native):
        raise DataError(f"{name} must not be sparse; give y.toarray(), one column per response")
    values = np.asarray(y.native)
    if values.dtype.kind == "c":
        raise DataError(f"{name} must hold numbers or classes, got complex numbers")
    if values.dtype.kind in "Mm" or (values.dtype.kind == "O" and _is_date(values.flat[0])):
        raise DataError(
            f"{name} must hold numbers or classes, got dates and times ({values.flat[0]} in row "
            "0 (counting from 0)); give the time since some moment as a number"
        )
    bad = ~np.isfinite(values) if values.dtype.kind == "f" else _missing_or_infinite(values)
    if bad.any():
        row, *column = np.argwhere(bad)[0].tolist()
        place = f"row {row} (counting from 0)" + "".join(f", column {i}" for i in column)
        raise DataError(
            f"{name} must not hold missing or infinite values, got {values[(row, *column)]} in "
            f"{place}; remove those rows, or give them as unlabelled ones"
        )


def _is_date(value: object) -> bool:
    return isinstance(value, (datetime.date, datetime.time, datetime.timedelta))


def _missing_or_infinite(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Check values of any type one by one; integers are never missing."""
    if values.dtype.kind != "O":
        return np.zeros(1, dtype=np.bool_)
    bad = [v is None or v != v or v in (math.inf, -math.inf) for v in values.ravel()]
    return np.array(bad).reshape(values.shape)


def holds_labels(y: Table) -> bool:
    """Tell whether responses are text or categories (also categories that are numbers).

    Examples
    --------
    >>> from poise.data.tables import as_table
    >>> holds_labels(as_table(["spam", "ham"], "y")), holds_labels(as_table([1, 0], "y"))
    (True, False)
    """
    if "categ" in str(getattr(y.native, "dtype", "")).lower():
        return True
    values = np.asarray(y.native)
    if values.dtype.kind == "O":
        return any(isinstance(value, (str, bytes)) for value in values.ravel())
    return values.dtype.kind in "UST"
