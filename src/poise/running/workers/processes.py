"""Worker processes or threads of this machine, through joblib."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext, suppress
from pickle import PicklingError
from typing import Any

from poise.algorithms.fit_warnings import add_fit_warnings
from poise.algorithms.program.scratch_folders import sweep_after_workers
from poise.protocol.work import WorkData
from poise.running.faults.parent_watch import watch_parent_arguments
from poise.running.faults.sigint import block_sigint_in_children
from poise.running.transport.memmap import MappedData, write_mapped
from poise.running.transport.row_order import arranged
from poise.running.workers.backend import Backend
from poise.running.workers.chunk_job import STOP, Job, JobReport, Report, Span, cannot_travel
from poise.running.workers.workers import WorkerDied

__all__ = ["LocalWorkers"]

_WORTH_WAITING_SECONDS = 1.0  # seconds; a next run would need as long to start new workers
_SECONDS_BETWEEN_LOOKS = 0.005


class LocalWorkers:
    """Workers that joblib starts, keeps for the next run, and replaces when they die."""

    def __init__(self, backend: Backend, job: Job, data: WorkData) -> None:
        self.backend, self.job = backend, job
        # Threads share memory; processes share a file that each maps into its own.
        self.data: MappedData | WorkData = (
            write_mapped(arranged(*data), job.folder) if backend.processes else data
        )

    def submit(self, spans: Iterable[Span]) -> Generator[Report, None, None]:
        """Yield the reports in order while later spans are being computed."""
        reports = self._begin(spans)
        seconds = 0.0
        try:
            with _workers_may_be_replaced():
                for seconds, answers, heard in reports:
                    add_fit_warnings(heard)
                    yield seconds, answers
        except PicklingError as error:
            raise cannot_travel(error) from error
        except BrokenProcessPool as error:
            if "un-serialize" in str(error):  # joblib raises this, and ends all workers
                raise cannot_travel(error) from error
            sweep_after_workers()  # joblib has killed the others
            raise WorkerDied from error
        except GeneratorExit:
            self._stop_workers(reports, seconds)
            raise

    def _begin(self, spans: Iterable[Span]) -> Any:
        from joblib import Parallel, delayed, parallel_config

        processes = self.backend.processes
        followers = watch_parent_arguments(os.getpid()) if processes else {}
        birth = block_sigint_in_children() if processes else nullcontext()
        with parallel_config(backend=self.backend.name), birth:
            self.parallel: Any = Parallel(
                n_jobs=self.backend.workers, return_as="generator", batch_size=1, **followers
            )
            return self.parallel(delayed(_compute)(self.job, span, self.data) for span in spans)

    def _stop_workers(self, reports: Any, seconds: float) -> None:
        """Begin nothing more; wait for running fits only if they are short.

        Leaving joblib's generator early kills the workers.
        """
        (self.job.folder / STOP).touch()
        with suppress(BrokenProcessPool), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # joblib warns that work was not done
            if seconds > _WORTH_WAITING_SECONDS or not self._will_be_idle():
                reports.close()
                sweep_after_workers()
            for _ in reports:
                pass

    def _will_be_idle(self) -> bool:
        """Wait a moment for running fits to end."""
        if not self.backend.processes:
            return True  # threads cannot be killed
        limit = time.monotonic() + _WORTH_WAITING_SECONDS
        while self.parallel.n_completed_tasks < self.parallel.n_dispatched_tasks:
            if time.monotonic() > limit:
                return False
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        return True

    def recover(self) -> None:
        """Do nothing: the data are in a file, so a dead process loses nothing."""


@contextmanager
def _workers_may_be_replaced() -> Iterator[None]:
    """Silence joblib's warning about a worker that it replaces because its memory has grown.

    The replacement is harmless: a fit that imports PyTorch causes it. And where warnings
    are errors, as in many test suites, the warning would end the thread that distributes
    work, and the run would wait for ever.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        yield


def _compute(job: Job, span: Span, data: MappedData | WorkData) -> JobReport:
    if not isinstance(data, MappedData):
        return job(*span, data)
    report = job(*span, data.open())
    data.release()
    return report
