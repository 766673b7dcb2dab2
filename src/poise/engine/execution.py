"""How fits are run: how many at once, for how long, and in which order answers come back."""

from __future__ import annotations

import signal
import sys
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from poise.engine.messages import Answer, Failure
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from poise.engine.pool import Report
    from poise.engine.work import Work

_SHORTEST, _LONGEST = 0.05, 0.1  # seconds: sending a chunk costs about a fiftieth of the shortest
_SHARE_OF_TIME_SPENT = 0.05  # an early verdict wastes no more than that


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The settings of a run that do not change its trials."""

    n_jobs: int | None = None
    fit_timeout: float | None = None  # seconds
    on_error: Literal["raise", "record"] = "raise"
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.n_jobs == 0 or isinstance(self.n_jobs, bool):
            raise ArgumentError(
                "must be a whole number other than 0, or None", argument="n_jobs", got=self.n_jobs
            )
        if self.fit_timeout is not None and not hasattr(signal, "setitimer"):
            raise ArgumentError(
                "needs a clock that this operating system does not have",
                argument="fit_timeout",
                got=self.fit_timeout,
            )

    @property
    def size(self) -> int:
        """Number of fits at once, as joblib counts them: its ``parallel_config`` is respected."""
        if self.n_jobs == 1 or (self.n_jobs is None and "joblib" not in sys.modules):
            return 1
        from joblib import effective_n_jobs

        return int(effective_n_jobs(self.n_jobs))  # type: ignore[arg-type]

    def compute(self, work: Work, span: range, *, in_turn: bool = False) -> Iterator[Answer]:
        """Answer some tasks in plan order; ``in_turn`` all by one worker, one after the other."""
        algorithm = work.algorithm
        if algorithm.at_once and self.fit_timeout is not None:
            raise ArgumentError(
                f"cannot be kept: {algorithm.name} fits {algorithm.at_once:,} data sets at once",
                argument="fit_timeout",
                got=self.fit_timeout,
                remedy="leave it out",
            )
        if not span or algorithm.device or (self.size == 1 and self.fit_timeout is None):
            return work.answers(span)
        return on_workers(self, work, span, in_turn)


class WorkerDied(Exception):  # noqa: N818 - it is no error here
    """What a worker was computing when it died, if that is known, how, and whether it was late."""

    def __init__(self, task: int | None, how: str, late: bool = False) -> None:
        super().__init__(task, how, late)
        self.task, self.how, self.late = task, how, late


def on_workers(
    execution: Execution, work: Work, span: range, in_turn: bool = False
) -> Iterator[Answer]:
    """Yield the answers in plan order, also if workers die."""
    from poise.engine.pool import Pool

    pool = Pool.of(execution.size, execution.fit_timeout)
    chunks = Chunks(span[:0] if in_turn else span, pool.size, work.algorithm.at_once or 1)
    again = deque([span] if in_turn else [])
    running: dict[Future[Report], range] = {}
    done: dict[int, Answer] = {}
    suspects: set[int] = set()  # tasks during which a worker has died
    position = span.start
    try:
        pool.share(work)
        while position < span.stop:
            while len(running) <= pool.size and (
                part := again.popleft() if again else chunks.next()
            ):
                running[pool.submit(part)] = part
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                part = running.pop(future)
                try:
                    seconds, answers = future.result()
                except WorkerDied as death:
                    done |= settled(death, part, suspects, again)
                    continue
                chunks.learn(len(part), seconds)
                done.update(zip(part, answers, strict=True))
            while position in done:
                yield done.pop(position)
                position += 1
    finally:
        pool.release(running)


def settled(
    death: WorkerDied, part: range, suspects: set[int], again: deque[range]
) -> dict[int, Answer]:
    """Fail a task that was late, or of which a second worker died alone; ask for the others again.

    The first death may have been the choice of the system, which ends some process when memory is
    short.
    """
    if death.task is None and len(part) > 1:  # nobody knows which: each by itself
        again.extend(range(k, k + 1) for k in part)
        return {}
    task = part.start if death.task is None else death.task
    again.extend(filter(None, (range(part.start, task), range(task + 1, part.stop))))
    if death.late:
        return {task: Answer(failure=Failure(death.how, "timeout"))}
    if task in suspects:
        text = f"{death.how}, twice (out of memory, or a crash in compiled code?)"
        return {task: Answer(failure=Failure(text, "death"))}
    suspects.add(task)
    again.append(range(task, task + 1))
    return {}


class Chunks:
    """Ranges of tasks for one worker each: 50 to 100 ms of cheap fits, or a single long one.

    The first of each worker is a single task. They grow during a run, as one chunk is a smaller
    part of a longer run, and get smaller near its end, so that no worker waits for another. What is
    fitted in stacks is cut into whole ones.
    """

    def __init__(self, span: range, workers: int, stack: int = 1) -> None:
        self.left, self.workers, self.stack = span, workers, stack
        self.size, self.spent = 1, 0.0

    def learn(self, tasks: int, seconds: float) -> None:
        """Choose the size of the next chunks from the time that the last one took."""
        self.spent += seconds
        aim = min(max(_SHORTEST, _SHARE_OF_TIME_SPENT * self.spent), _LONGEST)
        self.size = max(1, int(aim * tasks / max(seconds, 1e-7 * tasks, 1e-9)))

    def next(self) -> range | None:
        """Return the next range, None at the end."""
        fair = max(1, len(self.left) // (2 * self.workers))
        size = max(1, min(self.size, fair) // self.stack) * self.stack
        part, self.left = self.left[:size], self.left[size:]
        return part or None
