"""A lock on a file, which ends when its process ends, also if that is killed."""

from __future__ import annotations

import sys

__all__ = ["lock"]

if sys.platform == "win32":
    import msvcrt
    import os

    _BEYOND = 1 << 60  # Windows forbids reading locked bytes: lock a byte beyond the end

    def lock(descriptor: int) -> bool:
        """Lock the file for this process alone; say no where another one has it."""
        os.lseek(descriptor, _BEYOND, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def lock(descriptor: int) -> bool:
        """Lock the file for this process alone; say no where another one has it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
