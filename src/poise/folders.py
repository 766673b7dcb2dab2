"""Temporary folders, removed at the end of a run; also of one that was killed.

A process that is killed removes nothing. Its workers do, if they were already at work;
what is left even so, the next run finds by a lock that nobody holds any more.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from poise.filelock import lock

__all__ = ["folder_prefix", "temporary_folder"]

_PREFIX = "poise-"
_OWNED = "owned"  # a file that the owner of a folder keeps locked


@lru_cache(maxsize=1)
def folder_prefix(process: int) -> str:
    """Return how the names of a process's folders begin; no other process has the same."""
    return f"{_PREFIX}{process}-{secrets.token_hex(4)}-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for one run, and remove what killed runs have left.

    Examples
    --------
    >>> with temporary_folder() as folder:
    ...     (folder / "notes").touch()
    >>> folder.exists()
    False
    """
    _remove_orphaned(Path(tempfile.gettempdir()))
    with (
        tempfile.TemporaryDirectory(prefix=folder_prefix(os.getpid())) as name,
        _owned(Path(name)) as folder,
    ):
        yield folder


@contextmanager
def _owned(folder: Path) -> Iterator[Path]:
    """Keep the folder's lock; it ends with this process, however that ends."""
    with (folder / "new").open("w") as mark:
        with suppress(OSError):  # where files cannot be locked, nobody will take it for orphaned
            lock(mark.fileno())
        (folder / "new").rename(folder / _OWNED)  # seen by others only once it is locked
        yield folder


def _remove_orphaned(place: Path) -> None:
    for mark in place.glob(f"{_PREFIX}*/{_OWNED}"):
        with suppress(OSError):  # somebody else's, or just being removed
            with mark.open("r+") as file:
                orphaned = lock(file.fileno())
            if orphaned:
                shutil.rmtree(mark.parent, ignore_errors=True)
