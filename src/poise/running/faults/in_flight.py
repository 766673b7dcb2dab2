"""Files in which each worker notes the fit that it is computing.

When a process dies, joblib ends all of its workers and cannot say which trial was
the cause. So each worker writes the random term ξ of the fit it has begun, which
identifies the trial, into a mapped file. That costs a microsecond, and the file
still exists after a crash.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO

from poise.protocol.messages import Task, Tasks, queries_of

__all__ = ["NotedFits", "begin", "late_file", "take", "terms", "trials_with"]

_RUNNING, _LATE = "running-", "late-"
_WORD = struct.Struct("<Q")
_NOTHING = 0


def begin(folder: Path, xi: int) -> None:
    """Note in a worker that the fit with random term ``xi`` begins."""
    _WORD.pack_into(_page(str(folder), os.getpid()), 0, xi)


@lru_cache(maxsize=4)
def _page(folder: str, process: int) -> mmap.mmap | bytearray:
    """Return eight bytes in a file of the folder, or in memory if there is no such folder here."""
    try:
        descriptor = os.open(f"{folder}/{_RUNNING}{process}", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # a worker on another machine: nobody reads its file
        return bytearray(_WORD.size)
    try:
        os.ftruncate(descriptor, _WORD.size)
        return mmap.mmap(descriptor, _WORD.size)
    finally:
        os.close(descriptor)


def late_file(folder: Path) -> IO[str]:
    """Open the file into which a worker writes its traceback if a fit takes too long."""
    return _opened(str(folder), os.getpid())


@lru_cache(maxsize=4)
def _opened(folder: str, process: int) -> IO[str]:
    try:
        return open(f"{folder}/{_LATE}{process}", "w")
    except OSError:
        return open(os.devnull, "w")


@dataclass(frozen=True)
class NotedFits:
    """What the files of the workers said.

    Attributes
    ----------
    running : set of int
        Random terms of the fits that were running.
    late : dict
        Those among them that overran their time, with the lines of code they were in.
    """

    running: set[int] = field(default_factory=set)
    late: dict[int, str] = field(default_factory=dict)


def take(folder: Path) -> NotedFits:
    """Read all files of the workers, and empty them."""
    findings = NotedFits()
    for path in folder.glob(f"{_RUNNING}*"):
        with path.open("r+b") as page:
            xi = _word(page.read())
            page.seek(0)
            page.write(_WORD.pack(_NOTHING))  # a worker that is still alive goes on writing here
        words = _taken(path.with_name(path.name.replace(_RUNNING, _LATE)))
        if xi != _NOTHING:
            findings.running.add(xi)
            findings.late.update({xi: words} if words else {})
    return findings


def _word(content: bytes) -> int:
    """Return the random term, or 0 if the worker has not begun a fit."""
    xi: int = _WORD.unpack(content)[0] if len(content) == _WORD.size else _NOTHING
    return xi


def _taken(path: Path) -> str:
    if not path.exists():
        return ""
    words = path.read_text(errors="replace")
    os.truncate(path, 0)
    return words


def trials_with(named: Iterable[int], tasks: Tasks, trials: Iterable[int]) -> list[int]:
    """Return those of the given trials that use one of these random terms."""
    wanted = set(named)
    return [trial for trial in trials if wanted & terms(tasks[trial])] if wanted else []


def terms(task: Task) -> set[int]:
    """Return the random terms of a task: those of its fits."""
    return {int(query.xi) for query in queries_of(task)}
