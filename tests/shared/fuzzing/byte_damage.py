"""Flipped, cut, repeated and inserted bytes; words that no reader expects."""

from __future__ import annotations

import re
from random import Random

WORDS = [
    b"null", b"true", b"NaN", b"Infinity", b"-1", b"1e9", b"1e400", b"0x10", b"1_000", b"1/0",
    b"9" * 25, b"9" * 5000, b"-9223372036854775809", b"[]", b"{}", b"[" * 2000, b'{"a":' * 500,
    b'"', b"'", b'"""', b",", b";", b"=", b"#", b"\\", b"../", b"\n", b"\r", b"\r\n", b"\t",
    b"\\u0000", b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe",
    b"\x1b[31m", b"\xe2\x80\xae", b"$x_$",
]  # fmt: skip
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def damage_bytes(content: bytes, chance: Random) -> bytes:
    """Do one to three small things to some bytes."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        chance.choice(_ACTS)(data, chance)
    return bytes(data)


def _place(data: bytearray, chance: Random) -> int:
    return chance.randrange(len(data) + 1)


def _flip(data: bytearray, chance: Random) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _set(data: bytearray, chance: Random) -> None:
    if data:
        data[chance.randrange(len(data))] = chance.choice([0, 1, 127, 128, 255])


def _delete(data: bytearray, chance: Random) -> None:
    at = _place(data, chance)
    del data[at : at + chance.randint(1, 8)]


def _insert(data: bytearray, chance: Random) -> None:
    at = _place(data, chance)
    data[at:at] = chance.choice(WORDS)


def _replace(data: bytearray, chance: Random) -> None:
    at = _place(data, chance)
    data[at : at + chance.randint(1, 4)] = chance.choice(WORDS)


def _truncate(data: bytearray, chance: Random) -> None:
    if chance.random() < 0.3:
        del data[_place(data, chance) :]


def _prefix(data: bytearray, chance: Random) -> None:
    if chance.random() < 0.3:
        data[:0] = chance.choice(WORDS)


def _number(data: bytearray, chance: Random) -> None:
    """Replace one number of a text."""
    found = list(_NUMBER.finditer(data[:20_000]))
    if found:
        start, end = chance.choice(found).span()
        data[start:end] = chance.choice(WORDS)


def _line(data: bytearray, chance: Random) -> None:
    """Repeat, drop or move a line."""
    lines = bytes(data).splitlines(keepends=True)
    if len(lines) > 1:
        line = lines.pop(chance.randrange(len(lines)))
        for _ in range(chance.randint(0, 2)):
            lines.insert(chance.randrange(len(lines) + 1), line)
        data[:] = b"".join(lines)


_ACTS = [_flip, _flip, _set, _delete, _insert, _replace, _truncate, _prefix, _number, _line]
