"""Rows that were too few for a trial, kept beside the record if the user allows it.

The record itself holds no rows. This file does: it is written only if ``keep_leftovers`` is
asked for, and holds the rows that no trial has used yet, as plain arrays.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from poise.arguments.field_rules import Among
from poise.arguments.typed_fields import read_object
from poise.data.damaged_file import naming_file
from poise.data.files.array_archive import read_arrays
from poise.errors import RecordError
from poise.results.json_encoding import from_json, to_json
from poise.storage.transcript.array_pool import ArrayPool
from poise.storage.transcript.containers import read_container, write_container

__all__ = ["leftovers_path", "load_leftovers", "save_leftovers"]

_FORMAT = "poise leftover rows 1"
_COMPLAINT = "does not hold leftover rows of a record"


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
    arrays = read_arrays(path, _COMPLAINT, RecordError)
    with naming_file(path, _COMPLAINT):
        header = read_object(_Header, from_json(str(arrays.pop("header"))), "leftover rows")
        pool = ArrayPool.from_columns([arrays[f"column {i}"] for i in range(len(arrays))])
        return {name: read_container(note, pool) for name, note in header.tables.items()}


@dataclass(frozen=True)
class _Header:
    """What the file says beside its columns of numbers and words."""

    format: Annotated[str, Among((_FORMAT,))]
    tables: dict[str, dict[str, Any]]
