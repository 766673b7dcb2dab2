"""Journals as a killed process leaves them, or as somebody else has edited them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from poise.storage.line_checksums import with_checksums


def shorten(journal: Path, trials: int) -> None:
    """Leave a header, some trials, and half a line."""
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: 1 + trials]) + lines[1 + trials][:7])


def edit_header(journal: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Change the first line of a journal as somebody would who also computes its checksum."""
    first, _, rest = journal.read_bytes().partition(b"\n")
    header = json.loads(first)
    del header["crc32"]
    edit(header)
    journal.write_bytes(with_checksums(json.dumps(header).encode() + b"\n") + rest)
