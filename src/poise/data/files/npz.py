"""NumPy's npz files: features in the array ``X``, responses in ``y`` or another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from poise.data.files.array_archive import read_arrays
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
        return self._with_rows(_FEATURES)

    def response(self, name: str) -> NDArray[Any]:
        """Return the array of that name."""
        return self._with_rows(name)

    def labels(self, name: str) -> list[Any]:
        """Return the values of that array."""
        values: list[Any] = self._with_rows(name).tolist()
        return values

    def _with_rows(self, name: str) -> NDArray[Any]:
        array = self._arrays[name]
        if array.ndim == 0:
            raise DataError(f"{self._path} must hold rows in the array {name!r}, got one value")
        return array

    def place(self, row: int) -> str:
        """Say where a row is in the file."""
        return by_number(row)


def read_npz(path: Path) -> NamedArrays:
    """Read every array of an npz file."""
    return NamedArrays(read_arrays(path, "cannot be read as npz", DataError), path)
