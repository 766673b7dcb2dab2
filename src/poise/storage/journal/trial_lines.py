"""How a trial is written as a line of a journal, and read back bit for bit."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.errors import RecordError
from poise.protocol.messages import Failure

__all__ = [
    "Answer",
    "as_answers",
    "as_entry",
    "as_lines",
    "read_entry",
    "warnings_in",
    "with_warnings",
]

_LINES_AT_ONCE = 10_000  # lines parsed together: ten times faster than one by one
_KINDS = ("error", "death", "timeout")
_NOTED = b', "warnings": ['  # inside a text, JSON would write \" for its quotation marks

Answer = float | NDArray[np.float64] | Failure


def as_lines(first: int, answer: Answer) -> bytes:
    r"""Write a trial, or a block of trials that begins with trial ``first``.

    Examples
    --------
    >>> as_lines(7, np.array([0.1, np.inf]))
    b'{"trial": 7, "change": 0.1}\n{"trial": 8, "change": "Infinity"}\n'
    >>> as_lines(7, np.array([[[0.1, np.nan]]]))
    b'{"trial": 7, "changes": [[0.1, null]]}\n'
    """
    if isinstance(answer, Failure):
        return json.dumps(as_entry(first, answer)).encode() + b"\n"
    if isinstance(answer, np.ndarray) and answer.ndim > 1:
        tables = enumerate(answer, first)
        return "".join(json.dumps(as_entry(k, table)) + "\n" for k, table in tables).encode()
    several = isinstance(answer, np.ndarray)
    changes = np.asarray(answer, dtype=np.float64).tolist() if several else [float(answer)]
    # repr gives the shortest digits that read back as the same number.
    return "".join(
        f'{{"trial": {trial}, "change": {change!r}}}\n'
        if change != math.inf
        else f'{{"trial": {trial}, "change": "Infinity"}}\n'
        for trial, change in enumerate(changes, first)
    ).encode()


def as_entry(trial: int, answer: Answer) -> dict[str, Any]:
    """Return what is written of one trial: its change, its table of changes, or its failure.

    Examples
    --------
    >>> as_entry(7, 0.1), as_entry(8, np.array([[0.1, np.nan]]))
    ({'trial': 7, 'change': 0.1}, {'trial': 8, 'changes': [[0.1, None]]})
    """
    if isinstance(answer, Failure):
        entry = {"trial": trial, "failure": answer.message, "kind": answer.kind}
        known = {} if answer.changes is None else {"changes": _written(answer.changes)}
        return {**entry, **known}
    if isinstance(answer, np.ndarray):
        return {"trial": trial, "changes": _written(answer)}
    return {"trial": trial, "change": _number(float(answer))}


def with_warnings(lines: bytes, noted: Sequence[str]) -> bytes:
    r"""Write on the first of these lines what was noticed since the line before.

    Examples
    --------
    >>> with_warnings(b'{"trial": 7, "change": 0.1}\n', ["its code has changed"])
    b'{"trial": 7, "change": 0.1, "warnings": ["its code has changed"]}\n'
    """
    if not noted:
        return lines
    return lines.replace(b"}\n", b', "warnings": ' + json.dumps(list(noted)).encode() + b"}\n", 1)


def warnings_in(lines: Iterable[bytes]) -> tuple[str, ...]:
    """Return what :func:`with_warnings` wrote on any of these lines, each once.

    Examples
    --------
    >>> later = b'{"trial": 8, "change": 0.1, "warnings": ["its code has changed"]}'
    >>> warnings_in([b'{"trial": 7, "change": 0.1}', later])
    ('its code has changed',)
    """
    noted: dict[str, None] = {}
    for line in lines:
        if _NOTED in line:
            # A damaged line is refused when it is read.
            with suppress(ValueError, AttributeError, TypeError, RecursionError):
                found = json.loads(line).get("warnings", ())
                noted |= dict.fromkeys(text for text in found if isinstance(text, str))
    return tuple(noted)


def _written(table: NDArray[np.float64]) -> list[list[float | str | None]]:
    """Write the changes of one trial: a list per removal, null where one is not known."""
    return [[_number(change) for change in row] for row in table.tolist()]


def _number(change: float) -> float | str | None:
    if math.isnan(change):
        return None
    return "Infinity" if math.isinf(change) else change


def _read(trial: int, table: Any) -> NDArray[np.float64]:
    """Read what :func:`_written` wrote."""
    known = {"Infinity": math.inf, None: math.nan}
    try:
        rows = [[known.get(c, c) if not isinstance(c, float) else c for c in row] for row in table]
        changes = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        changes = np.empty(0)
    if changes.ndim != 2 or bool((changes < 0).any()):
        raise _damaged(trial, f"holds no table of changes: {table!r}")
    return changes


def as_answers(lines: Iterable[bytes]) -> Iterator[Answer]:
    """Read lines back into blocks of changes and single failures, in trial order.

    A trial of several changes is a table; a block of such trials has three axes.

    Examples
    --------
    >>> list(as_answers([b'{"trial": 0, "change": 0.5}', b'{"trial": 1, "change": 1.5}']))
    [array([0.5, 1.5])]
    """
    rest = enumerate(lines)
    while part := list(islice(rest, _LINES_AT_ONCE)):
        yield from _blocks(_entries(part))


def _entries(part: list[tuple[int, bytes]]) -> list[Answer]:
    try:
        parsed = json.loads(b"[" + b",".join(line for _, line in part) + b"]")
    except (ValueError, RecursionError):
        parsed = [_parsed(*numbered) for numbered in part]
    if len(parsed) != len(part):
        raise RecordError(f"lines {part[0][0] + 2} ff. of the journal are not one trial each")
    return [read_entry(trial, entry) for (trial, _), entry in zip(part, parsed, strict=True)]


def _parsed(trial: int, line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise _damaged(trial, f"is not JSON: {line[:60]!r}") from None


def read_entry(trial: int, entry: object) -> Answer:
    """Read what :func:`as_entry` returned; check it against its place in the file."""
    if not isinstance(entry, dict) or entry.get("trial") != trial:
        raise _damaged(trial, f"should hold trial {trial}, but holds {entry!r}")
    table = _read(trial, entry["changes"]) if "changes" in entry else None
    if entry.get("kind") in _KINDS and isinstance(entry.get("failure"), str):
        return Failure(trial, entry["failure"], kind=entry["kind"], changes=table)
    if table is not None:
        return table
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


def _blocks(entries: list[Answer]) -> Iterator[Answer]:
    """Put neighbours of the same shape together."""
    for shape, group in groupby(entries, _shape):
        if shape is None:
            yield from group
        else:
            yield np.array(list(group), dtype=np.float64)


def _shape(entry: Answer) -> tuple[int, ...] | None:
    return None if isinstance(entry, Failure) else getattr(entry, "shape", ())
