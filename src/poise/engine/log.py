"""A file that only grows: JSON objects, one a line, each with a checksum; one writer at a time.

A journal of trials, a conversation with a procedure and the record of a monitor are such files.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import msgspec

from poise.errors import RecordError

Entry = dict[str, Any]

_BETWEEN_SYNCS = 1.0  # seconds
_LONGEST = 1 << 28  # bytes of a line
_FORMAT = "poise {} 1"
_BEGINNING = re.compile(rb'\{"format":"poise (\w+) 1"')
_CHECKSUM = b',"crc32":"%08x"}\n'


class Log(AbstractContextManager["Log"]):
    """The file, opened and locked for writing.

    What is appended is with the operating system at once, so that it is kept if this process is
    killed, and on the disk within a second. A file that is not a log of this kind is refused
    untouched; a last line that was cut off goes when the next one is written. JSON has no nan and
    no infinity: write them as null and as text.
    """

    def __init__(self, path: str | Path, kind: str) -> None:
        self.path, self.kind = Path(path).absolute(), kind  # user code may change the folder
        self.header: Entry | None = None  # what it was begun with, once ``begin`` has been called
        self._size, self._synced = 0, time.monotonic()
        self._file, self._is_new = _opened(self.path)
        try:
            self._on_disk = os.fstat(self._file.fileno()).st_size
            for end, entry in _lines(self.path, kind):
                self._size, self.header = end, entry if self.header is None else self.header
        except BaseException:
            self.close()
            raise

    def entries(self) -> Iterator[Entry]:
        """Yield what was appended, also by earlier processes; the header is left out."""
        lines = _lines(self.path, self.kind, self._size)
        next(lines, None)
        return (entry for _, entry in lines)

    def begin(self, header: Mapping[str, Any]) -> None:
        """Write the first line of a new file."""
        self.header = _as_read(header)
        self._write({"format": _FORMAT.format(self.kind), **header}, sync=True)

    def append(self, entry: Mapping[str, Any] | msgspec.Struct) -> None:
        """Write a line; if the file is not as it was left, or has no space, nothing is written."""
        self._write(entry, sync=time.monotonic() - self._synced >= _BETWEEN_SYNCS)

    def _write(self, entry: Mapping[str, Any] | msgspec.Struct, sync: bool) -> None:
        self.require_untouched()
        text, file = msgspec.json.encode(entry), self._file
        line = text[:-1] + _CHECKSUM % crc32(text)
        try:
            if self._on_disk > self._size:  # the last line was cut off
                os.ftruncate(file.fileno(), self._size)
            if file.write(line) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if sync:
                self._sync()
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(file.fileno(), self._size)
            raise RecordError(
                f"{self.path} cannot be written: {error.strerror}; what is in it is kept, and the "
                "same call goes on from there"
            ) from error
        self._size = self._on_disk = self._size + len(line)

    def require_untouched(self) -> None:
        """Refuse to write where somebody else has; a fit may even reuse a closed descriptor."""
        try:
            there, ours = os.stat(self.path), os.fstat(self._file.fileno())
            untouched = os.path.samestat(there, ours) and there.st_size == self._on_disk
        except (OSError, ValueError):
            untouched = False
        if not untouched:
            raise RecordError(f"{self.path} was deleted, replaced or changed in the meantime")

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        """Let others write; a new file that was never begun is removed."""
        with suppress(OSError, ValueError):
            if self._size:
                self._sync()
            elif self._is_new:
                self.path.unlink()
        with suppress(OSError):
            self._file.close()

    def __exit__(self, *error: object) -> None:
        self.close()


def read(path: str | Path, kind: str) -> Iterator[Entry]:
    """Yield the header of a log and then its entries, also while it is being written."""
    _require_ordinary(Path(path))
    return (entry for _, entry in _lines(Path(path), kind))


def kind_of(path: str | Path) -> str:
    """Return which kind of log a file begins as, "" if it is none."""
    try:
        _require_ordinary(Path(path))
        with Path(path).open("rb") as file:
            found = _BEGINNING.match(file.read(100))
    except (RecordError, OSError, ValueError):
        return ""
    return found[1].decode() if found else ""


def require_same(path: str | Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to go on with a log of something else; name what differs, with both values."""
    there, here = (_as_read(each) for each in (before, now))
    others = [
        f"{name}: {there.get(name)} there, {here[name]} here"
        for name in here
        if here[name] != there.get(name)
    ]
    if others:
        raise RecordError(f"{path} belongs to another run ({'; '.join(others)})")


def _as_read(entry: Mapping[str, Any]) -> Entry:
    return msgspec.json.decode(msgspec.json.encode(entry), type=dict[str, Any])


def _lines(path: Path, kind: str, stop: int | None = None) -> Iterator[tuple[int, Entry]]:
    """Yield where each line ends and what it holds; a last line that was cut off is left out."""
    end, damaged = 0, 0
    try:
        file = path.open("rb")
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from None
    with file:
        for number, line in enumerate(iter(partial(file.readline, _LONGEST), b""), 1):
            begins = _BEGINNING.match(line) if number == 1 else None
            if number == 1 and (begins is None or begins[1].decode() != kind):
                raise RecordError(f"{path} is not a {kind} written by poise")
            if damaged:
                raise RecordError(
                    f"line {damaged} of {path} does not match its checksum: it was damaged, or "
                    "edited"
                )
            entry = _entry_of(line)
            if entry is None:
                damaged = number
                continue
            end += len(line)
            if begins:
                del entry["format"]
            yield end, entry
            if end == stop:
                return


def _entry_of(line: bytes) -> Entry | None:
    """Return what a line holds; None if it does not match its checksum."""
    size = len(_CHECKSUM % 0)
    text = line[:-size] + b"}"
    if line[-size:] != _CHECKSUM % crc32(text):
        return None
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _require_ordinary(path: Path) -> None:
    """Refuse folders, and pipes and devices, which would wait for ever."""
    if not path.is_file():
        problem = "is not a regular file" if path.exists() else "does not exist"
        raise RecordError(f"{path} {problem}")


def _opened(path: Path) -> tuple[BinaryIO, bool]:
    """Open the file for writing, alone, and tell whether it is new."""
    try:
        is_new = not path.exists()
        if not is_new:
            _require_ordinary(path)
        file = path.open("ab", buffering=0)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        why = getattr(error, "strerror", error)
        raise RecordError(f"{path} cannot be written: {why}") from None
    for _ in range(20):  # a worker that a killed run was just starting has its lock for a moment
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # it ends with this process
        except BlockingIOError:
            time.sleep(0.05)
        except (ImportError, OSError):  # Windows, or a file system without locks: another
            break  # writer's lines are noticed
        else:
            break
    else:
        file.close()
        raise RecordError(f"{path} is being written by another process")
    return file, is_new
