"""“Did you mean …?”: the closest of the names that would have worked."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "listed"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `` did you mean 'x'?`` with a leading semicolon, or nothing if nothing is close.

    Examples
    --------
    >>> did_you_mean("targte", ["age", "target"])
    "; did you mean 'target'?"
    >>> did_you_mean("price", ["age", "target"])
    ''
    """
    from difflib import get_close_matches

    # Capital letters are the most common slip, and count as a mismatch for difflib.
    by_lowercase = {option.lower(): option for option in known}
    close = get_close_matches(name.lower(), by_lowercase, n=1)
    return f"; did you mean {by_lowercase[close[0]]!r}?" if close else ""


def listed(names: Iterable[str], limit: int = 8) -> str:
    """List names for a message, the first few of them if there are many.

    Examples
    --------
    >>> listed(["a", "b"]), listed("abcdefghij", limit=3)
    ('a, b', 'a, b, c and 7 more')
    """
    shown = list(names)
    rest = len(shown) - limit
    return ", ".join(shown[:limit]) + (f" and {rest} more" if rest > 0 else "")
