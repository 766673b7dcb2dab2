"""Which workers can be held to a time limit: processes that do one thing at a time.

A fit that takes too long is ended with its process, by a clock of which every
process has only one. In a process that does other things besides, these would be
ended too; and one of two fits at the same time would be watched by nobody.
"""

from __future__ import annotations

from poise.errors import ArgumentError
from poise.running.workers.backend import Backend

__all__ = ["check_timeout"]


def check_timeout(timeout: float, backend: Backend) -> None:
    """Refuse a time limit that makes no sense, or that these workers could not keep.

    Examples
    --------
    >>> check_timeout(60.0, Backend("loky", 2))
    """
    if not (timeout > 0 and backend.processes):
        raise ArgumentError(
            f"timeout needs a number of seconds > 0 and worker processes (n_jobs=2 or more), "
            f"got timeout={timeout!r} with {backend.workers} {backend.name} worker(s)"
        )
    if backend.name == "dask":
        _check_dask(timeout, backend.address)


def _check_dask(timeout: float, address: str | None) -> None:
    from poise.running.workers.dask_cluster import each_thread_is_a_process

    if not each_thread_is_a_process(address):
        raise ArgumentError(
            f"timeout needs Dask workers that are processes with one thread each, got "
            f"timeout={timeout!r} with workers that are threads; start them with "
            "LocalCluster(n_workers=..., threads_per_worker=1) or dask worker --nthreads 1"
        )
