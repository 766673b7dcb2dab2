"""Parquet and Feather files, read by pandas or polars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from poise.data.files.columns import FrameColumns
from poise.data.files.unpacked_feather import unpacked_feather
from poise.data.files.unpacked_parquet import repeated_text, unpacked_pages
from poise.data.files.unpacked_size import most_unpacked
from poise.data.on_disk.file_pieces import is_parquet, readable, source_of_file
from poise.data.on_disk.file_set import RowsPlace
from poise.data.on_disk.rows_file import RowsFile, size_of
from poise.data.ordinary_files import open_ordinary
from poise.errors import DataError

__all__ = [
    "read_feather",
    "read_parquet",
    "refuse_large_pages",
    "refuse_no_rows",
    "refuse_repeated_text",
    "refuse_too_many",
    "refuse_too_much",
]

_BYTES_PER_VALUE = 8
_MOST_BYTES = 1 << 32  # of a table in memory, where the file is small


def read_parquet(path: Path) -> FrameColumns:
    """Read a Parquet file."""
    if _has("pandas", "pyarrow"):
        import pandas as pd

        return _read(pd.read_parquet, path)
    _require_polars(path)
    import polars as pl

    return _read(pl.read_parquet, path)


def read_feather(path: Path) -> FrameColumns:
    """Read a Feather (Arrow IPC) file."""
    if _has("pandas", "pyarrow"):
        import pandas as pd

        return _read(pd.read_feather, path)
    _require_polars(path)
    import polars as pl

    return _read(pl.read_ipc, path)


def _has(*libraries: str) -> bool:
    return all(find_spec(name) is not None for name in libraries)


def _require_polars(path: Path) -> None:
    """Say what to install if no library can read the file."""
    if not _has("polars"):
        raise DataError(f"reading {path} needs pandas and pyarrow: pip install 'poise[data]'")


def _read(read: Callable[[Path], Any], path: Path) -> FrameColumns:
    open_ordinary(path, DataError).close()
    with readable(path):
        if _has("pyarrow") or not is_parquet(path):
            refuse_too_much(path)
        if _has("pyarrow"):
            _check_content(path)
        return FrameColumns(read(path))


def _check_content(path: Path) -> None:
    """Decode every column and check it in full; pandas would not, and crash with the process."""
    source = source_of_file(path)
    refuse_no_rows(source.n_rows, path)
    refuse_too_many(source.n_rows, len(source.schema.names), path)
    for _ in source.batches(source.schema.names):
        pass


def refuse_too_much(path: RowsFile) -> None:
    """Refuse a file that unpacks to more than one of its size should, before it is unpacked."""
    refuse_large_pages(path)
    if is_parquet(path):
        refuse_repeated_text(path)


def refuse_large_pages(path: RowsFile) -> None:
    """Refuse a file whose pages or buffers unpack to too much; only their sizes are read."""
    size = unpacked_pages(path) if is_parquet(path) else unpacked_feather(path)
    _refuse_size(path, size, most_unpacked(size_of(path)))


def refuse_repeated_text(path: RowsFile, groups: Sequence[int] | None = None) -> None:
    """Refuse a Parquet file, or some of its row groups, that repeats a text too often."""
    most = max(_MOST_BYTES, most_unpacked(size_of(path)))
    _refuse_size(path, repeated_text(path, most, groups), most)


def _refuse_size(path: RowsFile, size: int, most: int) -> None:
    if size > most:
        raise DataError(
            f"{path} would unpack to {size:,} bytes or more, which a file of {size_of(path):,} "
            "bytes should not; write it again uncompressed"
        )


def refuse_no_rows(rows: int, path: RowsPlace) -> None:
    """Refuse a table without rows."""
    if rows == 0:
        raise DataError(f"{path} has no rows")


def refuse_too_many(rows: int, columns: int, path: RowsFile) -> None:
    """Refuse a file that says it has far more values than bytes."""
    size = rows * max(1, columns) * _BYTES_PER_VALUE
    if size > max(_MOST_BYTES, most_unpacked(size_of(path))):
        raise DataError(
            f"{path} says that it holds {rows:,} rows, which a file of its size should not"
        )
