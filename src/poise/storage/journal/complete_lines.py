"""The complete lines of a file that only grows, each checked against its checksum."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

from poise.data.ordinary_files import open_ordinary
from poise.errors import RecordError
from poise.storage.line_checksums import matches, only_matching

__all__ = ["JOURNAL", "CompleteLines", "FileKind"]

_BYTES_AT_ONCE = 1 << 20  # bytes looked at together
_BYTES_OF_FORMAT = 200  # bytes in which the format of a file is found
_FORMAT = re.compile(rb'\{"format": "([^"]*)"')


class FileKind(NamedTuple):
    """What a growing file is called in messages, and the formats in its first line.

    Attributes
    ----------
    noun : str
        "journal", for example.
    name, version : str, int
        The format that is written: "poise journal", 2.
    unchecked : tuple of int
        Older versions that can be read; their lines have no checksums.
    anew : str
        What to do if a file of this kind is damaged and there is no copy.
    """

    noun: str
    name: str
    version: int
    unchecked: tuple[int, ...] = ()
    anew: str = ""

    @property
    def format(self) -> str:
        """The format that is written."""
        return f"{self.name} {self.version}"

    @property
    def remedy(self) -> str:
        """What to do about a damaged file."""
        return f"Take an undamaged copy of the file, or begin a new {self.noun}{self.anew}"

    def beginnings(self) -> dict[bytes, bool]:
        """Return the first bytes of such files, and whether their lines have checksums."""
        versions = {self.version: True} | dict.fromkeys(self.unchecked, False)
        return {
            f'{{"format": "{self.name} {version}"'.encode(): checked
            for version, checked in versions.items()
        }

    def is_checked(self, first: bytes, torn: bool, path: Path) -> bool:
        """Tell whether a file has checksums; refuse one that is not of this kind.

        If the first line is ``torn``, its process died while it wrote it, and it may be shorter
        than the format.
        """
        for beginning, checked in self.beginnings().items():
            if first.startswith(beginning) or (torn and beginning.startswith(first)):
                return checked
        found = _FORMAT.match(first)
        if found is None or not found[1].startswith(self.name.encode()):
            raise RecordError(
                f"{path} is not a {self.noun} written by poise; give another file name"
            )
        raise RecordError(
            f"{path} has format {found[1].decode(errors='replace')!r}, and this version of poise "
            f"reads {self.format!r}"
        )


JOURNAL = FileKind("journal", "poise journal", 2, unchecked=(1,))


class CompleteLines:
    """The complete lines of a file, read when they are needed: there may be millions.

    A last line without its end, or that does not match its checksum, was being written when
    its process died, and is left out. A line before it that does not match is refused by its
    number when it is read, and so is the first. A file with one incomplete line is taken for
    one of this kind only if that line begins like a header.

    Parameters
    ----------
    path : Path
        The file. What is appended to it later does not count.
    kind : FileKind
        What its lines hold.
    """

    def __init__(self, path: Path, kind: FileKind = JOURNAL) -> None:
        self.path, self.kind = path, kind
        self.size, self.count = 0, 0
        path.stat()  # callers say that it is not there, or why it cannot be read
        with open_ordinary(path) as file:
            before = self._count(file)
            first = _at(file, 0, _BYTES_OF_FORMAT)
            self.checked = kind.is_checked(first, self.count == 0, path)
            last = _at(file, before, self.size - before)
        if self.checked and self.count > 1 and not matches(last):
            self.size, self.count = before, self.count - 1

    def _count(self, file: BinaryIO) -> int:
        """Count the lines and their bytes; return the bytes of those before the last."""
        before, size = 0, os.fstat(file.fileno()).st_size
        for offset in range(0, size, _BYTES_AT_ONCE):
            block = file.read(min(_BYTES_AT_ONCE, size - offset))
            if b"\n" in block:
                end = block.rfind(b"\n")
                earlier = block.rfind(b"\n", 0, end)
                before = self.size if earlier < 0 else offset + earlier + 1
                self.count += block.count(b"\n")
                self.size = offset + end + 1
        return before

    def __iter__(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            lines = islice(file, self.count)
            if self.checked:
                yield from only_matching(lines, str(self.path), self.kind.remedy)
            else:
                yield from lines


def _at(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)
