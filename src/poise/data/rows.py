"""Rows in whatever holds them: counted, taken as fresh copies, never converted.

A data frame stays a data frame and sparse stays sparse, so pipelines see their column names.
Whatever is taken is a copy: a fit that writes into its rows changes neither the user's data nor
the rows of the next fit.
"""

from __future__ import annotations

import abc
import copy
import datetime
import decimal
import numbers
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.randomness import Ids
from poise.errors import DataError, ValidityWarning, in_one_line, note

_UNCHANGING = (
    *(numbers.Number, str, bytes, type(None), np.generic, decimal.Decimal),
    *(datetime.date, datetime.time, datetime.timedelta),
)
_REMEDIES = {"dask": "give {}.compute()", "ray": "give {}.to_pandas()"}


class Rows(abc.ABC):
    """Rows that can be counted and taken."""

    native: Any
    kind = "array"  # what the container is called in messages

    def __len__(self) -> int:
        return len(self.native)

    @abc.abstractmethod
    def take(self, places: Ids) -> Any:
        """Return fresh copies of these rows, in the same kind of container."""

    @abc.abstractmethod
    def columns(self) -> tuple[str, ...] | int | None:
        """Return the names of the columns, or their number; None for a single column."""

    def numbers(self) -> NDArray[Any] | None:
        """Return the array of numbers that a numeric estimator would get, or None."""
        return None

    @property
    @abc.abstractmethod
    def labels(self) -> Sequence[str | int]:
        """Names or numbers of the columns of values; a single column is number 0."""

    @abc.abstractmethod
    def column(self, place: int) -> NDArray[Any]:
        """Return the values of one column."""

    def values(self) -> Iterator[tuple[str | int, NDArray[Any]]]:
        """Yield each column by name or number."""
        for place, label in enumerate(self.labels):
            yield label, self.column(place)

    def __getstate__(self) -> Any:
        return vars(self).copy()  # a thread may keep a value here while another one pickles


class _ArrayRows(Rows):
    """A numpy array, or a memory map of one."""

    def __init__(self, native: NDArray[Any]) -> None:
        self.native = np.asarray(native)  # taking from np.memmap itself is a third slower

    def take(self, places: Ids) -> NDArray[Any]:
        taken: NDArray[Any]
        if self.native.flags.c_contiguous:
            taken = self.native.take(places, axis=0)  # twice as fast as indexing,
        else:
            taken = self.native[places]  # but would first copy the whole array here
        return own_copy(taken) if self._mutable else taken

    def columns(self) -> int | None:
        return int(self.native.shape[1]) if self.native.ndim > 1 else None

    def numbers(self) -> NDArray[Any] | None:
        return self.native if self.native.dtype.kind in "biuf" else None

    @property
    def labels(self) -> range:
        return range(int(np.prod(self.native.shape[1:])))

    def column(self, place: int) -> NDArray[Any]:
        column: NDArray[Any] = self.native.reshape(len(self.native), len(self.labels))[:, place]
        return column

    @cached_property
    def _mutable(self) -> bool:
        return self.native.dtype.kind == "O" and some_can_change(self.native.ravel())


class _SparseRows(Rows):
    """A SciPy sparse matrix or array, kept by rows so that they can be taken."""

    kind = "sparse matrix"

    def __init__(self, native: Any) -> None:
        self.native = native.tocsr()

    def __len__(self) -> int:
        return int(self.native.shape[0])

    def take(self, places: Ids) -> Any:
        return self.native[places]

    def columns(self) -> int:
        return int(self.native.shape[1])

    @property
    def labels(self) -> range:
        return range(self.columns())

    def column(self, place: int) -> NDArray[Any]:
        column: NDArray[Any] = self.native[:, [place]].toarray().ravel()
        return column


class _FrameRows(Rows):
    """A table or column of pandas, polars, pyarrow or another library that narwhals reads."""

    def __init__(self, frame: Any) -> None:
        self._frame, self.native = frame, frame.to_native()
        self.kind = f"{_library(self.native)} {type(self.native).__name__}"

    def take(self, places: Ids) -> Any:
        taken = self.native.take(places) if hasattr(self.native, "take") else self.native[places]
        return self._with_own_objects(taken) if self._mutable else taken

    def columns(self) -> tuple[str, ...] | None:
        names = getattr(self._frame, "columns", None)
        return None if names is None else tuple(names)

    def numbers(self) -> NDArray[Any] | None:
        single = self.columns() is None
        kinds = [self._frame.dtype] if single else self._frame.schema.values()
        if not all(str(kind).startswith(("Float64", "Int", "UInt")) for kind in kinds):
            return None
        array = self._frame.to_numpy()
        return np.ascontiguousarray(array, np.float64) if array.dtype.kind in "iuf" else None

    @property
    def labels(self) -> Sequence[str | int]:
        names = self.columns()
        return (0,) if names is None else names

    def column(self, place: int) -> NDArray[Any]:
        series = self._frame if self.columns() is None else self._frame[:, place]
        column: NDArray[Any] = series.to_numpy()
        return column

    @cached_property
    def _mutable(self) -> tuple[str, ...]:
        """The columns whose values a fit could change, such as lists."""
        import narwhals as nw

        columns = [self._frame] if self.columns() is None else self._frame.iter_columns()
        objects = (each for each in columns if each.dtype == nw.Object)
        return tuple(str(each.name) for each in objects if some_can_change(each.to_list()))

    def _with_own_objects(self, taken: object) -> Any:
        frame = _wrapped(taken)
        if self.columns() is None:
            return _own_objects(frame).to_native()
        return frame.with_columns(
            *(_own_objects(frame[name]) for name in self._mutable)
        ).to_native()

    def __getstate__(self) -> Any:
        return self.native  # narwhals' wrappers do not pickle

    def __setstate__(self, native: Any) -> None:
        self.__init__(_wrapped(native))  # type: ignore[misc]


class _ListRows(Rows):
    """A list or tuple of rows, each of them anything that the algorithm understands."""

    kind = "list"

    def __init__(self, native: Sequence[Any]) -> None:
        self.native = native

    def take(self, places: Ids) -> list[Any]:
        taken = [self.native[place] for place in places.tolist()]
        if not self._mutable:
            return taken
        if self._flat:
            return [row.copy() if isinstance(row, list) else row for row in taken]
        return [own_copy(row) for row in taken]

    def columns(self) -> int | None:
        first = self.native[0] if len(self.native) else None
        return len(first) if isinstance(first, (list, tuple)) else None

    @cached_property
    def labels(self) -> range:
        return range(self.columns() or 1 if self._even else 1)

    def column(self, place: int) -> NDArray[Any]:
        return _column([row[place] for row in self.native] if self._even else self.native)

    @cached_property
    def _even(self) -> bool:
        """Whether every row is a list of equally many values."""
        widths = {len(row) if isinstance(row, (list, tuple)) else None for row in self.native}
        return len(widths) == 1 and None not in widths

    @cached_property
    def _mutable(self) -> bool:
        return some_can_change(self.native)

    @cached_property
    def _flat(self) -> bool:
        """Whether rows are lists of numbers and text, which take no deep copy."""
        rows = all(isinstance(row, (list, tuple)) for row in self.native)
        return rows and not any(some_can_change(row) for row in self.native)


def as_rows(native: Any, name: str) -> Rows:
    """Wrap whatever holds the rows; ``name`` is the argument's name in messages.

    Examples
    --------
    >>> as_rows([[1, 2], [3, 4], [5, 6]], "X").take(np.array([2, 0]))
    [[5, 6], [1, 2]]
    >>> as_rows("text", "X")
    Traceback (most recent call last):
    poise.errors.DataError: X must be an array, a data frame, ... got str; read a file with ...
    """
    masked = sys.modules.get("numpy.ma")  # which numpy imports on first use
    if masked is not None and masked.is_masked(native):
        raise DataError("has masked values; remove those rows, or fill them in", argument=name)
    if isinstance(native, np.ndarray) and native.ndim:
        return _ArrayRows(native)
    if isinstance(native, (list, tuple)):
        return _ListRows(native)
    if is_sparse(native):
        return _SparseRows(native)
    frame = _as_frame(native, name)
    if frame is not None:
        return _FrameRows(frame)
    raise DataError(
        "must be an array, a data frame, a sparse matrix or a list of rows, "
        f"got {type(native).__name__}",
        argument=name,
        remedy=_remedy(native, name),
    )


def is_sparse(native: object) -> bool:
    """Tell whether this is a sparse container of SciPy, without importing SciPy."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(native))


def join(first: Any, second: Any) -> Any:
    """Put rows from containers of one kind on top of each other."""
    if isinstance(first, np.ndarray):
        return np.concatenate([first, second])
    if isinstance(first, list):
        return first + second
    if is_sparse(first):
        return sys.modules["scipy.sparse"].vstack([first, second], format="csr")
    import narwhals as nw

    parts = [_wrapped(part) for part in (first, second)]
    if isinstance(parts[0], nw.Series):
        tables = [part.alias("column").to_frame() for part in parts]
        return nw.concat(tables)["column"].alias(parts[0].name).to_native()
    return nw.concat(parts).to_native()


def column_of(frame: Any, name: str) -> Any:
    """Return one column of a data frame, as its library has it."""
    return _wrapped(frame)[name].to_native()


def without_columns(frame: Any, names: list[str]) -> Any:
    """Return a data frame without these columns."""
    return _wrapped(frame).drop(*names).to_native()


def some_can_change(values: Iterable[Any]) -> bool:
    """Tell whether one of the values is mutable.

    Examples
    --------
    >>> some_can_change([1.5, "text", None]), some_can_change([1.5, [2.5]])
    (False, True)
    """
    return not all(issubclass(kind, _UNCHANGING) for kind in set(map(type, values)))


def own_copy(value: Any) -> Any:
    """Copy a value deeply; one that cannot be copied is returned itself, with a warning."""
    if isinstance(value, _UNCHANGING):
        return value
    try:
        return copy.deepcopy(value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # user code may raise anything
        note(
            ValidityWarning,
            f"a {type(value).__name__} among the rows cannot be copied ({in_one_line(error)}); if "
            "a fit writes into it, later fits see that and the error level does not hold",
        )
        return value


def _column(cells: Sequence[Any]) -> NDArray[Any]:
    """Return values as an array: of objects where numpy would make text of numbers, or nest."""
    kinds = set(map(type, cells))
    plain = all(issubclass(kind, (bool, int, float, np.generic)) for kind in kinds)
    if plain or kinds == {str}:
        return np.asarray(cells)
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def _wrapped(native: object) -> Any:
    import narwhals as nw

    return nw.from_native(native, eager_only=True, allow_series=True)


def _as_frame(native: Any, name: str) -> Any:
    """Wrap a table or column that narwhals reads row by row; return None for anything else."""
    import narwhals as nw

    native = _familiar(native)
    try:
        frame = nw.from_native(native, eager_only=True, allow_series=True, pass_through=True)
        if frame is native:
            return None
        getattr(frame, "columns", None)  # pandas' names are checked only now
    except nw.exceptions.DuplicateError as error:
        raise DataError(
            f"has two columns of one name: {' '.join(str(error).split())}", argument=name
        ) from None
    return frame


def _familiar(native: Any) -> Any:
    """Turn columns and batches of pyarrow and pandas into what narwhals knows."""
    pyarrow, pandas = sys.modules.get("pyarrow"), sys.modules.get("pandas")
    if pandas is not None and isinstance(native, pandas.api.extensions.ExtensionArray):
        return pandas.Series(native)
    if pyarrow is None:
        return native
    if isinstance(native, pyarrow.RecordBatch):
        native = pyarrow.Table.from_batches([native])
    if isinstance(native, (pyarrow.Table, pyarrow.ChunkedArray)):
        native = native.combine_chunks()  # else all chunks are joined for every taking
    return pyarrow.chunked_array([native]) if isinstance(native, pyarrow.Array) else native


def _own_objects(column: Any) -> Any:
    """Return a column whose lists, dicts and arrays are its own."""
    native, values = column.to_native(), [own_copy(value) for value in column.to_list()]
    if hasattr(native, "index"):  # pandas
        return _wrapped(type(native)(values, index=native.index, dtype=object, name=native.name))
    return _wrapped(type(native)(column.name, values, dtype=native.dtype))


def _library(native: object) -> str:
    return type(native).__module__.partition(".")[0]


def _remedy(native: object, name: str) -> str:
    if isinstance(native, (str, Path)):
        return "read a file with poise.read_table"
    if _library(native) in _REMEDIES:
        return _REMEDIES[_library(native)].format(name)
    if hasattr(native, "collect"):
        return f"give {name}.collect()"
    return f"give numpy.asarray({name})" if hasattr(native, "__array__") else ""
