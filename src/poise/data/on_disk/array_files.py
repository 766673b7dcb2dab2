"""Arrays in temporary files, which are removed when nothing uses them any more."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from poise.data.temp_folders import temporary_folder
from poise.errors import DataError

__all__ = ["in_new_folder", "write_array"]

T = TypeVar("T")


def write_array(
    path: Path, dtype: np.dtype[Any], shape: tuple[int, ...], blocks: Iterable[NDArray[Any]]
) -> None:
    """Write blocks of rows as one array in NumPy's format.

    Written, not mapped: a full disk is then an error; with a map it would kill the process.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "rows.npy")
    ...     write_array(path, np.dtype(float), (3, 2), [np.ones((2, 2)), np.zeros((1, 2))])
    ...     np.load(path).sum(axis=1).tolist()
    [2.0, 2.0, 0.0]
    """
    descr = npy.dtype_to_descr(dtype)
    with path.open("wb") as file:
        npy.write_array_header_2_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype).view(np.uint8).data)


def in_new_folder(make: Callable[[Path], tuple[T, Any]]) -> T:
    """Return the first result of ``make`` in a new folder; the folder is removed with the second.

    It is also removed if ``make`` fails, when the process ends, and, if the process was
    killed, when poise runs the next time.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(temporary_folder())
            made, owner = make(folder)
        except OSError as error:
            raise DataError(
                f"a copy of the rows cannot be kept in {folder.parent}: {error}; "
                "set TMPDIR to a folder on a larger disk"
            ) from error
        weakref.finalize(owner, stack.pop_all().close)
    return made
