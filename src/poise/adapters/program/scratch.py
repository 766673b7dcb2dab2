"""Temporary folders that do not outlive their owners, even those that are killed.

A process that is killed cannot tidy up. Each folder therefore holds a file that
is locked by its owner, a lock that ends with the process however it ends, and
the id of the program that works there. Whoever starts a program next ends what
such a process has left running, and removes its folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from pathlib import Path

from poise.filelock import lock

__all__ = ["Scratch", "sweep"]

_PREFIX = "poise-program-"
_LOCK, _PROGRAM = "owner.lock", "program.pid"

_swept: set[int] = set()  # processes that have looked for what others left: a fork looks again


class Scratch:
    """A temporary folder for one program.

    Examples
    --------
    >>> scratch = Scratch()
    >>> os.path.isdir(scratch.name)
    True
    >>> scratch.remove()
    >>> os.path.isdir(scratch.name)
    False
    """

    def __init__(self) -> None:
        if os.getpid() not in _swept:
            _swept.add(os.getpid())
            sweep()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self.name = str(self.path)
        # Locked before it has its name, so that nobody can find it unlocked; Windows, which
        # does not rename open files, has to leave that moment.
        place = self.path / (_LOCK if os.name == "nt" else "unnamed")
        self._descriptor = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
        lock(self._descriptor)
        if os.name != "nt":
            place.rename(self.path / _LOCK)

    def occupied_by(self, program: int) -> None:
        """Note which process works here."""
        with contextlib.suppress(OSError):  # of use only if this process is killed
            (self.path / _PROGRAM).write_text(str(program), encoding="ascii")

    def remove(self) -> None:
        """Remove the folder with everything in it; twice is fine."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        shutil.rmtree(self.path, ignore_errors=True)


def sweep() -> None:
    """Remove the folders of processes that are no more, and end their programs."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # somebody else's, or being removed right now
            if _is_abandoned(folder / _LOCK):
                _end_program(folder)
                shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(path: Path) -> bool:
    descriptor = os.open(path, os.O_RDWR)
    try:
        return lock(descriptor)
    finally:
        os.close(descriptor)


def _end_program(folder: Path) -> None:
    """Kill the group of the program, if that number still stands for it."""
    with contextlib.suppress(OSError, ValueError):  # it has ended, or never began
        program = int((folder / _PROGRAM).read_text(encoding="ascii"))
        # Numbers are used again, but a program that works here was told so.
        environment = Path(f"/proc/{program}/environ").read_bytes()
        if f"TMPDIR={folder}".encode() in environment.split(b"\0"):
            os.killpg(program, signal.SIGKILL)
