"""Notes that workers leave about what they are doing, for whoever finds one of them dead.

When a process dies, joblib ends all of its workers and cannot say which trial was
to blame. So each worker keeps the random term ξ of the fit it has begun, which
names the trial, in a mapped file: that costs a microsecond and outlives any crash.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

__all__ = ["begin", "leave_late", "take_late", "take_running", "trials_with"]

_RUNNING, _LATE = "running-", "late-"
_WORD = struct.Struct("<Q")
_NOTHING = 0


def begin(folder: Path, xi: int) -> None:
    """Note in a worker that the fit with random term ``xi`` begins."""
    _WORD.pack_into(_page(str(folder), os.getpid()), 0, xi)


@lru_cache(maxsize=4)
def _page(folder: str, process: int) -> Any:
    """Return eight bytes that outlive this process, or that do not, far from the folder."""
    try:
        descriptor = os.open(f"{folder}/{_RUNNING}{process}", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # a worker on another machine: nobody will read its notes
        return bytearray(_WORD.size)
    try:
        os.ftruncate(descriptor, _WORD.size)
        return mmap.mmap(descriptor, _WORD.size)
    finally:
        os.close(descriptor)


def take_running(folder: Path) -> set[int]:
    """Return the terms of the fits that were running, and forget them."""
    found = set()
    for path in folder.glob(f"{_RUNNING}*"):
        with path.open("r+b") as page:
            found |= {term for (term,) in _WORD.iter_unpack(page.read())}
            page.seek(0)
            page.write(_WORD.pack(_NOTHING))  # a worker that lives goes on writing here
    return found - {_NOTHING}


def leave_late(folder: Path, xi: int) -> None:
    """Note in a worker that a fit has overrun its time."""
    with suppress(OSError):  # the folder is not there on another machine
        (folder / f"{_LATE}{xi}").touch()


def take_late(folder: Path) -> set[int]:
    """Return the terms of the fits that overran their time, and forget them."""
    found = set()
    for path in folder.glob(f"{_LATE}*"):
        found.add(int(path.name.removeprefix(_LATE)))
        path.unlink()
    return found


def trials_with(terms: set[int], tasks: Any, trials: Iterable[int]) -> list[int]:
    """Return the trials, out of the given ones, that use one of these random terms."""
    return [trial for trial in trials if terms & _terms(tasks[trial])] if terms else []


def _terms(task: Any) -> set[int]:
    queries = (task.full, task.reduced) if hasattr(task, "full") else (task,)
    return {int(query.xi) for query in queries}
