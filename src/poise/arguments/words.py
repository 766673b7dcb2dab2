"""Counts, lists and long names in the words of a message."""

from __future__ import annotations

import re
from collections.abc import Iterable

from poise.errors import printable

__all__ = [
    "counted",
    "listed",
    "shortened",
    "without_addresses",
]

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def listed(names: Iterable[str], limit: int = 8) -> str:
    """List names for a message; if there are many, only the first few.

    Examples
    --------
    >>> listed(["a", "b"]), listed("abcdefghij", limit=3)
    ('a, b', 'a, b, c and 7 more')
    """
    shown = list(names)
    rest = len(shown) - limit
    return ", ".join(shown[:limit]) + (f" and {rest} more" if rest > 0 else "")


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless there is one of them.

    Examples
    --------
    >>> counted(1, "trial"), counted(2000, "trial"), counted(0, "row")
    ('1 trial', '2,000 trials', '0 rows')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def shortened(name: str, width: int = 80) -> str:
    """Write a name on one line, without control characters; leave out the middle of a long one.

    Examples
    --------
    >>> shortened("Pipeline(steps=[('scale', StandardScaler()), ('ridge', Ridge())])", 40)
    "Pipeline(steps=[('s … idge', Ridge())])"
    >>> shortened("Ridge()")
    'Ridge()'
    """
    text = printable(" ".join(name.split()))
    if len(text) <= width:
        return text
    half = (width - 3) // 2
    return f"{text[: half + 1]} … {text[-half + 1 :]}"


def without_addresses(name: str) -> str:
    """Remove the memory address of an object: it differs in every process.

    Examples
    --------
    >>> without_addresses("<function fit at 0x7f3b2c>")
    '<function fit>'
    """
    return _ADDRESS.sub("", name)
