"""NumPy's npz files: features in the array ``X``, responses in ``y`` or another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.files.columns import by_number
from poise.errors import DataError

__all__ = ["read_npz"]

_FEATURES = "X"


class NamedArrays:
    """The arrays of one npz file."""

    unit = "array"
    default_target: str | None = "y"

    def __init__(self, arrays: dict[str, NDArray[Any]], path: Path) -> None:
        self._arrays, self._path = arrays, path
        self.names = list(arrays)
        self.feature_names = [_FEATURES]

    def features(self, names: list[str]) -> NDArray[Any]:
        """Return ``X``; other arrays of the file are not features."""
        if _FEATURES not in self._arrays:
            found = ", ".join(self.names)
            raise DataError(f"{self._path} must hold the features in an array 'X'; it has: {found}")
        return self._arrays[_FEATURES]

    def response(self, name: str) -> NDArray[Any]:
        """Return the array of that name."""
        return self._arrays[name]

    def labels(self, name: str) -> list[Any]:
        """Return the values of that array."""
        values: list[Any] = self._arrays[name].tolist()
        return values

    def place(self, row: int) -> str:
        """Say where a row is in the file."""
        return by_number(row)


def read_npz(path: Path) -> NamedArrays:
    """Read every array of an npz file."""
    try:
        with np.load(path, allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
    except Exception as error:  # a damaged zip, a truncated array, pickled objects
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path} cannot be read as npz: {reason}") from error
    return NamedArrays(arrays, path)
