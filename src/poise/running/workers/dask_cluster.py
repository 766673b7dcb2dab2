"""Workers of a Dask cluster: a connected one, one at an address, or a new one here."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from poise.errors import ArgumentError, ClusterError
from poise.running.faults.sigint import block_sigint_in_children
from poise.running.workers.chunk_job import JobReport, Span, compute_span
from poise.running.workers.main_guard import require_main_guard

__all__ = [
    "DaskCluster",
    "connected_to_dask",
    "count_dask_workers",
    "each_thread_is_a_process",
    "present_client",
]

_LONGEST_WAIT_SECONDS = 60  # for a worker to come back
_SETTINGS = {
    # The engine computes a trial that kills its worker again, alone; Dask must not.
    "distributed.scheduler.allowed-failures": 0,
    # A worker that dies twice in a quarter of a minute must not be given up.
    "distributed.deploy.lost-worker-timeout": "1 day",
}


class DaskCluster:
    """A connected Dask client.

    Parameters
    ----------
    client : distributed.Client
        The client.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        # If a dead worker held data, Dask cancels the tasks that need them.
        self.deaths: tuple[type[BaseException], ...] = (
            _distributed().KilledWorker,
            CancelledError,
        )

    @property
    def size(self) -> int:
        """The threads of all present workers."""
        return _threads(self.client)

    def put(self, content: object) -> Any:
        """Send something to every worker."""
        self._wait_for_a_worker()
        # In a list, because Dask would split a tuple. hash=False, because data stored under
        # the hash of their content are lost when an earlier run releases the same data.
        try:
            (future,) = self.client.scatter([content], broadcast=True, hash=False)
        except ValueError as error:
            if "replicate" not in str(error):
                raise
            # All workers died between the looking and the sending; another attempt is made.
            raise ConnectionError(f"no worker took the data: {error}") from error
        return future

    def _wait_for_a_worker(self) -> None:
        """Wait for the nanny of a worker that died to start another."""
        try:
            self.client.wait_for_workers(1, timeout=_LONGEST_WAIT_SECONDS)
        except TimeoutError as error:
            raise ClusterError(
                "no worker of the Dask cluster is left, and none came back in "
                f"{_LONGEST_WAIT_SECONDS} seconds"
            ) from error

    def start(self, job: object, span: Span, *data: object) -> Any:
        """Compute a chunk on a free worker."""
        return self.client.submit(compute_span, job, span, *data, pure=False)

    def finished(self, futures: list[Any]) -> set[Any]:
        """Wait for one of the futures."""
        done: set[Any] = set(_distributed().wait(futures, return_when="FIRST_COMPLETED").done)
        return done

    def result(self, future: Any) -> JobReport:
        """Return the result of a future."""
        report: JobReport = future.result()
        return report

    def cancel(self, futures: list[Any]) -> None:
        """Begin none of these; Dask cannot end what is running."""
        if futures:
            self.client.cancel(futures, force=True)


@contextmanager
def connected_to_dask(address: str | None, workers: int, folder: Path) -> Iterator[DaskCluster]:
    """Use the cluster at the address, or the connected one, or start one here."""
    client = present_client() if address is None else None
    with ExitStack() as stack:
        if address is not None:
            client = stack.enter_context(_distributed().Client(address))
        elif client is None:
            client = _started(stack, workers, folder)
        yield DaskCluster(client)


def _started(stack: ExitStack, workers: int, folder: Path) -> Any:
    import dask

    require_main_guard("dask")
    stack.enter_context(dask.config.set(_SETTINGS))
    with block_sigint_in_children():
        cluster = _distributed().LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            local_directory=str(folder / "dask"),
            silence_logs=logging.ERROR,  # it warns of work that was cancelled, as it should be
        )
        stack.enter_context(cluster)
    return stack.enter_context(_distributed().Client(cluster))


def count_dask_workers(address: str | None) -> int:
    """Count the threads of all workers; without a cluster yet, the cores of this machine."""
    with _running(address) as client:
        if client is not None:
            return _threads(client)
    from joblib import cpu_count

    return int(cpu_count())


def each_thread_is_a_process(address: str | None) -> bool:
    """Tell whether every thread that computes has a process of its own, and not this process.

    This is so in a cluster that poise starts itself.
    """
    with _running(address) as client:
        if client is None:
            return True
        threads = _threads(client)
        processes = set(client.run(_process).values()) - {_process()}
        return len(processes) == threads


def _process() -> tuple[str, int]:
    return socket.gethostname(), os.getpid()


@contextmanager
def _running(address: str | None) -> Iterator[Any]:
    """Connect to an existing cluster; None if there is none yet."""
    if address is None:
        yield present_client()
        return
    with _distributed().Client(address) as client:
        yield client


def _threads(client: Any) -> int:
    client.wait_for_workers(1)
    return sum(client.nthreads().values())


def present_client() -> Any:
    """Return the client of joblib's configuration, or Dask's default one, or None."""
    from joblib.parallel import get_active_backend

    configured = getattr(get_active_backend()[0], "client", None)
    if configured is not None:
        return configured
    try:
        return _distributed().default_client()
    except ValueError:
        return None


def _distributed() -> Any:
    """Import Dask's scheduler, which has no annotations."""
    try:
        import distributed
    except ImportError:
        raise ArgumentError("backend='dask' needs dask: pip install 'poise[dask]'") from None
    return distributed
