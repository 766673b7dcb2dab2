"""The suggestion "did you mean": the known name that is closest to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "near_name"]

_NEAR = 0.65  # equal names have 1; with difflib's default 0.6, "salary" would be near "library"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?``, or an empty text if no name is close.

    Examples
    --------
    >>> did_you_mean("targte", ["age", "target"])
    "; did you mean 'target'?"
    >>> did_you_mean("price", ["age", "target"])
    ''
    """
    near = near_name(name, known)
    return "" if near is None else f"; did you mean {near!r}?"


def near_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant, or None if none is near.

    Examples
    --------
    >>> near_name("Target", ["age", "target"])
    'target'
    >>> near_name("salary", ["library"]) is None
    True
    """
    from difflib import get_close_matches

    # Wrong capital letters are the most common mistake, and difflib counts them as a difference.
    by_lowercase = {option.lower(): option for option in known}
    close = get_close_matches(name.lower(), by_lowercase, n=1, cutoff=_NEAR)
    return by_lowercase[close[0]] if close else None
