"""A lock on a file, which ends when its process ends, also if that is killed."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

__all__ = ["is_locked", "lock"]

# To see whether a file is locked, a process locks it for a moment: so try once more after that.
_SECONDS_BEFORE_SECOND_TRY = 0.02

if sys.platform == "win32":
    import msvcrt

    _BYTE_BEYOND_END = 1 << 60  # Windows forbids reading locked bytes: lock a byte beyond the end

    def _try_lock(descriptor: int, *, shared: bool = False) -> bool:
        os.lseek(descriptor, _BYTE_BEYOND_END, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(descriptor: int, *, shared: bool = False) -> bool:
        wanted = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            fcntl.flock(descriptor, wanted | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def lock(descriptor: int) -> bool:
    """Lock the file for this process alone; return False if another process has locked it."""
    if _try_lock(descriptor):
        return True
    time.sleep(_SECONDS_BEFORE_SECOND_TRY)
    return _try_lock(descriptor)


def is_locked(path: Path) -> bool:
    """Tell whether a process has locked a file; a file that cannot be opened is not locked.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     before = is_locked(Path(file.name))
    ...     before, lock(file.fileno()), is_locked(Path(file.name))
    (False, True, True)
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError:
        return False
    try:
        return not _try_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)  # and the lock with it
