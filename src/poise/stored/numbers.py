"""Columns of numbers as one array in a file, where the values of a row lie together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from poise.stored.copying import written
from poise.stored.mapped import MappedArrow
from poise.stored.table import StoredTable

__all__ = ["stored_array", "write_array"]


def stored_array(table: StoredTable) -> NDArray[Any] | None:
    """Write a table of numbers into a temporary file; return its memory map.

    None if a column holds anything but numbers. The array has the type that the
    data frame would have as an array in memory, with NaN for what is missing. Its
    file is removed when nothing refers to the array any more.
    """
    arrow = table.arrow
    if not all(_is_number(field.type) for field in arrow.schema):
        return None
    dtype = np.result_type(*(_dtype(arrow, field) for field in arrow.schema))

    def write(place: Path) -> NDArray[Any]:
        blocks = (_block(arrow, rows, dtype) for rows in arrow.blocks())
        write_array(place, dtype, (len(arrow), len(arrow.schema)), blocks)
        array: NDArray[Any] = np.load(place, mmap_mode="r")
        return array

    array: NDArray[Any] = written("rows.npy", write)
    return array


def write_array(
    path: Path, dtype: np.dtype[Any], shape: tuple[int, ...], blocks: Iterable[NDArray[Any]]
) -> None:
    """Write blocks of rows as one array in NumPy's format.

    Written, not mapped: a full disk is then an error, where a map would kill the process.
    """
    descr = npy.dtype_to_descr(dtype)
    with path.open("wb") as file:
        npy.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
        for block in blocks:
            file.write(np.ascontiguousarray(block).data)


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _dtype(arrow: MappedArrow, field: Any) -> Any:
    """Return the type of a column as an array; no integer stands for a missing value."""
    import pyarrow as pa

    if pa.types.is_integer(field.type) and arrow.has_missing(field.name):
        return np.float64
    return field.type.to_pandas_dtype()


def _block(arrow: MappedArrow, rows: slice, dtype: np.dtype[Any]) -> NDArray[Any]:
    block = np.empty((rows.stop - rows.start, len(arrow.schema)), dtype)
    for position, column in enumerate(arrow.take(rows).columns):
        block[:, position] = column.to_numpy()
    return block
