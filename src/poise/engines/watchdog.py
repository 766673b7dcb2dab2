"""A time limit for one fit, kept from inside the worker.

Nothing in Python can interrupt a fit that hangs inside an extension, except the
end of its process. So the worker watches itself: when a fit overruns its time the
process leaves a note and ends, and the engine treats that as it treats any death.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from poise.algorithm import Algorithm, BatchAlgorithm, Predict

__all__ = ["Timed", "timed_out"]

_NOTE = "timed-out"
_EXIT_STATUS = 70


class Timed(Algorithm):
    """An algorithm whose every fit and prediction must end within ``seconds``.

    Parameters
    ----------
    algorithm : Algorithm
        The black box.
    seconds : float
        Time for one fit and its prediction.
    folder : Path
        Where the note is left.
    """

    def __init__(self, algorithm: Algorithm, seconds: float, folder: Path) -> None:
        self.algorithm, self.seconds, self.folder = algorithm, seconds, folder
        self.name = algorithm.name
        self.natural_distance = algorithm.natural_distance
        self.thread_safe = algorithm.thread_safe

    def fit(self, X: Any, y: Any, xi: int) -> Predict:
        """Fit within the time, and hand out a predictor that must keep it too."""
        with _TimeLimit(self.seconds, self.folder):
            predict = self.algorithm.fit(X, y, xi)
        return _TimedPredict(predict, self)

    def model(self, predict: Predict) -> Any:
        """Return the fitted model."""
        return self.algorithm.model(getattr(predict, "predict", predict))

    def batch(self) -> BatchAlgorithm | None:
        """Return the inner algorithm's batches: they do not hang."""
        return self.algorithm.batch()

    def proven(self) -> AbstractContextManager[Any]:
        """Return the inner algorithm's context."""
        return self.algorithm.proven()


class _TimedPredict:
    def __init__(self, predict: Predict, limits: Timed) -> None:
        self.predict, self.limits = predict, limits

    def __call__(self, rows: Any) -> Any:
        with _TimeLimit(self.limits.seconds, self.limits.folder):
            return self.predict(rows)


class _TimeLimit(AbstractContextManager[None]):
    """Ends the process unless the block ends first."""

    def __init__(self, seconds: float, folder: Path) -> None:
        self.timer = threading.Timer(seconds, _end_process, (folder,))
        self.timer.daemon = True

    def __enter__(self) -> None:
        self.timer.start()

    def __exit__(self, *details: object) -> None:
        self.timer.cancel()


def _end_process(folder: Path) -> None:
    (folder / _NOTE).touch()
    os._exit(_EXIT_STATUS)


def timed_out(folder: Path) -> bool:
    """Tell whether a worker left a note since the last time this was asked."""
    note = folder / _NOTE
    found = note.exists()
    note.unlink(missing_ok=True)
    return found
