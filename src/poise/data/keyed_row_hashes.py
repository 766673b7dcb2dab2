"""Keyed hashes that identify rows in a file: they do not reveal the rows without the key.

A hash of :mod:`poise.data.row_hashes` is fast and lives in one process. These hashes are the
same in every process and in every container: a row is known again a year later, and as an
array although it was a data frame before.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.on_disk import StoredTable
from poise.data.tables import Table, array_of, as_table, is_sparse
from poise.errors import ArgumentError, DataError

__all__ = ["RowKey", "row_identities"]

_BYTES_OF_IDENTITY = 8  # among a million rows, two are equal by chance with probability 3e-8
_FEWEST_BYTES_OF_KEY = 16


@dataclass(frozen=True)
class RowKey:
    """A secret with which rows are hashed.

    Parameters
    ----------
    secret : bytes
        At least 16 bytes, so that nobody can guess it.

    Examples
    --------
    >>> RowKey(b"0123456789abcdef").name == RowKey(b"0123456789abcdeg").name
    False
    """

    secret: bytes

    @classmethod
    def of(cls, key: object) -> RowKey:
        """Accept bytes or text."""
        secret = key.encode() if isinstance(key, str) else key
        if not isinstance(secret, bytes) or len(secret) < _FEWEST_BYTES_OF_KEY:
            given = "text or bytes that are too short" if secret else repr(key)
            raise ArgumentError(
                f"key must be bytes or text of at least {_FEWEST_BYTES_OF_KEY} bytes that nobody "
                f"can guess, got {given}"
            )
        return cls(secret)

    @property
    def name(self) -> str:
        """A digest that tells two keys apart and reveals neither."""
        return hashlib.blake2b(self.secret, digest_size=8, person=b"poise key name").hexdigest()

    def hash(self, content: bytes) -> str:
        """Hash the content of one row."""
        state = hashlib.blake2b(content, digest_size=_BYTES_OF_IDENTITY, key=self._derived)
        return state.hexdigest()

    @property
    def _derived(self) -> bytes:
        return hashlib.blake2b(self.secret, person=b"poise rows").digest()


def row_identities(key: RowKey, *tables: Table) -> list[str]:
    """Identify the rows of tables that stand side by side, by their content.

    Examples
    --------
    >>> key = RowKey(b"0123456789abcdef")
    >>> first = row_identities(key, as_table(np.array([[1.0, 2.0], [3.0, 4.0]]), "X"))
    >>> again = row_identities(key, as_table([[3, 4]], "X"))
    >>> first[1] == again[0], first[0] == again[0]
    (True, False)
    """
    contents = [_contents(table) for table in tables]
    return [key.hash(b"\x1d".join(parts)) for parts in zip(*contents, strict=True)]


def _contents(table: Table) -> Iterator[bytes]:
    """Yield the content of each row, in the same bytes whatever holds it."""
    if isinstance(table.native, StoredTable):
        raise DataError("a table that stays on disk cannot be given here; give a smaller file")
    if isinstance(table.native, (list, tuple)):
        table = _as_array(table)
    array = array_of(table)
    if array is not None and array.dtype.kind in "iufb":
        return (row.tobytes() for row in _canonical(array.reshape(len(array), -1)))
    if is_sparse(table.native):
        return _sparse_rows(table.native)
    columns = [_column(values) for values in _columns(table.native)]
    return (b"\x1f".join(values) for values in zip(*columns, strict=True))


def _as_array(table: Table) -> Table:
    """Read a list of lists of numbers as an array; anything else stays a column of objects."""
    try:
        array = np.asarray(table.native)
    except ValueError:  # rows of different lengths
        array = np.empty(0)
    if array.dtype.kind in "iufb" and len(array) == len(table):
        return as_table(array, "X")
    objects = np.empty(len(table), dtype=object)
    objects[:] = [repr(row) for row in table.native]
    return as_table(objects, "X")


def _canonical(array: NDArray[Any]) -> NDArray[np.float64]:
    """Write numbers as doubles; 0 and -0 are equal, and so is every NaN."""
    values = array.astype("<f8") + 0.0
    values[np.isnan(values)] = np.nan
    return np.asarray(values)


def _columns(native: Any) -> Iterator[NDArray[Any]]:
    if isinstance(native, np.ndarray):
        yield from native.reshape(len(native), -1).T
        return
    import narwhals as nw

    frame: Any = nw.from_native(native, eager_only=True, allow_series=True)
    columns = frame.iter_columns() if hasattr(frame, "iter_columns") else [frame]
    yield from (column.to_numpy() for column in columns)


def _column(values: NDArray[Any]) -> list[bytes]:
    if values.dtype.kind in "iufb":
        return [value.tobytes() for value in _canonical(values)]
    return [str(value).encode() for value in values.tolist()]


def _sparse_rows(native: Any) -> Iterator[bytes]:
    sorted_rows = native.copy()
    sorted_rows.sum_duplicates()
    sorted_rows.eliminate_zeros()
    data, places = _canonical(sorted_rows.data), sorted_rows.indices.astype("<i8")
    for low, high in zip(sorted_rows.indptr[:-1], sorted_rows.indptr[1:], strict=True):
        yield places[low:high].tobytes() + data[low:high].tobytes()
