"""Numbers to JSON and back without loss: infinities and fractions included."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from typing import Any

import numpy as np

from poise.errors import RecordError

__all__ = ["fields_of", "from_json", "plain", "to_json"]

_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}
_LIKE_INFINITY = re.compile(r"\\*-?Infinity")


def plain(value: Any) -> Any:
    """Turn NumPy scalars, arrays and fractions into what JSON and trackers understand.

    Examples
    --------
    >>> plain({"kappa": Fraction(1, 4), "changes": np.array([0.5, np.inf])})
    {'kappa': 0.25, 'changes': [0.5, inf]}
    """
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Fraction):
        return float(value)
    return value.item() if isinstance(value, np.generic) else value


def to_json(value: Any, indent: int | None = 2) -> str:
    """Write strict JSON; infinities become the strings "Infinity" and "-Infinity"."""
    return json.dumps(_without_infinity(plain(value)), indent=indent, allow_nan=False)


def from_json(text: str) -> Any:
    """Read what :func:`to_json` wrote.

    Examples
    --------
    >>> from_json(to_json({"epsilon_hat": math.inf, "algorithm": "Infinity"}))
    {'epsilon_hat': inf, 'algorithm': 'Infinity'}
    """
    return _with_infinity(json.loads(text))


def fields_of(text: str, names: tuple[str, ...], what: str) -> dict[str, Any]:
    """Read an object that must have these fields; say what is missing otherwise.

    Examples
    --------
    >>> fields_of('{"n": 5}', ("n", "delta"), "a plan")
    Traceback (most recent call last):
    poise.errors.RecordError: this is not JSON of a plan written by poise: no delta in it
    """
    try:
        content = from_json(text)
    except ValueError as error:
        raise RecordError(f"this is not JSON of {what} written by poise: {error}") from None
    missing = [n for n in names if n not in content] if isinstance(content, dict) else list(names)
    if missing:
        raise RecordError(
            f"this is not JSON of {what} written by poise: no {', '.join(missing)} in it"
        )
    return dict(content)


def _without_infinity(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_infinity(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_infinity(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    # A name that reads like an infinity is told apart by a backslash, and so on.
    return f"\\{value}" if isinstance(value, str) and _LIKE_INFINITY.fullmatch(value) else value


def _with_infinity(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_infinity(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_infinity(item) for item in value]
    if isinstance(value, str) and _LIKE_INFINITY.fullmatch(value):
        return _INFINITIES.get(value, value[1:])
    return value
