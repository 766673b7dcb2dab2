"""The cheap part of a preflight, which every test does: its first trial once more, at the end.

A test is told "the same rows and the same random term give the same change". Of
an algorithm that draws from a generator nobody set, or that remembers earlier
fits, that is not true. Computing the first trial again after all the others shows
both, for two fits. It comes last, so that it cannot alter what was measured, and
it is left out where it would cost more than next to nothing.
"""

from __future__ import annotations

import math
import time
import warnings
from typing import TYPE_CHECKING

import numpy as np

from poise.errors import PoiseWarning, TrialError
from poise.protocol.messages import FIT_BY_FIT, Answers, Batch, Failure

if TYPE_CHECKING:
    from poise.running.oracle import Oracle

__all__ = ["RepeatCheck"]

_CHEAP_SECONDS = 0.1  # seconds for one trial: two fits of 50 ms
_SAME_RELATIVE = (
    1e-6  # relative: a change is a difference of predictions, and shows their last digits
)


class RepeatCheck:
    """Watches a run; once it is over, computes its first trial again and compares.

    Parameters
    ----------
    oracle : Oracle
        Who computes.

    Examples
    --------
    >>> import itertools, poise, warnings
    >>> fits = itertools.count()
    >>> def forgetful(X, y, seed):
    ...     level = float(next(fits) ** 2)
    ...     return lambda rows: [level] * len(rows)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = poise.stability_test(
    ...         forgetful, [[0.0]] * 40, list(range(40)), n=3, epsilon=1, delta=0.5)
    >>> print(caught[0].message)
    the first trial, computed once more, gave a change of 41 instead of 1: ...
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.began = time.perf_counter()

    def __call__(self, batch: Batch, answers: Answers | TrialError) -> None:
        """Look again if that is cheap and can tell something; warn of a difference."""
        if isinstance(answers, TrialError) or not self._worthwhile(answers):
            return
        first, again = float(answers.changes[0]), self.oracle.repeat(batch, 0)
        if isinstance(again, Failure):
            _warn(f"failed ({again.message})")
        elif isinstance(again, float) and abs(again - first) > _SAME_RELATIVE * _size(answers):
            _warn(f"gave a change of {again:.4g} instead of {first:.4g}")

    def _worthwhile(self, answers: Answers) -> bool:
        oracle, done = self.oracle, len(answers.changes)
        return (
            answers.path == FIT_BY_FIT
            and done > 0
            and math.isfinite(answers.changes[0])
            # What is thread-safe has no state and no generator of its own to forget.
            and not oracle.algorithm.thread_safe
            # Trials read from a journal took no time, whatever their fits take.
            and oracle.journal is None
            and self._seconds_per_trial(done) < _CHEAP_SECONDS
        )

    def _seconds_per_trial(self, done: int) -> float:
        backend = self.oracle.engine.backend
        if backend is None:
            return (time.perf_counter() - self.began) / done
        if backend.processes:
            return math.inf  # what runs elsewhere may first have to be loaded or started here
        return (time.perf_counter() - self.began) * int(backend.workers) / done


def _size(answers: Answers) -> float:
    """Return the largest finite change: a difference far below it is rounding."""
    return float(answers.changes[np.isfinite(answers.changes)].max())


def _warn(what: str) -> None:
    warnings.warn(
        f"the first trial, computed once more, {what}: the algorithm is not a function of its "
        "rows and its seed. It draws randomness that the seed does not set, or it remembers "
        "earlier fits; poise.check_algorithm tells which, and check=False silences this",
        PoiseWarning,
        stacklevel=2,
    )
