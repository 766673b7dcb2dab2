"""Numbers to JSON and back without loss: infinities and fractions included."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from operator import getitem
from typing import Any

import numpy as np

from poise import __version__
from poise.arguments.json_text import parse_json
from poise.errors import RecordError

__all__ = ["fields_of", "from_json", "plain", "to_json"]

_VERSION = "poise_version"
_FLAGS = {math.inf: "_is_infinite", -math.inf: "_is_minus_infinite"}  # beside a number
_PLACES = {math.inf: "_infinite_at", -math.inf: "_minus_infinite_at"}  # beside a list
_INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}
_LIKE_INFINITY = re.compile(r"\\*-?Infinity")


def plain(value: object) -> Any:
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


def to_json(value: object, indent: int | None = 2) -> str:
    """Write strict JSON, with the version of poise in every object.

    Numbers stay numbers. An infinite number is null, and a key beside it says so:
    ``"x": null, "x_is_infinite": true``, or ``"x_is_minus_infinite"``. In a list of
    numbers, ``"x_infinite_at"`` (``"x_minus_infinite_at"``) lists the positions, from
    0. A number that is not known (NaN) is null without such a key.

    Examples
    --------
    >>> print(to_json({"epsilon_hat": math.inf, "changes": [0.5, math.inf]}, indent=None))
    {"poise_version": "...", "epsilon_hat": null, "epsilon_hat_is_infinite": true,
    "changes": [0.5, null], "changes_infinite_at": [1]}
    """
    content = plain(value)
    if isinstance(content, dict):
        content = {_VERSION: __version__} | content
    return json.dumps(_flagged(content), indent=indent, allow_nan=False)


def from_json(text: str) -> Any:
    """Read what :func:`to_json` wrote, in this version or an earlier one.

    A ValueError says what is wrong with a text that was damaged or written by something else.

    Examples
    --------
    >>> from_json(to_json({"epsilon_hat": math.inf, "algorithm": "Infinity"}))
    {'epsilon_hat': inf, 'algorithm': 'Infinity'}
    >>> from_json('{"epsilon_hat": "Infinity"}')  # as 0.1.0 wrote it
    {'epsilon_hat': inf}
    """
    content = parse_json(text)
    if isinstance(content, dict) and content.pop(_VERSION, None) is not None:
        return _unflagged(content)
    return _with_infinity(content)


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


def _flagged(value: object) -> Any:
    """Replace infinities and NaN by null; in an object, a second key says what they were."""
    if isinstance(value, dict):
        marked = {}
        for key, item in value.items():
            marked[key] = _flagged(item)
            marked |= _flags(key, item)
        return marked
    if isinstance(value, list):
        return [_flagged(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _flags(key: str, value: object) -> dict[str, Any]:
    if isinstance(value, float):
        return {f"{key}{_FLAGS[value]}": True} if math.isinf(value) else {}
    flags: dict[str, Any] = {}
    for at, infinite in _infinities(value):
        flags.setdefault(f"{key}{_PLACES[infinite]}", []).append(at[0] if len(at) == 1 else at)
    return flags


def _infinities(value: object, at: tuple[int, ...] = ()) -> Iterator[tuple[list[int], float]]:
    """Yield the positions of infinite numbers in a list, or in lists of lists."""
    if isinstance(value, list):
        for position, item in enumerate(value):
            yield from _infinities(item, (*at, position))
    elif isinstance(value, float) and math.isinf(value):
        yield list(at), value


def _unflagged(value: object) -> Any:
    """Put infinities back where a key says that they were."""
    if isinstance(value, list):
        return [_unflagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    content = {key: _unflagged(item) for key, item in value.items()}
    for infinite in _FLAGS:
        for key in [key for key in value if f"{key}{_FLAGS[infinite]}" in value]:
            content[key] = infinite
            del content[f"{key}{_FLAGS[infinite]}"]
        for key in [key for key in value if f"{key}{_PLACES[infinite]}" in value]:
            places = content.pop(f"{key}{_PLACES[infinite]}")
            try:
                _put(content[key], places, infinite)
            except (LookupError, TypeError):
                raise ValueError(f"{key} has no places {_PLACES[infinite][1:]}") from None
    return content


def _put(numbers: Any, places: Any, infinite: float) -> None:
    """Write an infinity into each of these places, which :func:`to_json` left empty."""
    for place in places:
        *outer, last = place if isinstance(place, list) else [place]
        inside = reduce(getitem, outer, numbers)
        if not isinstance(inside, list) or inside[last] is not None:
            raise TypeError
        inside[last] = infinite


def _with_infinity(value: object) -> Any:
    """Read infinities as poise 0.1.0 wrote them: as words, and such words with a backslash."""
    if isinstance(value, dict):
        return {key: _with_infinity(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_infinity(item) for item in value]
    if isinstance(value, str) and _LIKE_INFINITY.fullmatch(value):
        return _INFINITIES.get(value, value[1:])
    return value
