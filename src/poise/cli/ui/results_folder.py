"""The folder whose results are shown: what is in it, and nothing outside it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["FileSeen", "Folder"]

_SKIPPED = {"__pycache__", "node_modules", "site-packages"}
_MOST_FILES = 100_000  # of a folder that somebody gave by mistake, such as the root of a disk


@dataclass(frozen=True)
class FileSeen:
    """A file of the folder, as it was when the folder was last looked at.

    Attributes
    ----------
    key : str
        What addresses call it: pages never name a path.
    name : str
        Its path from the folder, in characters that every page can show.
    path : Path
        Where it is.
    changed : float
        When it was last written, in seconds since 1970.
    stamp : tuple of int
        It is the same for a file that has not changed.
    """

    key: str
    name: str
    path: Path
    changed: float
    stamp: tuple[int, ...]

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.stamp[1]


class Folder:
    """A folder and the ordinary files under it.

    A link that leads out of the folder is not followed: it is as if it were not there. Hidden
    files and folders are not looked at.

    Parameters
    ----------
    path : Path
        The folder.

    Examples
    --------
    >>> import tempfile
    >>> folder = Folder(Path(tempfile.mkdtemp()))
    >>> _ = (folder.path / "a.csv").write_text("x")
    >>> [file.name for file in folder.files()]
    ['a.csv']
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve(strict=True)

    def files(self) -> Iterator[FileSeen]:
        """Yield every ordinary file."""
        for number, path in enumerate(self._paths()):
            if number >= _MOST_FILES:
                return
            seen = self._seen(path)
            if seen is not None:
                yield seen

    def _paths(self) -> Iterator[Path]:
        for place, folders, names in os.walk(self.path):
            folders[:] = sorted(f for f in folders if f[0] != "." and f not in _SKIPPED)
            yield from (Path(place, name) for name in sorted(names) if name[0] != ".")

    def _seen(self, path: Path) -> FileSeen | None:
        try:
            if path.is_symlink() and not self.holds(path):
                return None
            known = path.stat()
        except (OSError, RuntimeError):  # removed meanwhile, or links in a circle
            return None
        if not stat.S_ISREG(known.st_mode):  # to open a pipe would wait for ever
            return None
        inside = os.fsencode(path.relative_to(self.path))
        stamp = known.st_mtime_ns, known.st_size, known.st_ino
        key = hashlib.blake2b(inside, digest_size=8).hexdigest()
        return FileSeen(key, inside.decode("utf-8", "replace"), path, known.st_mtime, stamp)

    def holds(self, path: Path) -> bool:
        """Tell whether a path, with all its links followed, is inside the folder."""
        return path.resolve().is_relative_to(self.path)
