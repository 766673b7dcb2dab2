"""How a trial is written as a line of a journal, and read back bit for bit."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.errors import RecordError
from poise.protocol.messages import Failure

__all__ = ["as_answers", "as_lines"]

_LINES_AT_ONCE = 10_000  # lines parsed together: ten times faster than one by one
_KINDS = ("error", "death", "timeout")

Answer = float | NDArray[np.float64] | Failure


def as_lines(first: int, answer: Answer) -> bytes:
    r"""Write a trial, or a block of trials that begins with trial ``first``.

    Examples
    --------
    >>> as_lines(7, np.array([0.1, np.inf]))
    b'{"trial": 7, "change": 0.1}\n{"trial": 8, "change": "Infinity"}\n'
    """
    if isinstance(answer, Failure):
        entry = {"trial": first, "failure": answer.message, "kind": answer.kind}
        return json.dumps(entry).encode() + b"\n"
    several = isinstance(answer, np.ndarray)
    changes = np.asarray(answer, dtype=np.float64).tolist() if several else [float(answer)]
    # repr gives the shortest digits that read back as the same number.
    return "".join(
        f'{{"trial": {trial}, "change": {change!r}}}\n'
        if change != math.inf
        else f'{{"trial": {trial}, "change": "Infinity"}}\n'
        for trial, change in enumerate(changes, first)
    ).encode()


def as_answers(lines: Iterable[bytes]) -> Iterator[Answer]:
    """Read lines back into blocks of changes and single failures, in trial order.

    Examples
    --------
    >>> list(as_answers([b'{"trial": 0, "change": 0.5}', b'{"trial": 1, "change": 1.5}']))
    [array([0.5, 1.5])]
    """
    rest = enumerate(lines)
    while part := list(islice(rest, _LINES_AT_ONCE)):
        yield from _blocks(_entries(part))


def _entries(part: list[tuple[int, bytes]]) -> list[float | Failure]:
    try:
        parsed = json.loads(b"[" + b",".join(line for _, line in part) + b"]")
    except ValueError:
        parsed = [_parsed(*numbered) for numbered in part]
    if len(parsed) != len(part):
        raise RecordError(f"lines {part[0][0] + 2} ff. of the journal are not one trial each")
    return [_entry(trial, entry) for (trial, _), entry in zip(part, parsed, strict=True)]


def _parsed(trial: int, line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        raise _damaged(trial, f"is not JSON: {line[:60]!r}") from None


def _entry(trial: int, entry: object) -> float | Failure:
    """Check one parsed line against its place in the file."""
    if not isinstance(entry, dict) or entry.get("trial") != trial:
        raise _damaged(trial, f"should hold trial {trial}, but holds {entry!r}")
    if entry.get("kind") in _KINDS and isinstance(entry.get("failure"), str):
        return Failure(trial, entry["failure"], kind=entry["kind"])
    change = entry.get("change")
    if change == "Infinity":
        return math.inf
    if isinstance(change, float) and 0 <= change < math.inf:
        return change
    raise _damaged(trial, f"holds no change of a prediction: {entry!r}")


def _damaged(trial: int, what: str) -> RecordError:
    return RecordError(
        f"line {trial + 2} of the journal {what}. It was damaged or edited; begin a new journal"
    )


def _blocks(entries: list[float | Failure]) -> Iterator[Answer]:
    done = 0
    for i, entry in enumerate(entries):
        if isinstance(entry, Failure):
            if i > done:
                yield np.array(entries[done:i], dtype=np.float64)
            yield entry
            done = i + 1
    if done < len(entries):
        yield np.array(entries[done:], dtype=np.float64)
