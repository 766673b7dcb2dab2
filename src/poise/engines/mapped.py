"""Data that processes on one machine share: written once, mapped into the memory of each.

Large arrays and tables become files of their own; what already lies in a file
(a ``numpy.memmap``) stays where it is. A worker reads the rows it needs, and
lets go of them after each chunk, so that its memory does not grow with the data.
"""

from __future__ import annotations

import mmap
import os
import pickle
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.typing import NDArray

__all__ = ["MappedData", "write_mapped"]

_LARGE = 1 << 20  # bytes; smaller things travel inside the pickle
_WORTH_RELEASING = 1 << 26


class MappedData:
    """Something small that travels with every chunk, and opens into the data.

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
        """Return the data; memory holds them once, however many processes do this."""
        return _opened(self.path)[0]

    def release(self) -> None:
        """Let go of the rows read so far; those needed again are read again."""
        for mapping in _opened(self.path)[1]:
            mapping.madvise(mmap.MADV_DONTNEED)


def write_mapped(content: Any, folder: Path) -> MappedData:
    """Write the data into a folder."""
    path = folder / "data.pickle"
    with path.open("wb") as file:
        _Packer(file, folder).dump(content)
    return MappedData(str(path))


@lru_cache(maxsize=2)
def _opened(path: str) -> tuple[Any, list[mmap.mmap]]:
    """Map the files, once per worker and run; also return what is worth releasing."""
    mappings: list[mmap.mmap] = []
    with open(path, "rb") as file:
        content = _Unpacker(file, mappings).load()
    large = sum(len(mapping) for mapping in mappings) >= _WORTH_RELEASING
    return content, mappings if large and hasattr(mmap, "MADV_DONTNEED") else []


class _Packer(pickle.Pickler):
    """Pickles everything but large arrays and tables, which it leaves in files."""

    def __init__(self, file: IO[bytes], folder: Path) -> None:
        super().__init__(file, protocol=5)
        self.folder = folder
        # Objects are kept too: the identity of one that is gone may be given to another.
        self.places: dict[int, tuple[Any, tuple[Any, ...]]] = {}

    def persistent_id(self, obj: Any) -> tuple[Any, ...] | None:
        """Say where something large is; None is for what is pickled as usual."""
        if not (_is_plain_array(obj) or _is_arrow(obj)) or obj.nbytes < _LARGE:
            return None
        if id(obj) not in self.places:
            saved = self._saved_table if _is_arrow(obj) else self._saved
            self.places[id(obj)] = obj, _place(obj) or saved(obj)
        return self.places[id(obj)][1]

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


def _is_plain_array(obj: Any) -> bool:
    return isinstance(obj, np.ndarray) and not obj.dtype.hasobject


def _is_arrow(obj: Any) -> bool:
    return type(obj).__module__ == "pyarrow.lib" and type(obj).__name__ == "Table"


class _Unpacker(pickle.Unpickler):
    """Brings back what :class:`_Packer` wrote, large things as maps of their files."""

    def __init__(self, file: IO[bytes], mappings: list[mmap.mmap]) -> None:
        super().__init__(file)
        self.mappings = mappings

    def persistent_load(self, pid: tuple[Any, ...]) -> Any:
        """Map what was left in a file."""
        kind, *place = pid
        if kind == "table":
            return _mapped_table(*place)
        array = np.load(place[0], mmap_mode="r") if kind == "array" else _mapped_place(*place)
        self.mappings.append(_mapping(array))
        return np.asarray(array)  # selecting from the memmap class itself is a third slower


def _mapped_table(path: str) -> Any:
    import pyarrow as pa

    return pa.ipc.open_file(pa.memory_map(path)).read_all()


def _place(array: Any) -> tuple[Any, ...] | None:
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


def _root(array: Any) -> Any:
    """Return the memory map that an array is a view of, or None."""
    while isinstance(array, np.ndarray):
        owner: Any = array.base
        if isinstance(owner, mmap.mmap):
            return array if isinstance(array, np.memmap) else None
        array = owner
    return None


def _mapped_place(
    path: str, offset: int, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...]
) -> NDArray[Any]:
    file = np.memmap(path, dtype=np.uint8, mode="r")
    return np.ndarray(shape, dtype, file, offset, strides)


def _mapping(array: Any) -> mmap.mmap:
    root = _root(array)
    mapping: mmap.mmap = root.base
    return mapping
