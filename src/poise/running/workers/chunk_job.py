"""One chunk of trials, computed in a worker, and its report."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import numpy as np

from poise.algorithms.fit_warnings import (
    FitWarnings,
    WarningFilter,
    current_filters,
    listening,
)
from poise.errors import AlgorithmError
from poise.protocol.messages import Answer
from poise.protocol.work import Work, WorkData
from poise.running.faults.parent_watch import end_when_parent_ends
from poise.running.workers.inner_threads import one_inner_thread
from poise.running.workers.module_search import search_as_usual

__all__ = [
    "STOP",
    "Job",
    "JobReport",
    "Report",
    "Span",
    "cannot_travel",
    "compute_span",
    "how_many",
    "in_blocks",
]

Span = tuple[int, int]
Report = tuple[float, list[Answer]]
"""The seconds a chunk took, and its answers in order; changes are in blocks, as arrays."""
JobReport = tuple[float, list[Answer], FitWarnings]
"""What a worker sends: its report, and what its fits warned of."""

STOP = "stop"  # name of the file that tells workers to begin nothing more
_SECONDS_BETWEEN_LOOKS = 0.001


@dataclass(frozen=True)
class Job:
    """The part of the work that is sent with every chunk: user code, without the data.

    Attributes
    ----------
    work : Work
        What to compute, without rows and plan.
    folder : Path
        A temporary folder of the machine that asks, for notes.
    parent : int or None
        The process to end with, for workers that joblib starts on this machine.
    filters : tuple of WarningFilter
        The filters of warnings of the process that asks.
    """

    work: Work
    folder: Path
    parent: int | None = None
    filters: tuple[WarningFilter, ...] = field(default_factory=current_filters)

    def __call__(self, first: int, last: int, data: WorkData) -> JobReport:
        """Compute one chunk in a worker; report how long it took and what came out."""
        if self.parent is not None:
            end_when_parent_ends(self.parent, self.folder)
            search_as_usual()
        began = time.perf_counter()
        with (
            listening(self.filters) as heard,
            one_inner_thread(),
            closing(self._answers(first, last, data)) as answers,
        ):
            blocks = in_blocks(answers)
        return time.perf_counter() - began, blocks, heard

    def _answers(self, first: int, last: int, data: WorkData) -> Generator[Answer, None, None]:
        """Yield answers until the run is stopped."""
        stop = _Note(self.folder / STOP)
        if stop.is_there():
            return
        for answer in self.work.with_data(*data)(first, last):
            yield answer
            if stop.is_there():
                return


def compute_span(job: Callable[..., JobReport], span: Span, *data: object) -> JobReport:
    """Compute one chunk by a job, on what was sent with it; for the client of a cluster."""
    return job(*span, *data)


class _Note:
    """A file whose existence is checked from time to time: each check takes microseconds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.next_look = 0.0

    def is_there(self) -> bool:
        now = time.monotonic()
        if now < self.next_look:
            return False
        self.next_look = now + _SECONDS_BETWEEN_LOOKS
        return self.path.exists()


def how_many(answer: Answer) -> int:
    """Count the tasks that an answer is about: several, if it is a block of changes.

    Examples
    --------
    >>> how_many(np.zeros((4, 3, 2))), how_many(0.5)
    (4, 1)
    """
    return len(answer) if isinstance(answer, np.ndarray) else 1


def in_blocks(answers: Iterable[Answer]) -> list[Answer]:
    """Join successive changes into arrays, which are cheap to send and to record.

    Examples
    --------
    >>> in_blocks([0.5, 0.25, "a failure", 2.0])
    [array([0.5 , 0.25]), 'a failure', array([2.])]
    """
    blocks: list[Answer] = []
    for are_changes, group in groupby(answers, lambda answer: isinstance(answer, float)):
        if are_changes:
            blocks.append(np.fromiter(group, np.float64))
        else:
            blocks.extend(group)
    return blocks


def cannot_travel(error: BaseException) -> AlgorithmError:
    """Say that user code cannot be packed here, or not unpacked in a worker.

    Examples
    --------
    >>> raise cannot_travel(TypeError("cannot pickle '_thread.lock' object"))
    Traceback (most recent call last):
    poise.errors.AlgorithmError: algorithm cannot be sent to worker processes: cannot pickle ...
    """
    while error.__cause__ is not None:
        error = error.__cause__
    # A worker sends its whole traceback; the last line says what went wrong.
    reason = str(error).strip('" \n').rpartition("\n")[2]
    return AlgorithmError(
        f"algorithm cannot be sent to worker processes: {reason}. It must not hold locks, open "
        "files or connections, and the modules it comes from must be found by the workers too; "
        "or use n_jobs=1 or backend='threading'"
    )
