"""Deep copies of the user's rows, so that a fit cannot alter them.

A fit may change its input. A shallow copy of a list of arrays, of dicts, or of an array
of lists still holds the user's own arrays, dicts and lists, and the next fit would get
the altered ones. So rows with such values are copied deeply. For numbers and text a
shallow copy is enough. Which copy is needed is found out once.
"""

from __future__ import annotations

import copy
import datetime
import decimal
import numbers
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from poise.errors import in_one_line, warn_of_validity

__all__ = ["own_copy", "row_copier", "some_can_change"]

_FIXED = (
    numbers.Number,
    str,
    bytes,
    type(None),
    np.generic,
    decimal.Decimal,
    datetime.date,
    datetime.time,
    datetime.timedelta,
)


def some_can_change(values: Iterable[Any]) -> bool:
    """Tell whether one of the values is mutable.

    Examples
    --------
    >>> some_can_change([1.5, "text", None]), some_can_change([1.5, [2.5]])
    (False, True)
    """
    return not all(issubclass(kind, _FIXED) for kind in set(map(type, values)))


def own_copy(value: object) -> Any:
    """Copy a value deeply; a value that cannot be copied is returned itself.

    Examples
    --------
    >>> inner = [1.0]
    >>> own_copy({"a": inner})["a"] is inner
    False
    """
    if isinstance(value, _FIXED):
        return value
    try:
        return copy.deepcopy(value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        warn_of_validity(
            f"a {type(value).__name__} among the rows cannot be copied ({in_one_line(error)}): an "
            "algorithm that writes to it changes the rows of later fits, and the error level does "
            "not hold"
        )
        return value


def row_copier(rows: Sequence[Any]) -> Callable[[Any], Any]:
    """Return the cheapest function that copies one of these rows completely.

    Examples
    --------
    >>> row_copier([[1.0, 2.0], [3.0, 4.0]])([1.0, 2.0])
    [1.0, 2.0]
    """
    kinds = set(map(type, rows))
    if all(issubclass(kind, _FIXED) for kind in kinds):
        return _itself
    if kinds <= {list, tuple} and not some_can_change(chain.from_iterable(rows)):
        return _list_copy
    return own_copy


def _itself(row: object) -> Any:
    return row


def _list_copy(row: object) -> Any:
    return list(row) if isinstance(row, list) else row
