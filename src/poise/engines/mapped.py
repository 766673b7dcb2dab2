"""Data that processes on one machine share: written once, mapped into the memory of each."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["MappedFile", "write_mapped"]


class MappedFile:
    """Something small that travels with every chunk, and opens into the data.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_mapped({"rows": 3}, Path(folder)).open()
    {'rows': 3}
    """

    def __init__(self, path: str) -> None:
        self.path = path

    def open(self) -> Any:
        """Return the data; memory holds them once, however many processes do this."""
        return _mapped(self.path)


@lru_cache(maxsize=2)
def _mapped(path: str) -> Any:
    """Map the file; done once per worker and run."""
    import joblib

    return joblib.load(path, mmap_mode="r")


def write_mapped(content: Any, folder: Path) -> MappedFile:
    """Write the data into a folder."""
    import joblib

    path = str(folder / "data.joblib")
    joblib.dump(content, path)
    return MappedFile(path)
