"""Rows in whatever holds them: counted, taken as fresh copies, never converted.

A data frame stays a data frame and sparse stays sparse, so pipelines see their column names.
Whatever is taken is a copy: a fit that writes into its rows changes neither the user's data nor
the rows of the next fit.
"""

from __future__ import annotations

import abc
import copy
import datetime
import itertools
import math
import numbers
import pickle
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.checks import did_you_mean
from poise.data.randomness import Ids
from poise.errors import DataError, ValidityWarning, in_one_line, note

_UNCHANGING = (
    *(numbers.Number, str, bytes, type(None), np.generic),
    *(datetime.date, datetime.time, datetime.timedelta),
)


class Rows(abc.ABC):
    """Rows that can be counted and taken."""

    native: Any  # the container as it was given
    labels: Sequence[str | int]  # names or numbers of the columns of values
    single: bool  # whether it is one column and no table; the column is then number 0

    def __len__(self) -> int:
        return len(self.native)

    @abc.abstractmethod
    def take(self, places: Ids) -> Any:
        """Return fresh copies of these rows, in the same kind of container."""

    @abc.abstractmethod
    def columns(self) -> Iterator[NDArray[Any]]:
        """Yield the values of each column."""

    def numbers(self) -> NDArray[Any] | None:
        """Return the array of numbers that a numeric estimator would get, or None."""
        return None

    def column(self, place: int) -> NDArray[Any]:
        """Return the values of one column."""
        return next(itertools.islice(self.columns(), place, None))

    @cached_property
    def mutable(self) -> bool:
        """Whether a fit could write into a value."""
        return any(v.dtype.kind == "O" and some_can_change(v.tolist()) for v in self.columns())

    def __getstate__(self) -> Any:
        return vars(self).copy()  # a thread may keep a value here while another one pickles


class _ArrayRows(Rows):
    """A numpy array, or a memory map of one."""

    def __init__(self, native: NDArray[Any]) -> None:
        self.native = np.asarray(native)  # taking from np.memmap itself is a third slower
        self.single = native.ndim == 1
        self.labels = range(math.prod(native.shape[1:]))

    def take(self, places: Ids) -> NDArray[Any]:
        # twice as fast as indexing, but would copy a whole array that is not contiguous
        direct = self.native.flags.c_contiguous
        taken: NDArray[Any]
        taken = self.native.take(places, axis=0) if direct else self.native[places]
        return own_copy(taken) if self.mutable else taken

    def numbers(self) -> NDArray[Any] | None:
        return self.native if self.native.dtype.kind in "biuf" else None

    def columns(self) -> Iterator[NDArray[Any]]:
        return iter(self.native.reshape(len(self.native), len(self.labels)).T)


class _SparseRows(Rows):
    """A SciPy sparse matrix or array, kept by rows so that they can be taken."""

    single = False

    def __init__(self, native: Any) -> None:
        self.native = native.tocsr()
        self.labels = range(int(native.shape[1]))

    def __len__(self) -> int:
        return int(self.native.shape[0])

    def take(self, places: Ids) -> Any:
        return self.native[places]

    def columns(self) -> Iterator[NDArray[Any]]:
        return (self.native[:, [place]].toarray().ravel() for place in self.labels)


class _FrameRows(Rows):
    """A table or column of pandas, polars, pyarrow or another library that narwhals reads."""

    def __init__(self, frame: Any) -> None:
        self.native = frame.to_native()  # narwhals' own wrappers do not pickle
        names = getattr(frame, "columns", None)
        self.single = names is None
        self.labels = range(1) if names is None else tuple(names)

    def take(self, places: Ids) -> Any:
        taken = self.native.take(places) if hasattr(self.native, "take") else self.native[places]
        # pandas copies no objects inside its cells, not even with copy.deepcopy
        kept = hasattr(taken, "index") and self.mutable
        return pickle.loads(pickle.dumps(taken)) if kept else taken

    def numbers(self) -> NDArray[Any] | None:
        frame = _wrapped(self.native)
        kinds = [frame.dtype] if self.single else frame.schema.values()
        if not all(str(kind).startswith(("Float64", "Int", "UInt")) for kind in kinds):
            return None
        array = frame.to_numpy()
        return np.ascontiguousarray(array, np.float64) if array.dtype.kind in "iuf" else None

    def columns(self) -> Iterator[NDArray[Any]]:
        frame = _wrapped(self.native)
        each = [frame] if self.single else frame.iter_columns()
        return (column.to_numpy() for column in each)


class _ListRows(Rows):
    """A list or tuple of rows, each of them anything that the algorithm understands."""

    def __init__(self, native: Sequence[Any]) -> None:
        self.native = list(native)
        widths = {len(row) if isinstance(row, (list, tuple)) else -1 for row in native}
        self.single = len(widths) != 1 or -1 in widths  # else all rows have as many values
        self.labels = range(1 if self.single else widths.pop())

    def take(self, places: Ids) -> list[Any]:
        copied = own_copy if self.mutable else copy.copy
        return [copied(self.native[place]) for place in places.tolist()]

    def columns(self) -> Iterator[NDArray[Any]]:
        each = [self.native] if self.single else zip(*self.native, strict=True)
        return map(_column, each)


def as_rows(native: Any, name: str) -> Rows:
    """Wrap whatever holds the rows; ``name`` is the argument's name in messages."""
    masked = sys.modules.get("numpy.ma")  # which numpy imports on first use
    if masked is not None and masked.is_masked(native):
        raise DataError("has masked values; remove those rows, or fill them in", argument=name)
    if isinstance(native, np.ndarray) and native.ndim:
        return _ArrayRows(native)
    if isinstance(native, (list, tuple)):
        return _ListRows(native)
    if is_sparse(native):
        return _SparseRows(native)
    import narwhals as nw

    known = _familiar(native)
    try:
        frame = nw.from_native(known, eager_only=True, allow_series=True, pass_through=True)
        if frame is not known:
            return _FrameRows(frame)
    except nw.exceptions.DuplicateError as error:
        problem = f"has two columns of one name: {' '.join(str(error).split())}"
        raise DataError(problem, argument=name) from None
    rule = "must be an array, a data frame, a sparse matrix or a list of rows"
    problem = f"{rule}, got {type(native).__name__}"
    raise DataError(problem, argument=name, remedy=_remedy(native, name))


def is_sparse(native: object) -> bool:
    """Tell whether this is a sparse container of SciPy, without importing SciPy."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(native))


def is_on_dask(X: object) -> bool:
    """Tell whether this is a data frame of Dask, without importing Dask."""
    return type(X).__module__.startswith("dask.") and type(X).__name__ == "DataFrame"


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
    # blocks of a pandas frame would decide how the columns lie in memory, and so last digits
    return nw.concat([part.clone() for part in parts]).to_native()


def column_of(rows: Rows, argument: str, value: Any, holder: str = "X") -> Any:
    """Return the column that a text names, as its library has it; anything else as it is."""
    if not isinstance(value, str):
        return value
    if value in rows.labels:
        return _wrapped(rows.native)[value].to_native()
    names = [label for label in rows.labels if isinstance(label, str)]
    problem = f"names no column of {holder}, which has {', '.join(names) or 'no column names'}"
    hint = did_you_mean(value, names).removeprefix("; ")
    raise DataError(problem, argument=argument, got=value, remedy=hint)


def without(rows: Rows, named: Iterable[str]) -> Rows:
    """Return a data frame without the columns of these names."""
    leave = [name for name in dict.fromkeys(named) if name in rows.labels]
    return as_rows(_wrapped(rows.native).drop(*leave).to_native(), "X") if leave else rows


def some_can_change(values: Iterable[Any]) -> bool:
    """Tell whether one of the values is mutable."""
    return not all(issubclass(kind, _UNCHANGING) for kind in set(map(type, values)))


def own_copy(value: Any) -> Any:
    """Copy a value deeply; one that cannot be copied is returned itself, with a warning."""
    try:
        return copy.deepcopy(value)
    except Exception as error:
        what = f"a {type(value).__name__} among the rows cannot be copied ({in_one_line(error)})"
        why = "if a fit writes into it, later fits see that and the error level does not hold"
        note(ValidityWarning, f"{what}; {why}")
        return value


def _column(cells: Sequence[Any]) -> NDArray[Any]:
    """Return values as an array: of objects where numpy would make text of numbers, or nest."""
    kinds = set(map(type, cells))
    plain = all(issubclass(kind, (int, float, np.generic)) for kind in kinds)
    if plain or kinds == {str}:
        return np.asarray(cells)
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def _wrapped(native: object) -> Any:
    import narwhals as nw

    return nw.from_native(native, eager_only=True, allow_series=True)


def _familiar(native: Any) -> Any:
    """Turn columns of pyarrow and pandas into what narwhals knows."""
    pyarrow, pandas = sys.modules.get("pyarrow"), sys.modules.get("pandas")
    if pandas is not None and isinstance(native, pandas.api.extensions.ExtensionArray):
        return pandas.Series(native)
    if hasattr(native, "combine_chunks"):  # else all chunks are joined for every taking
        native = native.combine_chunks()
    if pyarrow is not None and isinstance(native, pyarrow.Array):
        return pyarrow.chunked_array([native])
    return native


def _remedy(native: object, name: str) -> str:
    if isinstance(native, (str, Path)):
        return "read a file with poise.read_table"
    for method in ("compute", "collect", "to_pandas"):
        if hasattr(native, method):
            return f"give {name}.{method}()"
    return f"give numpy.asarray({name})" if hasattr(native, "__array__") else ""
