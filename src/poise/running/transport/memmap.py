"""Data that processes of one machine share as memory-mapped files.

Large arrays and tables are written to files of their own. Data that are in a file
already (a ``numpy.memmap``, a Parquet or Feather file) stay where they are. A worker
reads the rows it needs and releases them when they are many: mapped data count as
memory of the worker, and loky replaces workers whose memory grows.
"""

from __future__ import annotations

import mmap
import os
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

from poise.data.on_disk import StoredTable, write_array

__all__ = [
    "MappedData",
    "Rearranged",
    "is_large",
    "lies_in_a_file",
    "mapped_at",
    "place_in_file",
    "release_pages",
    "write_mapped",
]

_SMALLEST_FILE_BYTES = 1 << 20  # bytes; smaller objects are sent inside the pickle
_LARGE_BYTES = 1 << 26  # a second copy would cost noticeable memory
_BYTES_AT_ONCE = 1 << 25  # bytes put in order together


class MappedData:
    """A small object that is sent with every chunk and opens the data.

    Examples
    --------
    >>> import tempfile
    >>> rows = np.arange(300_000.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data = write_mapped({"rows": rows}, Path(folder))
    ...     bool((data.open()["rows"] == rows).all()), len(list(Path(folder).iterdir()))
    (True, 2)
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def open(self) -> Any:
        """Return the data; all processes share one copy in memory."""
        return _opened(self.path)[0]

    def release(self) -> None:
        """Release the rows read so far if they are many; they can be read again."""
        _, mappings, before = _opened(self.path)
        held = _bytes_of_files()
        if held is None or held - before >= _LARGE_BYTES:
            for mapping in mappings:
                drop_pages(mapping)


@dataclass(frozen=True)
class Rearranged:
    """An array whose rows are written in another order, and read back as an array.

    Examples
    --------
    >>> import tempfile
    >>> rows = Rearranged(np.array([5, 6, 7]), np.array([2, 0, 1]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_mapped(rows, Path(folder)).open().tolist()
    [7, 5, 6]
    """

    array: NDArray[Any]
    order: NDArray[np.int64]

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Yield some rows at a time, so that there is never a second array in memory."""
        step = max(1, _BYTES_AT_ONCE * len(self.array) // max(1, self.array.nbytes))
        for start in range(0, len(self.order), step):
            yield self.array[self.order[start : start + step]]


def is_large(array: object) -> bool:
    """Tell whether a second copy of an array would cost noticeable memory."""
    return isinstance(array, np.ndarray) and array.nbytes >= _LARGE_BYTES


def lies_in_a_file(array: object) -> bool:
    """Tell whether other processes can find an array in a file."""
    return place_in_file(array) is not None


def release_pages(array: NDArray[Any]) -> None:
    """Drop from memory what was read of the file in which an array lies."""
    root = _root(array)
    if root is not None:
        drop_pages(root.base)


def drop_pages(mapping: mmap.mmap) -> None:
    """Drop the pages of a file from the memory of this process."""
    if hasattr(mmap, "MADV_DONTNEED"):  # Windows has no madvise
        mapping.madvise(mmap.MADV_DONTNEED)


def _bytes_of_files() -> int | None:
    """Return how many bytes of files this process holds in memory; known on Linux only."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[2]) * mmap.PAGESIZE
    except OSError:
        return None


def write_mapped(content: object, folder: Path) -> MappedData:
    """Write the data into a folder."""
    path = folder / "data.pickle"
    with path.open("wb") as file:
        _Packer(file, folder).dump(content)
    return MappedData(str(path))


@lru_cache(maxsize=2)
def _opened(path: str) -> tuple[Any, list[mmap.mmap], int]:
    """Map the files, once per worker and run; return how many bytes were mapped before."""
    before = _bytes_of_files() or 0
    with open(path, "rb") as file:
        unpacker = _Unpacker(file)
        return unpacker.load(), unpacker.mappings, before


class _Packer(pickle.Pickler):
    """Pickles everything but large arrays and tables, which it leaves in files."""

    def __init__(self, file: IO[bytes], folder: Path) -> None:
        super().__init__(file, protocol=5)
        self.folder = folder
        # Objects are kept too: Python may give the id of a deleted object to another.
        self.places: dict[int, tuple[Any, tuple[Any, ...]]] = {}

    def persistent_id(self, obj: object) -> tuple[Any, ...] | None:
        """Return the place of a large object; None means: pickle it as usual."""
        if id(obj) in self.places:
            return self.places[id(obj)][1]
        place = self._place_of(obj)
        if place is not None:
            self.places[id(obj)] = obj, place
        return place

    def _place_of(self, obj: Any) -> tuple[Any, ...] | None:
        if isinstance(obj, Rearranged):
            return self._saved_in_order(obj)
        if isinstance(obj, StoredTable):
            return "stored", pickle.dumps(obj)  # where its file is
        if _is_plain_array(obj) and obj.nbytes >= _SMALLEST_FILE_BYTES:
            return place_in_file(obj) or self._saved(obj)
        if _is_arrow(obj) and obj.nbytes >= _SMALLEST_FILE_BYTES:
            return self._saved_table(obj)
        return None

    def _saved_in_order(self, rows: Rearranged) -> tuple[Any, ...]:
        path = self._new_file()
        shape = (len(rows.order), *rows.array.shape[1:])
        write_array(path, rows.array.dtype, shape, rows.blocks())
        return "array", str(path)

    def _saved(self, array: NDArray[Any]) -> tuple[Any, ...]:
        path = self._new_file()
        with path.open("wb") as file:
            np.save(file, array)
        return "array", str(path)

    def _saved_table(self, table: Any) -> tuple[Any, ...]:
        import pyarrow as pa

        path = self._new_file()
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        return "table", str(path)

    def _new_file(self) -> Path:
        return self.folder / f"data-{len(self.places)}"


def _is_plain_array(obj: object) -> bool:
    return isinstance(obj, np.ndarray) and not obj.dtype.hasobject


def _is_arrow(obj: object) -> bool:
    return type(obj).__module__ == "pyarrow.lib" and type(obj).__name__ == "Table"


class _Unpacker(pickle.Unpickler):
    """Reads what :class:`_Packer` wrote; large objects are maps of their files."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self.mappings: list[mmap.mmap] = []

    def persistent_load(self, pid: tuple[Any, ...]) -> Any:
        """Map what was left in a file."""
        kind, *place = pid
        if kind == "stored":
            return self._stored(*place)
        if kind == "table":
            return self._table(*place)
        array = np.load(place[0], mmap_mode="r") if kind == "array" else mapped_at(*place)
        self.mappings.append(_root(array).base)
        return np.asarray(array)  # selecting from the memmap class itself is a third slower

    def _stored(self, place: bytes) -> StoredTable:
        table: StoredTable = pickle.loads(place)
        self.mappings += table.copy.mappings
        return table

    def _table(self, path: str) -> Any:
        import pyarrow as pa

        with open(path, "rb") as file:
            self.mappings.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return pa.ipc.open_file(pa.py_buffer(self.mappings[-1])).read_all()


def place_in_file(array: Any) -> tuple[Any, ...] | None:
    """Say where in which file an array lies, if it is a view of one that others can open."""
    root = _root(array)
    # Mode "c" holds changes that are not in the file.
    if root is None or root.mode == "c" or root.filename is None or min(array.strides) < 0:
        return None
    path = os.path.abspath(root.filename)
    begin, end = (root.offset + address - root.ctypes.data for address in byte_bounds(array))
    if not os.path.exists(path) or os.path.getsize(path) < end:
        return None
    return "place", path, begin, array.dtype, array.shape, array.strides


def _root(array: object) -> Any:
    """Return the memory map that an array is a view of, or None."""
    while isinstance(array, np.ndarray):
        owner: Any = array.base
        if isinstance(owner, mmap.mmap):
            return array if isinstance(array, np.memmap) else None
        array = owner
    return None


def mapped_at(
    path: str, offset: int, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]
) -> NDArray[Any]:
    """Map an array that lies at a place in a file."""
    file = np.memmap(path, dtype=np.uint8, mode="r")
    return np.ndarray(shape, dtype, file, offset, strides)
