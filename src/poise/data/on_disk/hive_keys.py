"""Columns in the names of folders: ``year=2024/part-0.parquet`` belongs to a row with that year."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from poise.data.on_disk.file_set import FileSet
from poise.errors import DataError

__all__ = ["hive_keys"]


def hive_keys(files: FileSet) -> Any:
    """Return an Arrow table with a row for each file and a column for each key.

    The types are those that pyarrow finds: 32-bit integers if all values of a key are such
    numbers, else text. ``%20`` is a space, and ``__HIVE_DEFAULT_PARTITION__`` is missing.

    Examples
    --------
    >>> from pathlib import Path
    >>> names = ["year=2024/town=a%20b/x.parquet", "year=2025/town=c/x.parquet"]
    >>> hive_keys(FileSet("rows", tuple(map(Path, names)), "")).to_pydict()
    {'year': [2024, 2025], 'town': ['a b', 'c']}
    """
    import pyarrow as pa
    import pyarrow.dataset as ds

    folders = [str(PurePosixPath(place).parent) for place in files.places]
    keys = [_keys(folder) for folder in folders]
    _refuse_different(files, keys)
    schema = pa.schema([(name, pa.string()) for name in keys[0]])
    parser = ds.HivePartitioning(schema)
    found = [ds.get_partition_keys(parser.parse(f"{folder}/")) for folder in folders]
    columns = {name: _typed([each.get(name) for each in found]) for name in keys[0]}
    return pa.table(columns)


def _keys(folder: str) -> list[str]:
    return [part.partition("=")[0] for part in folder.split("/") if "=" in part]


def _typed(values: list[str | None]) -> Any:
    import pyarrow as pa

    texts = pa.array(values, pa.string())
    try:
        return texts.cast(pa.int32())
    except pa.ArrowInvalid:
        return texts


def _refuse_different(files: FileSet, keys: Sequence[list[str]]) -> None:
    for file, names in zip(files.files, keys, strict=True):
        if sorted(names) != sorted(keys[0]):
            raise DataError(
                f"{files.files[0]} and {file} must lie in folders with the same keys, got "
                f"{keys[0]} and {names}"
            )
