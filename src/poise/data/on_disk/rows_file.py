"""One file with rows: on a disk of this machine, or at an address such as ``s3://bucket/a.parquet``.

Files at addresses are opened by fsspec and read on the thread that asks. pyarrow's own file
systems would read them on threads of pyarrow, which call Python when the interpreter has
already ended, and that ends the process with an error.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Protocol

from poise.errors import DataError

__all__ = [
    "Content",
    "RemoteFile",
    "RowsFile",
    "address_in",
    "arrow_file",
    "content_of",
    "file_system",
    "local_path",
    "size_of",
]

_ADDRESS = re.compile(r"(?:^|/)([a-z][a-z0-9+]+):(//?)(.*)$")
_READ = mmap.ACCESS_READ
_THIS_MACHINE = ("file", "local")


@dataclass(frozen=True)
class RemoteFile:
    """A file of a remote file system.

    Attributes
    ----------
    address : str
        An address in the same file system, from which fsspec finds it: what the user gave.
    path : str
        The file, without the protocol.
    """

    address: str
    path: str

    def __str__(self) -> str:
        return f"{self.address.partition(':')[0]}://{self.path.lstrip('/')}"

    @property
    def suffix(self) -> str:
        """The ending, which tells the kind of file."""
        return PurePosixPath(self.path).suffix

    def is_file(self) -> bool:
        """Tell whether the file can be seen from here."""
        return bool(file_system(self.address).isfile(self.path))

    def resolve(self) -> RemoteFile:
        """Return the file itself: its name is the same everywhere."""
        return self

    def open(self, mode: Literal["rb"] = "rb") -> Any:
        """Open the file for reading."""
        return file_system(self.address).open(self.path, mode)


RowsFile = Path | RemoteFile


def address_in(path: str | os.PathLike[str]) -> str | None:
    """Return the address that a path stands for, such as ``s3://bucket/rows``; None for a file.

    A :class:`~pathlib.Path` has lost one of the slashes, and may begin with a folder.

    Examples
    --------
    >>> address_in(Path("s3://bucket/rows")), address_in("rows/a.csv"), address_in("file:///a")
    ('s3://bucket/rows', None, None)
    """
    protocol, rest = _split(path)
    return None if protocol in ("", *_THIS_MACHINE) else f"{protocol}://{rest}"


def local_path(path: str | os.PathLike[str]) -> str:
    """Return the path of a file or folder of this machine, which may be given as ``file://``.

    Examples
    --------
    >>> local_path("file:///rows/a.csv"), local_path(Path("file:///rows")), local_path("rows")
    ('/rows/a.csv', '/rows', 'rows')
    """
    protocol, rest = _split(path)
    return rest if protocol in _THIS_MACHINE else os.fspath(path)


def _split(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the protocol and the rest of an address; "" of what is none."""
    found = _ADDRESS.search(os.fspath(path))
    if found is None or os.path.exists(path):
        return "", ""
    absolute = found[2] == "/" and found[1] in _THIS_MACHINE  # one of three slashes is left
    return found[1], f"/{found[3]}" if absolute else found[3]


def file_system(address: str) -> Any:
    """Return the file system of an address, or say what is missing."""
    try:
        import fsspec
    except ImportError:
        raise DataError(f"reading {address} needs fsspec: pip install 'poise[data]'") from None
    try:
        return fsspec.core.url_to_fs(address)[0]
    except Exception as error:  # a library is missing, nobody knows the protocol, no connection
        raise DataError(f"{address} cannot be read: {' '.join(str(error).split())}") from error


def size_of(file: RowsFile) -> int:
    """Return the size of a file in bytes."""
    if isinstance(file, Path):
        return file.stat().st_size
    return int(file_system(file.address).size(file.path))


def arrow_file(file: RowsFile) -> Any:
    """Open a file for pyarrow; use it as a context."""
    import pyarrow as pa

    return pa.memory_map(str(file)) if isinstance(file, Path) else pa.PythonFile(file.open(), "r")


class Content(Protocol):
    """The bytes of a file; only those are read that are asked for."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> bytes: ...


@contextmanager
def content_of(file: RowsFile) -> Iterator[Content]:
    """Open a file for reading some of its bytes."""
    if isinstance(file, Path):
        with file.open("rb") as local, mmap.mmap(local.fileno(), 0, access=_READ) as content:
            yield content
    else:
        with file.open() as opened:
            yield _RemoteContent(opened, size_of(file))


class _RemoteContent:
    """The bytes of an open file, read when they are asked for."""

    def __init__(self, opened: Any, size: int) -> None:
        self._opened, self._size = opened, size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(self._size)
        self._opened.seek(start)
        content: bytes = self._opened.read(max(0, stop - start))
        return content
