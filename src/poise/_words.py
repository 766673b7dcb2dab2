"""Words that go with numbers."""

from __future__ import annotations

from typing import Any

__all__ = ["counted", "reads_as_number"]


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
