"""The one JSON file: what was asked, what was found, and the changes to judge it again by."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from poise.errors import ArgumentError, RecordError, printable
from poise.results.design import Design
from poise.results.question import Question
from poise.results.result import NUMBERS, Result
from poise.results.trials import Failed, Trials
from poise.settings import COMMAND

FORMAT = "poise result 1"
_MOST_BYTES = 1 << 30
_DIGEST = b'"digest":'  # of all before it, without white space between values
_MOST_PLAIN = 10_000  # changes written as numbers that people can read

Number = float | Literal["inf"] | None  # None: a failed fit, or not applicable
Table = list[Number] | str  # packed: base64 of little-endian doubles


class Document(msgspec.Struct, frozen=True):
    """What is read from a file again, and where its trials come from."""

    format: str
    created: str
    command: str
    data: str
    code: dict[str, str]
    versions: dict[str, str]
    design: Design
    question: Question | None
    begun_with: Question | None
    begun_delta: float
    zeta: float | None
    warnings: tuple[str, ...]
    failures: tuple[Failed, ...]
    shape: tuple[int, int, int]
    changes: Table
    errors: Table
    verdict: str = ""
    rivals: int = 0  # of a journal: how many runs share the level
    constant_error: float | None = None  # of a comparison


def to_dict(of: Trials | Result) -> dict[str, Any]:
    """Return a file's fields as plain values, without the changes."""
    fields: dict[str, Any] = msgspec.to_builtins(_fields(of))
    return {name: fields[name] for name in fields if name not in ("changes", "errors")}


def _fields(of: Trials | Result) -> dict[str, Any]:
    """Return what a file holds; every number of a result is computed."""
    trials = of.trials if isinstance(of, Result) else of
    names = NUMBERS if isinstance(of, Result) else [n for n in NUMBERS if n.startswith("n_")]
    return {
        "format": FORMAT,
        **beginning(trials),
        "statement": [printable(line) for line in str(of).splitlines()],
        "question": of.question if isinstance(of, Result) else None,
        "failures": trials.failures,
        **{name: _plain(getattr(of, name)) for name in names},
        "shape": trials.changes.shape,
        "changes": written(trials.changes),
        "errors": written(trials.errors),
    }


def beginning(trials: Trials) -> dict[str, Any]:
    """Return what is known before the first trial."""
    made, origin = made_now(), trials.origin
    if isinstance(origin, Document):
        made |= {"created": origin.created, "command": origin.command}
    for name, unknown in {"data": "", "code": {}, "versions": {}}.items():
        made[name] = getattr(origin, name) if origin else unknown
    begun = {"begun_with": trials.asked, "begun_delta": trials.delta, "zeta": trials.zeta}
    return made | {"design": trials.design} | begun | {"warnings": trials.warnings}


def made_now() -> dict[str, Any]:
    """Return by which version, when and by which command a file is made."""
    import poise

    now = datetime.now(UTC).isoformat(timespec="seconds")
    typed = printable(COMMAND.get())
    return {"poise": poise.__version__, "created": now, "command": typed}


def write(path: str | Path, of: Trials | Result, **more: float) -> None:
    """Write results or trials as one JSON file."""
    encode, fields = msgspec.json.encode, _fields(of) | more
    lines = [encode(name) + b": " + encode(value) for name, value in fields.items()]
    text = b"{\n" + b",\n".join(lines)
    text += b",\n" + _DIGEST + b' "' + _digest(msgspec.json.format(text + b"}", indent=-1)[:-1])
    replace_file(path, text + b'"\n}\n')


def replace_file(path: str | Path, content: bytes) -> None:
    """Write beside and rename, so that an older file stays whole until the new one is."""
    place = Path(path)
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise RecordError(f"{path} cannot be written: {error.strerror}") from error


def load(path: str | Path) -> Trials | Result:
    """Read what the method ``save`` of an answer wrote, and judge its changes again."""
    return restored(read(path), path)


def read(path: str | Path) -> Document:
    """Read a file's fields; refuse one that was altered since it was written."""
    raw = _bytes_of(Path(path))
    try:
        content = msgspec.json.format(raw, indent=-1).strip()
        found = msgspec.json.decode(content, type=Document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError) as error:
        raise RecordError(f"{path} is not a result written by poise: {error}") from None
    if found.format != FORMAT:
        raise RecordError(f"{path} was written by another version of poise ({found.format})")
    sealed, _, digest = content.rpartition(b"," + _DIGEST)
    if digest != b'"' + _digest(sealed) + b'"}':
        raise RecordError(f"{path} was altered after poise wrote it: its digest does not fit")
    return found


def restored(found: Document, path: str | Path) -> Trials | Result:
    """Make trials, or a result, of a file's fields."""
    try:
        changes = numbers(found.changes).reshape(found.shape)
        if changes.shape != found.shape:
            raise ArgumentError("must be the shape of the changes", argument="shape")
        same = {name: getattr(found, name) for name in ("design", "failures", "warnings", "zeta")}
        begun: dict[str, Any] = {"asked": found.begun_with, "delta": found.begun_delta}
        origin = msgspec.structs.replace(found, changes=[], errors=[])
        trials = Trials(changes, errors=numbers(found.errors), origin=origin, **same, **begun)
        return trials if found.question is None else trials.judge(found.question)
    except ValueError as error:
        raise RecordError(f"{path} is not a result written by poise: {error}") from None


def _bytes_of(place: Path) -> bytes:
    try:
        if not place.is_file() or place.stat().st_size > _MOST_BYTES:
            kind = "is not a file of at most 1 GiB" if place.exists() else "does not exist"
            raise RecordError(f"{place} {kind}")
        return place.read_bytes()
    except OSError as error:
        raise RecordError(f"{place} cannot be read: {error.strerror}") from None


def _plain(value: Any) -> Any:
    """Write a number as JSON has it: nan is null, infinity a word."""
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in value)
    if isinstance(value, float) and math.isnan(value):
        return None
    return "inf" if isinstance(value, float) and math.isinf(value) else value


def written(table: NDArray[np.float64]) -> Table:
    """Write a table of changes: its numbers, or packed."""
    if table.size > _MOST_PLAIN:
        return base64.b64encode(table.astype("<f8").tobytes()).decode()
    return [_plain(value) for value in table.ravel().tolist()]


def numbers(table: Table) -> NDArray[np.float64]:
    """Read what was written so, bit for bit, without its shape."""
    if isinstance(table, str):
        return np.frombuffer(base64.b64decode(table, validate=True), "<f8")
    return np.array([math.nan if value is None else float(value) for value in table])


def _digest(content: bytes) -> bytes:
    return b"sha256:" + hashlib.sha256(content).hexdigest().encode()
