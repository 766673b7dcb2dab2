"""Temporary folders that do not outlive their owners, even those that are killed.

A process that is killed cannot tidy up, nor end the programs it has started. Each
folder is therefore kept locked by its owner, and holds the id of the program that
works there. Whoever starts a program next ends what such a process has left
running, and removes its folder.
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
        self.ownership = ExitStack()
        self.ownership.enter_context(owned(self.path, _OWNER))

    def occupied_by(self, program: int) -> None:
        """Note which process works here."""
        with suppress(OSError):  # of use only if this process is killed
            (self.path / _PROGRAM).write_text(str(program), encoding="ascii")

    def remove(self) -> None:
        """Remove the folder with everything in it; twice is fine."""
        self.ownership.close()
        shutil.rmtree(self.path, ignore_errors=True)


def sweep() -> None:
    """Remove the folders of processes that are no more, and end their programs."""
    for folder in orphaned(f"{_PREFIX}*/{_OWNER}"):
        _end_program(folder)
        shutil.rmtree(folder, ignore_errors=True)


def _end_program(folder: Path) -> None:
    """Kill the group of the program, if that number still stands for it."""
    with suppress(OSError, ValueError):  # it has ended, or never began
        program = int((folder / _PROGRAM).read_text(encoding="ascii"))
        # Numbers are used again, but a program that works here was told so.
        environment = Path(f"/proc/{program}/environ").read_bytes()
        if f"TMPDIR={folder}".encode() in environment.split(b"\0"):
            os.killpg(program, signal.SIGKILL)
