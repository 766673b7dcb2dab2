"""Workers of a Dask or Ray cluster that this process is connected to.

joblib has backends of these names, but its Dask backend waits for ever when a fit has killed its
worker, and its Ray backend answers when everything is done. Both clusters hand out futures.

Trials whose rows live on Dask are fitted in pieces, where their rows have come together. A worker
computes a piece as this process would all of it, but fits models in a process beside itself: one
that dies of a fit takes no rows along, and it is known of which.
"""

from __future__ import annotations

import secrets
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import cloudpickle

from poise.engine.execution import Report, on_workers, travelling, unpacked
from poise.engine.messages import Answer, Failure
from poise.engine.pool import Pool, computed, packed
from poise.engine.work import Work
from poise.errors import ArgumentError, DataError, PoiseError, in_one_line

if TYPE_CHECKING:
    from poise.data.on_dask import Columns
    from poise.data.pieces import Side
    from poise.data.randomness import Ids
    from poise.engine.oracle import Oracle

_CLIENT = "client = dask.distributed.Client()"
_DEATH = (
    "its worker died, and so did a separate process that tried it again (is the "
    "machine out of memory?)"
)


class _Cluster:
    """What both kinds have in common.

    A worker computes spans of tasks itself. One during which it has died is computed again in a
    process beside the worker, which can say what each task did to it.
    """

    def __init__(self, present: int, n_jobs: int | None) -> None:
        jobs = n_jobs or 0
        limited = 0 < jobs < present
        self.size = jobs if limited else max(1, present)
        self.ahead = 0 if limited else 1  # a worker that is left to others is given nothing
        self.suspects: set[int] = set()

    def function(self, span: range) -> Callable[..., Report]:
        """Return what computes a span."""
        return _guarded if span.start in self.suspects else computed

    def settled(self, death: Any, part: range, again: deque[range]) -> dict[int, Answer]:
        """Compute the tasks again, one by one, where they cost no worker."""
        if part.start in self.suspects:
            return {part.start: Answer(failure=Failure(_DEATH, "death"))}
        self.suspects.update(part)
        again.extend(range(k, k + 1) for k in part)
        return {}


class DaskWorkers(_Cluster):
    """All workers of the Dask cluster that this process is connected to."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.client = _client()
        super().__init__(len(self.client.nthreads()), n_jobs)
        self.deaths = (sys.modules["distributed"].KilledWorker, CancelledError)
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

        self.client.register_plugin(Carrier(_pickled(work)), name=self.name)

    def submit(self, span: range) -> Future[Report]:
        """Compute some tasks on any worker."""
        future: Future[Report] = self.executor.submit(
            _on_dask, self.function(span), self.name, span
        )
        return future

    def release(self, running: Iterable[Future[Report]]) -> None:
        """Cancel what has not begun: Dask cannot end what is running."""
        for future in running:
            future.cancel()
        with suppress(ValueError):  # the work could not be sent
            self.client.unregister_worker_plugin(self.name)


class RayWorkers(_Cluster):
    """All processors of the Ray cluster that this process is connected to."""

    def __init__(self, n_jobs: int | None = None) -> None:
        ray: Any = sys.modules.get("ray")
        if ray is None or not ray.is_initialized():
            raise _unconnected("ray", "ray.init()")
        died = ray.exceptions
        super().__init__(int(ray.cluster_resources().get("CPU", 1)), n_jobs)
        self.ray = ray
        self.deaths = (
            died.WorkerCrashedError,
            died.OutOfMemoryError,
            died.NodeDiedError,
            died.ObjectLostError,
        )
        self.once = ray.remote(num_cpus=1, max_retries=0)(_on_ray)

    def share(self, work: Work) -> None:
        """Put the work where every machine can read it."""
        self.work = self.ray.put(_pickled(work))

    def submit(self, span: range) -> Future[Report]:
        """Compute some tasks on any processor."""
        # In a list, a reference is handed on as it is; the worker reads the work once.
        begun = self.once.remote(self.function(span), [self.work], span)
        future: Any = begun.future()
        future.begun = begun
        return future  # type: ignore[no-any-return]

    def release(self, running: Iterable[Any]) -> None:
        """Interrupt what nobody needs any more."""
        for future in running:
            self.ray.cancel(future.begun)


def connection(address: str) -> AbstractContextManager[object]:
    """Connect to a Dask cluster for a while."""
    try:
        from distributed import Client
    except ImportError:
        raise _unconnected("dask", _CLIENT) from None
    client: AbstractContextManager[object] = Client(address)
    return client


def _client() -> Any:
    try:
        return sys.modules["distributed"].default_client()
    except (KeyError, ValueError):  # it is not imported, or there is no client
        raise _unconnected("dask", _CLIENT) from None


def _unconnected(backend: str, line: str) -> ArgumentError:
    problem = f"needs a connection to {backend.title()}, and poise starts no cluster"
    where = "with the address of yours, or without one for this machine"
    remedy = f"write {line} before, {where} (pip install 'poise[{backend}]')"
    return ArgumentError(problem, argument="backend", got=backend, remedy=remedy)


def _pickled(content: object) -> bytes:
    with travelling():
        pickled: bytes = cloudpickle.dumps(content)
    return pickled


# rows on Dask


class _Run(NamedTuple):
    """What all pieces of a run share."""

    columns: Columns
    sides: tuple[Side, Side]
    first: Ids  # trial of each piece, and the end
    content: bytes  # the oracle, its trials and the formulas for them, pickled


def where_rows_are(oracle: Oracle, trials: Any, start: int) -> Generator[Answer]:
    """Yield the answers in plan order; rows begin to move when the first one is asked for."""
    import dask

    sample: Any = oracle.sample
    client, span = _client(), range(start, len(trials))
    first = sample.pieces(trials.split, span, sum(client.nthreads().values()))
    sides = sample.sides(trials.split, first)
    family = None if oracle.shortcut is None else oracle.shortcut.family
    nothing: Any = None
    there = type(oracle)(oracle.algorithm, nothing, oracle.distance, settings=oracle.settings)
    content = _pickled((there, trials.on(trials.split.on(None)), family))
    run = dask.delayed(_Run(sample.columns, sides, first, content), traverse=False)
    call = dask.delayed(_piece, pure=False)
    moved = sample.moved(sides, len(first) - 1)
    futures = client.compute([call(run, *each) for each in enumerate(moved)])
    try:
        for future in futures:
            yield from unpacked(_result(future))
    finally:
        client.cancel(futures)


def _result(future: Any) -> Any:
    try:
        return future.result()
    except (PoiseError, KeyboardInterrupt):
        raise
    except Exception as error:  # no fit raises here
        problem = "the rows cannot be read, or moved to where they are fitted"
        raise DataError(f"{problem}: {in_one_line(error)}") from error


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
        with travelling():
            return 0.0, _beside(read(), span)
    except PoiseError as error:
        return 0.0, error


def _beside(work: Work, span: range) -> bytes:
    return packed(list(on_workers(lambda: Pool.of(1, None), work, span, in_turn=True)))


def _piece(run: _Run, piece: int, rows: tuple[Any, ...]) -> bytes:
    """Compute the trials of a piece."""
    from poise.data.on_dask import gathered
    from poise.shortcuts.blocks import Shortcut

    with travelling():
        oracle, tasks, family = cloudpickle.loads(run.content)
    sample, split = gathered(run.columns, run.sides, piece, rows, tasks.split)
    oracle, tasks = replace(oracle, sample=sample), tasks.on(split)
    begin, end = run.first[piece : piece + 2].tolist()
    shortcut = None if family is None else Shortcut.on(family, sample, split.removals)
    if shortcut is not None:
        trials = split.block(begin, end)
        return packed(list(oracle.by_formula(shortcut, tasks[begin:end], trials, 0)))
    work, span = oracle.work(tasks), range(begin, end)
    if oracle.algorithm.device:  # one process can have it
        return packed(list(work.answers(span)))
    return _beside(work, span)
