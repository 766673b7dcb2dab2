"""One column of a table in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from poise.data.files.table_file import open_table


def read_labels(path: str | Path, name: str, *, on_disk: bool = False) -> list[Any]:
    """Read the column as it is: ``--groups`` and rows that stay on disk use it like this."""
    return open_table(path, on_disk=on_disk).labels(name)
