"""An algorithm that is watched in its worker: what it is doing, and for how long.

Nothing in Python can interrupt a fit that hangs inside an extension, except the
end of its process. So the worker watches itself: when a fit overruns its time the
process writes down where it was and ends, and the engine treats that as a death.
"""

from __future__ import annotations

import faulthandler
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from poise.algorithms.algorithm import Algorithm, BatchAlgorithm, Predict
from poise.running.faults import in_flight

__all__ = ["Watched"]


class Watched(Algorithm):
    """An algorithm that notes every fit it begins, and ends its process if one takes too long.

    Parameters
    ----------
    algorithm : Algorithm
        The black box.
    folder : Path
        Where notes are left.
    seconds : float or None
        Time for one fit, and for its prediction.
    """

    def __init__(self, algorithm: Algorithm, folder: Path, seconds: float | None = None) -> None:
        self.algorithm, self.folder, self.seconds = algorithm, folder, seconds
        self.name = algorithm.name
        self.natural_distance = algorithm.natural_distance
        self.thread_safe = algorithm.thread_safe

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Fit within the time, and hand out a predictor that must keep it too."""
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
        """Context that must end in time."""
        return nullcontext() if self.seconds is None else _TimeLimit(self.seconds, self.folder)

    def model(self, predict: Predict) -> Any:
        """Return the fitted model."""
        inner = predict.predict if isinstance(predict, _TimedPredict) else predict
        return self.algorithm.model(inner)

    def batch(self) -> BatchAlgorithm | None:
        """Return the inner algorithm's batches: they do not hang."""
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
    """Ends the process unless the block ends first.

    The fault handler's clock needs no help from the interpreter: it also ends an
    extension that hangs while it holds the global lock.
    """

    def __init__(self, seconds: float, folder: Path) -> None:
        self.seconds, self.file = seconds, in_flight.last_words(folder)

    def __enter__(self) -> None:
        faulthandler.dump_traceback_later(self.seconds, exit=True, file=self.file)

    def __exit__(self, *details: object) -> None:
        faulthandler.cancel_dump_traceback_later()
