"""Rows that were too few for a trial, kept beside the record if the user allows it.

The record itself holds no rows. This file does: it is written only if ``keep_leftovers`` is
asked for, and holds the rows that no trial has used yet, as plain arrays.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from poise.errors import RecordError
from poise.results.json_encoding import from_json, to_json
from poise.storage.transcript.array_pool import ArrayPool
from poise.storage.transcript.containers import read_container, write_container

__all__ = ["leftovers_path", "load_leftovers", "save_leftovers"]

_FORMAT = "poise leftover rows 1"


def leftovers_path(record: Path) -> Path:
    """Return the name of the file that belongs to a record.

    Examples
    --------
    >>> leftovers_path(Path("ridge.record")).name
    'ridge.record.leftovers.npz'
    """
    return record.with_name(f"{record.name}.leftovers.npz")


def save_leftovers(path: Path, tables: dict[str, Any]) -> None:
    """Write tables in place of those that the file held; the old file stays until then."""
    pool = ArrayPool()
    try:
        notes = {name: write_container(native, pool) for name, native in tables.items()}
    except RecordError:
        raise RecordError(
            "keep_leftovers can keep rows of numbers and words only; these hold something else. "
            "Leave it out: leftover rows are then kept in memory, and can be given again"
        ) from None
    arrays: dict[str, Any] = {f"column {i}": column for i, column in enumerate(pool.columns())}
    arrays["header"] = np.array(to_json({"format": _FORMAT, "tables": notes}, indent=None))
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    beside = path.with_name(f"{path.name}.new")
    with beside.open("wb") as file:
        file.write(buffer.getvalue())
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def load_leftovers(path: Path) -> dict[str, Any]:
    """Read the tables; nothing in the file is run. A file that is not there holds none."""
    if not path.exists():
        return {}
    try:
        with np.load(path, allow_pickle=False) as content:
            arrays = dict(content)
        header = from_json(str(arrays.pop("header")))
        known = header["format"] == _FORMAT
    except Exception as error:
        raise RecordError(f"{path} does not hold leftover rows of a record: {error}") from error
    if not known:
        raise RecordError(f"{path} is not of the format {_FORMAT!r}")
    pool = ArrayPool.from_columns([arrays[f"column {i}"] for i in range(len(arrays))])
    return {name: read_container(note, pool) for name, note in header["tables"].items()}
