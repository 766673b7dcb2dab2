"""Workers of a Dask or Ray cluster, through the client that each of them brings.

joblib has backends for both, and it says which of them to use. But its Dask
backend waits for ever when a task has killed its workers, and its Ray backend
needs seconds for every call and answers only when a whole call is done. So the
trials go to the cluster's own client.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from typing import Any, Protocol

from poise.data.sample import Sample
from poise.errors import ClusterError, PoiseError
from poise.protocol.messages import Tasks
from poise.protocol.work import WorkData
from poise.running.transport.pickle_by_value import packed
from poise.running.transport.shared_files import Placed, files_of, find_files
from poise.running.workers.chunk_job import Job, Report, Span, cannot_travel
from poise.running.workers.workers import WorkerDied

__all__ = ["Cluster", "ClusterWorkers"]

_ATTEMPTS = 6  # at sending user code and data, while workers are dying
_PAUSE_SECONDS = (
    0.25  # seconds before the second attempt, and twice as long before each further one
)


class Cluster(Protocol):
    """What is asked of a cluster's client."""

    @property
    def deaths(self) -> tuple[type[BaseException], ...]:
        """What :meth:`result` raises when a worker was killed."""
        ...

    @property
    def size(self) -> int:
        """How many chunks its workers can compute at once."""
        ...

    def put(self, content: object) -> Any:
        """Send something to every worker, once; return what stands for it."""
        ...

    def start(self, job: object, span: Span, data: object) -> Any:
        """Have a chunk computed; return its future."""
        ...

    def finished(self, futures: list[Any]) -> set[Any]:
        """Wait for one of the futures; return those that are done."""
        ...

    def result(self, future: object) -> Report:
        """Return what came of a finished future, or raise."""
        ...

    def cancel(self, futures: list[Any]) -> None:
        """Begin none of these any more; end those that are running where that is possible."""
        ...


class ClusterWorkers:
    """Keeps every worker of a cluster busy, and hands over reports in order.

    Parameters
    ----------
    cluster : Cluster
        A connected client.
    workers : int
        How many chunks may run at once.
    job, data : Job, tuple
        User code; rows and plan.
    """

    def __init__(self, cluster: Cluster, workers: int, job: Job, data: WorkData) -> None:
        self.cluster = cluster
        # Where every worker is ours, as many chunks again are waiting, so that nobody is idle.
        # Where some are left to others, these would begin at once what is to wait.
        self.in_flight = workers if workers < cluster.size else 2 * workers
        self.content = (_packed(job), self._lightened(*data))
        self.recover()

    def _lightened(self, sample: Sample, tasks: Tasks) -> WorkData:
        """Leave behind what a worker finds in a file that it sees as well."""
        files = files_of(sample)
        if not files:
            return sample, tasks
        _, [found] = self._report((0, 0), self.cluster.start(find_files, (0, 0), files))
        return Placed((sample, tasks)) if found else (sample, tasks)

    def recover(self) -> None:
        """Send user code and data; again, where a worker that died may have held the last copy."""
        # A worker may die while it is being sent to: another takes its place in a moment.
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
            self.job, self.data = (self.cluster.put(part) for part in self.content)
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
            future = self.cluster.start(self.job, span, self.data)
            queue.append((span, future))
            running.add(future)

    def _finished(self, running: set[Any]) -> set[Any]:
        try:
            return self.cluster.finished(list(running))
        except self.cluster.deaths as error:
            raise WorkerDied from error

    def _report(self, span: Span, future: object) -> Report:
        try:
            return self.cluster.result(future)
        except self.cluster.deaths as error:
            raise WorkerDied(span) from error
        except Exception as error:  # not of a fit: those are answers
            raise cannot_travel(error) from error


def _packed(job: Job) -> Any:
    try:
        return packed(job)
    except Exception as error:
        raise cannot_travel(error) from error
