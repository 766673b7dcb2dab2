"""Columns that may be identifiers, times or groups, or have missing values.

Nothing here is proof: a column is listed because of its name or its values. A person who
knows the data must decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from poise.arguments import counted
from poise.data.tables import Table, is_sparse

__all__ = ["ColumnRemark", "suspicious_columns"]

Kind = Literal["identifier", "time", "group", "missing"]

_ROWS_LOOKED_AT = 100_000
_FEWEST_ROWS = 20  # in fewer rows, values differ or rise by chance
_DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})\b")
_TIME_WORDS = {"date", "time", "datetime", "timestamp", "year", "month", "week", "day", "hour"}
_OWNER_WORDS = {
    *("id", "patient", "subject", "person", "participant", "user", "customer", "client"),
    *("group", "cluster", "site", "hospital", "school", "household", "session", "batch"),
}


@dataclass(frozen=True)
class ColumnRemark:
    """What is remarkable about one column.

    Attributes
    ----------
    column : str
        Its name, or its number counted from 0.
    kind : {"identifier", "time", "group", "missing"}
        What it looks like.
    found : str
        What was seen.
    """

    column: str
    kind: Kind
    found: str


def suspicious_columns(table: Table) -> tuple[ColumnRemark, ...]:
    """List the columns that look like identifiers, times or groups, or have missing values.

    Only the first 100,000 rows are examined; sparse matrices and lists are not.

    Examples
    --------
    >>> import pandas as pd
    >>> from poise.data.tables import as_table
    >>> frame = pd.DataFrame({"row": range(30), "age": [None, 41.5, 38.0] * 10})
    >>> for remark in suspicious_columns(as_table(frame, "X")):
    ...     print(remark.column, remark.kind, remark.found, sep=": ")
    row: identifier: a whole number for each row, none left out
    age: missing: 10 of 30 values
    """
    return tuple(
        remark for name, values in _columns(table) for remark in _remarks(str(name), values)
    )


def _columns(table: Table) -> Iterator[tuple[Any, NDArray[Any]]]:
    if is_sparse(table.native) or isinstance(table.native, (list, tuple)):
        return
    rows: Any = table.take(slice(0, min(len(table), _ROWS_LOOKED_AT)))
    if isinstance(rows, np.ndarray):
        yield from enumerate(rows.reshape(len(rows), -1).T)
        return
    import narwhals as nw

    frame: Any = nw.from_native(rows, eager_only=True, allow_series=True)
    for column in frame.iter_columns() if hasattr(frame, "iter_columns") else [frame]:
        yield column.name, column.to_numpy()


def _remarks(name: str, values: NDArray[Any]) -> Iterator[ColumnRemark]:
    missing = _missing(values)
    known = values[~missing]
    if missing.any():
        holes = f"{missing.sum():,} of {counted(len(values), 'value')}"
        text = len(known) and all(isinstance(value, str) for value in known)
        yield ColumnRemark(name, "missing", f"{holes}, the others are text" if text else holes)
    if len(known) >= _FEWEST_ROWS and (seen := _looks_like(name, known)):
        yield ColumnRemark(name, *seen)


def _missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind == "M":
        return np.asarray(np.isnat(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=np.bool_)
    return np.array([value is None or value != value for value in values], dtype=np.bool_)


def _looks_like(name: str, values: NDArray[Any]) -> tuple[Kind, str] | None:
    """Return the first kind that fits: a time, an identifier, a group."""
    words = set(re.split(r"[\W_]+|(?<=[a-z])(?=[A-Z])", name))
    lower = {word.lower() for word in words}
    numeric = values.dtype.kind in "iuf"
    if values.dtype.kind in "mM" or _are_dates(values):
        return "time", "dates or times"
    distinct = len(np.unique(values)) if values.dtype.kind != "O" else len({*map(str, values)})
    everywhere = distinct == len(values)
    whole = numeric and bool((values == np.round(values)).all())
    if whole and everywhere and np.ptp(values) == len(values) - 1:
        return "identifier", "a whole number for each row, none left out"
    if everywhere and (not numeric or (whole and lower & _OWNER_WORDS)):
        return "identifier", "another value in every row"
    if numeric and distinct > len(values) // 2 and bool((np.diff(values) >= 0).all()):
        return "time", "rises from row to row: the rows may be in order of time"
    if lower & _TIME_WORDS:
        return "time", "by its name"
    if lower & _OWNER_WORDS and (whole or not numeric) and 2 < distinct < len(values):
        return "group", f"by its name; {distinct:,} values in {len(values):,} rows"
    return None


def _are_dates(values: NDArray[Any]) -> bool:
    some = values[:_FEWEST_ROWS]
    if values.dtype.kind not in "OUT":
        return False
    return all(hasattr(v, "year") or (isinstance(v, str) and _DATE.match(v)) for v in some)
