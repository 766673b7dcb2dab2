"""Many trials at once through joblib: processes, threads, or a cluster it knows.

Tasks travel in chunks sized from the fits already measured, so that a cheap fit
does not pay for its own dispatch and an expensive one travels alone. The data
are written once and memory-mapped by the workers.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

from poise.engines.threads import one_inner_thread
from poise.errors import ArgumentError

__all__ = ["ParallelEngine", "n_workers"]

_CHUNK_SECONDS = 0.05  # long enough to hide dispatch, short enough to stop early


def n_workers(n_jobs: int | None, backend: str | None = None) -> int:
    """Return how many workers joblib would use, honouring ``joblib.parallel_config``.

    Examples
    --------
    >>> n_workers(1)
    1
    """
    from joblib import effective_n_jobs, parallel_config

    if n_jobs is not None and (isinstance(n_jobs, bool) or n_jobs != int(n_jobs) or n_jobs == 0):
        raise ArgumentError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}")
    context = nullcontext() if backend is None else parallel_config(backend=backend)
    with context:
        # None is documented: it takes the number from the surrounding parallel_config.
        return int(effective_n_jobs(n_jobs))  # type: ignore[arg-type]


class ParallelEngine:
    """Runs work through :class:`joblib.Parallel`.

    Parameters
    ----------
    n_jobs : int or None
        As in joblib; None takes it from ``joblib.parallel_config``.
    backend : str or None
        As in joblib; None takes it from ``joblib.parallel_config``.
    """

    def __init__(self, n_jobs: int | None = None, backend: str | None = None) -> None:
        self.n_jobs = n_jobs
        self.backend = backend
        self.workers = n_workers(n_jobs, backend)

    def map(self, work: Any, start: int, stop: int) -> Generator[Any, None, None]:
        """Yield the answers in order; on closing, submit no more and let the running end."""
        from joblib import Parallel, delayed

        chunks = _Chunks(start, stop, self.workers)
        parallel = Parallel(
            n_jobs=self.n_jobs, backend=self.backend, return_as="generator", batch_size=1
        )
        with tempfile.TemporaryDirectory(prefix="poise-") as folder:
            send = work.shared(Path(folder)) if hasattr(work, "shared") else work
            results = parallel(delayed(_run_chunk)(send, a, b) for a, b in chunks)
            try:
                for seconds, answers in results:
                    chunks.learn(seconds / max(1, len(answers)))
                    yield from answers
            finally:
                # Breaking off the generator would kill the pool and cost the next
                # run a second: submit nothing more and let what is running finish.
                chunks.close()
                for _ in results:
                    pass


class _Chunks:
    """Ranges of tasks, made when joblib asks for them, each about as long as the others."""

    def __init__(self, start: int, stop: int, workers: int) -> None:
        self.position, self.stop, self.workers = start, stop, workers
        self.size = 1

    def learn(self, seconds_per_task: float) -> None:
        """Size the chunks to come by what the last one took."""
        self.size = max(1, int(_CHUNK_SECONDS / max(seconds_per_task, 1e-7)))

    def close(self) -> None:
        """Hand out nothing more."""
        self.stop = self.position

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while self.position < self.stop:
            fair = max(1, (self.stop - self.position) // (2 * self.workers))
            first = self.position
            self.position = first + min(self.size, fair)
            yield first, self.position


def _run_chunk(work: Any, start: int, stop: int) -> tuple[float, list[Any]]:
    """Compute one chunk in a worker; report how long it took and what came out."""
    began = time.perf_counter()
    with one_inner_thread():
        answers = list(work(start, stop))
    return time.perf_counter() - began, answers


@lru_cache(maxsize=2)
def load_shared(path: str) -> Any:
    """Map the data written by the parent; done once per worker and run."""
    import joblib

    return joblib.load(path, mmap_mode="r")


def write_shared(content: Any, folder: Path) -> str:
    """Write what every worker needs, for :func:`load_shared`; return where."""
    import joblib

    path = str(folder / "shared.joblib")
    joblib.dump(content, path)
    return path
