"""How fits are run: how many at once, for how long, and in which order answers come back."""

from __future__ import annotations

import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from poise.algorithms.algorithm import blaming_user_code
from poise.engine.messages import Answer
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from poise.engine.clusters import DaskWorkers, RayWorkers
    from poise.engine.pool import Pool
    from poise.engine.work import Work

    Workers: TypeAlias = Pool | DaskWorkers | RayWorkers

# Seconds, and packed answers, or the error that says why there are none.
Report = tuple[float, bytes | BaseException]

_CHUNK = 0.1  # seconds: sending one costs about a hundredth of that


@dataclass(frozen=True, kw_only=True)
class Execution:
    """The settings of a run that do not change its trials."""

    n_jobs: int | None = None
    backend: Literal["dask", "ray"] | None = None  # this machine
    fit_timeout: float | None = None  # seconds
    on_error: Literal["raise", "record"] = "raise"
    progress: bool | None = None

    def __post_init__(self) -> None:
        if self.n_jobs == 0:
            raise ArgumentError("must not be 0: -1 is one per core", argument="n_jobs")
        if self.backend is not None:
            self._refuse_limit("works on this machine only: a cluster cannot end a late fit")
            self._workers()  # no connection is an error before the first fit
        if not hasattr(signal, "setitimer"):
            self._refuse_limit("needs a clock that this operating system does not have")

    def _refuse_limit(self, problem: str) -> None:
        limit = self.fit_timeout
        if limit is not None:
            raise ArgumentError(problem, argument="fit_timeout", got=limit, remedy="leave it out")

    @property
    def size(self) -> int:
        """Number of fits at once, as joblib counts them: its ``parallel_config`` is respected."""
        if self.n_jobs == 1 or (self.n_jobs is None and "joblib" not in sys.modules):
            return 1
        from joblib import effective_n_jobs

        return int(effective_n_jobs(self.n_jobs))  # type: ignore[arg-type]

    def compute(self, work: Work, span: range, *, in_turn: bool = False) -> Generator[Answer]:
        """Answer some tasks in plan order; ``in_turn`` all by one worker, one after the other."""
        algorithm = work.algorithm
        if hasattr(signal, "siginterrupt"):  # import polars lets whoever waits sleep on
            signal.siginterrupt(signal.SIGINT, True)
        if algorithm.at_once:
            several = f"{algorithm.name} fits {algorithm.at_once:,} data sets at once"
            self._refuse_limit(f"cannot be kept: {several}")
        alone = self.backend is None and self.size == 1 and self.fit_timeout is None
        if not span or algorithm.device or alone:
            return work.answers(span)
        return on_workers(self._workers, work, span, in_turn)

    def _workers(self) -> Workers:
        if self.backend is not None:
            from poise.engine.clusters import DaskWorkers, RayWorkers

            return (DaskWorkers if self.backend == "dask" else RayWorkers)(self.n_jobs)
        from poise.engine.pool import Pool

        return Pool.of(self.size, self.fit_timeout)


@dataclass(eq=False)
class WorkerDied(Exception):  # noqa: N818 - it is not an error here
    """What a worker was computing when it died, if that is known, how, and whether it was late."""

    task: int | None
    how: str
    late: bool = False


def on_workers(
    found: Callable[[], Workers], work: Work, span: range, in_turn: bool = False
) -> Generator[Answer]:
    """Yield the answers in plan order, also if workers die.

    So many spans as the workers' ``size`` are computed at once, and some more wait ``ahead``, so
    that no worker waits for the next one.
    """
    workers = found()
    chunks = Chunks(span[:0] if in_turn else span, workers.size, work.algorithm.at_once or 1)
    again = deque([span] if in_turn else [])
    running: dict[Future[Report], range] = {}
    done: dict[int, Answer] = {}
    position = span.start
    try:
        workers.share(work)
        while position < span.stop:
            while len(running) < workers.size + workers.ahead and (
                part := again.popleft() if again else chunks.next()
            ):
                running[workers.submit(part)] = part
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                part = running.pop(future)
                try:
                    seconds, body = future.result()
                except workers.deaths as death:
                    done |= workers.settled(death, part, again)
                    continue
                chunks.learn(len(part), seconds)
                done.update(zip(part, unpacked(body), strict=True))
            while position in done:
                yield done.pop(position)
                position += 1
    finally:
        workers.release(running)


def unpacked(body: bytes | BaseException) -> list[Answer]:
    """Return the answers of a worker, or raise why there are none."""
    if isinstance(body, BaseException):
        raise body
    answers: list[Answer] = pickle.loads(body)
    return answers


def travelling() -> AbstractContextManager[None]:
    """Context in which user code is written down or read, and takes part in that."""
    return blaming_user_code("the algorithm cannot be sent to a worker process", {"n_jobs": 1})


class Chunks:
    """Ranges of tasks for one worker each: 100 ms of cheap fits, or a single long one.

    The first of each worker is a single task. They get smaller near the end of a run, so that no
    worker waits for another. What is fitted in stacks is cut into whole ones.
    """

    def __init__(self, span: range, workers: int, stack: int = 1) -> None:
        self.left, self.workers, self.stack = span, workers, stack
        self.size = 1

    def learn(self, tasks: int, seconds: float) -> None:
        """Choose the size of the next chunks from the time that the last one took."""
        self.size = max(1, int(_CHUNK * tasks / max(seconds, 1e-9)))

    def next(self) -> range | None:
        """Return the next range, None at the end."""
        fair = max(1, len(self.left) // (2 * self.workers))
        size = max(1, min(self.size, fair) // self.stack) * self.stack
        part, self.left = self.left[:size], self.left[size:]
        return part or None
