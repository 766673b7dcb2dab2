"""Compute the first trial again at the end, and warn if its change differs.

A test assumes that the same rows and the same random term give the same change. That
is false if the algorithm draws from a generator that nobody set, or remembers earlier
fits. Computing the first trial again shows both, for two fits. It comes after all the
other trials, so that it cannot alter them, and it is left out if it would take long. A run
that goes on from a journal compares with the trial that an earlier process computed; one
that only reads a journal computes nothing, so nobody knows how long a trial would take.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from poise.arguments import shortened
from poise.arguments.printed_numbers import exactly
from poise.errors import TrialError, warn_of_validity
from poise.protocol.messages import FIT_BY_FIT, Answers, Batch, Failure, Reply

if TYPE_CHECKING:
    from poise.running.oracle import Oracle

__all__ = ["RepeatCheck"]

_CHEAP_SECONDS = 0.1  # seconds for one trial: two fits of 50 ms
_SAME_RELATIVE = (
    1e-6  # relative: a change is a difference of predictions, and shows their last digits
)


class RepeatCheck:
    """Computes the first trial again after a run, and compares the two changes.

    Parameters
    ----------
    oracle : Oracle
        Who computes.
    name : str
        What the warning calls the algorithm, where there are several.

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

    def __init__(self, oracle: Oracle, name: str = "") -> None:
        self.oracle = oracle
        self.subject = f"the first trial of {shortened(name)}" if name else "the first trial"
        self.began = time.perf_counter()

    def __call__(self, batch: Batch, answers: Answers | TrialError) -> None:
        """Compute it again if that is cheap and can show something; warn of a difference."""
        if isinstance(answers, TrialError) or not self._worthwhile(answers):
            return
        again = self.oracle.repeat(batch, 0)
        if isinstance(again, Failure):
            self._warn(f"failed ({again.message})")
        elif not isinstance(again, Reply):
            before, now = np.ravel(answers.changes[0]), np.ravel(again)
            worst = int(np.abs(now - before).argmax())
            if abs(now[worst] - before[worst]) > _SAME_RELATIVE * _size(answers):
                self._warn(
                    f"gave a change of {exactly(now[worst])} instead of {exactly(before[worst])}"
                )

    def _worthwhile(self, answers: Answers) -> bool:
        oracle, computed = self.oracle, len(answers.changes) - self.oracle.recalled
        return (
            answers.path == FIT_BY_FIT
            and computed > 0
            and bool(np.isfinite(answers.changes[0]).all())
            # An algorithm that is thread-safe has no state and no generator of its own.
            and not oracle.algorithm.thread_safe
            and self._seconds_per_trial(computed) < _CHEAP_SECONDS
        )

    def _seconds_per_trial(self, computed: int) -> float:
        backend = self.oracle.engine.backend
        if backend is None:
            return (time.perf_counter() - self.began) / computed
        if backend.processes:
            return (
                math.inf
            )  # an algorithm that ran elsewhere may first have to be loaded or started here
        return (time.perf_counter() - self.began) * int(backend.workers) / computed

    def _warn(self, what: str) -> None:
        warn_of_validity(
            f"{self.subject}, computed once more, {what}: the algorithm is not a function of its "
            "rows and its seed, and the error level may not hold. It draws randomness that the "
            "seed does not set, or it remembers earlier fits; poise.check_algorithm tells which, "
            "and check=False silences this"
        )


def _size(answers: Answers) -> float:
    """Return the largest finite change; a difference far below it is rounding."""
    return float(answers.changes[np.isfinite(answers.changes)].max())
