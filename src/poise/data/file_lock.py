"""A lock on an open file that ends with the process that holds it, however that ends."""

from __future__ import annotations

import sys

__all__ = ["lock"]

if sys.platform == "win32":
    import msvcrt
    import os

    _BEYOND = 1 << 60  # Windows forbids reading what is locked: lock a byte that is not there

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
