"""Words that go with numbers, and names of things."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["counted", "reads_as_number", "without_addresses"]

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless there is one of them.

    Examples
    --------
    >>> counted(1, "trial"), counted(2000, "trial"), counted(0, "row")
    ('1 trial', '2,000 trials', '0 rows')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def reads_as_number(value: Any) -> bool:
    """Say whether a value is a number, or text that can be read as one.

    Examples
    --------
    >>> reads_as_number("1e3"), reads_as_number("n/a"), reads_as_number(None)
    (True, False, False)
    """
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def without_addresses(name: str) -> str:
    """Leave out where in memory an object lies: that differs in every process.

    Examples
    --------
    >>> without_addresses("<function fit at 0x7f3b2c>")
    '<function fit>'
    """
    return _ADDRESS.sub("", name)
