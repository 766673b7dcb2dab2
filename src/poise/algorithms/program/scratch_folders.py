"""Temporary folders of programs, which are removed also after a kill.

A killed process can neither remove its folders nor end the programs that it started. So
each folder is locked by its owner, and its program has it in its environment. The next
process that starts a program ends the programs of killed processes, and removes their
folders; a process that kills its workers does so at once.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from poise.data.temp_folders import orphaned, owned

__all__ = ["Scratch", "sweep", "sweep_after_workers"]

_PREFIX = "poise-program-"
_OWNER, _PROGRAM = "owner", "program.pid"
_SECONDS_TO_START = 5.0  # within these a program that was begun shows its environment
_SECONDS_TO_DIE = 10.0  # within these a worker that was killed has ended
_SECONDS_BETWEEN_LOOKS = 0.02

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
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getppid()}-"))
        self.name = str(self.path)
        self.ownership = ExitStack()
        self.ownership.enter_context(owned(self.path, _OWNER))

    def about_to_start(self) -> None:
        """Write down that a program will work here, before its process id is known."""
        self._write("")

    def occupied_by(self, program: int) -> None:
        """Write down which process works here."""
        self._write(str(program))

    def _write(self, program: str) -> None:
        with suppress(OSError):  # needed only if this process is killed
            (self.path / _PROGRAM).write_text(program, encoding="ascii")

    def remove(self) -> None:
        """Remove the folder with everything in it; it may be called twice."""
        self.ownership.close()
        shutil.rmtree(self.path, ignore_errors=True)


def sweep() -> None:
    """Remove the folders of processes that have ended, and end their programs."""
    for folder in orphaned(f"{_PREFIX}*/{_OWNER}"):
        if not _end_programs(folder) and _may_be_starting(folder):
            continue  # the next sweep finds it
        shutil.rmtree(folder, ignore_errors=True)


def sweep_after_workers() -> None:
    """End the programs of this process's workers, which have just been killed."""
    limit = time.monotonic() + _SECONDS_TO_DIE
    mine = f"{_PREFIX}{os.getpid()}-*"
    while any(Path(tempfile.gettempdir()).glob(mine)) and time.monotonic() < limit:
        sweep()
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _end_programs(folder: Path) -> bool:
    """Kill the groups of all processes that have this folder in their environment."""
    found = False
    for process in _programs_in(folder):
        with suppress(OSError):  # it has ended meanwhile
            os.killpg(os.getpgid(process), signal.SIGKILL)
            found = True
    return found


def _programs_in(folder: Path) -> Iterator[int]:
    """Yield the processes that work in a folder; a process id in a file may be another's by now."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # of another user, or just ending
            if f"TMPDIR={folder}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                yield int(entry.name)


def _may_be_starting(folder: Path) -> bool:
    """Tell whether the owner was killed just when it started a program."""
    with suppress(OSError):
        mark = folder / _PROGRAM
        return mark.stat().st_size == 0 and time.time() - mark.stat().st_mtime < _SECONDS_TO_START
    return False
