"""Which joblib backend a run uses, and what it can do."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Any

from poise.errors import ArgumentError

__all__ = ["Backend", "choose_backend"]

_CLASSES = {"Loky": "loky", "Threading": "threading", "Dask": "dask", "Ray": "ray"}
_CLUSTERS = ("dask", "ray")


@dataclass(frozen=True)
class Backend:
    """A joblib backend by name, and the number of its workers.

    Attributes
    ----------
    name : str
        ``"loky"`` (processes), ``"threading"``, ``"dask"``, ``"ray"`` or joblib's own name.
    workers : int
        How many tasks run at once.
    address : str or None
        Where the scheduler of a cluster is; None for one on this machine.
    """

    name: str
    workers: int
    address: str | None = None

    @property
    def processes(self) -> bool:
        """Whether each worker is a process that may die alone."""
        return self.name != "threading" and self.workers > 1

    @property
    def streams(self) -> bool:
        """Whether joblib hands back results of this backend as they come."""
        return self.name != "ray"

    def deaths(self) -> tuple[type[BaseException], ...]:
        """Return what this backend raises when a worker was killed."""
        if self.name == "dask":
            from distributed import KilledWorker

            return (KilledWorker,)
        if self.name == "ray":
            from ray.exceptions import RayError

            return (RayError,)
        return (BrokenProcessPool,)

    def active(self) -> AbstractContextManager[Any]:
        """Context in which joblib uses this backend, connected to its cluster."""
        return connected(self.name, self.address)


def choose_backend(
    n_jobs: int | None,
    backend: str | None = None,
    address: str | None = None,
    prefer_threads: bool = False,
) -> Backend:
    """Settle the backend and its workers, honouring :func:`joblib.parallel_config`.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib. None means what the surrounding ``parallel_config`` says,
        and every worker of a cluster that was named.
    backend : str or None
        ``"loky"``, ``"threading"``, ``"dask"``, ``"ray"`` or any that joblib knows.
    address : str or None
        Scheduler address of a cluster.
    prefer_threads : bool
        Use threads where neither ``backend`` nor ``parallel_config`` asks for processes.

    Examples
    --------
    >>> choose_backend(1)
    Backend(name='loky', workers=1, address=None)
    """
    _check_jobs(n_jobs)
    if address is not None and backend not in _CLUSTERS:
        raise ArgumentError(f"address needs backend='dask' or 'ray', got backend={backend!r}")
    if backend in _CLUSTERS and n_jobs is None:
        n_jobs = -1  # who names a cluster wants all of it; Ray would silently use one
    with connected(backend, address):
        name = backend or _active_name()
        if backend is None and prefer_threads and name == "loky":
            name = "threading"
        return Backend(name, _workers(n_jobs), address)


def _check_jobs(n_jobs: int | None) -> None:
    if n_jobs is not None and (isinstance(n_jobs, bool) or n_jobs != int(n_jobs) or n_jobs == 0):
        raise ArgumentError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}")


def _workers(n_jobs: int | None) -> int:
    from joblib import effective_n_jobs

    # None is documented: it takes the number from the surrounding parallel_config.
    return int(effective_n_jobs(n_jobs))  # type: ignore[arg-type]


def _active_name() -> str:
    """Name the backend of the surrounding ``parallel_config``."""
    from joblib.parallel import get_active_backend

    kind = type(get_active_backend()[0]).__name__
    return next((name for word, name in _CLASSES.items() if word in kind), "loky")


def connected(backend: str | None, address: str | None) -> ExitStack:
    """Enter joblib's configuration for a backend, starting or joining its cluster."""
    from joblib import parallel_config

    stack = ExitStack()
    if backend is None:
        return stack
    if backend == "dask":
        _join_dask(stack, address)
    elif backend == "ray":
        _join_ray(address)
    try:
        stack.enter_context(parallel_config(backend=backend))
    except (ValueError, KeyError) as error:
        raise ArgumentError(
            f"backend must be 'loky', 'threading', 'dask', 'ray' or one that joblib knows, "
            f"got {backend!r}"
        ) from error
    return stack


def _join_dask(stack: ExitStack, address: str | None) -> None:
    """Use the client that is there; else connect to the address, or start one here."""
    try:
        import distributed
    except ImportError:
        raise ArgumentError("backend='dask' needs dask: pip install 'poise[dask]'") from None
    library: Any = distributed  # has no annotations
    if address is not None:
        stack.enter_context(library.Client(address))
        return
    try:
        library.default_client()
    except ValueError:
        stack.enter_context(library.Client(processes=True, threads_per_worker=1))


def _join_ray(address: str | None) -> None:
    """Join Ray once; it stays up for the runs to come, as Ray itself advises."""
    try:
        import ray
        import ray.util.joblib
    except ImportError:
        raise ArgumentError("backend='ray' needs ray: pip install 'poise[ray]'") from None
    if not ray.is_initialized():
        ray.init(address=address, include_dashboard=False, log_to_driver=False)
    library: Any = ray.util.joblib  # has no annotations
    library.register_ray()
