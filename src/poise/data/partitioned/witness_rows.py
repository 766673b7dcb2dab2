"""The few rows of a frame that decide every check before the first fit.

A check looks for the first value of some kind: missing, infinite, negative, a fraction, text, or
a class. Of each kind the first row is kept. So the rows that are kept pass a check if and only
if all rows do, and workers send only these.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.known_values import MOST_DIFFERENT_NUMBERS

__all__ = ["MOST_CLASSES", "different_responses", "witness_rows"]

MOST_CLASSES = 10_000  # so many different responses are kept; more are no classes
_ROWS_LOOKED_AT = 10_000  # of responses that are fractions, to see that they are many

Flags = NDArray[np.bool_]


def witness_rows(frame: Any, target: Any = None) -> NDArray[np.int64]:
    """Return the positions of the rows that checks need, in ascending order.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"a": [1.0, 2.0, -3.0, 4.0, np.nan], "y": [0, 0, 0, 1, 1]})
    >>> witness_rows(frame, "y")
    array([0, 2, 3, 4])
    """
    if not len(frame):
        return np.empty(0, dtype=np.int64)
    chosen = {0}
    for place in range(frame.shape[1]):
        for flags in _kinds(frame.iloc[:, place]):
            if flags.any():
                chosen.add(int(flags.argmax()))
    if target is not None:
        chosen.update(_first_of_each(frame[target]).tolist())
    return np.array(sorted(chosen), dtype=np.int64)


def _kinds(column: Any) -> Iterator[Flags]:
    """Yield for each kind of value that a check looks for where it is."""
    missing = np.asarray(column.isna(), dtype=np.bool_)
    yield missing
    if column.dtype.kind in "iufb":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        with np.errstate(invalid="ignore"):
            yield np.isinf(values)
            yield values < 0
            yield np.isfinite(values) & (values != np.floor(values))
        return
    yield ~missing
    yield ~missing & ~_reads_as_number(column)


def _reads_as_number(column: Any) -> Flags:
    import pandas as pd

    try:
        numbers = pd.to_numeric(column.astype(object), errors="coerce")
    except (TypeError, ValueError):  # lists, dates and other objects
        return np.zeros(len(column), dtype=np.bool_)
    return np.asarray(numbers.notna(), dtype=np.bool_)


def _first_of_each(responses: Any) -> NDArray[np.int64]:
    if different_responses(responses) is None:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(~responses.duplicated().to_numpy())[:MOST_CLASSES]


def different_responses(responses: Any) -> Any:
    """Return the different responses; None of fractions, if there are many of them.

    Examples
    --------
    >>> import pandas as pd
    >>> different_responses(pd.Series([2, 1, 2])).tolist()
    [2, 1]
    """
    try:
        if responses.dtype.kind == "f":
            start = responses.iloc[:_ROWS_LOOKED_AT]
            fractions = bool((start != np.floor(start)).any())
            if fractions and start.nunique() > _few(len(start)):
                return None
        return responses.drop_duplicates().to_numpy()
    except TypeError:  # lists and dicts
        return None


def _few(rows: int) -> int:
    """Return how many different fractions are kept: so few may be a list of choices."""
    return max(MOST_DIFFERENT_NUMBERS, rows // 100)
