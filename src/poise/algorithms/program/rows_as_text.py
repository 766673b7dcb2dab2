"""Rows of any container as values that CSV and JSON can hold.

Nothing is lost: numbers keep every bit, text stays text, a missing value stays missing,
columns keep their names.
"""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.tables import is_sparse
from poise.errors import DataError

__all__ = ["Cell", "Columns", "height", "read_columns", "read_training"]

Cell = bool | int | float | str | None

Columns = dict[str, list[Cell]]
"""Cells by column; every list has one entry per row, None where a value is missing."""


def height(columns: Columns) -> int:
    """Return the number of rows."""
    return len(next(iter(columns.values())))


def read_training(X: Any, y: Any) -> Columns:
    """Return the features and, as the last column, the response.

    Examples
    --------
    >>> read_training([[1, "a"], [2, None]], [0.5, 1.5])
    {'x1': [1, 2], 'x2': ['a', None], 'y': [0.5, 1.5]}
    """
    features = read_columns(X)
    name, cells = _read_response(y)
    if name in features:
        raise DataError(f"the response and a feature are both named {name!r}; rename one of them")
    if len(cells) != height(features):
        raise DataError(
            f"X and y must have the same number of rows, got {height(features)} and {len(cells)}"
        )
    return features | {name: cells}


def read_columns(X: Any, expected: Sequence[str] | None = None) -> Columns:
    """Return the columns of ``X``; those without names are called x1, x2 and so on.

    ``expected`` are the names the program was trained with: rows without names
    take them, rows with other names are refused.

    Examples
    --------
    >>> read_columns(np.array([[0.5, np.nan]]), expected=["age", "size"])
    {'age': [0.5], 'size': [None]}
    """
    names, columns = _read(X)
    if not columns:
        raise DataError("X has no columns; a program needs at least one feature")
    if names is None and (expected is None or len(expected) == len(columns)):
        names = expected or [f"x{j}" for j in range(1, len(columns) + 1)]
    if expected is not None and (names is None or list(names) != list(expected)):
        raise DataError(
            "the rows to predict must have the columns of the training rows, "
            f"{list(expected)}, got {len(columns) if names is None else list(names)}"
        )
    assert names is not None
    if len(set(names)) < len(names):
        raise DataError(f"column names must differ from each other, got {list(names)}")
    return dict(zip(names, columns, strict=True))


def _read(table: object) -> tuple[Sequence[str] | None, list[list[Cell]]]:
    """Return the names, if there are any, and the cells of each column."""
    if is_sparse(table):
        raise DataError(
            f"a program takes dense columns, got {type(table).__name__}; pass X.toarray()"
        )
    if isinstance(table, np.ndarray):
        return None, _read_array(table)
    if isinstance(table, (list, tuple)):
        return None, _read_rows(table)
    return _read_frame(table)


def _read_array(array: NDArray[Any]) -> list[list[Cell]]:
    if array.ndim != 2:
        raise DataError(f"a program takes rows and columns, got an array of shape {array.shape}")
    return [_array_cells(column, f"x{j}") for j, column in enumerate(array.T, start=1)]


def _read_rows(rows: Sequence[Any]) -> list[list[Cell]]:
    for row in rows:
        if not isinstance(row, (list, tuple, np.ndarray)) or len(row) != len(rows[0]):
            raise DataError(f"X must be a list of rows of equal length, got the row {row!r}")
    columns = zip(*rows, strict=True)
    return [_cells(column, f"x{j}") for j, column in enumerate(columns, start=1)]


def _read_frame(table: Any) -> tuple[list[str], list[list[Cell]]]:
    import narwhals as nw

    try:
        columns = list(nw.from_native(table, eager_only=True).iter_columns())
    except TypeError:
        raise DataError(
            f"a program takes an array, a data frame or a list of rows, got {type(table).__name__}"
        ) from None
    except nw.exceptions.DuplicateError as error:
        raise DataError(f"column names must differ from each other: {error}") from None
    return [str(column.name) for column in columns], [_series_cells(c) for c in columns]


def _read_response(y: Any) -> tuple[str, list[Cell]]:
    """Return the response's own name, or "y", and its cells."""
    if isinstance(y, np.ndarray) and y.ndim == 1:
        return "y", _array_cells(y, "y")
    if isinstance(y, (list, tuple)) and not any(isinstance(v, (list, tuple)) for v in y):
        return "y", _cells(y, "y")
    series = _as_series(y)
    if series is not None:
        return str(series.name or "y"), _series_cells(series)
    names, columns = _read(y)
    if len(columns) != 1:
        raise DataError(f"a program takes one response, got {len(columns)} columns in y")
    return names[0] if names else "y", columns[0]


def _as_series(y: Any) -> Any:
    """Wrap a column of a data frame library; None for anything else."""
    import narwhals as nw

    wrapped = nw.from_native(y, series_only=True, pass_through=True)
    return wrapped if isinstance(wrapped, nw.Series) else None


def _array_cells(column: NDArray[Any], name: str) -> list[Cell]:
    """Turn one column of an array into cells; floats, the common case, are faster."""
    if column.dtype.kind == "f":
        doubles = column.astype(np.float64)
        cells: list[Cell] = doubles.tolist()
        for row in np.flatnonzero(np.isnan(doubles)):
            cells[row] = None
        return cells
    if column.dtype.kind == "M":
        return [None if text == "NaT" else text for text in np.datetime_as_string(column).tolist()]
    return _cells(column.tolist(), name)


def _series_cells(series: Any) -> list[Cell]:
    missing = series.is_null().to_list()
    values = [None if gone else v for v, gone in zip(series.to_list(), missing, strict=True)]
    return _cells(values, series.name)


def _cells(values: Iterable[Any], name: str) -> list[Cell]:
    return [_cell(value, name) for value in values]


def _cell(value: object, name: str) -> Cell:
    """Turn one value into one that CSV and JSON can hold, or say why not."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.generic):
        return _cell(value.item(), name)
    if isinstance(value, (float, Decimal)):
        return None if math.isnan(value) else float(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    raise DataError(
        f"column {name!r} holds {value!r} of type {type(value).__name__}; "
        "a program takes numbers, text, dates and missing values"
    )
