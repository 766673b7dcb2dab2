"""A small process beside the workers: it ends them when their parent has gone, however it ended.

Run as a program, with the parent's process number and the folder of its workers. The folder holds
one file for each group of processes that must not survive the parent: ``group-1234``, and for what
a fit of that worker has started as a group of its own: ``group-1234-1240``.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
from contextlib import suppress

_PREFIX = "group-"


def note(folder: str, group: int) -> None:
    """Write down a group of processes that must end with the parent."""
    with open(os.path.join(folder, f"{_PREFIX}{group}"), "wb"):
        pass


def end(folder: str, group: int) -> None:
    """End a group of processes: a worker, and then the programs that its fits have started."""
    _end(os.path.join(folder, f"{_PREFIX}{group}"))
    _end_each(folder, f"{_PREFIX}{group}-")


def end_all(folder: str) -> None:
    """End every group that was written down, and remove the folder."""
    for _ in range(2):  # workers before their programs, also those that they begin meanwhile
        _end_each(folder, _PREFIX)
    shutil.rmtree(folder, ignore_errors=True)


def _end_each(folder: str, beginning: str) -> None:
    for name in sorted(os.listdir(folder) if os.path.isdir(folder) else []):
        if name.startswith(beginning):
            _end(os.path.join(folder, name))


def _end(path: str) -> None:
    group = int(path.rpartition("-")[2])
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(group, signal.SIGKILL)
        else:
            os.kill(group, signal.SIGTERM)
    with suppress(OSError):
        os.remove(path)


def watch(parent: int, folder: str) -> None:
    """Wait until the parent closes its end of the pipe, or has gone; then end all."""
    if os.name == "nt":
        sys.stdin.buffer.read()
    else:  # a forked child of the parent may hold the pipe open
        while os.getppid() == parent and not select.select([0], [], [], 0.5)[0]:
            pass
    end_all(folder)


if __name__ == "__main__":
    watch(int(sys.argv[1]), sys.argv[2])
