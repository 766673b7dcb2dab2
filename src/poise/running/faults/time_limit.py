"""The time limit for one fit (``timeout``): a worker ends when a fit takes longer.

Python cannot interrupt a fit that hangs inside an extension; only the end of its
process ends it. So the worker watches itself: when a fit exceeds its time, the process
writes down where it was and ends. The engine treats that as the death of a worker.

The clock exists once per process. A process that does other things as well would end
these too, and of two fits at the same time one would not be watched. So a time limit
needs workers that are processes and compute one fit at a time.
"""

from __future__ import annotations

import faulthandler
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from poise.algorithms.algorithm import Algorithm, BatchAlgorithm, Predict
from poise.errors import ArgumentError
from poise.running.faults import in_flight
from poise.running.workers.backend import Backend

__all__ = ["Watched", "check_timeout"]


class Watched(Algorithm):
    """An algorithm that notes each fit when it begins, and ends its process if one takes too long.

    Parameters
    ----------
    algorithm : Algorithm
        The black box.
    folder : Path
        Where workers write which fit they compute.
    seconds : float or None
        Time for one fit, and for its prediction.
    """

    def __init__(self, algorithm: Algorithm, folder: Path, seconds: float | None = None) -> None:
        self.algorithm, self.folder, self.seconds = algorithm, folder, seconds
        self.name = algorithm.name
        self.natural_distance = algorithm.natural_distance
        self.thread_safe = algorithm.thread_safe

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Fit within the time limit; the predictor has the same time limit."""
        return self._watched(xi, lambda: self.algorithm.fit(X, y, xi))

    def fit_with(self, X: Any, y: Any, xi: int, arguments: dict[str, Any]) -> Predict:
        """Do the same with further arguments of fit."""
        return self._watched(xi, lambda: self.algorithm.fit_with(X, y, xi, arguments))

    def _watched(self, xi: int, fit: Callable[[], Predict]) -> Predict:
        in_flight.begin(self.folder, xi)
        if self.seconds is None:
            return fit()
        with self.limit():
            predict = fit()
        return _TimedPredict(predict, self)

    def limit(self) -> AbstractContextManager[Any]:
        """Context that ends the process if it takes too long."""
        return nullcontext() if self.seconds is None else _TimeLimit(self.seconds, self.folder)

    def model(self, predict: Predict) -> Any:
        """Return the fitted model."""
        inner = predict.predict if isinstance(predict, _TimedPredict) else predict
        return self.algorithm.model(inner)

    def batch(self) -> BatchAlgorithm | None:
        """Return the inner algorithm's batches; they need no time limit."""
        return self.algorithm.batch()

    def skip_checks(self) -> AbstractContextManager[Any]:
        """Return the inner algorithm's context."""
        return self.algorithm.skip_checks()


class _TimedPredict:
    def __init__(self, predict: Predict, watched: Watched) -> None:
        self.predict, self.watched = predict, watched

    def __call__(self, rows: object) -> Any:
        with self.watched.limit():
            return self.predict(rows)


class _TimeLimit(AbstractContextManager[None]):
    """Ends the process if the block takes longer than the limit.

    The clock of ``faulthandler`` runs outside the interpreter: it also ends an extension
    that hangs while it holds the global lock.
    """

    def __init__(self, seconds: float, folder: Path) -> None:
        self.seconds, self.file = seconds, in_flight.late_file(folder)

    def __enter__(self) -> None:
        faulthandler.dump_traceback_later(self.seconds, exit=True, file=self.file)

    def __exit__(self, *details: object) -> None:
        faulthandler.cancel_dump_traceback_later()


def check_timeout(timeout: float, backend: Backend) -> None:
    """Refuse a time limit that these workers cannot have.

    Examples
    --------
    >>> check_timeout(60.0, Backend("loky", 2))
    """
    if not backend.processes:
        raise ArgumentError(
            f"timeout needs worker processes (n_jobs=2 or more), got timeout={timeout!r} with "
            f"{backend.workers} {backend.name} worker(s)"
        )
    if backend.name == "dask":
        _check_dask(timeout, backend.address)


def _check_dask(timeout: float, address: str | None) -> None:
    from poise.running.workers.dask_cluster import each_thread_is_a_process

    if not each_thread_is_a_process(address):
        raise ArgumentError(
            f"timeout needs Dask workers that are processes with one thread each, got "
            f"timeout={timeout!r} with workers that are threads; start them with "
            "LocalCluster(n_workers=..., threads_per_worker=1) or dask worker --nthreads 1"
        )
