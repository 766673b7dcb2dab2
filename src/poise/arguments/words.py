"""The words of messages about arguments: counts, lists, names probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from poise.errors import printable

__all__ = [
    "counted",
    "did_you_mean",
    "listed",
    "near_name",
    "reads_as_number",
    "shortened",
    "without_addresses",
]

_NEAR = 0.65  # equal names have 1; with difflib's default 0.6, "salary" would be near "library"
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


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


def reads_as_number(value: Any) -> bool:
    """Say whether a value is a number, or text that can be read as one.

    Examples
    --------
    >>> reads_as_number("1e3"), reads_as_number("n/a"), reads_as_number(None)
    (True, False, False)
    """
    try:
        float(value)
    except OverflowError:
        return True  # a whole number that is too large for a float
    except (TypeError, ValueError):
        return False
    return True


def without_addresses(name: str) -> str:
    """Remove the memory address of an object: it differs in every process.

    Examples
    --------
    >>> without_addresses("<function fit at 0x7f3b2c>")
    '<function fit>'
    """
    return _ADDRESS.sub("", name)
