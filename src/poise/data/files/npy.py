"""NumPy's npy files: one array, whose columns are named 1, 2, 3 and so on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.files.columns import NumericColumns
from poise.data.ordinary_files import open_ordinary
from poise.errors import DataError

__all__ = ["read_npy"]


def read_npy(path: Path) -> NumericColumns:
    """Read an array of rows and columns; fields of a structured array keep their names."""
    open_ordinary(path, DataError).close()
    try:
        # A memory map cannot be larger than its file, whatever the header says.
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # a truncated array, pickled objects, another kind of file
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path} cannot be read as npy: {reason}") from error
    if not isinstance(values, np.ndarray):
        raise DataError(f"{path} holds several arrays; its ending should be .npz")
    names = list(values.dtype.names or ())
    values = _unstructured(values, path) if names else np.array(values)
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise DataError(
            f"{path} must hold numbers in rows and columns, got {values.dtype} of shape "
            f"{values.shape}; an npz file has room for X and y"
        )
    if len(values) == 0:
        raise DataError(f"{path} has no rows")
    return NumericColumns(names or [str(i + 1) for i in range(values.shape[1])], values)


def _unstructured(values: NDArray[Any], path: Path) -> NDArray[Any]:
    """Turn the fields of a structured array into columns."""
    from numpy.lib.recfunctions import structured_to_unstructured

    try:
        return np.array(structured_to_unstructured(values))
    except (TypeError, ValueError, NotImplementedError) as error:
        raise DataError(f"{path} has fields that are not columns of numbers: {error}") from None
