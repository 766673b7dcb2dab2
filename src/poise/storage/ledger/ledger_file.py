"""A ledger on disk: read at any time, written by one process after the other."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from poise.errors import RecordError
from poise.storage.journal.append_only_file import FileInUse, GrowingFile
from poise.storage.journal.complete_lines import CompleteLines, FileKind
from poise.storage.ledger.entries import LedgerHeader
from poise.storage.ledger.ledger_content import LedgerContent
from poise.storage.line_checksums import entry_of

__all__ = ["LEDGER", "OpenLedger", "entries_of", "opened", "read_ledger"]

LEDGER = FileKind("ledger", "poise ledger", 1, anew=" for fresh rows")

_LONGEST_WAIT_SECONDS = 60.0  # a process keeps the file for a moment only
_SECONDS_BETWEEN_TRIES = 0.01


class OpenLedger:
    """A ledger that this process alone may write, until it is closed.

    Parameters
    ----------
    path : Path
        The file.

    Attributes
    ----------
    content : LedgerContent or None
        What it holds; None before its header is written.
    """

    def __init__(self, path: Path) -> None:
        self._file = _free(path)
        try:
            self.content = _content(self._file.before, str(path))
        except BaseException:
            self._file.close()
            raise

    def begin(self, header: LedgerHeader) -> LedgerContent:
        """Write the first line."""
        self.content = LedgerContent(header)
        self._append([{"format": LEDGER.format, **header.to_entry()}])
        return self.content

    def append(self, entries: Iterable[dict[str, Any]]) -> LedgerContent:
        """Write lines; they are on the disk before this returns."""
        assert self.content is not None
        several = list(entries)
        self._append(several)
        self.content.__dict__.pop("_families", None)
        for entry in several:
            self.content.take(entry)
        return self.content

    def _append(self, entries: list[dict[str, Any]]) -> None:
        lines = (json.dumps(entry, allow_nan=False).encode() + b"\n" for entry in entries)
        self._file.append(b"".join(lines))
        self._file.sync()

    def close(self) -> None:
        """Let other processes write."""
        self._file.close()


@contextmanager
def opened(path: Path) -> Iterator[OpenLedger]:
    """Open a ledger for writing; wait while another process writes to it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "stability.ledger"
    >>> with opened(path) as ledger:
    ...     _ = ledger.begin(LedgerHeader.new(0.05))
    >>> read_ledger(path).header.alpha
    0.05
    """
    ledger = OpenLedger(path)
    try:
        yield ledger
    finally:
        ledger.close()


def read_ledger(path: Path) -> LedgerContent:
    """Read a ledger without changing it, also one that another process is writing."""
    content = _content(_lines(path), str(path))
    if content is None:
        raise RecordError(f"{path} is empty: no question was put")
    return content


def entries_of(path: Path) -> list[dict[str, Any]]:
    """Return what each line of a ledger holds."""
    return [entry_of(line) for line in _lines(path)]


def _lines(path: Path) -> CompleteLines:
    try:
        return CompleteLines(path, LEDGER)
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror}") from None


def _free(path: Path) -> GrowingFile:
    """Open the file as soon as no other process has it."""
    limit = time.monotonic() + _LONGEST_WAIT_SECONDS
    while True:
        try:
            return GrowingFile(path, LEDGER)
        except FileInUse:
            if time.monotonic() > limit:
                raise
            time.sleep(_SECONDS_BETWEEN_TRIES)


def _content(lines: CompleteLines, name: str) -> LedgerContent | None:
    content: LedgerContent | None = None
    for number, line in enumerate(lines, 1):
        with _named(f"line {number} of {name}"):
            if content is None:
                content = LedgerContent(LedgerHeader.from_entry(entry_of(line)))
            else:
                content.take(entry_of(line))
    if content is not None:
        with _named(name):
            content.require_complete()
    return content


@contextmanager
def _named(place: str) -> Iterator[None]:
    try:
        yield
    except RecordError as error:
        raise RecordError(f"{place} cannot be used: {error}") from None
