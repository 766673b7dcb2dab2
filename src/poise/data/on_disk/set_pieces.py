"""The files of one table, read one after another, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from poise.data.on_disk.file_pieces import BYTES_AT_ONCE, Source, readable, source_of_file
from poise.data.on_disk.file_set import FileSet, RowsPlace
from poise.data.on_disk.hive_keys import hive_keys
from poise.data.on_disk.rows_file import RowsFile
from poise.errors import DataError

__all__ = ["SetSource", "columns_of", "source_of"]


def source_of(place: RowsPlace) -> Source:
    """Open one file or several; errors are those of pyarrow, or a DataError."""
    return SetSource(place) if isinstance(place, FileSet) else source_of_file(place)


class SetSource:
    """Files with the same columns, and a column for each key in the names of their folders.

    Attributes
    ----------
    schema : schema of Arrow
        Columns of the first file without the index of a data frame, then the keys.
    n_rows : int
        Rows of all files.
    starts : array of int64
        The number of the first row of each file; one more entry at the end.
    """

    def __init__(self, files: FileSet) -> None:
        import pyarrow as pa

        self.files = files.files
        self._keys = hive_keys(files)
        first, fields = self.files[0], []
        counts = [0]
        for file in self.files:
            with readable(file):
                source = source_of_file(file)
                found = columns_of(source)
            if file is first:
                fields, metadata = found, source.schema.metadata
            _refuse_different((first, fields), (file, found))
            counts.append(source.n_rows)
        self._refuse_key_in_file(fields)
        self.schema = pa.schema([*fields, *self._keys.schema], metadata)
        self.starts = np.cumsum(counts, dtype=np.int64)
        self.n_rows = int(self.starts[-1])

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield some of the columns from the first row of the first file to the last."""
        for number in range(len(self.files)):
            yield from self._batches_of(number, names)

    def place(self, row: int) -> str:
        """Say in which file a row is."""
        number = int(np.searchsorted(self.starts, row, side="right")) - 1
        return f"row {row - self.starts[number]} of {self.files[number]} (counting from 0)"

    def keys_of(self, number: int) -> dict[str, Any]:
        """Return the values that the name of a file's folder gives to its rows."""
        return {name: self._keys[name][number] for name in self._keys.column_names}

    def _batches_of(self, number: int, names: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa

        keys = self.keys_of(number)
        stored = [name for name in names if name not in keys]
        with readable(self.files[number]):
            for rows, columns in self._stored_columns(number, stored):
                columns |= {name: pa.repeat(value, rows) for name, value in keys.items()}
                yield pa.record_batch({name: columns[name] for name in names})

    def _stored_columns(
        self, number: int, names: Sequence[str]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the columns of one file piece by piece, with the number of rows."""
        if names:
            for batch in source_of_file(self.files[number]).batches(names):
                yield batch.num_rows, dict(zip(names, batch.columns, strict=True))
            return
        rows = int(self.starts[number + 1] - self.starts[number])
        for start in range(0, rows, BYTES_AT_ONCE // 8):
            yield min(BYTES_AT_ONCE // 8, rows - start), {}

    def _refuse_key_in_file(self, fields: Sequence[Any]) -> None:
        both = [field.name for field in fields if field.name in self._keys.column_names]
        if both:
            raise DataError(
                f"{self.files[0]} has a column {both[0]!r}, and so has the name of its folder; "
                "rename the folders or leave the column out of the files"
            )


def columns_of(source: Source) -> list[Any]:
    """Return the columns of a file without the index of a pandas data frame."""
    index = (source.schema.pandas_metadata or {}).get("index_columns", [])
    return [field for field in source.schema if field.name not in index]


def _refuse_different(
    first: tuple[RowsFile, Sequence[Any]], other: tuple[RowsFile, Sequence[Any]]
) -> None:
    """Refuse two files whose columns have different names or types."""
    columns, others = ({field.name: field.type for field in fields} for _, fields in (first, other))
    for name in [*columns, *others]:
        kinds = [str(each.get(name, "missing")) for each in (columns, others)]
        if columns.get(name) != others.get(name):
            raise DataError(
                f"{first[0]} and {other[0]} must have the same columns: {name!r} is {kinds[0]} in "
                f"the first and {kinds[1]} in the second"
            )
