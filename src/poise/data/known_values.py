"""How many values a response or a point can take, if they are few enough to try all.

A test that can try every value is not limited by a trap at a value nobody has seen
(section 4.2 of the paper). Labels, whole numbers and numbers of few values are counted
here; other numbers are taken for continuous.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.tables import Table, is_sparse

__all__ = [
    "FIRST_RESPONSES",
    "FIRST_ROWS",
    "MOST_DIFFERENT_NUMBERS",
    "ROWS_FOR_CODES",
    "n_known_among",
    "n_known_points",
    "n_known_responses",
]

# How many rows are looked at, here and by workers that have the rows.
FIRST_RESPONSES = 1000  # responses: enough to see whether numbers are whole
FIRST_ROWS = 100  # rows of features: enough to see that a column holds measurements, not codes
ROWS_FOR_CODES = 10_000  # rows of features: enough to count the codes in a column

MOST_DIFFERENT_NUMBERS = 50  # that are not whole; more are no list of choices
_MOST_POINTS = 1e6  # nobody tries more points than these


def n_known_responses(y: Table) -> int | None:
    """Count the different responses, if they are labels, whole numbers or few; else None.

    Examples
    --------
    >>> from poise.data.tables import as_table
    >>> n_known_responses(as_table(["spam", "ham", "spam"], "y"))
    2
    >>> n_known_responses(as_table([i / 7 for i in range(99)], "y")) is None
    True
    """
    start = _as_array(y.take(slice(0, min(len(y), FIRST_RESPONSES))))
    if start is None or _combinations(start, math.inf) is None:
        return None  # numbers that are not whole: no need to look at all of them
    values = _as_array(y.native)
    return None if values is None else _combinations(values, math.inf)


def n_known_among(start: Any, different: Any, rows: int) -> int | None:
    """Count different responses as :func:`n_known_responses` does, of rows that lie elsewhere.

    Parameters
    ----------
    start : array
        The first ``FIRST_RESPONSES`` responses.
    different : array
        Those that differ among all ``rows``.

    Examples
    --------
    >>> n_known_among(np.array([1, 2, 1]), np.array([1, 2, 3]), 100)
    3
    """
    first = _as_array(start)
    if first is None or _combinations(first, math.inf) is None:
        return None
    return _different(np.asarray(different), rows)


def n_known_points(X: Table) -> int | None:
    """Count the points that can be made of the values seen in each column; None if too many.

    The first rows are enough to see that a column holds measurements: then there are too many.

    Examples
    --------
    >>> from poise.data.tables import as_table
    >>> n_known_points(as_table([[0, 1], [1, 0], [1, 2]], "X"))
    6
    >>> n_known_points(as_table([[i, i / 7] for i in range(99)], "X")) is None
    True
    """
    if is_sparse(X.native):  # mostly counts of words, and new rows bring new words
        return None
    first = _n_points_among(X, FIRST_ROWS)  # cheap, also where rows stay on disk
    return None if first is None else _n_points_among(X, ROWS_FOR_CODES)


def _n_points_among(X: Table, rows: int) -> int | None:
    values = _as_array(X.take(slice(0, min(len(X), rows))))
    return None if values is None else _combinations(values, _MOST_POINTS)


def _as_array(rows: Any) -> NDArray[Any] | None:
    """Return rows of numbers or labels as an array of two dimensions; None for anything else."""
    try:
        array = np.asarray(rows)
    except ValueError:  # rows of different lengths
        return None
    return array.reshape(len(array), -1)


def _combinations(values: NDArray[Any], most: float) -> int | None:
    """Multiply the numbers of different values of the columns; None if that is not known."""
    product = 1
    for column in values.T:
        different = _different(column)
        if different is None or product * different > most:
            return None
        product *= different
    return product


def _different(column: NDArray[Any], rows: int | None = None) -> int | None:
    """Count the different values of a column; ``rows`` says how many rows have them."""
    rows = len(column) if rows is None else rows
    if column.dtype.kind == "O":
        return _different_objects(column.tolist(), rows)
    found = len(np.unique(column))
    if column.dtype.kind != "f" or _are_few(found, rows):
        return found
    known = column[~np.isnan(column)]
    return found if bool(np.all(known == np.floor(known))) else None


def _different_objects(values: list[Any], rows: int) -> int | None:
    """Count values of any type; None for lists, arrays and dicts, which are no values."""
    try:
        found = set(values)
    except TypeError:
        return None
    whole = (not isinstance(v, float) or v != v or v.is_integer() for v in found)
    return len(found) if all(whole) or _are_few(len(found), rows) else None


def _are_few(different: int, among: int) -> bool:
    """Tell numbers that look like a list of choices: few, and most of them more than once."""
    return different <= min(MOST_DIFFERENT_NUMBERS, among // 2)
