"""Many trials at the same time, in processes, threads or a cluster.

Answers are yielded in plan order, in whatever order they were computed. A worker that
dies does not end the run: its trials are computed again, alone. A trial that kills its
worker again is a failed trial.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing

from poise.algorithms.global_state import GlobalGenerators
from poise.protocol.messages import Answer
from poise.protocol.work import Work
from poise.running.faults.worker_death import FatalTrialSearch
from poise.running.workers.backend import Backend
from poise.running.workers.chunk_job import Span, how_many
from poise.running.workers.chunks import Chunks
from poise.running.workers.inner_threads import one_inner_thread
from poise.running.workers.start_workers import start_workers
from poise.running.workers.workers import WorkerDied, Workers

__all__ = ["ParallelEngine"]


class ParallelEngine:
    """Runs work on many workers at once.

    Parameters
    ----------
    backend : Backend
        Where the workers are.
    timeout : float or None
        Seconds that one fit may take; needs worker processes.
    """

    def __init__(self, backend: Backend, timeout: float | None = None) -> None:
        self.backend = backend
        self.timeout = timeout

    def map(self, work: Work, start: int, stop: int) -> Generator[Answer, None, None]:
        """Yield the answers in order; begin nothing more once the generator is closed."""
        # Only processes can have a time limit.
        backend = self.backend.for_work(work) if self.timeout is None else self.backend
        span = start, stop
        with ExitStack() as stack:
            if not backend.processes:
                # Threads share global generators and thread pools with this process.
                stack.enter_context(GlobalGenerators())
                stack.enter_context(one_inner_thread())
            workers, folder = stack.enter_context(start_workers(backend, work, self.timeout, span))
            search = FatalTrialSearch(workers, folder, work.data[1], self.timeout)
            yield from self._with_recovery(workers, search, span, work.grain)

    def _with_recovery(
        self, workers: Workers, search: FatalTrialSearch, span: Span, grain: int
    ) -> Iterator[Answer]:
        """Yield every answer; continue after a worker has died."""
        position, stop = span
        settled: dict[int, list[Answer]] = {}  # trials that were computed again
        while position < stop:
            if position in settled:
                yield from settled.pop(position)
                position += 1
                continue
            end = min(settled, default=stop)
            chunks = Chunks(position, end, self.backend.workers, grain)
            try:
                for answer in _stream(workers, chunks):
                    position += how_many(answer)
                    yield answer
            except WorkerDied as death:
                settled |= search.retry(death, position, chunks.position)


def _stream(workers: Workers, chunks: Chunks) -> Iterator[Answer]:
    """Yield answers while workers compute later chunks."""
    with closing(workers.submit(chunks)) as reports:
        try:
            for seconds, answers in reports:
                chunks.learn(sum(how_many(answer) for answer in answers), seconds)
                yield from answers
        finally:
            chunks.close()
