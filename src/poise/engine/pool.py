"""Worker processes of this machine. When one dies, only the trial it was computing suffers.

joblib ends every worker when one dies, and cannot say in which trial; no library has a time limit
for a single fit. Here a thread of this process speaks with each worker through pipes of their own:
spans of tasks go in, answers come out.

Work lies in a file that the parent writes once and every worker maps: arrays lie outside the
pickle, so workers share their pages. A memory map is named, not copied. What user code defines in
the main script or inside a function travels by value.
"""

from __future__ import annotations

import atexit
import io
import mmap
import os
import pickle
import secrets
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar

import cloudpickle
import numpy as np

from poise.algorithms import program
from poise.engine import watchdog
from poise.engine.execution import Report, WorkerDied, travelling
from poise.engine.messages import Answer, Failure
from poise.engine.surroundings import end_after
from poise.engine.work import Work
from poise.errors import PoiseError

_SHORT = 0.2  # seconds that it pays to wait for a fit that nobody needs
_PATIENCE = 300.0  # seconds after which a worker ends that has nothing to do
_ALIGNED = 64
_START = (
    "import sys; sys.path[:] = {path!r}; "
    "from poise.engine.pool import serve; serve({begun!r}, {slot})"
)


class Pool:
    """So many processes of this machine.

    Idle workers wait for the next run, because a start takes a second. They belong to the process
    that has started them: a forked child must not speak into their pipes.
    """

    ahead, deaths = 1, (WorkerDied,)
    _idle: ClassVar[dict[int, Pool]] = {}

    @classmethod
    def of(cls, size: int, limit: float | None) -> Pool:
        """Return a pool of this size; ``limit`` are the seconds that one fit may take."""
        pool = cls._idle.pop(os.getpid(), None)
        if pool is not None and pool.size != size:
            pool.close()
            pool = None
        pool = pool or cls(size)
        pool.limit = limit
        return pool

    def __init__(self, size: int, limit: float | None = None) -> None:
        self.size, self.limit, self.shared, self.closed = size, limit, 0, False
        # A TemporaryDirectory would be removed at the end of a forked child.
        self.folder = os.path.join(tempfile.gettempdir(), f"poise-{secrets.token_hex(8)}")
        # First: it removes the folder, whenever this process ends.
        watch = [sys.executable, "-I", "-S", watchdog.__file__, str(os.getpid()), self.folder]
        self.watchdog = subprocess.Popen(
            watch, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        )
        os.mkdir(self.folder, 0o700)
        # The task that each worker has begun; -1 is none.
        self.begun = np.memmap(Path(self.folder, "begun"), np.int64, "w+", shape=(size,))
        self.begun[:] = -1
        self.free = list(range(size))
        self.workers: dict[int, subprocess.Popen[bytes]] = {}
        self.threads = ThreadPoolExecutor(size)

    # what a run does with it

    def share(self, work: Work) -> None:
        """Write the work where every worker can read it."""
        self.suspects: set[int] = set()  # tasks during which a worker has died
        self.shared += 1  # workers keep what they have read by its path
        self.path = Path(self.folder, f"work-{self.shared}")
        with travelling():
            write(work, self.path)

    def submit(self, span: range) -> Future[Report]:
        """Compute some tasks on the next worker that is free."""
        return self.threads.submit(self._answered, span)

    def settled(self, death: Any, part: range, again: deque[range]) -> dict[int, Answer]:
        """Fail a task that was late, or of which a second worker died alone.

        The first death may have been the choice of the system, which ends some process when memory
        is short.
        """
        if death.task is None and len(part) > 1:  # nobody knows which: each by itself
            again.extend(range(k, k + 1) for k in part)
            return {}
        task = part.start if death.task is None else death.task
        again.extend(filter(None, (range(part.start, task), range(task + 1, part.stop))))
        if death.late:
            return {task: Answer(failure=Failure(death.how, "timeout"))}
        if task in self.suspects:
            text = f"{death.how}, twice (out of memory, or a crash in compiled code?)"
            return {task: Answer(failure=Failure(text, "death"))}
        self.suspects.add(task)
        again.append(range(task, task + 1))
        return {}

    def release(self, running: Iterable[Future[Report]]) -> None:
        """Keep the workers for the next run, unless one is in a fit that nobody needs any more."""
        if wait([each for each in running if not each.cancel()], _SHORT).not_done:
            self.close()
            return
        self.path.unlink(missing_ok=True)
        for slot in list(self.workers):  # they would keep a large file on the disk
            with suppress(WorkerDied):
                self._told(slot, range(0))
        if Pool._idle.setdefault(os.getpid(), self) is not self:  # that of another thread
            self.close()

    def close(self) -> None:
        """End all workers, whatever they are doing."""
        self.closed = True
        self.threads.shutdown(wait=False, cancel_futures=True)
        for slot in list(self.workers):
            self._end(slot)
        self.threads.shutdown()
        self.watchdog.communicate()  # it removes the folder,
        watchdog.end_all(self.folder)  # unless it was killed itself

    # how threads speak with the workers

    def _answered(self, span: range) -> Report:
        slot = self.free.pop()
        try:
            return self._told(slot, span)
        finally:
            self.free.append(slot)

    def _told(self, slot: int, span: range) -> Report:
        """Give an order, and return what comes back."""
        worker = self._worker(slot)
        try:
            pickle.dump((str(self.path), span, self.limit), worker.stdin)  # type: ignore[arg-type]
            worker.stdin.flush()  # type: ignore[union-attr]
            report: Report = pickle.load(worker.stdout)  # type: ignore[arg-type]
        except (OSError, ValueError, EOFError, pickle.UnpicklingError):  # the pipe broke, or closed
            raise self._death(slot) from None
        return report

    def _worker(self, slot: int) -> subprocess.Popen[bytes]:
        """Return the worker of this slot, a new one if it has ended while nothing was asked."""
        worker = self.workers.get(slot)
        if worker is not None and worker.poll() is None:
            return worker
        self._end(slot)
        code = _START.format(path=sys.path, begun=str(self.begun.filename), slot=slot)
        worker = subprocess.Popen(
            [sys.executable, "-P", "-c", code],  # no module beside the data is imported
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches this process alone
            env=os.environ | program.ONE_THREAD,  # also for what a fit loads later
        )
        watchdog.note(self.folder, worker.pid)
        self.workers[slot] = worker
        if self.closed:
            raise self._death(slot)
        return worker

    def _death(self, slot: int) -> WorkerDied:
        """Say what a worker was doing when it died."""
        status, task = self._end(slot), int(self.begun[slot])
        self.begun[slot] = -1
        if task >= 0 and self.limit is not None and status == -signal.SIGALRM:
            return WorkerDied(task, f"a fit took longer than fit_timeout={self.limit:g}", late=True)
        return WorkerDied(task if task >= 0 else None, f"its worker process {_ended(status)}")

    def _end(self, slot: int) -> int:
        """End a worker and what its fits have started; return its exit status."""
        worker = self.workers.pop(slot, None)
        if worker is None:
            return 0
        watchdog.end(self.folder, worker.pid)
        for pipe in (worker.stdin, worker.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        return worker.wait()


def _ended(status: int) -> str:
    names = {-each: each.name for each in signal.Signals}
    return f"was killed by {names[status]}" if status in names else f"ended with status {status}"


@atexit.register
def close_idle() -> None:
    """End the workers that wait for the next run."""
    idle = Pool._idle.pop(os.getpid(), None)
    if idle is not None:
        idle.close()


# the other side


def serve(begun: str, slot: int) -> None:
    """Be a worker: compute one span of tasks after the other, until the parent closes its end."""
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):  # what a fit reads or prints must not meet orders and answers
        os.dup2(nothing, standard)
    if hasattr(os, "register_at_fork"):  # the death of this process is seen by its closed pipe
        os.register_at_fork(after_in_child=partial(os.close, answers.fileno()))
    program.notes = os.path.dirname(begun)
    with suppress(EOFError, BrokenPipeError, FileNotFoundError):  # the parent has gone
        begins = partial(np.memmap(begun, np.int64, "r+").__setitem__, slot)
        while True:
            end_after(_PATIENCE)
            path, span, limit = pickle.load(orders)
            end_after(0)
            report = computed(partial(read, path), span, begins, limit)
            begins(-1)
            pickle.dump(report, answers)
            answers.flush()
    os._exit(0)  # whatever threads a fit has left


def computed(
    reading: Callable[[], Work],
    span: range,
    begins: Callable[[int], None] | None = None,
    limit: float | None = None,
) -> Report:
    """Return the answers, or why there are none, and how long it took.

    No tasks at all mean to forget the work.
    """
    began = time.perf_counter()
    body: bytes | BaseException = b""
    try:
        with travelling():  # no fit raises here, but it may be that the work cannot be read
            if span:
                body = packed(list(reading().answers(span, begins, limit)))
            else:
                read.cache_clear()
    except (PoiseError, KeyboardInterrupt) as error:
        body = error
    return time.perf_counter() - began, body


def packed(answers: list[Answer]) -> bytes:
    """Pickle answers."""
    return pickle.dumps([_portable(answer) for answer in answers])


def _portable(answer: Answer) -> Answer:
    """Replace the cause of a failure by its traceback, which an exception leaves behind.

    An exception of user code may do anything when it is pickled, or read again.
    """
    if answer.failure is None or answer.failure.cause is None:
        return answer
    text = answer.failure.message
    with suppress(Exception):
        text = "".join(traceback.format_exception(answer.failure.cause))
    return replace(answer, failure=replace(answer.failure, cause=RuntimeError(text)))


# the file


def write(content: object, path: Path) -> None:
    """Write an object: its arrays, each on its own, and behind them the pickle."""
    arrays: list[pickle.PickleBuffer] = []
    body = io.BytesIO()
    _Pickler(body, 5, buffer_callback=arrays.append).dump(content)
    with path.open("wb") as file:
        spans = []
        for array in arrays:
            file.write(bytes(-file.tell() % _ALIGNED))
            spans.append((file.tell(), file.tell() + file.write(array.raw())))
        head = file.tell()
        pickle.dump((spans, body.getvalue()), file)
        file.write(head.to_bytes(8, "little"))


@lru_cache(maxsize=1)
def read(path: str) -> Any:
    """Read what was written; its arrays are views of the file, whose changes stay here."""
    with open(path, "rb") as file:
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    spans, body = pickle.loads(view[int.from_bytes(view[-8:], "little") : -8])
    return _Unpickler(io.BytesIO(body), buffers=[view[a:b] for a, b in spans]).load()


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    def persistent_id(self, obj: object) -> tuple[Any, ...] | None:
        """Name a file that is mapped as a whole, if it still holds what was mapped."""
        array: Any = obj
        mapped: Any = array.base if type(obj) is np.ndarray else obj
        file: Any = getattr(mapped, "base", None)
        if type(mapped) is not np.memmap or not isinstance(file, mmap.mmap):
            return None  # no map, or a part of one
        same = all(getattr(array, n) == getattr(mapped, n) for n in ("shape", "strides", "dtype"))
        path = Path(str(mapped.filename))
        holds = path.is_file() and path.stat().st_size >= mapped.offset + mapped.nbytes
        if not (same and holds) or mapped.mode == "c":  # changes that no file has
            return None
        order = "F" if mapped.ndim > 1 and mapped.flags.f_contiguous else "C"
        return str(path), mapped.dtype, mapped.shape, mapped.offset, order


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, pid: Any) -> np.ndarray[Any, Any]:
        path, dtype, shape, offset, order = pid
        # Taking rows from np.memmap itself is a third slower.
        return np.asarray(np.memmap(path, dtype, "r", offset, shape, order))
