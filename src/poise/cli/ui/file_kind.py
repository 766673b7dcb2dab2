"""Tell from the first bytes of a file what poise wrote into it, if anything."""

from __future__ import annotations

import zipfile
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from poise.arguments.json_text import parse_json
from poise.errors import RecordError
from poise.results.conditional_trials import FORM
from poise.storage.journal.complete_lines import JOURNAL
from poise.storage.ledger.ledger_file import LEDGER
from poise.storage.monitor_record.record_header import RECORD

__all__ = ["FileKind", "kind_of"]

_BEGINNINGS = tuple(JOURNAL.beginnings())
# JSON of several answers or of a record: another command prints it, and no page can ask it.
_PRINTED = {"confidence_sequence", "e_values", "algorithms", "sizes"}
_FIRST_BYTES = 256
_MOST_BYTES = 1 << 30  # unpacked; a small file may unpack to more than any memory holds
_MOST_JSON_BYTES = 1 << 25


class FileKind(StrEnum):
    """What a file holds."""

    JOURNAL = "journal"
    TRIALS = "trials"
    TRAINING_SET = "training set"
    RESULT = "result"
    TRANSCRIPT = "transcript"
    CERTIFICATE = "certificate"
    CERTIFICATE_FILE = "certificate with its changes"
    MONITOR = "monitor"
    LEDGER = "ledger"
    UNREADABLE = "cannot be read"
    UNREAD = "not read yet"


def kind_of(path: Path) -> FileKind | None:
    """Tell what poise wrote into a file; None if that was something else.

    A file that was meant to be one of these and is not is refused with the reason.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "a.json")
    >>> _ = path.write_text('{"verdict": "stable", "epsilon": 1.0}')
    >>> kind_of(path).value
    'result'
    """
    with path.open("rb") as file:
        first = file.read(_FIRST_BYTES)
    for form, kind in ((RECORD, FileKind.MONITOR), (LEDGER, FileKind.LEDGER)):
        if first.startswith(tuple(form.beginnings())):
            return kind
    if path.suffix == ".jsonl" or first.startswith(_BEGINNINGS):
        return _kind_of_journal(path, first)
    if first.startswith(b"PK"):
        return _kind_of_archive(path)
    if path.suffix == ".json":
        return _kind_of_json(path)
    if path.suffix == ".trials":
        raise RecordError("it does not hold trials saved by poise")
    return None


def _kind_of_journal(path: Path, first: bytes) -> FileKind | None:
    if first.startswith(_BEGINNINGS):
        return FileKind.JOURNAL
    if not first:
        raise RecordError("it is empty: no trial was begun")
    if b"poise" not in first and _is_json_line(path):
        return None
    raise RecordError("its first line is not the header of a journal written by poise")


def _is_json_line(path: Path) -> bool:
    """Tell whether the first line is JSON of any kind: then the file is somebody's data."""
    with path.open("rb") as file:
        line = file.readline(_MOST_JSON_BYTES)
    try:
        parse_json(line)
    except ValueError:
        return False
    return True


def _kind_of_archive(path: Path) -> FileKind | None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: info.file_size for info in archive.infolist()}
    except zipfile.BadZipFile:
        if path.suffix in (".trials", ".npz"):
            raise RecordError("it is damaged: an archive without an end") from None
        return None
    if "header.npy" not in members:
        return None
    if sum(members.values()) > _MOST_BYTES:
        raise RecordError(f"unpacked it has {sum(members.values()):,} bytes, too many to show")
    return _kind_by_format(_format_of(path))


def _format_of(path: Path) -> str:
    try:
        with np.load(path, allow_pickle=False) as content:
            header = parse_json(str(content["header"]))
        return str(header.get("format"))
    except Exception as error:  # somebody's archive, or one of ours that is damaged
        raise RecordError(f"its header cannot be read: {error}") from error


def _kind_by_format(name: str) -> FileKind | None:
    if name == FORM:
        return FileKind.TRAINING_SET
    if name.startswith("poise trials"):
        return FileKind.TRIALS
    return FileKind.TRANSCRIPT if name.startswith("poise transcript") else None


def _kind_of_json(path: Path) -> FileKind | None:
    if path.stat().st_size > _MOST_JSON_BYTES:
        return None
    content = _json(path)
    if not isinstance(content, dict):
        return None
    if str(content.get("format")).startswith("poise certificate"):
        return FileKind.CERTIFICATE_FILE
    if _PRINTED & content.keys():
        return None
    if "verdict" in content and "epsilon" in content:
        return FileKind.RESULT
    if {"notion", "epsilon", "delta", "alpha", "n"} <= content.keys():
        return FileKind.CERTIFICATE
    return FileKind.TRIALS if {"changes", "design"} <= content.keys() else None


def _json(path: Path) -> Any:
    text = path.read_bytes()
    try:
        return parse_json(text)
    except ValueError as error:
        if b"poise" in text or b'"verdict"' in text:
            raise RecordError(f"it is not complete JSON: {error}") from None
        return None
