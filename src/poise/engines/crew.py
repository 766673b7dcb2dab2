"""Workers, and what they were given for one run: user code, and the data sent once."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from poise.engines.backend import Backend
from poise.engines.job import Job, Report, Span
from poise.engines.watchdog import Watched
from poise.folders import temporary_folder

__all__ = ["Crew", "Died", "assembled"]


class Died(Exception):
    """A worker was killed.

    Attributes
    ----------
    span : (int, int) or None
        The chunk it was computing, where the backend can tell.
    """

    def __init__(self, span: Span | None = None) -> None:
        super().__init__(span)
        self.span = span


class Crew(Protocol):
    """The workers of one run."""

    def submit(self, spans: Iterable[Span]) -> Generator[Report, None, None]:
        """Have spans of tasks computed, and yield their reports in order.

        A span is taken only when a worker will soon be free for it, so that it can
        be cut by what the ones before it took. Closing the generator cancels what
        was not begun, and what is running where that is possible and worth it.
        Raises :class:`Died` if a worker was killed.
        """
        ...

    def recover(self) -> None:
        """Make good what may have been lost with a worker that died."""
        ...


@contextmanager
def assembled(backend: Backend, work: Any, timeout: float | None) -> Iterator[tuple[Crew, Path]]:
    """Bring workers and work together; yield the crew and the folder for its notes."""
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        if backend.processes:
            work = work.with_algorithm(lambda algorithm: Watched(algorithm, folder, timeout))
        yield _crew(backend, work, folder, stack), folder


def _crew(backend: Backend, work: Any, folder: Path, stack: ExitStack) -> Crew:
    if not backend.cluster:
        from poise.engines.local import LocalCrew

        parent = os.getpid() if backend.processes else None
        return LocalCrew(backend, Job(work.without_data(), folder, parent), work.data)
    from poise.engines.cluster import Cluster, ClusterCrew

    cluster: Cluster
    if backend.name == "dask":
        from poise.engines.dask_cluster import connected_to_dask

        cluster = stack.enter_context(connected_to_dask(backend.address, backend.workers, folder))
    else:
        from poise.engines.ray_cluster import RayCluster

        cluster = RayCluster(backend.address)  # Ray stays up for the runs to come, as it advises
    return ClusterCrew(cluster, backend.workers, Job(work.without_data(), folder), work.data)
