"""Workers of a Dask or Ray cluster that this process is connected to.

joblib has backends of these names, but its Dask backend waits for ever when a fit has killed its
worker, and its Ray backend answers when everything is done. Both clusters hand out futures.
"""

from __future__ import annotations

import secrets
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import cloudpickle

from poise.engine.execution import Report, Workers, on_workers
from poise.engine.messages import Answer, Failure
from poise.engine.pool import Pool, computed
from poise.engine.transport import cannot_travel, packed
from poise.engine.work import Work
from poise.errors import ArgumentError, in_one_line

_DEATH = (
    "its worker died, and so did a separate process that tried it again (is the "
    "machine out of memory?)"
)


class _Cluster(Workers):
    """What both kinds have in common.

    A worker computes spans of tasks itself. One during which it has died is computed again in a
    process beside the worker, which can say what each task did to it.
    """

    def __init__(self, present: int, n_jobs: int | None) -> None:
        limited = n_jobs is not None and 0 < n_jobs < present
        self.size = n_jobs if limited and n_jobs is not None else max(1, present)
        self.ahead = 0 if limited else 1  # a worker that is left to others is given nothing
        self.suspects: set[int] = set()

    def settled(self, death: BaseException, part: range, again: deque[range]) -> dict[int, Answer]:
        """Compute the span again where a task costs no worker; after that, task by task."""
        if not self.suspects.issuperset(part):
            self.suspects.update(part)
            again.append(part)
            return {}
        if len(part) == 1:
            return {part.start: Answer(failure=Failure(_DEATH, "death"))}
        again.extend(range(k, k + 1) for k in part)
        return {}


class DaskWorkers(_Cluster):
    """All workers of the connected Dask cluster."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.client = client()
        super().__init__(len(self.client.nthreads()), n_jobs)
        self.deaths = (_imported("distributed", "dask").KilledWorker, CancelledError)
        self.executor = self.client.get_executor(pure=False)
        self.name = f"poise-{secrets.token_hex(8)}"

    def share(self, work: Work) -> None:
        """Let every worker carry the work, also one that takes the place of another.

        Scattered data would be lost with the worker that holds them.
        """
        from distributed import WorkerPlugin

        class Carrier(WorkerPlugin):  # type: ignore[misc]
            """The work, unpacked when it is first needed."""

            def __init__(self, content: bytes) -> None:
                self.content, self.work = content, None

        self.client.register_plugin(Carrier(pickled(work)), name=self.name)

    def submit(self, span: range) -> Future[Report]:
        """Compute some tasks on any worker."""
        function = _guarded if span.start in self.suspects else computed
        future: Future[Report] = self.executor.submit(_on_dask, function, self.name, span)
        return future

    def release(self, running: Iterable[Future[Report]]) -> None:
        """Cancel what has not begun: Dask cannot end what is running."""
        for future in running:
            future.cancel()
        with suppress(ValueError):  # the work could not be sent
            self.client.unregister_worker_plugin(self.name)


class RayWorkers(_Cluster):
    """All processors of the connected Ray cluster."""

    def __init__(self, n_jobs: int | None = None) -> None:
        ray = _imported("ray", "ray")
        if not ray.is_initialized():
            raise _unconnected("ray", "ray.init()")
        died = ray.exceptions
        super().__init__(int(ray.cluster_resources().get("CPU", 1)), n_jobs)
        self.ray = ray
        self.deaths = (
            *(died.WorkerCrashedError, died.OutOfMemoryError),
            *(died.NodeDiedError, died.ObjectLostError),
        )
        self.once = ray.remote(num_cpus=1, max_retries=0)(_on_ray)
        self.begun: dict[Future[Report], Any] = {}
        self.work: Any = None

    def share(self, work: Work) -> None:
        """Put the work where every machine can read it."""
        self.work = self.ray.put(pickled(work))

    def submit(self, span: range) -> Future[Report]:
        """Compute some tasks on any processor."""
        function = _guarded if span.start in self.suspects else computed
        # In a list, a reference is handed on as it is; the worker reads the work once.
        begun = self.once.remote(function, [self.work], span)
        future: Future[Report] = begun.future()
        self.begun[future] = begun
        future.add_done_callback(lambda done: self.begun.pop(done, None))
        return future

    def release(self, running: Iterable[Future[Report]]) -> None:
        """Interrupt what nobody needs any more."""
        for future in running:
            begun = self.begun.pop(future, None)
            if begun is not None:
                self.ray.cancel(begun)
        self.work = None


def connected(backend: str, n_jobs: int | None = None) -> Workers:
    """Return the workers of the cluster that this process is connected to; none is started."""
    return DaskWorkers(n_jobs) if backend == "dask" else RayWorkers(n_jobs)


@contextmanager
def connection(backend: str, address: str) -> Iterator[None]:
    """Connect to a cluster for a while."""
    if backend == "dask":
        with _imported("distributed", "dask").Client(address):
            yield
        return
    ray, before = _imported("ray", "ray"), signal.getsignal(signal.SIGTERM)
    ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    signal.signal(signal.SIGTERM, before)  # Ray's own would not say what was interrupted
    try:
        yield
    finally:
        ray.shutdown()


def client() -> Any:
    """Return the connected client of Dask."""
    try:
        return _imported("distributed", "dask").default_client()
    except ValueError:
        raise _unconnected("dask", "client = dask.distributed.Client()") from None


def _imported(name: str, backend: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise ArgumentError(
            f"needs the package {backend}",
            argument="backend",
            got=backend,
            remedy=f"pip install 'poise[{backend}]'",
        ) from None


def _unconnected(backend: str, line: str) -> ArgumentError:
    return ArgumentError(
        f"needs a connection to {backend.title()}, and poise starts no cluster",
        argument="backend",
        got=backend,
        remedy=f"write {line} before, with the address of yours, or without one for this machine",
    )


def pickled(work: object) -> bytes:
    """Pickle what user code takes part in."""
    try:
        content: bytes = cloudpickle.dumps(work)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # user code takes part
        raise cannot_travel(in_one_line(error)) from error
    return content


# the other side

_READING = threading.Lock()  # a worker of Dask may have several threads


def _on_dask(function: Callable[..., Report], name: str, span: range) -> Report:
    from distributed import get_worker

    carrier = get_worker().plugins[name]

    def read() -> Work:
        with _READING:
            if carrier.work is None:
                carrier.work, carrier.content = cloudpickle.loads(carrier.content), b""
            work: Work = carrier.work
        return work

    return function(read, span)


_KEPT: dict[str, Work] = {}  # what this worker of Ray has read last


def _on_ray(function: Callable[..., Report], references: list[Any], span: range) -> Report:
    import ray

    [reference] = references

    def read() -> Work:
        if reference.hex() not in _KEPT:
            _KEPT.clear()
            _KEPT[reference.hex()] = cloudpickle.loads(ray.get(reference))
        return _KEPT[reference.hex()]

    return function(read, span)


def _guarded(read: Callable[[], Work], span: range) -> Report:
    """Compute tasks in a process beside this one, which survives what they do."""
    try:
        return 0.0, packed(list(on_workers(Pool.of(1, None), read(), span, in_turn=True)))
    except BaseException as error:  # the work cannot be read here, say
        return 0.0, in_one_line(error)
