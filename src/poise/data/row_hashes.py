"""A hash of each row: equal rows have equal hashes, others almost never.

An array is read once, some rows at a time, in the order in which it lies in memory:
a table of 52,397 rows and 282 columns takes about a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.on_disk import StoredTable
from poise.data.tables import Table, is_sparse

__all__ = ["Words", "column_words", "number_words", "row_words"]

Words = NDArray[np.uint64]

_FAMILIAR = "iufb"  # kinds of numbers
_VALUES_AT_ONCE = 1 << 15  # so many stay in the cache while they are mixed
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio: it spreads bits


def row_words(tables: list[Table], chosen: NDArray[np.int64] | None = None) -> Words:
    """Hash the rows of tables that stand side by side, or some of them.

    Examples
    --------
    >>> from poise.data.tables import as_table
    >>> words = row_words([as_table([[1.0], [2.0], [1.0]], "X"), as_table([5, 5, 5], "y")])
    >>> bool(words[0] == words[2]), bool(words[0] == words[1])
    (True, False)
    """
    keys = np.zeros(len(tables[0]) if chosen is None else len(chosen), dtype=np.uint64)
    for table in tables:
        keys = mixed(keys * _GOLDEN + _words_of(_native(table, chosen)))
    return keys


def _words_of(native: Any) -> Words:
    if isinstance(native, np.ndarray) and native.dtype.kind in _FAMILIAR:
        # The number of columns, and not -1: without rows, NumPy cannot work it out.
        return _array_words(native.reshape(len(native), int(np.prod(native.shape[1:]))))
    keys = np.zeros(len(native) if not is_sparse(native) else native.shape[0], np.uint64)
    for column in _columns(native):
        keys = mixed(keys * _GOLDEN + column)
    return keys


def _array_words(array: NDArray[Any]) -> Words:
    """Hash the rows of an array of numbers, some at a time."""
    # A factor of its own for every column, so that swapped values do not cancel.
    factors = mixed(np.arange(1, array.shape[1] + 1, dtype=np.uint64) * _GOLDEN) | np.uint64(1)
    step = max(1, _VALUES_AT_ONCE // max(1, array.shape[1]))
    keys = np.empty(len(array), dtype=np.uint64)
    for start in range(0, len(array), step):
        words = number_words(array[start : start + step])
        # The last bits of many floats are zero: mix the first bits into them.
        words ^= words >> np.uint64(29)
        words *= _GOLDEN
        words ^= words >> np.uint64(32)
        keys[start : start + step] = words @ factors
    return keys


def column_words(table: Table, rows: NDArray[np.int64]) -> Iterator[Words]:
    """Yield the columns of some rows, with equal words for equal values."""
    yield from _columns(_native(table, rows))


def _native(table: Table, chosen: NDArray[np.int64] | None) -> Any:
    native = table.native if chosen is None else table.take(chosen)
    return native.take(slice(0, len(native))) if isinstance(native, StoredTable) else native


def _columns(native: Any) -> Iterator[Words]:
    if is_sparse(native):
        yield _sparse_words(native)
    elif isinstance(native, np.ndarray):
        yield from (_words(column) for column in native.reshape(len(native), -1).T)
    elif isinstance(native, (list, tuple)):
        yield _words_of_objects(native)
    else:
        yield from _frame_columns(native)


def _frame_columns(native: Any) -> Iterator[Words]:
    import narwhals as nw

    wrapped: Any = nw.from_native(native, eager_only=True, allow_series=True)
    columns = wrapped.iter_columns() if hasattr(wrapped, "iter_columns") else [wrapped]
    yield from (_words(column.to_numpy()) for column in columns)


def _words(column: NDArray[Any]) -> Words:
    if column.dtype.kind in _FAMILIAR:
        return number_words(column)
    return _words_of_objects(column.tolist())


def number_words(values: NDArray[Any]) -> Words:
    """Return the bits of numbers as floats; 0 and -0 are equal."""
    return np.asarray(np.add(values, 0.0, dtype=np.float64)).view(np.uint64)


def _words_of_objects(values: Any) -> Words:
    try:
        hashes = [hash(value) for value in values]
    except TypeError:  # lists, dicts and arrays
        hashes = [hash(repr(value)) for value in values]
    return np.array(hashes, dtype=np.int64).view(np.uint64)


def _sparse_words(native: Any) -> Words:
    """Hash the entries of each row of a sparse matrix with their positions."""
    entries = mixed(mixed(_words(native.indices)) * _GOLDEN + _words(native.data))
    total = np.concatenate([[np.uint64(0)], np.cumsum(entries, dtype=np.uint64)])
    return np.asarray(total[native.indptr[1:]] - total[native.indptr[:-1]])


def mixed(words: Words) -> Words:
    """Make every bit of a word depend on every other (the finaliser of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))
