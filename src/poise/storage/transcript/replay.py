"""Recompute a verdict from a transcript, without the algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import errors
from poise.data.sample import Sample, fingerprint
from poise.data.synthetic_rows import Rows, SyntheticRows
from poise.errors import RecordError
from poise.protocol.messages import (
    Answers,
    Batch,
    Comparison,
    Query,
    StopWhenForced,
    Task,
    queries_of,
)
from poise.protocol.procedure import Procedure, run_procedure
from poise.protocol.randomness import Randomness
from poise.results.stamp_result import Names, with_warnings
from poise.storage.transcript.recording import Transcript, verdict_in_words
from poise.storage.transcript.stage import Refusal, Stage

__all__ = ["replay"]

_UNUSABLE = (ArithmeticError, LookupError, MemoryError, TypeError, ValueError)


def replay(transcript: Transcript, procedure: Procedure | None = None) -> Any:
    """Compute the verdict of a run again from its transcript, bit for bit.

    The procedure runs again and gets its answers from the transcript. Each question must
    be the recorded one; the first difference is an error, and so is another verdict.
    Rows that the procedure generated are compared bit for bit too, so such a procedure
    must be replayed with the numerical libraries with which it ran.

    Parameters
    ----------
    transcript : Transcript
        The record of the run.
    procedure : Procedure, optional
        What to ask; needed only for a saved procedure that is not poise's own.

    Returns
    -------
    object
        What the procedure returned in the run.

    Examples
    --------
    >>> import poise
    >>> from sklearn.dummy import DummyRegressor
    >>> test = poise.procedures.BootstrapTest(n=5, epsilon=0.5, delta=0.2, resamples=20)
    >>> run = poise.run(test, DummyRegressor(), [[0.0]] * 9, [1.0] * 9, random_state=0)
    >>> poise.replay(run.transcript).verdict.value
    'stable'
    """
    asking = transcript.procedure if procedure is None else procedure
    if asking is None:
        raise RecordError(
            f"the transcript was made by {transcript.procedure_name}, which poise cannot rebuild; "
            "pass it as replay(transcript, procedure=...)"
        )
    recording = _Recording(transcript)
    names = Names(transcript.algorithm, transcript.distance)
    try:
        with names.on_partial_result():
            result = run_procedure(asking, recording, Randomness(transcript.seed, transcript.order))
    except _UNUSABLE as error:
        if procedure is not None or isinstance(error, errors.PoiseError):
            raise
        # A procedure of poise never fails on answers that it once got.
        raise RecordError(
            f"{transcript.procedure_name} cannot use what the transcript holds: {error}"
        ) from error
    recording.finish(verdict_in_words(result))
    return with_warnings(names.on(result), transcript.warnings)


class _Recording:
    """Gives a procedure the recorded answers, if it asks the recorded questions."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.position = 0

    @property
    def sample(self) -> Sample:
        return self.transcript.sample

    def answer(self, batch: Batch) -> Answers:
        """Return the recorded answers to the next stage, or fail if the stage differs."""
        stage = self._next()
        where = f"stage {self.position}"
        _same(where, "number of tasks", stage.asked, len(batch))
        _same(where, "request for the models", stage.models, batch.models)
        for index, task in enumerate(stage.tasks):
            _compare(f"{where}, task {index}", task, batch.tasks[index])
        if stage.refusal is not None:
            raise _error(stage.refusal)
        _feed(where, batch, stage)
        return stage.answers

    def _next(self) -> Stage:
        stages = self.transcript.stages
        if self.position == len(stages):
            raise RecordError(
                f"the procedure asks for a stage {self.position + 1}, but the transcript ends "
                f"after {len(stages)}"
            )
        self.position += 1
        return stages[self.position - 1]

    def finish(self, verdict: str) -> None:
        """Check that nothing recorded is left, and that the verdict is the same."""
        recorded = len(self.transcript.stages)
        if self.position < recorded:
            raise RecordError(
                f"the procedure ended after stage {self.position}, but the transcript goes on to "
                f"stage {recorded}"
            )
        _same("the end", "verdict", self.transcript.verdict, verdict)


def _feed(where: str, batch: Batch, stage: Stage) -> None:
    """Give the answers to ``batch.until`` as the oracle did; it must stop at the same place."""
    if batch.until is None:
        return
    answers = stage.answers.fed
    stops = next((i + 1 for i, answer in enumerate(answers) if batch.until(answer)), stage.asked)
    forced = isinstance(batch.until, StopWhenForced) and batch.until.forced
    if len(answers) < stops and forced:
        return  # written by a version that stopped as soon as the verdict was certain
    _same(where, "place where the batch was stopped", len(answers), stops)


def _error(refusal: Refusal) -> errors.TrialError:
    kind: type[errors.TrialError] = getattr(errors, refusal.kind)
    partial = refusal.partial
    copied = partial.copy() if isinstance(partial, np.ndarray) else list(partial)
    return kind(refusal.message, trial=refusal.trial, partial=copied)


def _same(where: str, what: str, recorded: object, asked: object) -> None:
    if recorded != asked:
        raise RecordError(f"{where}: the {what} differs: recorded {recorded!r}, now {asked!r}")


def _compare(where: str, recorded: Task, asked: Task) -> None:
    """Fail with the first difference between two tasks."""
    _same(where, "kind of task", type(recorded).__name__, type(asked).__name__)
    before, now = queries_of(recorded), queries_of(asked)
    _same(where, "number of fits", len(before), len(now))
    for which, first, second in zip(_fits(recorded), before, now, strict=True):
        _compare_queries(f"{where}{which}", first, second)


def _fits(task: Task) -> list[str]:
    """Name the calls of a task, each as the end of a sentence."""
    if isinstance(task, Query):
        return [""]
    if isinstance(task, Comparison):
        return [", full fit", ", reduced fit"]
    full = [f", full fit {i}" for i in range(len(task.full))]
    return full + [f", reduced fit {i}" for i in range(len(task.reduced))]


def _compare_queries(where: str, recorded: Query, asked: Query) -> None:
    _same(where, "random term", int(recorded.xi), int(asked.xi))
    for what in ("train", "evaluate"):
        first, second = getattr(recorded, what), getattr(asked, what)
        if not _equal_rows(first, second):
            rows = "training rows differ" if what == "train" else "evaluation points differ"
            raise RecordError(
                f"{where}: the {rows}: recorded {_shown(first)}, now {_shown(second)}"
            )


def _equal_rows(first: Rows | None, second: Rows | None) -> bool:
    if first is None or second is None:
        return first is second
    if isinstance(first, SyntheticRows) or isinstance(second, SyntheticRows):
        return (
            isinstance(first, SyntheticRows)
            and isinstance(second, SyntheticRows)
            and identical(first.X, second.X)
            and identical(first.y, second.y)
        )
    return bool(np.array_equal(_indices(first), _indices(second)))


def _indices(rows: NDArray[np.int64] | slice) -> NDArray[np.int64]:
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


def identical(first: object, second: object) -> bool:
    """Tell whether two containers hold the same values, bit for bit.

    Examples
    --------
    >>> identical(np.array([0.0, np.nan]), np.array([0.0, np.nan]))
    True
    >>> identical(np.array([0.0]), np.array([-0.0]))
    False
    """
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        alike = first.dtype == second.dtype and first.shape == second.shape
        if alike and first.dtype.kind != "O":
            return first.tobytes() == second.tobytes()
        return alike and bool((first == second).all())
    if first is None or second is None:
        return first is second
    if isinstance(first, (list, tuple)):
        return type(first) is type(second) and bool(first == second)
    return type(first) is type(second) and fingerprint(first) == fingerprint(second)


def _shown(rows: Rows | None) -> str:
    if isinstance(rows, SyntheticRows):
        return f"{len(rows)} made-up rows"
    return str(rows if rows is None else np.asarray(_indices(rows)))
