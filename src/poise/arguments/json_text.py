"""JSON that others may have written: whatever is wrong with it is a ValueError."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["parse_json"]

_DEEPEST = 64  # lists inside lists; what poise writes has at most eight


def parse_json(text: str | bytes, **hooks: Any) -> Any:
    """Read JSON; a ValueError says what is wrong, also of text that would exhaust the stack.

    The hooks are those of :func:`json.loads`.

    Examples
    --------
    >>> parse_json('{"n": 5}')
    {'n': 5}
    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: lists or objects are nested too deeply
    """
    try:
        content = json.loads(text, **hooks)
    except RecursionError:
        raise ValueError("lists or objects are nested too deeply") from None
    if not _is_shallow(content):
        raise ValueError("lists or objects are nested too deeply")
    return content


def _is_shallow(content: object) -> bool:
    """Look at one level after the other, because recursion is what is to be avoided."""
    level: list[Any] = [content] if isinstance(content, (list, dict)) else []
    for _ in range(_DEEPEST):
        if not level:
            return True
        parts = [each.values() if isinstance(each, dict) else each for each in level]
        level = [item for part in parts for item in part if isinstance(item, (list, dict))]
    return not level
