"""Which workers a run uses: processes or threads of joblib, Dask or Ray."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

from poise.errors import ArgumentError
from poise.protocol.work import Work

__all__ = ["CLUSTERS", "Backend", "choose_backend"]

CLUSTERS = ("dask", "ray")
_LOCAL = ("loky", "threading")
_CLASSES = {"Loky": "loky", "Threading": "threading", "Dask": "dask", "Ray": "ray"}


@dataclass(frozen=True)
class Backend:
    """A joblib backend by name, and the number of its workers.

    Attributes
    ----------
    name : str
        ``"loky"`` (processes), ``"threading"``, ``"dask"`` or ``"ray"``; with a single worker
        also any other of joblib's.
    workers : int
        How many tasks run at once.
    address : str or None
        Where the scheduler of a cluster is; None for the one that is connected already,
        or else one on this machine.
    or_threads : bool
        Whether threads may take the place of processes: nobody asked for either.
    """

    name: str
    workers: int
    address: str | None = None
    or_threads: bool = False

    @property
    def cluster(self) -> bool:
        """Whether the workers may be on other machines."""
        return self.name in CLUSTERS

    @property
    def serial(self) -> bool:
        """Whether there is only one worker."""
        return self.workers == 1 and not self.cluster

    @property
    def processes(self) -> bool:
        """Whether each worker is a process that may die alone."""
        return self.name != "threading" and not self.serial

    def for_work(self, work: Work) -> Backend:
        """Return threads if the work suits threads and they may be used."""
        if self.or_threads and work.suits_threads:
            return Backend("threading", self.workers)
        return self


def choose_backend(
    n_jobs: int | None,
    backend: str | None = None,
    address: str | None = None,
) -> Backend:
    """Choose the backend and its workers; :func:`joblib.parallel_config` is respected.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib. None means what the surrounding ``parallel_config`` says,
        and every worker of a cluster that was named.
    backend : str or None
        ``"loky"``, ``"threading"``, ``"dask"`` or ``"ray"``.
    address : str or None
        Scheduler address of a cluster.

    Examples
    --------
    >>> choose_backend(2, "loky")
    Backend(name='loky', workers=2, address=None, or_threads=False)
    """
    _check_jobs(n_jobs)
    if address is not None and backend not in CLUSTERS:
        raise ArgumentError(f"address needs backend='dask' or 'ray', got backend={backend!r}")
    name = backend or _active_name()
    if name in CLUSTERS:
        return Backend(name, _cluster_size(name, address, n_jobs), address)
    workers = _workers(n_jobs, backend)
    if name not in _LOCAL and workers > 1:  # it cannot return answers one by one
        raise _not_supported(name)
    return Backend(name, workers, or_threads=backend is None and name == "loky")


def _not_supported(name: str) -> ArgumentError:
    return ArgumentError(f"backend must be 'loky', 'threading', 'dask' or 'ray', got {name!r}")


def _check_jobs(n_jobs: object) -> None:
    if n_jobs is None:
        return
    # True and False are ints in Python, but not a number of jobs.
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ArgumentError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}")


def _workers(n_jobs: int | None, backend: str | None) -> int:
    """Count workers as joblib does, in its configuration for ``backend``."""
    from joblib import effective_n_jobs, parallel_config

    if backend is None:
        # None is documented: it takes the number from the surrounding parallel_config.
        return int(effective_n_jobs(n_jobs))  # type: ignore[arg-type]
    try:
        with parallel_config(backend=backend):
            return int(effective_n_jobs(n_jobs))  # type: ignore[arg-type]
    except (ValueError, KeyError) as error:
        raise _not_supported(backend) from error


def _cluster_size(name: str, address: str | None, n_jobs: int | None) -> int:
    """Return how many workers of a cluster to use: all, unless a number is given."""
    if name == "dask":
        from poise.running.workers.dask_cluster import count_dask_workers as count_workers
    else:
        from poise.running.workers.ray_cluster import count_ray_workers as count_workers
    if n_jobs is None:
        # joblib reports 1 for Ray when no number was given.
        configured = _active()[1]
        n_jobs = -1 if configured in (None, 1) else configured
    there = count_workers(address)
    return max(1, there + 1 + n_jobs if n_jobs < 0 else n_jobs)


def _active_name() -> str:
    """Name the backend of the surrounding ``parallel_config``."""
    kind = type(_active()[0]).__name__
    by_its_class = kind.removesuffix("Backend").lower()
    return next((name for word, name in _CLASSES.items() if word in kind), by_its_class)


def _active() -> tuple[Any, int | None]:
    from joblib.parallel import get_active_backend

    backend, n_jobs = get_active_backend()
    return backend, n_jobs
