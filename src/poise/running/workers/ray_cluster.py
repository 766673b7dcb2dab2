"""Workers of a Ray cluster: a connected one, one at an address, or a new one here."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from poise.errors import ArgumentError
from poise.running.workers.chunk_job import JobReport, Span, compute_span

__all__ = ["RayCluster", "count_ray_workers"]


class RayCluster:
    """A connected Ray.

    Parameters
    ----------
    address : str or None
        Where its head is; None for the one that is connected already, or one started here.
    """

    def __init__(self, address: str | None) -> None:
        self.ray = _joined(address)
        died = self.ray.exceptions
        self.deaths: tuple[type[BaseException], ...] = (
            died.WorkerCrashedError,
            died.OutOfMemoryError,
            died.NodeDiedError,
            died.ObjectLostError,
        )
        # No retries: the engine computes a trial that kills its worker again, alone.
        self._remote = self.ray.remote(num_cpus=1, max_retries=0)(compute_span)

    @property
    def size(self) -> int:
        """The processors of the cluster."""
        return _processors(self.ray)

    def put(self, content: object) -> Any:
        """Keep an object in the object store of each machine."""
        return self.ray.put(content)

    def start(self, job: object, span: Span, *data: object) -> Any:
        """Compute a chunk on a free worker."""
        return self._remote.remote(job, span, *data)

    def finished(self, futures: list[Any]) -> set[Any]:
        """Wait for one of the futures."""
        done, _ = self.ray.wait(futures, num_returns=1, fetch_local=False)
        return set(done)

    def result(self, future: object) -> JobReport:
        """Return the result of a future."""
        report: JobReport = self.ray.get(future)
        return report

    def cancel(self, futures: list[Any]) -> None:
        """Cancel these, also those that are running."""
        for future in futures:
            self.ray.cancel(future, force=True)


def count_ray_workers(address: str | None) -> int:
    """Count the processors of the cluster."""
    return _processors(_joined(address))


def _processors(ray: Any) -> int:
    return int(ray.cluster_resources().get("CPU", 1))


def _joined(address: str | None) -> Any:
    """Return Ray, connected; a connection that exists is kept."""
    ray = _ray()
    if not ray.is_initialized():
        with _keep_sigterm_handler():
            ray.init(address=address, include_dashboard=False, log_to_driver=False)
    return ray


@contextmanager
def _keep_sigterm_handler() -> Iterator[None]:
    """Keep the user's handler of SIGTERM, which Ray would replace by an exit."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    if callable(before) and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, before)


def _ray() -> Any:
    """Import Ray, which has no annotations."""
    try:
        import ray
    except ImportError:
        raise ArgumentError("backend='ray' needs ray: pip install 'poise[ray]'") from None
    return ray
