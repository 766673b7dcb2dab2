"""Lines of JSON with a checksum each; a torn last line is tolerated.

The checksum is the CRC-32 of the line without it, so a line that was damaged or edited is
noticed. It protects against accidents, not against somebody who computes it anew.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from poise.errors import RecordError

__all__ = ["as_checked_line", "read_checked_lines"]

_CHECKSUM = re.compile(rb', "crc32": "([0-9a-f]{8})"}\n\Z')


def as_checked_line(entry: dict[str, Any]) -> bytes:
    r"""Write an entry as one line that ends with its checksum.

    Examples
    --------
    >>> as_checked_line({"trial": 0, "change": 0.5})
    b'{"trial": 0, "change": 0.5, "crc32": "03e2a214"}\n'
    """
    content = json.dumps(entry, allow_nan=False).encode()
    return content[:-1] + f', "crc32": "{zlib.crc32(content):08x}"}}\n'.encode()


def read_checked_lines(
    lines: Iterable[bytes], count: int, name: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read lines back, with the bytes that each of them takes.

    Parameters
    ----------
    lines : iterable of bytes
        Complete lines.
    count : int
        How many there are. If the last of them is damaged, it is left out: it was being
        written when its process died. Any other damaged line is refused, and so is the first.
    name : str
        The file, for messages.

    Examples
    --------
    >>> line = as_checked_line({"trial": 0, "change": 0.5})
    >>> list(read_checked_lines([line, line.replace(b"0.5", b"0.7")], 2, "a.record"))
    [(49, {'trial': 0, 'change': 0.5})]
    >>> list(read_checked_lines([line.replace(b"0.5", b"0.7"), line], 2, "a.record"))
    Traceback (most recent call last):
    poise.errors.RecordError: line 1 of a.record does not match its checksum...
    """
    for number, line in enumerate(lines, 1):
        entry = _entry(line)
        if entry is None and (number < count or number == 1):
            raise RecordError(
                f"line {number} of {name} does not match its checksum: it was damaged or edited. "
                "Take an undamaged copy of the file, or begin a new record with fresh rows"
            )
        if entry is not None:
            yield len(line), entry


def _entry(line: bytes) -> dict[str, Any] | None:
    """Return what the line holds, or None if its checksum is missing or wrong."""
    found = _CHECKSUM.search(line)
    if found is None:
        return None
    content = line[: found.start()] + b"}"
    if f"{zlib.crc32(content):08x}".encode() != found[1]:
        return None
    entry: dict[str, Any] = json.loads(content)
    return entry
