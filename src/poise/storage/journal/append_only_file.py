"""A file that only grows, line by line, for one process at a time."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from poise.data.file_lock import lock
from poise.errors import RecordError
from poise.storage.journal.header import FORMAT

__all__ = ["JOURNAL", "FileKind", "GrowingFile", "WholeLines"]

_SECONDS_BETWEEN_SYNCS = 1.0
_BYTES_AT_ONCE = 1 << 20  # bytes looked at together


class FileKind(NamedTuple):
    """What a growing file is called in messages, and the format in its first line."""

    noun: str
    format: str

    @property
    def beginning(self) -> bytes:
        """The first bytes of every file of this kind."""
        return f'{{"format": "{self.format}"'.encode()


JOURNAL = FileKind("journal", FORMAT)


class GrowingFile:
    """Opened and locked on creation; the lines of an earlier process are in ``before``.

    Every append is given to the operating system at once, so that it is kept if this
    process is killed. It is on the disk within a second, so that little is lost if the
    machine fails.

    Parameters
    ----------
    path : Path
        Created if it does not exist; its folder must.
    kind : FileKind
        What its lines hold.
    """

    def __init__(self, path: Path, kind: FileKind = JOURNAL) -> None:
        self.path, self.kind = path, kind
        self._descriptor = _opened(path, kind)
        try:
            self.before = self._whole_lines()
        except BaseException:
            os.close(self._descriptor)
            raise
        self._synced = time.monotonic()

    def _whole_lines(self) -> WholeLines:
        """Lock the file, read it, and cut off a last line that is not complete."""
        if not (lock(self._descriptor) and self._still_there):
            raise RecordError(
                f"{self.path} is being written by another process; wait for it to end, "
                "or give another file name"
            )
        lines = WholeLines(self.path, self.kind)
        self.cut(lines.size)
        return lines

    def cut(self, size: int) -> None:
        """Keep only the first bytes."""
        self._size = size
        os.ftruncate(self._descriptor, size)

    @property
    def _still_there(self) -> bool:
        """Whether the path still names the file that is open here."""
        return self.path.exists() and os.path.samestat(self.path.stat(), os.fstat(self._descriptor))

    def append(self, content: bytes) -> None:
        """Add whole lines; if that fails, the file is as it was before."""
        try:
            os.lseek(self._descriptor, self._size, os.SEEK_SET)
            written = 0
            while written < len(content):
                written += os.write(self._descriptor, content[written:])
        except OSError as error:
            os.ftruncate(self._descriptor, self._size)
            raise self._cannot_write(error) from error
        self._size += len(content)
        if time.monotonic() - self._synced >= _SECONDS_BETWEEN_SYNCS:
            self.sync()

    def sync(self) -> None:
        """Write everything to the disk."""
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise self._cannot_write(error) from error
        self._synced = time.monotonic()

    def _cannot_write(self, error: OSError) -> RecordError:
        return _cannot_write(self.path, self.kind, error)

    def close(self) -> None:
        """Write everything to the disk, unlock the file, and remove it if it is empty."""
        try:
            if self._size:
                self.sync()
            else:
                with suppress(OSError):  # while it is locked: no other process uses it
                    self.path.unlink()
        finally:
            os.close(self._descriptor)


def _opened(path: Path, kind: FileKind) -> int:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    except FileNotFoundError:
        raise RecordError(
            f"cannot write the {kind.noun} {path}: there is no folder {path.parent}"
        ) from None
    except OSError as error:
        raise _cannot_write(path, kind, error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RecordError(f"cannot write the {kind.noun} {path}: it is not an ordinary file")
    return descriptor


def _cannot_write(path: Path, kind: FileKind, error: OSError) -> RecordError:
    return RecordError(
        f"cannot write the {kind.noun} {path}: {error.strerror}. Trials already in it are safe; "
        "make room or make it writable, and start again to go on from there"
    )


class WholeLines:
    """The complete lines of a file, read when they are needed: there may be millions.

    A last line without its end was being written when its process died, and is cut off.
    A file with one incomplete line is cut only if that line begins like a header; any
    other file is not of this kind.

    Parameters
    ----------
    path : Path
        The file. What is appended to it later does not count.
    kind : FileKind
        What its lines hold.
    """

    def __init__(self, path: Path, kind: FileKind = JOURNAL) -> None:
        self.path = path
        self.size, self.count = 0, 0
        for offset, block in self._blocks(path.stat().st_size):
            self.count += block.count(b"\n")
            self.size = offset + block.rfind(b"\n") + 1 if b"\n" in block else self.size
        if self.count == 0 and not kind.beginning.startswith(self._first(len(kind.beginning))):
            raise RecordError(
                f"{path} is not a {kind.noun} written by poise; give another file name"
            )

    def _blocks(self, size: int) -> Iterator[tuple[int, bytes]]:
        with self.path.open("rb") as file:
            for offset in range(0, size, _BYTES_AT_ONCE):
                yield offset, file.read(min(_BYTES_AT_ONCE, size - offset))

    def _first(self, count: int) -> bytes:
        with self.path.open("rb") as file:
            return file.read(count)

    def __iter__(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            yield from islice(file, self.count)
