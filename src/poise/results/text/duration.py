"""Durations in words, in a readable unit."""

from __future__ import annotations

__all__ = ["duration"]


def duration(seconds: float) -> str:
    """Say roughly how long something takes.

    Examples
    --------
    >>> duration(0.2), duration(90), duration(9000), duration(400000)
    ('less than a second', 'about 2 min', 'about 2.5 h', 'about 4.6 days')
    """
    if seconds < 1:
        return "less than a second"
    if seconds < 60:
        return f"about {seconds:.0f} s"
    if seconds < 3600:
        return f"about {seconds / 60:.0f} min"
    days = seconds / 86400
    return f"about {24 * days:.2g} h" if days < 1 else f"about {days:.2g} days"
