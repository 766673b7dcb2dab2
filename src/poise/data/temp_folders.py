"""Temporary folders, which are removed at the end of a run, also of a killed run.

A killed process removes nothing. Its workers remove its folders if they have begun to
work. What is still left, the next run removes: it finds folders whose lock is free.
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

from poise.data.file_lock import lock

__all__ = ["folder_prefix", "orphaned", "owned", "temporary_folder"]

_PREFIX = "poise-"
_OWNED = "owned"  # a file that the owner of a folder keeps locked


@lru_cache(maxsize=1)
def folder_prefix(process: int) -> str:
    """Return the prefix of the names of a process's folders; each process has its own."""
    return f"{_PREFIX}{process}-{secrets.token_hex(4)}-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for one run, and remove the folders of killed runs.

    Examples
    --------
    >>> with temporary_folder() as folder:
    ...     (folder / "notes").touch()
    >>> folder.exists()
    False
    """
    for left in orphaned(f"{_PREFIX}*/{_OWNED}"):
        shutil.rmtree(left, ignore_errors=True)
    with (
        tempfile.TemporaryDirectory(prefix=folder_prefix(os.getpid())) as name,
        owned(Path(name), _OWNED) as folder,
    ):
        yield folder


@contextmanager
def owned(folder: Path, mark: str) -> Iterator[Path]:
    """Keep a folder locked, by a file of this name; the lock ends with this process."""
    unseen = folder / (mark if os.name == "nt" else "new")
    with unseen.open("w") as file:
        with suppress(OSError):  # where files cannot be locked, no folder is taken for orphaned
            lock(file.fileno())
        if os.name != "nt":  # Windows does not rename open files
            unseen.rename(folder / mark)  # renamed only after it is locked
        yield folder


def orphaned(pattern: str) -> Iterator[Path]:
    """Yield the temporary folders with marks of this pattern whose owners have ended."""
    for mark in Path(tempfile.gettempdir()).glob(pattern):
        with suppress(OSError):  # of another user, or just being removed
            with mark.open("r+") as file:
                left = lock(file.fileno())
            if left:
                yield mark.parent
