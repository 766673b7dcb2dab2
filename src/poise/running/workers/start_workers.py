"""Start workers of the chosen kind, and give them the work of one run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from poise.data.temp_folders import temporary_folder
from poise.protocol.work import Work
from poise.running.faults.time_limit import Watched
from poise.running.workers.backend import Backend
from poise.running.workers.chunk_job import Job
from poise.running.workers.module_search import installed_modules_only
from poise.running.workers.workers import Workers

__all__ = ["start_workers"]


@contextmanager
def start_workers(
    backend: Backend, work: Work, timeout: float | None
) -> Iterator[tuple[Workers, Path]]:
    """Start the workers with the work; yield them and the folder in which they note their fits."""
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        if backend.processes or backend.cluster:
            stack.enter_context(installed_modules_only())
        if backend.processes:
            work = work.with_algorithm(lambda algorithm: Watched(algorithm, folder, timeout))
        yield _workers_of(backend, work, folder, stack), folder


def _workers_of(backend: Backend, work: Work, folder: Path, stack: ExitStack) -> Workers:
    if not backend.cluster:
        from poise.running.workers.processes import LocalWorkers

        parent = os.getpid() if backend.processes else None
        return LocalWorkers(backend, Job(work.without_data(), folder, parent), work.data)
    from poise.running.workers.cluster import Cluster, ClusterWorkers

    cluster: Cluster
    if backend.name == "dask":
        from poise.running.workers.dask_cluster import connected_to_dask

        cluster = stack.enter_context(connected_to_dask(backend.address, backend.workers, folder))
    else:
        from poise.running.workers.ray_cluster import RayCluster

        cluster = RayCluster(backend.address)  # Ray keeps running, for later runs
    return ClusterWorkers(cluster, backend.workers, Job(work.without_data(), folder), work.data)
