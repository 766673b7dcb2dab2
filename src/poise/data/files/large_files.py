"""Parquet and Feather files whose features stay on disk."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from poise.data.files.columns import FrameColumns, by_number
from poise.data.files.parquet import readable, refuse_too_many, refuse_too_much
from poise.data.on_disk import StoredTable
from poise.data.on_disk.file_pieces import is_parquet, source_of
from poise.errors import DataError

__all__ = ["StoredColumns"]


class StoredColumns:
    """Columns of a file; only responses and labels are read into memory."""

    unit = "column"
    default_target: str | None = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self._library = _library(path)
        with readable(path, _kind(path)):
            source = source_of(path)
            refuse_too_much(path)
            refuse_too_many(source.n_rows, len(source.schema.names), path)
            # The index of a pandas data frame is not a column.
            index = (source.schema.pandas_metadata or {}).get("index_columns", [])
        self.names = [name for name in source.schema.names if name not in index]
        self.feature_names = self.names

    def features(self, names: list[str]) -> StoredTable:
        """Return rows that become data frames when they are taken."""
        with readable(self._path, _kind(self._path)):
            return StoredTable(self._path, names, self._library)

    def response(self, name: str) -> Any:
        """Return one column, in memory."""
        return self._in_memory(name).response(name)

    def labels(self, name: str) -> list[Any]:
        """Return one column as it is, in memory."""
        return self._in_memory(name).labels(name)

    def place(self, row: int) -> str:
        """Say where a row is in the file."""
        return by_number(row)

    def _in_memory(self, name: str) -> FrameColumns:
        table = self.features([name])
        return FrameColumns(table.take(slice(0, len(table))))


def _library(path: Path) -> str:
    """Choose the library of the data frames, or say what to install."""
    libraries = [name for name in ("pandas", "polars") if find_spec(name) is not None]
    if not libraries or find_spec("pyarrow") is None:
        raise DataError(
            f"leaving {path} on disk needs pandas and pyarrow: pip install 'poise[data]'"
        )
    return libraries[0]


def _kind(path: Path) -> str:
    return "Parquet" if is_parquet(path) else "Feather"
