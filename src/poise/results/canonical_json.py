"""JSON in one form only, so that equal contents have equal bytes (RFC 8785).

Keys are sorted, there is no white space, and numbers are written as JavaScript writes
them: with the fewest digits that give the number back. Two programs that follow the
standard write the same bytes, in whatever language, so a digest of them can be checked
anywhere.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np

from poise.arguments.json_text import parse_json
from poise.errors import RecordError

__all__ = ["canonical_json", "read_strict_json", "sha256_of"]

_LARGEST_WHOLE = 2**53  # larger whole numbers are not the same number in every language
_POSITIONAL = 1e-6, 1e21  # JavaScript writes numbers outside this range with an exponent


def canonical_json(value: object) -> bytes:
    """Write strict JSON in its canonical form, in UTF-8.

    Parameters
    ----------
    value : None, bool, int, float, str, list or dict
        Numbers must be finite; whole numbers at most 2⁵³ in size.

    Examples
    --------
    >>> canonical_json({"b": [1.0, 1e-7, 0.5], "a": None})
    b'{"a":null,"b":[1,1e-7,0.5]}'
    """
    try:
        return _written(value).encode()
    except UnicodeEncodeError:
        raise RecordError("text with half a character (a lone surrogate) has no JSON") from None


def sha256_of(value: object) -> str:
    """Return the SHA-256 digest of the canonical form.

    Examples
    --------
    >>> sha256_of({})
    'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
    """
    return "sha256:" + hashlib.sha256(canonical_json(value)).hexdigest()


def read_strict_json(text: str | bytes, name: str) -> Any:
    """Read JSON; refuse a key that is given twice, and numbers that JSON does not have.

    Of two equal keys, one program reads the first and another the last: a digest would then
    be of something else than what people read.

    Examples
    --------
    >>> read_strict_json('{"n": 1, "n": 2}', "a.json")
    Traceback (most recent call last):
    poise.errors.RecordError: a.json is not JSON that poise reads: 'n' is given twice
    """
    try:
        return parse_json(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_int=_whole_number,
        )
    except ValueError as error:
        raise RecordError(f"{name} is not JSON that poise reads: {error}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = next(key for key in content if sum(other == key for other, _ in pairs) > 1)
        raise ValueError(f"{twice!r} is given twice")
    return content


def _whole_number(digits: str) -> float:
    """Read a whole number as every language does: a large one is a floating-point number."""
    value = float(digits)
    return int(value) if abs(value) <= _LARGEST_WHOLE else value


def _refuse_constant(word: str) -> float:
    raise ValueError(f"{word} is not a number of JSON")


def _written(value: object) -> str:
    if isinstance(value, dict):
        # The standard sorts by UTF-16 code units.
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_text(key)}:{_written(value[key])}" for key in keys) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_written, value)) + "]"
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return _number(value)
    raise RecordError(f"JSON has no {type(value).__name__}: {value!r}")


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _number(value: float) -> str:
    if isinstance(value, int):
        if abs(value) > _LARGEST_WHOLE:
            raise RecordError(f"{value} is larger than 2^53: it must be written as text")
        return str(value)
    if not math.isfinite(value):
        raise RecordError(f"JSON has no number {value}")
    if value == 0:
        return "0"  # also for −0
    smallest, largest = _POSITIONAL
    if smallest <= abs(value) < largest:
        return np.format_float_positional(value, unique=True, trim="-")
    digits, _, exponent = repr(value).partition("e")
    return f"{digits}e{int(exponent):+d}"
