"""Parquet or Feather files that hold one table together: a folder, a pattern, or an address.

Rows are numbered through the files in order of their paths, compared as plain text. So the same
files give the same trials wherever they lie.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from poise.data.on_disk.rows_file import (
    RemoteFile,
    RowsFile,
    address_in,
    file_system,
    local_path,
    size_of,
)
from poise.errors import DataError

__all__ = ["COLUMNAR", "FileSet", "RowsPlace", "file_set", "rows_place"]

COLUMNAR = (".parquet", ".pq", ".feather", ".arrow")
_ONE_FILE = (".csv", ".tsv", ".txt", ".gz", ".bz2", ".xz", ".zip", ".npz", ".npy")
_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class FileSet:
    """The files of one table, in the order in which their rows are numbered.

    Attributes
    ----------
    given : str
        What the user gave, for messages: a folder, a pattern, or an address for fsspec.
    files : tuple
        The files, in plain order of their paths.
    folder : str
        The folder below which folders called ``key=value`` add a column ``key``.
    """

    given: str
    files: tuple[RowsFile, ...]
    folder: str

    def __str__(self) -> str:
        return self.given

    @property
    def suffix(self) -> str:
        """The ending of the first file; the others are of the same kind."""
        return self.files[0].suffix

    @property
    def size(self) -> int:
        """The size of all files in bytes."""
        return sum(map(size_of, self.files))

    @property
    def places(self) -> list[str]:
        """The path of each file below the folder."""
        paths = [file.path if isinstance(file, RemoteFile) else str(file) for file in self.files]
        return [path.removeprefix(self.folder).strip("/") for path in paths]

    def exists(self) -> bool:
        """Tell whether all files can be seen from here."""
        return all(file.is_file() for file in self.files)

    def absolute(self) -> FileSet:
        """Return the same files with names that hold in every folder."""
        if isinstance(self.files[0], RemoteFile):
            return self
        files = tuple(file.absolute() for file in self.files if isinstance(file, Path))
        return replace(self, files=files, folder=str(Path(self.folder).absolute()))


RowsPlace = Path | FileSet
"""Where the rows of one table are: in one file, or in several."""


def rows_place(path: str | os.PathLike[str] | FileSet) -> RowsPlace:
    """Return the files that a path stands for, or the path of a single file of this machine."""
    if isinstance(path, FileSet):
        return path
    return file_set(path) or Path(local_path(path))


def file_set(path: str | os.PathLike[str]) -> FileSet | None:
    """Find the files of a folder, a pattern or an address; None for a single file.

    Files and folders whose names begin with ``_`` or ``.`` are left out: engines write such
    files beside the rows.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("b.parquet", "a.parquet", "_SUCCESS"):
    ...     _ = (folder / name).write_bytes(b"")
    >>> [file.name for file in file_set(folder).files]
    ['a.parquet', 'b.parquet']
    >>> file_set(folder / "a.parquet") is None
    True
    """
    address = address_in(path)
    if address is not None:
        return _at_address(address)
    place = local_path(path)
    if os.path.isdir(place):
        return _made(str(path), _below(place), place, Path)
    if os.path.exists(place) or not _PATTERN.search(place):
        return None
    found = glob.glob(place, recursive=True)
    if not found:
        raise DataError(f"no such file: {path}, and no file matches it as a pattern")
    files = [file for each in found for file in (_below(each) if os.path.isdir(each) else [each])]
    return _made(str(path), files, _fixed_part(place), Path)


def _below(folder: str) -> list[str]:
    return [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]


def _fixed_part(pattern: str) -> str:
    """Return the folders of a pattern before its first star.

    Examples
    --------
    >>> _fixed_part("rows/year=*/a.parquet"), _fixed_part("*.parquet")
    ('rows', '')
    """
    return _PATTERN.split(pattern)[0].rpartition("/")[0]


def _at_address(address: str) -> FileSet:
    if address.lower().endswith(_ONE_FILE):
        raise DataError(f"{address} is the address of a file, not a file; download it first")
    system = file_system(address)
    place = system._strip_protocol(address)
    try:
        if _PATTERN.search(place):
            found = [file for each in system.glob(place) for file in (system.find(each) or [each])]
            folder = _fixed_part(place)
        else:
            found = system.find(place)
            folder = place.rpartition("/")[0] if found == [place] else place
    except Exception as error:  # each file system has its own
        raise DataError(f"{address} cannot be read: {' '.join(str(error).split())}") from error
    if not found:
        raise DataError(f"there is no file at {address}")
    return _made(address, found, folder, lambda path: RemoteFile(address, path))


def _made(given: str, found: Iterable[str], folder: str, kind: Any) -> FileSet:
    """Keep the files with rows; refuse none at all, and Parquet mixed with Feather."""
    files = sorted({file for file in found if _holds_rows(file, folder)})
    if not files:
        name = f"{given} is a folder that" if os.path.isdir(given) else given
        raise DataError(
            f"{name} holds no Parquet or Feather file ({', '.join(COLUMNAR)}); a file of another "
            "kind is given by its own name, and lies on this machine"
        )
    kinds = {file.lower().endswith((".parquet", ".pq")): file for file in files}
    if len(kinds) > 1:
        raise DataError(
            f"{given} holds Parquet and Feather files, {kinds[True]} and {kinds[False]}; give "
            "files of one kind"
        )
    return FileSet(given, tuple(map(kind, files)), folder)


def _holds_rows(file: str, folder: str) -> bool:
    """Leave out what engines write beside rows: ``_SUCCESS``, ``_metadata``, hidden files."""
    names = file.removeprefix(folder).split("/")
    return file.lower().endswith(COLUMNAR) and not any(name[:1] in ("_", ".") for name in names)
