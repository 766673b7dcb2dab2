"""The named columns of a file, some of which become features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poise.arguments import reads_as_number
from poise.data.on_disk import StoredTable, stored_array
from poise.errors import DataError

__all__ = ["UNNAMED", "Columns", "FrameColumns", "NumericColumns", "as_numbers", "by_number"]

UNNAMED = "Unnamed: "  # pandas' name for a column without a name, used for all libraries


class Columns(Protocol):
    """Named columns of one file."""

    names: list[str]
    feature_names: list[str]  # the features if no response is asked for
    unit: str  # "column" or "array", for messages
    default_target: str | None

    def features(self, names: list[str]) -> Any:
        """Return these columns as a container that algorithms understand."""
        ...

    def response(self, name: str) -> Any:
        """Return one column as the responses."""
        ...

    def labels(self, name: str) -> list[Any]:
        """Return one column as it is."""
        ...

    def place(self, row: int) -> str:
        """Say where a row is in the file, for messages."""
        ...


def by_number(row: int) -> str:
    """Say where a row is in a file without lines."""
    return f"row {row} (counting from 0)"


class FrameColumns:
    """The columns of a pandas or polars data frame."""

    unit = "column"
    default_target: str | None = None

    def __init__(
        self, native: Any, place: Callable[[int], str] = by_number, decimal: str = "."
    ) -> None:
        import narwhals as nw

        self._frame = nw.from_native(native, eager_only=True)
        self.place, self._decimal = place, decimal
        self.names = list(self._frame.columns)
        self.feature_names = self.names

    def features(self, names: list[str]) -> Any:
        """Return a data frame of the same library."""
        return self._frame.select(names).to_native()

    def response(self, name: str) -> Any:
        """Return the column; refuse numbers that a typing error turned into text."""
        column = self._frame.get_column(name)
        if not column.dtype.is_numeric():
            self._refuse_numbers_and_text(name, column.to_list())
        return column.to_native()

    def labels(self, name: str) -> list[Any]:
        """Return one column as it is."""
        values: list[Any] = self._frame.get_column(name).to_list()
        return values

    def first_texts(self, name: str, rows: int) -> dict[int, str]:
        """Return the texts among the first rows of a column, by row."""
        column = self._frame.get_column(name)
        if column.dtype.is_numeric():
            return {}
        values = enumerate(column.head(rows).to_list())
        return {row: value for row, value in values if isinstance(value, str)}

    def _refuse_numbers_and_text(self, name: str, values: list[Any]) -> None:
        """Refuse a response that mixes numbers and text: one typing error makes it all text."""
        texts = [v.replace(self._decimal, ".") if isinstance(v, str) else v for v in values]
        numeric = [reads_as_number(value) for value in texts]
        if sum(numeric) <= len(values) / 2:
            return  # labels
        slips = (i for i, value in enumerate(values) if isinstance(value, str) and not numeric[i])
        row = next(slips, None)
        if row is not None:
            raise DataError(
                f"column {name!r} mixes numbers and text: {values[row]!r} in {self.place(row)}; "
                "correct or remove that row"
            )


class NumericColumns:
    """Columns of numbers: a NumPy file, or text if no data-frame library is installed."""

    unit = "column"
    default_target: str | None = None

    def __init__(
        self, names: list[str], values: NDArray[Any], place: Callable[[int], str] = by_number
    ) -> None:
        self.names = self.feature_names = names
        self._values, self.place = values, place

    def features(self, names: list[str]) -> NDArray[Any]:
        """Return a plain array, without the names."""
        return self._values[:, [self.names.index(name) for name in names]]

    def first_texts(self, name: str, rows: int) -> dict[int, str]:
        """Return nothing: there is no text."""
        return {}

    def response(self, name: str) -> NDArray[Any]:
        """Return one column."""
        return self._values[:, self.names.index(name)]

    def labels(self, name: str) -> list[Any]:
        """Return one column as it is."""
        values: list[Any] = self.response(name).tolist()
        return values


def as_numbers(native: Any) -> Any:
    """Return a plain array if all values are numbers, else the frame or column itself.

    Rows of an array are selected many times faster. Use it if nothing depends on the names
    of the columns. Rows that stay on disk are written to a temporary file, row after row,
    and returned as a memory map of that file.

    Examples
    --------
    >>> import pandas as pd
    >>> as_numbers(pd.DataFrame({"a": [1, 2], "b": [0.5, None]})).tolist()
    [[1.0, 0.5], [2.0, nan]]
    >>> as_numbers(pd.Series(["red", "blue"])).tolist()
    ['red', 'blue']
    """
    if isinstance(native, np.ndarray):
        return native
    if isinstance(native, StoredTable):
        array = stored_array(native)
        return native if array is None else array
    import narwhals as nw

    table: Any = nw.from_native(native, eager_only=True, allow_series=True)
    dtypes = table.schema.values() if hasattr(table, "schema") else [table.dtype]
    if not all(dtype.is_numeric() for dtype in dtypes):
        return native
    return np.ascontiguousarray(table.to_numpy())  # C order: the values of a row lie together
