"""Arrays of an npz file; their sizes are checked before they are read."""

from __future__ import annotations

import math
import os
import zipfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.files.unpacked_size import most_unpacked
from poise.data.ordinary_files import open_ordinary
from poise.errors import PoiseError

__all__ = ["read_arrays"]

_ENDING = ".npy"


def read_arrays(
    path: str | os.PathLike[str], complaint: str, error: type[PoiseError]
) -> dict[str, NDArray[Any]]:
    """Read every array; nothing in the file is run, and nothing is larger than the file allows.

    Parameters
    ----------
    path : path
        An npz file.
    complaint : str
        What to say of a file that cannot be read, after its name: "is no transcript".
    error : type
        What to raise then.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rows.npz"
    >>> np.savez(path, X=np.eye(2))
    >>> read_arrays(path, "is no archive", PoiseError)["X"].sum()
    np.float64(2.0)
    >>> _ = path.write_bytes(b"PK")
    >>> read_arrays(path, "is no archive", PoiseError)
    Traceback (most recent call last):
    poise.errors.PoiseError: ...rows.npz is no archive: ...
    """
    with open_ordinary(path, error) as file:
        try:
            _check_sizes(file, os.fstat(file.fileno()).st_size)
            file.seek(0)
            with np.load(file, allow_pickle=False) as content:
                return {name: content[name] for name in content.files}
        except Exception as problem:  # a damaged zip, a truncated array, pickled objects
            reason = " ".join(str(problem).split()) or type(problem).__name__
            raise error(f"{path} {complaint}: {reason}") from problem


def _check_sizes(file: Any, size: int) -> None:
    """Refuse an archive that unpacks to more than it should, before it is unpacked."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        names = [member.filename for member in members]
        if len(set(names)) < len(names) or not all(name.endswith(_ENDING) for name in names):
            raise ValueError("it holds something else than arrays of different names")
        total = sum(member.file_size for member in members)
        if total > most_unpacked(size):
            raise ValueError(f"it would unpack to {total:,} bytes; save it again uncompressed")
        for member in members:
            _check_member(archive, member)


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse an array whose header asks for more memory than its numbers take."""
    with archive.open(member) as stream:
        # NumPy has no public reader for headers of version 3, which only rare names need.
        readers = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        read = readers.get(np.lib.format.read_magic(stream))
        if read is None:
            return
        shape, _, dtype = read(stream)
    # Rows without columns take no bytes, and there could be any number of them.
    rows = shape[0] if shape else 1
    if max(rows, math.prod(shape) * dtype.itemsize) > member.file_size:
        raise ValueError(f"{member.filename} has too few bytes for the shape {shape}")
