"""A file that only grows, line by line, for one process at a time."""

from __future__ import annotations

import os
import stat
import time
import warnings
from contextlib import suppress
from pathlib import Path

from poise.data.file_lock import lock
from poise.errors import PoiseWarning, RecordError
from poise.storage.journal.complete_lines import JOURNAL, CompleteLines, FileKind
from poise.storage.line_checksums import with_checksums

__all__ = ["FileInUse", "GrowingFile"]

_SECONDS_BETWEEN_SYNCS = 1.0


class FileInUse(RecordError):
    """The file is being written by another process."""


class GrowingFile:
    """Opened and locked on creation; the lines of an earlier process are in ``before``.

    Every append is given to the operating system at once, so that it is kept if this
    process is killed. It is on the disk within a second, so that little is lost if the
    machine fails. Before every append the file is looked at: if it was deleted, replaced or
    changed by somebody else meanwhile, or if other code closed its descriptor, nothing is
    written, and an error says so.

    Parameters
    ----------
    path : Path
        Created if it does not exist; its folder must.
    kind : FileKind
        What its lines hold.

    Attributes
    ----------
    place : Path
        Its absolute path: user code may change the current folder.
    before : CompleteLines
        The lines that it had when it was opened.
    size : int
        Bytes of its lines.
    """

    def __init__(self, path: Path, kind: FileKind = JOURNAL) -> None:
        self.path, self.kind = path, kind
        self.place = path.absolute()
        self._descriptor, self._is_new = _opened(path, kind)
        self._opened = os.fstat(self._descriptor)
        self._is_reported = False
        try:
            self.before = self._complete_lines()
        except BaseException:
            os.close(self._descriptor)
            raise
        self.size = self.before.size
        # Longer than the lines if the last of them is torn; it is cut before the first append.
        self._size_on_disk = os.fstat(self._descriptor).st_size
        self._synced = time.monotonic()

    def _complete_lines(self) -> CompleteLines:
        """Lock the file and read it."""
        if not (lock(self._descriptor) and self._is_in_place):
            raise FileInUse(
                f"{self.path} is being written by another process; wait for it to end, "
                "or give another file name"
            )
        return CompleteLines(self.path, self.kind)

    @property
    def _is_in_place(self) -> bool:
        """Whether the path still names the file that was opened here."""
        return self._size_of(self.place) is not None

    def _size_of(self, place: int | Path) -> int | None:
        """Return the size of the file that was opened; None if this is another one, or none."""
        try:
            found = os.stat(place)
        except OSError:
            return None
        return found.st_size if os.path.samestat(found, self._opened) else None

    def what_happened(self) -> str:
        """Say what somebody else did to the file since the last append; "" if nothing."""
        size = self._size_of(self._descriptor)  # user code may have closed and reused it
        if size is None:
            return "cannot be written any more: other code in this process closed it"
        if not self._is_in_place:
            return "was deleted, moved or replaced while it was being written"
        if size < self._size_on_disk:
            return "was cut off while it was being written"
        return "" if size == self._size_on_disk else "was written by something else meanwhile"

    def append(self, lines: bytes) -> None:
        """Add whole lines; if that fails, the file is as it was before."""
        if happened := self.what_happened():
            self._is_reported = True
            raise RecordError(
                f"the {self.kind.noun} {self.path} {happened}. The run ends here, because what "
                "it measures could not be kept; start again with another file name"
            )
        content = with_checksums(lines) if self.before.checked else lines
        try:
            self._write(content)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self.size)
                self._size_on_disk = self.size
            raise _cannot_write(self.path, self.kind, error) from error
        self.size += len(content)
        self._size_on_disk = self.size
        if time.monotonic() - self._synced >= _SECONDS_BETWEEN_SYNCS:
            self.sync()

    def _write(self, content: bytes) -> None:
        if self._size_on_disk > self.size:
            os.ftruncate(self._descriptor, self.size)
        os.lseek(self._descriptor, self.size, os.SEEK_SET)
        written = 0
        while written < len(content):
            written += os.write(self._descriptor, content[written:])

    def sync(self) -> None:
        """Write everything to the disk."""
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            raise _cannot_write(self.path, self.kind, error) from error
        self._synced = time.monotonic()

    @property
    def is_kept(self) -> bool:
        """Whether what was appended is in the file that the path names."""
        size = self._size_of(self._descriptor)
        return size is not None and size >= self.size and self._is_in_place

    def close(self) -> None:
        """Write everything to the disk and unlock the file; remove it if it is new and empty.

        If what was appended is not there any more, a warning says so.
        """
        if not self.is_kept and self.size and not self._is_reported:
            happened = self.what_happened()
            warnings.warn(f"the {self.kind.noun} {self.path} {happened}", PoiseWarning, 2)
        if self._size_of(self._descriptor) is None:
            return  # closed, or somebody else's now
        try:
            if self.size:
                self.sync()
            elif self._is_new and self._is_in_place:
                with suppress(OSError):  # while it is locked: no other process uses it
                    self.place.unlink()
        finally:
            os.close(self._descriptor)


def _opened(path: Path, kind: FileKind) -> tuple[int, bool]:
    """Open a file for reading and writing; return whether it was not there before, too."""
    try:
        descriptor, is_new = _open_or_create(path)
    except FileNotFoundError:
        raise RecordError(
            f"cannot write the {kind.noun} {path}: there is no folder {path.parent}"
        ) from None
    except OSError as error:
        raise _cannot_write(path, kind, error) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RecordError(f"cannot write the {kind.noun} {path}: it is not an ordinary file")
    return descriptor, is_new


def _open_or_create(path: Path) -> tuple[int, bool]:
    flags = os.O_RDWR | getattr(os, "O_BINARY", 0)
    try:
        return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666), True
    except FileExistsError:
        return os.open(path, flags | os.O_CREAT, 0o666), False


def _cannot_write(path: Path, kind: FileKind, error: OSError) -> RecordError:
    return RecordError(
        f"cannot write the {kind.noun} {path}: {error.strerror}. Trials already in it are safe; "
        "make room or make it writable, and start again to go on from there"
    )
