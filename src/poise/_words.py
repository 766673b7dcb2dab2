"""Words that go with numbers."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless there is one of them.

    Examples
    --------
    >>> counted(1, "trial"), counted(2000, "trial"), counted(0, "row")
    ('1 trial', '2,000 trials', '0 rows')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
