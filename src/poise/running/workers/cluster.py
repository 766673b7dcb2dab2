"""Workers of a Dask or Ray cluster, through the client of Dask or Ray.

The name of the backend comes from joblib, but joblib's own backends are not used: its
Dask backend waits for ever when a task has killed its workers; its Ray backend needs
seconds for every call, and answers only when the whole call is done.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from typing import Any, Protocol

from poise.algorithms.fit_warnings import add_fit_warnings
from poise.data.sample import Sample
from poise.errors import ClusterError, PoiseError
from poise.protocol.messages import Tasks
from poise.protocol.work import WorkData
from poise.running.transport.pickle_by_value import packed
from poise.running.transport.shared_files import SentAsPaths, files_of, find_files
from poise.running.workers.chunk_job import JobReport, Report, Span, cannot_travel
from poise.running.workers.workers import WorkerDied

__all__ = ["Cluster", "ClusterWorkers"]

_ATTEMPTS = 6  # to send user code and data, while workers are dying
_PAUSE_SECONDS = (
    0.25  # seconds before the second attempt, and twice as long before each further one
)


class Cluster(Protocol):
    """What poise needs from the client of a cluster."""

    @property
    def deaths(self) -> tuple[type[BaseException], ...]:
        """What :meth:`result` raises when a worker was killed."""
        ...

    @property
    def size(self) -> int:
        """How many chunks its workers can compute at once."""
        ...

    def put(self, content: object) -> Any:
        """Send an object to every worker, once; return a reference to it."""
        ...

    def start(self, job: object, span: Span, *data: object) -> Any:
        """Have a chunk computed; return its future."""
        ...

    def finished(self, futures: list[Any]) -> set[Any]:
        """Wait for one of the futures; return those that are done."""
        ...

    def result(self, future: object) -> JobReport:
        """Return what came of a finished future, or raise."""
        ...

    def cancel(self, futures: list[Any]) -> None:
        """Begin none of these; end those that are running if that is possible."""
        ...


class ClusterWorkers:
    """Keeps every worker of a cluster busy, and yields reports in order.

    Parameters
    ----------
    cluster : Cluster
        A connected client.
    workers : int
        How many chunks may run at once.
    job : Job
        User code.
    data : tuple, optional
        Rows and plan, which are sent to every worker.
    """

    def __init__(
        self, cluster: Cluster, workers: int, job: object, data: WorkData | None = None
    ) -> None:
        self.cluster = cluster
        # If all workers are ours, as many chunks again wait, so that no worker is idle.
        # If some workers are for others, these would begin the waiting chunks at once.
        self.in_flight = workers if workers < cluster.size else 2 * workers
        sent = () if data is None else (self._without_files(*data),)
        self.content = (_packed(job), *sent)
        self.recover()

    def _without_files(self, sample: Sample, tasks: Tasks) -> WorkData:
        """Remove the arrays that a worker can read from a file itself."""
        files = files_of(sample)
        if not files:
            return sample, tasks
        _, [found] = self._report((0, 0), self.cluster.start(find_files, (0, 0), files))
        return SentAsPaths((sample, tasks)) if found else (sample, tasks)

    def recover(self) -> None:
        """Send user code and data; again if a worker that died may have held the last copy."""
        # A worker may die during the sending; another soon takes its place.
        passing: tuple[type[BaseException], ...] = (OSError, *self.cluster.deaths)
        for attempt in range(_ATTEMPTS):
            try:
                self._send()
                return
            except passing as error:
                last = error
            time.sleep(_PAUSE_SECONDS * 2**attempt)
        raise ClusterError(
            f"user code and data could not be sent to the workers in {_ATTEMPTS} attempts: "
            f"{type(last).__name__}: {last}"
        ) from last

    def _send(self) -> None:
        of_the_cluster: tuple[type[BaseException], ...] = (PoiseError, OSError)
        try:
            self.job, *self.data = (self.cluster.put(part) for part in self.content)
        except of_the_cluster + self.cluster.deaths:
            raise
        except Exception as error:
            raise cannot_travel(error) from error

    def submit(self, spans: Iterable[Span]) -> Generator[Report, None, None]:
        """Yield the reports in order while later spans are being computed."""
        todo = iter(spans)
        queue: deque[tuple[Span, Any]] = deque()  # in plan order
        running: set[Any] = set()
        try:
            while True:
                self._top_up(todo, queue, running)
                while queue and queue[0][1] not in running:
                    yield self._report(*queue.popleft())
                if not running:
                    return
                running -= self._finished(running)
        finally:
            self.cluster.cancel(list(running))

    def _top_up(
        self, todo: Iterator[Span], queue: deque[tuple[Span, Any]], running: set[Any]
    ) -> None:
        """Start chunks until all workers have enough to do."""
        while len(running) < self.in_flight and (span := next(todo, None)) is not None:
            future = self._start(span)
            queue.append((span, future))
            running.add(future)

    def _start(self, span: Span) -> Any:
        """Have a chunk computed on the rows that were sent to every worker."""
        return self.cluster.start(self.job, span, *self.data)

    def _finished(self, running: set[Any]) -> set[Any]:
        try:
            return self.cluster.finished(list(running))
        except self.cluster.deaths as error:
            raise WorkerDied from error

    def _report(self, span: Span, future: object) -> Report:
        try:
            seconds, answers, heard = self.cluster.result(future)
        except self.cluster.deaths as error:
            raise WorkerDied(span) from error
        except Exception as error:  # not the error of a fit: that is an answer
            raise cannot_travel(error) from error
        add_fit_warnings(heard)
        return seconds, answers


def _packed(job: object) -> Any:
    try:
        return packed(job)
    except Exception as error:
        raise cannot_travel(error) from error
