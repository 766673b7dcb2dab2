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
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO

from poise.protocol.messages import Comparison, Query, Tasks

__all__ = ["Findings", "begin", "last_words", "take", "trials_with"]

_RUNNING, _LATE = "running-", "late-"
_WORD = struct.Struct("<Q")
_NOTHING = 0


def begin(folder: Path, xi: int) -> None:
    """Note in a worker that the fit with random term ``xi`` begins."""
    _WORD.pack_into(_page(str(folder), os.getpid()), 0, xi)


@lru_cache(maxsize=4)
def _page(folder: str, process: int) -> mmap.mmap | bytearray:
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


def last_words(folder: Path) -> IO[str]:
    """Return an open file for a worker that is about to end because a fit takes too long."""
    return _opened(str(folder), os.getpid())


@lru_cache(maxsize=4)
def _opened(folder: str, process: int) -> IO[str]:
    try:
        return open(f"{folder}/{_LATE}{process}", "w")
    except OSError:
        return open(os.devnull, "w")


@dataclass(frozen=True)
class Findings:
    """What the notes said.

    Attributes
    ----------
    running : set of int
        Random terms of the fits that were running.
    late : dict
        Those among them that overran their time, with the lines of code they were in.
    """

    running: set[int] = field(default_factory=set)
    late: dict[int, str] = field(default_factory=dict)


def take(folder: Path) -> Findings:
    """Read all notes, and forget them."""
    findings = Findings()
    for path in folder.glob(f"{_RUNNING}*"):
        with path.open("r+b") as page:
            xi = _word(page.read())
            page.seek(0)
            page.write(_WORD.pack(_NOTHING))  # a worker that lives goes on writing here
        words = _taken(path.with_name(path.name.replace(_RUNNING, _LATE)))
        if xi != _NOTHING:
            findings.running.add(xi)
            findings.late.update({xi: words} if words else {})
    return findings


def _word(content: bytes) -> int:
    """Return the random term; a worker that has only just made its page has begun nothing."""
    xi: int = _WORD.unpack(content)[0] if len(content) == _WORD.size else _NOTHING
    return xi


def _taken(path: Path) -> str:
    if not path.exists():
        return ""
    words = path.read_text(errors="replace")
    os.truncate(path, 0)
    return words


def trials_with(terms: Iterable[int], tasks: Tasks, trials: Iterable[int]) -> list[int]:
    """Return the trials, out of the given ones, that use one of these random terms."""
    wanted = set(terms)
    return [trial for trial in trials if wanted & _terms(tasks[trial])] if wanted else []


def _terms(task: Query | Comparison) -> set[int]:
    queries = (task.full, task.reduced) if isinstance(task, Comparison) else (task,)
    return {int(query.xi) for query in queries}
