"""Predictions of a program, read and checked number by number."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.program.process import Problem
from poise.data.ordinary_files import read_ordinary
from poise.errors import RecordError

__all__ = ["from_file", "from_json", "most_bytes"]

_MISSING = ("NA", "NaN", "nan")
_BYTES_PER_PREDICTION = 64  # 17 digits, sign, exponent, quotes, some spaces
_BYTES_BESIDES = 1 << 20  # a header, other fields of a reply


def most_bytes(expected: int) -> int:
    """Return the length that no correct file or reply with this many predictions exceeds."""
    return _BYTES_BESIDES + _BYTES_PER_PREDICTION * expected


def from_file(path: Path, expected: int) -> NDArray[np.float64]:
    """Read one number per line; a first line that is not a number is a header.

    NaN is accepted here; the caller decides what it means.
    """
    lines = _text(path, expected).rstrip().splitlines()
    header = lines[0] if lines and _number(lines[0]) is None else None
    first = 1 if header is None else 2
    found = [_on_line(line, k) for k, line in enumerate(lines[first - 1 :], start=first)]
    note = "" if header is None else f" (line 1, {_shown(header)}, was taken as a header)"
    return _exactly(found, expected, note)


def _text(path: Path, expected: int) -> str:
    """Read the file; refuse one that is no file, has no end, or is far too large."""
    if not os.path.lexists(path):
        raise Problem("did not write the file {predictions}")
    try:
        content = read_ordinary(path, most_bytes(expected))
    except RecordError as error:
        what = str(error).removeprefix(f"{path} ")
        raise Problem(f"left a file {{predictions}} that cannot be read: it {what}") from None
    return content.decode("utf-8-sig", "backslashreplace")


def from_json(predictions: object, expected: int) -> NDArray[np.float64]:
    """Check the ``predictions`` of a reply; null, "NA" and "NaN" are NaN."""
    values = predictions if isinstance(predictions, list) else [predictions]
    return _exactly([_in_reply(value, k) for k, value in enumerate(values)], expected)


def _exactly(found: Sequence[float], expected: int, note: str = "") -> NDArray[np.float64]:
    if len(found) != expected:
        raise Problem(f"gave {_counted(len(found))} for {expected} test row(s){note}")
    return np.array(found, dtype=np.float64)


def _counted(count: int) -> str:
    return {0: "no predictions", 1: "1 prediction"}.get(count, f"{count} predictions")


def _on_line(line: str, number: int) -> float:
    value = _number(line)
    if value is None:
        raise Problem(f"wrote {_shown(line)} on line {number}, which is not one number")
    return value


def _in_reply(value: object, position: int) -> float:
    if value is None:
        return float("nan")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _as_float(value, position)
    # R's jsonlite writes what JSON cannot express as text: "NA", "NaN", "Inf", "-Inf".
    number = _number(value) if isinstance(value, str) else None
    if number is None or np.isfinite(number):
        raise Problem(f"gave {_shown(value)} as prediction {position}, which is not a number")
    return number


def _as_float(value: float, position: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise Problem(
            f"gave {_shown(value)} as prediction {position}, which is too large"
        ) from None


def _number(text: str) -> float | None:
    """Read one number, bare or in double quotes; None if it is anything else."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1].strip()
    if text in _MISSING:
        return float("nan")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
