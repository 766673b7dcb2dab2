"""Parquet and Feather files, read by pandas or polars."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from poise.data.files.columns import FrameColumns
from poise.errors import DataError

__all__ = ["read_feather", "read_parquet"]


def read_parquet(path: Path) -> FrameColumns:
    """Read a Parquet file."""
    if _has("pandas", "pyarrow"):
        import pandas as pd

        return _read(pd.read_parquet, path, "Parquet")
    _require_polars(path)
    import polars as pl

    return _read(pl.read_parquet, path, "Parquet")


def read_feather(path: Path) -> FrameColumns:
    """Read a Feather (Arrow IPC) file."""
    if _has("pandas", "pyarrow"):
        import pandas as pd

        return _read(pd.read_feather, path, "Feather")
    _require_polars(path)
    import polars as pl

    return _read(pl.read_ipc, path, "Feather")


def _has(*libraries: str) -> bool:
    return all(find_spec(name) is not None for name in libraries)


def _require_polars(path: Path) -> None:
    """Say what to install if no library can read the file."""
    if not _has("polars"):
        raise DataError(f"reading {path} needs pandas and pyarrow: pip install 'poise[data]'")


def _read(read: Callable[[Path], Any], path: Path, kind: str) -> FrameColumns:
    try:
        frame = read(path)
    except Exception as error:  # each library has its own exceptions for a damaged file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path} cannot be read as {kind}: {reason}") from error
    if len(frame) == 0:
        raise DataError(f"{path} has no rows")
    return FrameColumns(frame)
