"""Parquet and Feather files whose features stay on disk; tables in several files."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from poise.data.files.columns import FrameColumns, by_number
from poise.data.files.parquet import refuse_no_rows, refuse_too_many, refuse_too_much
from poise.data.on_disk import StoredTable
from poise.data.on_disk.file_pieces import readable, source_of_file
from poise.data.on_disk.file_set import FileSet, RowsPlace
from poise.data.on_disk.rows_file import RowsFile
from poise.data.on_disk.set_pieces import SetSource, columns_of, source_of
from poise.errors import DataError

__all__ = ["StoredColumns", "read_file_set"]


class StoredColumns:
    """Columns of one file or several; only responses and labels are read into memory."""

    unit = "column"
    default_target: str | None = None

    def __init__(self, path: RowsPlace, doing: str = "leaving {} on disk") -> None:
        self._path = path
        self._library = _library(doing.format(path))
        with readable(path):
            self._source = source_of(path)
            self.names = [column.name for column in columns_of(self._source)]
        refuse_no_rows(self._source.n_rows, path)
        for file in path.files if isinstance(path, FileSet) else [path]:
            _check_file(file)
        self.feature_names = self.names

    def features(self, names: list[str]) -> StoredTable:
        """Return rows that become data frames when they are taken."""
        with readable(self._path):
            return StoredTable(self._path, names, self._library)

    def response(self, name: str) -> Any:
        """Return one column, in memory."""
        return self.in_memory([name]).response(name)

    def labels(self, name: str) -> list[Any]:
        """Return one column as it is, in memory."""
        return self.in_memory([name]).labels(name)

    def place(self, row: int) -> str:
        """Say where a row is: in which of several files."""
        return self._source.place(row) if isinstance(self._source, SetSource) else by_number(row)

    def in_memory(self, names: list[str]) -> FrameColumns:
        """Read some columns."""
        table = self.features(names)
        return FrameColumns(table.take(slice(0, len(table))), self.place)


def read_file_set(files: FileSet) -> FrameColumns:
    """Read several files into memory, as one table."""
    stored = StoredColumns(files, "reading {}")
    return stored.in_memory(stored.names)


def _check_file(file: RowsFile) -> None:
    """Refuse a file that claims to hold far more than its size allows."""
    with readable(file):
        source = source_of_file(file)
        refuse_too_much(file)
        refuse_too_many(source.n_rows, len(source.schema.names), file)


def _library(doing: str) -> str:
    """Choose the library of the data frames, or say what to install."""
    libraries = [name for name in ("pandas", "polars") if find_spec(name) is not None]
    if not libraries or find_spec("pyarrow") is None:
        raise DataError(f"{doing} needs pandas and pyarrow: pip install 'poise[data]'")
    return libraries[0]
