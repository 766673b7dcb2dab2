"""An algorithm that is watched in its worker: what it is doing, and for how long.

Nothing in Python can interrupt a fit that hangs inside an extension, except the
end of its process. So the worker watches itself: when a fit overruns its time the
process leaves a note and ends, and the engine treats that as it treats any death.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from poise.algorithm import Algorithm, BatchAlgorithm, Predict
from poise.engines import notes

__all__ = ["Watched"]

_EXIT_STATUS = 70


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
        notes.begin(self.folder, xi)
        if self.seconds is None:
            return fit()
        with self.limit(xi):
            predict = fit()
        return _TimedPredict(predict, self, xi)

    def limit(self, xi: int) -> AbstractContextManager[Any]:
        """Context that must end in time."""
        return nullcontext() if self.seconds is None else _TimeLimit(self.seconds, self.folder, xi)

    def model(self, predict: Predict) -> Any:
        """Return the fitted model."""
        inner = predict.predict if isinstance(predict, _TimedPredict) else predict
        return self.algorithm.model(inner)

    def batch(self) -> BatchAlgorithm | None:
        """Return the inner algorithm's batches: they do not hang."""
        return self.algorithm.batch()

    def proven(self) -> AbstractContextManager[Any]:
        """Return the inner algorithm's context."""
        return self.algorithm.proven()


class _TimedPredict:
    def __init__(self, predict: Predict, watched: Watched, xi: int) -> None:
        self.predict, self.watched, self.xi = predict, watched, xi

    def __call__(self, rows: Any) -> Any:
        with self.watched.limit(self.xi):
            return self.predict(rows)


class _TimeLimit(AbstractContextManager[None]):
    """Ends the process unless the block ends first."""

    def __init__(self, seconds: float, folder: Path, xi: int) -> None:
        self.timer = threading.Timer(seconds, _end_process, (folder, xi))
        self.timer.daemon = True

    def __enter__(self) -> None:
        self.timer.start()

    def __exit__(self, *details: object) -> None:
        self.timer.cancel()


def _end_process(folder: Path, xi: int) -> None:
    notes.leave_late(folder, xi)
    os._exit(_EXIT_STATUS)
