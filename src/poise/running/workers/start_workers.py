"""Start workers of the chosen kind, and give them the work of one run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, cast

from poise.data.partitioned.partitioned_sample import PartitionedSample
from poise.data.temp_folders import temporary_folder
from poise.protocol.work import Work
from poise.running.faults.time_limit import Watched
from poise.running.workers.backend import Backend
from poise.running.workers.chunk_job import Job, Span
from poise.running.workers.module_search import installed_modules_only
from poise.running.workers.workers import Workers

if TYPE_CHECKING:
    from poise.running.shuffle.pieces import MovableTrials
    from poise.running.shuffle.shuffled_workers import Shuffle
    from poise.running.workers.cluster import Cluster

__all__ = ["start_workers"]


@contextmanager
def start_workers(
    backend: Backend, work: Work, timeout: float | None, span: Span
) -> Iterator[tuple[Workers, Path]]:
    """Start the workers with the work; yield them and the folder in which they note their fits.

    A ``span`` of the tasks is wanted: rows that lie elsewhere are moved only for these.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        if backend.processes or backend.cluster:
            stack.enter_context(installed_modules_only())
        if backend.processes:
            work = work.with_algorithm(lambda algorithm: Watched(algorithm, folder, timeout))
        if not backend.cluster:
            yield _local_workers(backend, work, folder), folder
            return
        cluster, shuffle = _cluster(backend, folder, stack)
        job, (sample, tasks) = Job(work.without_data(), folder), work.data
        if isinstance(sample, PartitionedSample):
            from poise.running.shuffle.shuffled_workers import ShuffledWorkers

            rows = sample, cast("MovableTrials", tasks)
            yield ShuffledWorkers(cluster, backend.workers, shuffle, job, rows, span), folder
            return
        from poise.running.workers.cluster import ClusterWorkers

        yield ClusterWorkers(cluster, backend.workers, job, work.data), folder


def _local_workers(backend: Backend, work: Work, folder: Path) -> Workers:
    from poise.running.workers.processes import LocalWorkers

    parent = os.getpid() if backend.processes else None
    return LocalWorkers(backend, Job(work.without_data(), folder, parent), work.data)


def _cluster(backend: Backend, folder: Path, stack: ExitStack) -> tuple[Cluster, Shuffle]:
    """Connect to a cluster; return it and its shuffle."""
    if backend.name == "dask":
        from poise.running.shuffle.dask_partitions import DaskShuffle
        from poise.running.workers.dask_cluster import connected_to_dask

        dask = stack.enter_context(connected_to_dask(backend.address, backend.workers, folder))
        return dask, DaskShuffle(dask.client)
    from poise.running.shuffle.ray_partitions import RayShuffle
    from poise.running.workers.ray_cluster import RayCluster

    return RayCluster(backend.address), RayShuffle()  # Ray keeps running, for later runs
