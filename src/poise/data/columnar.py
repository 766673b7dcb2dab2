"""Parquet and Feather: one file, or many that hold one table together."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from poise.data.text_file import require_file
from poise.errors import DataError

COLUMNAR = (".parquet", ".pq", ".feather", ".arrow")


def read_columnar(place: str) -> Any:
    """Return a table of pyarrow with the rows of all files, in the plain order of their paths."""
    if "://" not in place and "*" not in place and not Path(place).is_dir():
        require_file(place)
    try:
        return _read(place)
    except DataError:
        raise
    except Exception as error:  # those of pyarrow and of many file systems
        raise DataError(f"{place} cannot be read: {' '.join(str(error).split())}") from error


def _read(place: str) -> Any:
    import fsspec
    import pyarrow.dataset

    system, path = fsspec.url_to_fs(place)
    files = _files(system, path)
    if not files:
        raise DataError(f"no Parquet or Feather file in {place}")
    parquet = {file.lower().endswith((".parquet", ".pq")) for file in files}
    if len(parquet) > 1:
        raise DataError(f"{place} holds both Parquet and Feather files")
    data = pyarrow.dataset.dataset(
        files,
        filesystem=system,
        format="parquet" if True in parquet else "feather",
        partitioning="hive",
        partition_base_dir=_base(path),
    )
    _check_fragments(data, _base(path))
    # Threads of pyarrow that call fsspec while the interpreter ends would end it with an error.
    table = data.to_table(use_threads="file" in system.protocol)
    table.validate(full=True)  # offsets out of range would end the process later
    return table.unify_dictionaries()  # each part knows only its own categories


def _files(system: Any, path: str) -> list[str]:
    """Return the files of a folder or pattern, without hidden ones and notes such as _SUCCESS."""
    places = system.glob(path) if "*" in path else [path]
    found = {file for each in places for file in system.find(each)}
    named = ((file, file.rpartition("/")[2]) for file in found)
    ours = [f for f, name in named if name.lower().endswith(COLUMNAR) and name[0] not in "_."]
    return sorted(ours)


def _base(path: str) -> str:
    """Return the folder below which folders such as ``year=2024`` are keys."""
    return path.split("*")[0].rpartition("/")[0] if "*" in path else path


def _check_fragments(data: Any, base: str) -> None:
    """Refuse what pyarrow would fill with missing values, or let a key of a folder win over."""
    first, *others = data.get_fragments()
    for other in others:
        if not other.physical_schema.equals(first.physical_schema):
            raise DataError(f"{first.path} and {other.path} must have the same columns")
    keys = [re.findall(r"([^/=]+)=[^/]*/", each.path[len(base) :]) for each in (first, *others)]
    if any(each != keys[0] for each in keys):
        raise DataError(f"the folders in {base} must all have the same keys")
    both = next((key for key in keys[0] if key in first.physical_schema.names), None)
    if both is not None:
        raise DataError(f"{both!r} is the name of a column and of a folder in {base}")
