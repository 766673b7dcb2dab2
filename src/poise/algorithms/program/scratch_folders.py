"""Temporary folders of programs, which are removed also after a kill.

A killed process can neither remove its folders nor end the programs that it started. So
each folder is locked by its owner, and holds the process id of its program. The next
process that starts a program ends the programs of killed processes, and removes their
folders.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

from poise.data.temp_folders import orphaned, owned

__all__ = ["Scratch", "sweep"]

_PREFIX = "poise-program-"
_OWNER, _PROGRAM = "owner", "program.pid"

_swept: set[int] = set()  # processes that have searched for such folders: a fork searches again


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
        self.ownership = ExitStack()
        self.ownership.enter_context(owned(self.path, _OWNER))

    def occupied_by(self, program: int) -> None:
        """Write down which process works here."""
        with suppress(OSError):  # needed only if this process is killed
            (self.path / _PROGRAM).write_text(str(program), encoding="ascii")

    def remove(self) -> None:
        """Remove the folder with everything in it; it may be called twice."""
        self.ownership.close()
        shutil.rmtree(self.path, ignore_errors=True)


def sweep() -> None:
    """Remove the folders of processes that have ended, and end their programs."""
    for folder in orphaned(f"{_PREFIX}*/{_OWNER}"):
        _end_program(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _end_program(folder: Path) -> None:
    """Kill the group of the program, if the process id is still that of the program."""
    with suppress(OSError, ValueError):  # it has ended, or never began
        program = int((folder / _PROGRAM).read_text(encoding="ascii"))
        # Process ids are reused, but a program that works here has this folder in its environment.
        environment = Path(f"/proc/{program}/environ").read_bytes()
        if f"TMPDIR={folder}".encode() in environment.split(b"\0"):
            os.killpg(program, signal.SIGKILL)
