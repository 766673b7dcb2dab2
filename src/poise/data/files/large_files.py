"""Parquet and Feather files whose features stay on disk."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from poise.data.files.columns import FrameColumns, by_number
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
        try:
            source = source_of(path)
        except Exception as error:  # pyarrow has many exceptions for a damaged file
            raise _unreadable(path, error) from error
        if source.n_rows == 0:
            raise DataError(f"{path} has no rows")
        # The index of a pandas data frame is not a column.
        index = (source.schema.pandas_metadata or {}).get("index_columns", [])
        self.names = [name for name in source.schema.names if name not in index]
        self.feature_names = self.names

    def features(self, names: list[str]) -> StoredTable:
        """Return rows that become data frames when they are taken."""
        import pyarrow as pa

        try:
            return StoredTable(self._path, names, self._library)
        except pa.ArrowException as error:
            raise _unreadable(self._path, error) from error

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


def _unreadable(path: Path, error: Exception) -> DataError:
    kind = "Parquet" if is_parquet(path) else "Feather"
    reason = " ".join(str(error).split()) or type(error).__name__
    return DataError(f"{path} cannot be read as {kind}: {reason}")
