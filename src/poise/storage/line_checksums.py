"""A checksum for each line of JSON: written, compared, and refused if damaged.

The checksum is the CRC-32 of the line without it, so a line that was damaged or edited is
noticed: every flipped bit, and every burst of damage up to 32 bits, changes it. It protects
against accidents, not against somebody who computes it anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from zlib import crc32

from poise.arguments.json_text import parse_json
from poise.errors import RecordError

__all__ = ["entry_of", "matches", "only_matching", "with_checksums"]

_KEY = b', "crc32": "'
_END = b'"}\n'
_DIGITS = slice(-len(_END) - 8, -len(_END))
_BEFORE = -len(_KEY) - 8 - len(_END)  # where the checksum begins, counted from the end


def with_checksums(lines: bytes) -> bytes:
    r"""Write the checksum of each line at its end; every line holds a JSON object.

    Examples
    --------
    >>> with_checksums(b'{"trial": 0, "change": 0.5}\n')
    b'{"trial": 0, "change": 0.5, "crc32": "03e2a214"}\n'
    """
    return b"".join(
        b'%b, "crc32": "%08x"}\n' % (line[:-1], crc32(line)) for line in lines.splitlines()
    )


def matches(line: bytes) -> bool:
    r"""Tell whether a line ends with its checksum.

    Examples
    --------
    >>> line = with_checksums(b'{"trial": 0, "change": 0.5}\n')
    >>> matches(line), matches(line.replace(b"0.5", b"0.7")), matches(line[:-1])
    (True, False, False)
    """
    return (
        line.endswith(_END)
        and line[_BEFORE : _DIGITS.start] == _KEY
        and b"%08x" % crc32(b"}", crc32(line[:_BEFORE])) == line[_DIGITS]
    )


def entry_of(line: bytes, checked: bool = True) -> dict[str, Any]:
    r"""Return what a line holds, without its checksum if it is ``checked``.

    Examples
    --------
    >>> entry_of(with_checksums(b'{"trial": 0, "change": 0.5}\n'))
    {'trial': 0, 'change': 0.5}
    """
    try:
        entry: dict[str, Any] = parse_json(line)
        if checked:
            del entry["crc32"]
    except (ValueError, KeyError, TypeError):  # somebody computed a checksum
        raise RecordError(f"this is no line written by poise: {line[:60]!r}") from None
    return entry


def only_matching(lines: Iterable[bytes], name: str, remedy: str) -> Iterator[bytes]:
    r"""Yield the lines of a file; refuse one that does not match its checksum, by its number.

    Examples
    --------
    >>> line = with_checksums(b'{"trial": 0, "change": 0.5}\n')
    >>> list(only_matching([line, line.replace(b"0.5", b"0.7")], "a.jsonl", "Begin anew"))
    Traceback (most recent call last):
    poise.errors.RecordError: line 2 of a.jsonl does not match its checksum: ... Begin anew
    """
    for number, line in enumerate(lines, 1):
        if not matches(line):
            raise RecordError(
                f"line {number} of {name} does not match its checksum: it was damaged or edited. "
                f"{remedy}"
            )
        yield line
