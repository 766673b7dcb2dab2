"""Many trials at once through joblib: processes, threads, or a cluster it knows.

Answers are handed over in plan order, whatever order they were computed in. A
worker that dies does not end the run: what was in flight is computed again
alone, and a trial that kills its worker then too is a failure of that trial.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from poise.ambient import AmbientGenerators
from poise.engines.backend import Backend
from poise.engines.chunks import Chunks
from poise.engines.courier import Parcel, send
from poise.engines.threads import one_inner_thread
from poise.engines.watchdog import Timed, timed_out
from poise.record import Failure

__all__ = ["ParallelEngine"]

_ROUND_SECONDS = 20.0  # for a backend that answers only when a whole call is done


class ParallelEngine:
    """Runs work through :class:`joblib.Parallel`.

    Parameters
    ----------
    backend : Backend
        Where the workers are.
    timeout : float or None
        Seconds that one fit may take; needs worker processes.
    """

    def __init__(self, backend: Backend, timeout: float | None = None) -> None:
        self.backend = backend
        self.timeout = timeout

    def map(self, work: Any, start: int, stop: int) -> Generator[Any, None, None]:
        """Yield the answers in order; on closing, submit no more and let the running end."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="poise-")))
            stack.enter_context(self.backend.active())
            # Threads set the global generators of this very process.
            stack.enter_context(AmbientGenerators())
            job = _Job.of(work, self.backend.name, folder, self.timeout)
            yield from self._outlive(job, start, stop)

    def _outlive(self, job: _Job, start: int, stop: int) -> Iterator[Any]:
        """Yield every answer, going on after a worker has died."""
        position = start
        while position < stop:
            chunks = Chunks(position, stop, self.backend.workers)
            try:
                for answer in self._stream(job, chunks):
                    position += np.size(answer)
                    yield answer
            except self.backend.deaths():
                for answer in self._carefully(job, position, chunks.position):
                    position += np.size(answer)
                    yield answer

    def _stream(self, job: _Job, chunks: Chunks) -> Iterator[Any]:
        """Yield answers while later chunks are computed elsewhere."""
        for ranges in [chunks] if self.backend.streams else self._rounds(chunks):
            results = self._submit(job, ranges)
            try:
                for seconds, answers in results:
                    chunks.learn(seconds / max(1, sum(np.size(answer) for answer in answers)))
                    yield from answers
            except GeneratorExit:
                # Breaking off joblib's generator would kill the pool and cost the next
                # run a second: submit nothing more and let what is running finish.
                chunks.close()
                with suppress(*self.backend.deaths()):
                    for _ in results:
                        pass
                raise

    def _rounds(self, chunks: Chunks) -> Iterator[list[tuple[int, int]]]:
        """Cut the chunks into calls of about twenty seconds; the first one only learns."""
        ranges = iter(chunks)
        while part := list(islice(ranges, self.backend.workers * chunks.per_round(_ROUND_SECONDS))):
            yield part

    def _submit(self, job: _Job, ranges: Any) -> Any:
        from joblib import Parallel, delayed

        kind = "generator" if self.backend.streams else "list"
        parallel = Parallel(n_jobs=self.backend.workers, return_as=kind, batch_size=1)
        return parallel(delayed(job)(first, last) for first, last in ranges)

    def _carefully(self, job: _Job, first: int, last: int) -> Iterator[Any]:
        """Compute what was in flight alone, halving until the deadly trial stands by itself."""
        timed_out(job.folder)  # notes from the crowd say nothing about a single trial
        try:
            [(_, answers)] = self._submit(job, [(first, last)])
        except self.backend.deaths():
            if last - first > 1:
                middle = (first + last) // 2
                yield from self._carefully(job, first, middle)
                yield from self._carefully(job, middle, last)
            else:
                yield self._failure(first, timed_out(job.folder))
        else:
            yield from answers

    def _failure(self, trial: int, late: bool) -> Failure:
        if late:
            message = f"a fit took longer than timeout={self.timeout} seconds"
            return Failure(trial, message, TimeoutError(message), kind="timeout")
        message = "its worker process died, and died again with this trial alone"
        return Failure(
            trial, f"{message} (out of memory, or a crash in an extension?)", kind="death"
        )


@dataclass(frozen=True)
class _Job:
    """What travels with every chunk: user code, and a parcel that opens into the data."""

    work: Any
    parcel: Parcel
    folder: Path

    @classmethod
    def of(cls, work: Any, backend: str, folder: Path, timeout: float | None) -> _Job:
        if timeout is not None:
            work = work.with_algorithm(lambda algorithm: Timed(algorithm, timeout, folder))
        return cls(work.without_data(), send(work.data, backend, folder), folder)

    def __call__(self, first: int, last: int) -> tuple[float, list[Any]]:
        """Compute one chunk in a worker; report how long it took and what came out."""
        began = time.perf_counter()
        with one_inner_thread():
            answers = list(self.work.with_data(*self.parcel())(first, last))
        return time.perf_counter() - began, answers
