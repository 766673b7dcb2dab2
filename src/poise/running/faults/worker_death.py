"""When a worker dies: find the trial that killed it.

A trial that overran its time is known, and fails. Otherwise the trials that were running
are computed again: many together first, then fewer, and in the end each one alone. A trial
whose worker dies again is a failed trial.
"""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from poise.protocol.messages import Answer, Failure, Tasks
from poise.running.faults import in_flight
from poise.running.workers.workers import WorkerDied, Workers

__all__ = ["FatalTrialSearch"]

_TIMED = "time_limit.py"  # the file whose frames are in the stack of a fit that is timed
_TRIALS_RETRIED_ALONE = 4  # so few are retried one by one; more are retried together first


class FatalTrialSearch:
    """Finds the trials that kill their worker, and computes the others.

    Parameters
    ----------
    workers : Workers
        The workers, with the dead one replaced.
    folder : Path
        Where workers wrote which fit they computed.
    tasks : sequence
        The trials.
    timeout : float or None
        Seconds that one fit may take.
    """

    def __init__(self, workers: Workers, folder: Path, tasks: Tasks, timeout: float | None) -> None:
        self.workers, self.folder, self.tasks, self.timeout = workers, folder, tasks, timeout

    def retry(self, death: WorkerDied, first: int, last: int) -> dict[int, list[Answer]]:
        """Fail the trials that overran their time; compute again those that may have killed.

        Parameters
        ----------
        death : WorkerDied
            What happened.
        first, last : int
            The trials that were in flight: ``first`` to ``last - 1``.

        Returns
        -------
        dict
            For each trial that is settled its answers, or a failure. All others in flight
            are computed again with the rest.
        """
        self.workers.recover()
        found = in_flight.take(self.folder)
        flying = range(*death.span) if death.span else range(first, last)
        named = [in_flight.trials_with([xi], self.tasks, flying) for xi in found.late]
        if any(named):  # a worker ended itself, and said why: no other trial is suspected
            return self._late(named, found)
        running = in_flight.trials_with(found.running, self.tasks, flying)
        return self._retry(running or list(flying))  # workers elsewhere write no files here

    def _late(self, named: list[list[int]], found: in_flight.NotedFits) -> dict[int, list[Answer]]:
        """Fail the trial that a late random term names; of several that share it, find which."""
        known = {trials[0] for trials in named if len(trials) == 1}
        shared = {trial for trials in named for trial in trials} - known
        settled: dict[int, list[Answer]] = {
            trial: [self._timed_out(trial, found)] for trial in sorted(known)
        }
        return settled | self._retry(sorted(shared))

    def _retry(self, suspects: list[int]) -> dict[int, list[Answer]]:
        """Compute many together, halve them while a worker dies, and compute a few one by one."""
        if len(suspects) <= _TRIALS_RETRIED_ALONE:
            return {trial: self._alone(trial) for trial in suspects}
        answered: dict[int, list[Answer]] = {}
        try:
            with closing(self.workers.submit((k, k + 1) for k in suspects)) as reports:
                for trial, (_, answers) in zip(suspects, reports, strict=True):
                    answered[trial] = answers
        except WorkerDied:
            self.workers.recover()
            left = suspects[len(answered) :]
            middle = len(left) // 2
            answered |= self._retry(left[:middle]) | self._retry(left[middle:])
        return answered

    def _alone(self, trial: int) -> list[Answer]:
        """Compute one trial with nothing else running."""
        in_flight.take(self.folder)
        began = time.monotonic()
        try:
            [(_, answers)] = self.workers.submit([(trial, trial + 1)])
        except WorkerDied:
            seconds = time.monotonic() - began
            self.workers.recover()
            return [self._failure(trial, in_flight.take(self.folder), seconds)]
        return answers

    def _failure(self, trial: int, found: in_flight.NotedFits, seconds: float) -> Failure:
        """Say why a trial failed that was computed alone: its time limit, or a crash."""
        # A worker on another machine writes no file here: its time tells.
        overdue = self.timeout is not None and not found.running and seconds >= self.timeout
        if found.late or overdue:
            return self._timed_out(trial, found)
        message = "its worker process died, and died again with this trial alone"
        return Failure(
            trial, f"{message} (out of memory, or a crash in an extension?)", kind="death"
        )

    def _timed_out(self, trial: int, found: in_flight.NotedFits) -> Failure:
        """Say that a fit took too long, and where it was."""
        words = [found.late[xi] for xi in in_flight.terms(self.tasks[trial]) if xi in found.late]
        place = next(filter(None, map(_innermost, words)), "")
        message = f"a fit took longer than timeout={self.timeout} seconds{place}"
        return Failure(trial, message, TimeoutError(message), kind="timeout")


def _innermost(words: str) -> str:
    """Return the line of code where a fit was, from what the fault handler wrote.

    It lists every thread of the process, each from the innermost call outwards.
    """
    for thread in words.split("\n\n"):
        lines = [line.strip() for line in thread.splitlines() if line.startswith("  File ")]
        if any(_TIMED in line for line in lines):
            return f"; it was in {lines[0]}"
    return ""
