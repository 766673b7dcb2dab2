"""Tables of rows: arrays, data frames, sparse matrices, lists; never converted.

A DataFrame stays a DataFrame and sparse stays sparse, so pipelines see their
column names. Every selection is a fresh copy: an algorithm that changes its input
cannot alter the user's data, nor the other fit of the same trial.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poise.data.deep_copies import own_copy, row_copier, some_can_change
from poise.data.on_disk import StoredTable
from poise.errors import DataError

__all__ = ["Table", "array_of", "as_table", "concatenate", "is_sparse"]

Selection = NDArray[np.int64] | slice

# How somebody gets all rows of a frame whose rows are on the workers of a cluster.
_ALL_ROWS_HERE = {"dask": "compute", "ray": "to_pandas"}


class Table(Protocol):
    """Rows that can be counted and selected."""

    @property
    def native(self) -> Any:
        """The container that holds the rows."""
        ...

    def __len__(self) -> int: ...

    def take(self, rows: Selection) -> Any:
        """Return a fresh copy of these rows in the same kind of container."""
        ...

    def columns(self) -> tuple[str, ...] | int | None:
        """Return the column names, or their number, or None if there are no columns."""
        ...


class ArrayTable:
    """A NumPy array, or a memory map of one."""

    def __init__(self, native: NDArray[Any]) -> None:
        # A plain view: selecting from the memmap class itself is a third slower.
        self.native = np.asarray(native)

    def __len__(self) -> int:
        return int(self.native.shape[0])

    def take(self, rows: Selection) -> NDArray[Any]:
        if self.native.dtype.kind == "O" and self._can_change_inside:
            chosen: NDArray[Any] = own_copy(self.native[rows].copy())
            return chosen
        if isinstance(rows, slice):
            return self.native[rows].copy()
        if not self.native.flags.c_contiguous:
            return self.native[rows]  # `take` would copy the whole array first
        return self.native.take(rows, axis=0)  # twice as fast as indexing with an array

    @cached_property
    def _can_change_inside(self) -> bool:
        return some_can_change(self.native.ravel())

    def columns(self) -> int | None:
        return int(self.native.shape[1]) if self.native.ndim > 1 else None


class SparseTable:
    """A SciPy sparse matrix or array, kept in row order so that rows can be taken."""

    def __init__(self, native: Any) -> None:
        self.native = native.tocsr()

    def __len__(self) -> int:
        return int(self.native.shape[0])

    def take(self, rows: Selection) -> Any:
        return self.native[rows].copy()

    def columns(self) -> int:
        return int(self.native.shape[1])


class FrameTable:
    """A pandas, polars or pyarrow table (or column), read through narwhals."""

    def __init__(self, native: Any) -> None:
        import narwhals as nw

        self.native = native
        self._frame: Any = nw.from_native(native, eager_only=True, allow_series=True)

    def __len__(self) -> int:
        return len(self._frame)

    def take(self, rows: Selection) -> Any:
        chosen = self._frame[rows].to_native()
        # pandas slices are views of the user's data; the other libraries are immutable.
        fresh = chosen.copy() if isinstance(rows, slice) and hasattr(chosen, "copy") else chosen
        return self._with_own_objects(fresh) if self._objects else fresh

    @cached_property
    def _objects(self) -> tuple[str, ...] | bool:
        """The columns of mutable objects (lists, dicts); for a single column, whether it is one."""
        import narwhals as nw

        if hasattr(self._frame, "dtype"):
            return self._frame.dtype == nw.Object and some_can_change(self._frame.to_list())
        return tuple(
            column.name
            for column in self._frame.iter_columns()
            if column.dtype == nw.Object and some_can_change(column.to_list())
        )

    def _with_own_objects(self, fresh: object) -> Any:
        import narwhals as nw

        frame: Any = nw.from_native(fresh, eager_only=True, allow_series=True)
        if self._objects is True:
            return _own_objects(frame).to_native()
        names = self._objects or ()
        return frame.with_columns(*(_own_objects(frame[name]) for name in names)).to_native()

    def columns(self) -> tuple[str, ...] | None:
        names = getattr(self._frame, "columns", None)
        return None if names is None else tuple(names)

    @cached_property
    def numbers(self) -> NDArray[Any] | None:
        """The table as an array of floats in double precision, or None if it is not numeric."""
        frame = self._frame
        kinds = frame.schema.values() if hasattr(frame, "schema") else [frame.dtype]
        if not all(str(kind).startswith(("Float64", "Int", "UInt")) for kind in kinds):
            return None
        array = frame.to_numpy()
        return np.ascontiguousarray(array, np.float64) if array.dtype.kind in "iuf" else None

    def __getstate__(self) -> Any:
        return self.native

    def __setstate__(self, native: Any) -> None:
        self.__init__(native)  # type: ignore[misc]


def _own_objects(column: Any) -> Any:
    """Return a column whose lists, dicts and arrays are its own."""
    import narwhals as nw

    native = column.to_native()
    values = [own_copy(value) for value in column.to_list()]
    if hasattr(native, "index"):  # pandas
        own = type(native)(values, index=native.index, dtype=object, name=column.name)
    else:
        own = type(native)(column.name, values, dtype=native.dtype)
    return nw.from_native(own, series_only=True)


class ListTable:
    """A list or tuple of rows; each row may be anything the algorithm understands."""

    def __init__(self, native: Sequence[Any]) -> None:
        self.native = native

    def __len__(self) -> int:
        return len(self.native)

    def take(self, rows: Selection) -> list[Any]:
        if isinstance(rows, slice):
            return [self._copied(row) for row in self.native[rows]]
        return [self._copied(self.native[int(i)]) for i in rows]

    @cached_property
    def _copied(self) -> Callable[[Any], Any]:
        return row_copier(self.native)

    def columns(self) -> int | None:
        first = self.native[0] if len(self.native) else None
        return len(first) if isinstance(first, (list, tuple)) else None


def array_of(table: Table) -> NDArray[Any] | None:
    """Return all rows as the array that a numeric estimator would get, or None.

    Examples
    --------
    >>> import pandas as pd
    >>> array_of(as_table(pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]}), "X")).tolist()
    [[1.0, 0.5], [2.0, 1.5]]
    >>> array_of(as_table(pd.DataFrame({"town": ["Ely", "Bath"]}), "X")) is None
    True
    """
    if isinstance(table, FrameTable):
        return table.numbers
    return table.native if isinstance(table, ArrayTable) else None


def as_table(native: Any, name: str) -> Table:
    """Wrap whatever holds the rows; ``name`` is the argument's name for messages.

    Examples
    --------
    >>> as_table([[1, 2], [3, 4], [5, 6]], "X").take(slice(0, 2))
    [[1, 2], [3, 4]]
    >>> as_table("text", "X")
    Traceback (most recent call last):
    poise.errors.DataError: X must be an array, a data frame, ... got str; read a file with ...
    """
    if type(native) is np.ndarray and native.ndim:  # nothing else that it could be
        return ArrayTable(native)
    native = _familiar(native)
    if np.ma.is_masked(native):
        raise DataError(f"{name} has masked values; remove those rows, or fill them in")
    if isinstance(native, np.ndarray) and native.ndim:
        return ArrayTable(native)
    if isinstance(native, (list, tuple)):
        return ListTable(native)
    if is_sparse(native):
        return SparseTable(native)
    if isinstance(native, StoredTable):
        return native
    if _is_frame(native):
        return FrameTable(native)
    remedy = "; read a file with poise.read_table" if isinstance(native, (str, Path)) else ""
    library = type(native).__module__.partition(".")[0]
    if library in _ALL_ROWS_HERE:
        remedy = f"; give {name}.{_ALL_ROWS_HERE[library]}()"
    elif hasattr(native, "collect"):
        remedy = f"; give {name}.collect()"
    elif hasattr(native, "__array__"):
        remedy = f"; give numpy.asarray({name})"
    raise DataError(
        f"{name} must be an array, a data frame, a sparse matrix or a list of rows, "
        f"got {type(native).__name__}{remedy}"
    )


def _familiar(native: Any) -> Any:
    """Turn single columns and batches of pyarrow and pandas into tables for narwhals."""
    pyarrow, pandas = sys.modules.get("pyarrow"), sys.modules.get("pandas")
    if pyarrow is not None and isinstance(native, pyarrow.Array):
        return pyarrow.chunked_array([native])
    if pyarrow is not None and isinstance(native, pyarrow.RecordBatch):
        return pyarrow.Table.from_batches([native])
    if pandas is not None and isinstance(native, pandas.api.extensions.ExtensionArray):
        return pandas.Series(native)
    return native


def is_sparse(native: Any) -> bool:
    """Tell whether this is a sparse container of SciPy, without importing SciPy.

    Examples
    --------
    >>> import scipy.sparse
    >>> is_sparse(scipy.sparse.coo_array([[0, 1]])), is_sparse([[0, 1]])
    (True, False)
    """
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(native))


def _is_frame(native: Any) -> bool:
    """Tell whether narwhals can read this table or column row by row."""
    import narwhals as nw

    wrapped = nw.from_native(native, eager_only=True, allow_series=True, pass_through=True)
    return wrapped is not native


def concatenate(first: Any, second: Any) -> Any:
    """Join two selections from containers of the same kind, first on top."""
    if isinstance(first, np.ndarray):
        return np.concatenate([first, np.asarray(second)])
    if isinstance(first, list):
        return first + list(second)
    if is_sparse(first):
        import scipy.sparse

        return scipy.sparse.vstack([first, second], format="csr")
    import narwhals as nw

    parts = [nw.from_native(part, eager_only=True, allow_series=True) for part in (first, second)]
    if isinstance(parts[0], nw.Series):
        frames = [part.alias("column").to_frame() for part in parts]
        return nw.concat(frames)["column"].alias(parts[0].name).to_native()
    return nw.concat(parts).to_native()
