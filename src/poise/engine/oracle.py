"""The oracle answers batches in plan order; a procedure knows only what it was answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from poise.algorithms.algorithm import Algorithm
from poise.algorithms.distances import Distance
from poise.checks import counted
from poise.data.sample import Sample
from poise.engine.execution import Execution
from poise.engine.messages import Answer, Answers, Batch, Failure, Ids, Planned, Query, Trial
from poise.engine.surroundings import Heard, Settings, one_thread
from poise.engine.work import Work
from poise.errors import PoiseWarning, RecordError, TrialError, note
from poise.progress import Progress
from poise.results.trials import MOST_FAILURES, Failed

if TYPE_CHECKING:
    from poise.engine.journal import Journal
    from poise.shortcuts.blocks import Shortcut

_PATIENCE = 1.0  # seconds of unexpected fits before anybody is told

Verdict = TypeVar("Verdict")
Ends = (TrialError, RecordError, KeyboardInterrupt)  # with what was measured in ``partial``


@dataclass
class Oracle:
    """Answers what is asked about one algorithm on one sample."""

    algorithm: Algorithm
    sample: Sample
    distance: Distance
    execution: Execution = field(default_factory=Execution)
    heard: Heard = field(default_factory=Heard)  # what the fits warned of and printed
    shortcut: Shortcut | None = None  # computes trials instead of fits
    settings: Settings = field(default_factory=Settings.here)
    journal: Journal | None = None  # keeps answers

    def on(self, sample: Sample) -> Oracle:
        """Return the same on some of the rows."""
        shortcut = self.shortcut
        if shortcut is not None and sample is not self.sample:
            shortcut = shortcut.on(shortcut.family, sample, shortcut.removals)
        return replace(self, sample=sample, shortcut=shortcut)

    def work(self, tasks: Sequence[Query] | Sequence[Trial]) -> Work:
        """Return these tasks as work about the algorithm."""
        keep_causes = self.execution.on_error == "raise"
        about = self.algorithm, self.sample, self.distance
        return Work(*about, tasks, keep_causes, self.settings)

    def answer(self, batch: Batch) -> Answers:
        """Answer one trial, or query, after the other, until the batch has seen enough."""
        record = _Record(batch, self.execution.on_error, self.distance.panel)
        shown = Progress(record.total, self.execution.progress, f"{record.unit}s")
        try:
            with shown as progress, closing(self._sources(batch, record)) as sources:
                for answer in chain.from_iterable(map(record.parts, chain.from_iterable(sources))):
                    self.heard.add(record.fits, answer.said)
                    latest = record.enter(answer)
                    enough = batch.until is not None and batch.until(latest)
                    if self.journal is not None:
                        self.journal.append(answer, batch.complete)
                    progress.advance_to(record.done)
                    if enough:
                        break
        except Ends as error:
            error.partial = record.answers()  # type: ignore[union-attr]
            raise
        return record.answers()

    def _sources(self, batch: Batch, record: _Record) -> Generator[Iterable[Answer]]:
        """Yield what a journal holds, then what the look at the first trial has seen, then fits."""
        if self.journal is not None:
            yield self.journal.kept(batch.tasks, record.shape)
        yield [batch.known[k] for k in range(record.done, len(batch.known))]
        if record.done < record.total:
            with closing(self._computed(batch, record.done)) as fits:
                yield fits

    def _computed(self, batch: Batch, start: int) -> Generator[Answer]:
        if self.sample.at_hand is not self.sample:
            from poise.engine.clusters import where_rows_are

            return where_rows_are(self, batch.tasks, start)
        if self.shortcut is not None and batch.places is not None:
            rows = batch.places(0, len(batch.tasks))
            return self.by_formula(self.shortcut, batch.tasks, rows, start)
        return self.execution.compute(self.work(batch.tasks), range(start, len(batch.tasks)))

    def by_formula(
        self, shortcut: Shortcut, tasks: Any, rows: tuple[Ids, Ids], start: int
    ) -> Generator[Answer]:
        """Yield answers from a trial on, many trials in one answer; doubtful ones are fitted."""
        began, total = time.perf_counter(), len(tasks)
        with one_thread():
            changes, errors, doubtful = shortcut.table(*rows)
        if doubtful.any():
            self.algorithm.prepared(self.sample)  # refuses rows that nobody has read yet
        left = [*(start + np.flatnonzero(doubtful[start:])).tolist(), total]
        doubted = Planned(tasks.__getitem__, left[:-1])
        fits = self.execution.compute(self.work(doubted), range(len(doubted)))
        limit, spent, done = max(_PATIENCE, time.perf_counter() - began), 0.0, start
        with closing(fits):
            for k in left:
                if k > done:
                    yield Answer(changes[done:k], error=errors[done:k])
                if k < total:
                    began = time.perf_counter()
                    yield next(fits)
                    spent, before = spent + time.perf_counter() - began, spent
                    if before <= limit < spent:
                        _tell_slow(len(doubted), total)
                done = k + 1

    def ask(self, tasks: Sequence[Query] | Sequence[Trial]) -> list[Answer]:
        """Answer tasks one after the other in one process, whatever becomes of them."""
        work, found = self.work(tasks), list[Answer]()
        fits = self.execution.compute(work, range(len(tasks)), in_turn=True)
        shown = Progress(len(tasks), self.execution.progress, "fits of the first trial")
        with shown as progress, closing(fits):
            for answer in fits:
                found.append(answer)
                progress.advance_to(len(found))
        return found


def converse(
    conversation: Generator[Batch, Answers, Verdict],
    oracle: Oracle,
    permit: Callable[[Batch], None] | None = None,
) -> Verdict:
    """Answer each batch until the procedure returns its verdict; ``permit`` may refuse one."""
    answers: Any = None
    while True:
        try:
            batch = conversation.send(answers)
        except StopIteration as stop:
            return cast("Verdict", stop.value)
        if permit is not None:
            permit(batch)
        try:
            answers = oracle.answer(batch)
        except Ends as error:  # and what was measured
            conversation.throw(error)
            raise


class _Record:
    """The answers to a batch so far, and the first reasons of failures."""

    def __init__(self, batch: Batch, on_error: str, panel: bool) -> None:
        tasks: Any = batch.tasks
        first = tasks if hasattr(tasks, "shape") else tasks[0]
        self.total, self.on_error, self.singly = len(tasks), on_error, batch.until is not None
        self.unit, self.shape, self.fits = "fit", (0, 0), 1
        if not isinstance(first, Query):
            self.unit, self.fits = "trial", first.n_fits
            self.shape = (first.shape[0], 1) if panel else first.shape
        self.changes = np.full((self.total, *self.shape), np.nan)
        self.errors = np.full(self.total, np.nan)
        self.predictions: list[Any] = []
        self.failures: list[Failed] = []
        self.n_failed = self.done = 0

    def parts(self, answer: Answer) -> Iterable[Answer]:
        """Make one answer of several calls; a stopping rule is shown one trial after the other."""
        if self.unit == "fit":
            return (_whole(answer),)
        if self.singly and isinstance(answer.error, np.ndarray):
            each = zip(answer.values, answer.error.tolist(), strict=True)
            return (Answer(changes, error=error) for changes, error in each)
        return (answer,)

    def enter(self, answer: Answer) -> Any:
        """Keep an answer; a failure ends the run or is kept as one, as the policy says."""
        if answer.failure is not None:
            if self.on_error == "raise":
                error = failed_with(answer.failure, self.unit, self.done, self.done)
                raise error from answer.failure.cause
            self.n_failed += 1
            if len(self.failures) < MOST_FAILURES:
                self.failures.append(Failed(self.done, answer.failure.kind, answer.failure.message))
        start, self.done = self.done, self.done + answer.size
        if self.unit == "fit":
            self.predictions.append(answer.values)
            return answer.values
        if answer.values is not None:
            self.changes[start : self.done] = answer.values
        self.errors[start : self.done] = answer.error
        return self.changes[start]

    def answers(self) -> Answers:
        """Return what is there so far."""
        done = self.done
        found = self.changes[:done].copy(), self.errors[:done].copy()
        return Answers(*found, tuple(self.failures), self.n_failed, tuple(self.predictions))


def _whole(answer: Answer) -> Answer:
    """Return the predictions of all calls as one array."""
    calls = (answer, *answer.also)
    failure = next((each.failure for each in calls if each.failure), None)
    if failure is None and answer.also:
        try:
            return replace(answer, values=np.concatenate([each.values for each in calls]))
        except ValueError:
            text = "predictions of several calls have different shapes"
            failure = Failure(text, "undefined")
    return replace(answer, values=None, failure=failure) if failure else answer


def failed_with(failure: Failure, unit: str, number: int, done: int) -> TrialError:
    """Return the error that ends a run, after so many trials or fits."""
    return TrialError(
        f"{unit} {number} failed: {failure.message.removesuffix('.')}. What was measured before "
        f"({counted(done, unit)}) is in the `partial` attribute of this error; on_error='record' "
        f"counts a failed {unit} against 'stable' instead",
        trial=number,
        kind=failure.kind,
    )


def _tell_slow(doubtful: int, total: int) -> None:
    note(
        PoiseWarning,
        f"{counted(doubtful, 'trial')} of {total:,} cannot be computed by a formula to nine "
        "digits, and are fitted; scaled columns and max_trials= make that faster",
    )
