"""Limit what a packed file unpacks to: a small archive can be made to unpack to any size."""

from __future__ import annotations

__all__ = ["most_unpacked"]

_FLOOR = 1 << 28  # bytes; what every machine can hold
_TIMES = 100  # tables of numbers shrink to a half, text with many repetitions to a tenth


def most_unpacked(size: int) -> int:
    """Return the most bytes that a packed file of this size may unpack to.

    Examples
    --------
    >>> most_unpacked(1000), most_unpacked(1 << 30)
    (268435456, 107374182400)
    """
    return max(_FLOOR, _TIMES * size)
