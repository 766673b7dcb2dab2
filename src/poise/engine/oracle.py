"""The oracle answers batches in plan order; a procedure knows only what it was answered."""

from __future__ import annotations

from collections.abc import Generator, Sequence
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
from poise.engine.messages import Answer, Answers, Batch, Failure, Query, Trial
from poise.engine.surroundings import Heard
from poise.engine.work import Work
from poise.errors import TrialError
from poise.progress import Progress
from poise.results.trials import MOST_FAILURES, Failed

if TYPE_CHECKING:
    from poise.shortcuts.blocks import Block, Places, Shortcut

Verdict = TypeVar("Verdict")


@dataclass
class Oracle:
    """Answers what is asked about one algorithm on one sample.

    Attributes
    ----------
    heard : Heard
        What the fits warned of and printed.
    shortcut : Shortcut or None
        What computes trials instead of fits.
    """

    algorithm: Algorithm
    sample: Sample
    distance: Distance
    execution: Execution = field(default_factory=Execution)
    heard: Heard = field(default_factory=Heard)
    shortcut: Shortcut | None = None

    def work(self, tasks: Sequence[Query] | Sequence[Trial], relax: bool = True) -> Work:
        """Return these tasks as work about the algorithm."""
        keep_causes = self.execution.on_error == "raise"
        return Work(self.algorithm, self.sample, self.distance, tasks, relax, keep_causes)

    def answer(self, batch: Batch) -> Answers:
        """Answer one trial, or query, after the other, until the batch has seen enough."""
        if self.shortcut is not None and batch.places is not None:
            return self._by_formula(self.shortcut, batch, batch.places)
        work, total, first = self.work(batch.tasks), len(batch.tasks), batch.tasks[0]
        if isinstance(first, Query):
            record, fits_each = _Record("fit", self.execution.on_error), 1
        else:
            record = _Record("trial", self.execution.on_error, (total, *work.shape(first)))
            fits_each = len(first.full) + len(first.reduced)
        known = [batch.known[k] for k in range(len(batch.known))]
        fits = self.execution.compute(work, range(len(known), total))
        shown = Progress(total, self.execution.progress, f"{record.unit}s", batch.state)
        with shown as progress, closing(cast("Generator[Answer]", fits)):
            for k, answer in enumerate(chain(known, fits)):
                if k >= len(known):
                    self.heard.add(fits_each, answer.said)
                latest = record.enter(answer)
                progress.advance_to(k + 1)
                if batch.until is not None and batch.until(latest):
                    break
        return record.answers()

    def _by_formula(self, shortcut: Shortcut, batch: Batch, places: Places) -> Answers:
        """Answer trials without a fit, but for those that a shortcut doubts."""
        from poise.engine.formulas import by_formula
        from poise.shortcuts.blocks import Block

        total, points = len(batch.tasks), places(0, 1)[1].shape[1]
        shape = (total, shortcut.removals, points)
        record = _Record("trial", self.execution.on_error, shape)
        answers = by_formula(self, shortcut, batch, places, singly=batch.until is not None)
        shown = Progress(total, self.execution.progress, "trials", batch.state)
        with shown as progress, closing(cast("Generator[Answer | Block]", answers)):
            for answer in answers:
                if isinstance(answer, Block):
                    record.enter_block(answer)
                    continue
                self.heard.add(2, answer.said)
                latest = record.enter(answer)
                progress.advance_to(record.done)
                if batch.until is not None and batch.until(latest):
                    break
        return record.answers()

    def ask(self, queries: Sequence[Query]) -> list[Answer]:
        """Answer queries one after the other in one process, whatever becomes of them."""
        fits = self.execution.compute(
            self.work(queries, relax=False), range(len(queries)), in_turn=True
        )
        found: list[Answer] = []
        with (
            Progress(len(queries), self.execution.progress, "fits of the first trial") as progress,
            closing(cast("Generator[Answer]", fits)),
        ):
            for answer in fits:
                self.heard.add(1, answer.said)
                found.append(answer)
                progress.advance_to(len(found))
        return found


def converse(conversation: Generator[Batch, Answers, Verdict], oracle: Oracle) -> Verdict:
    """Answer each batch until the procedure returns its verdict."""
    answers: Any = None
    while True:
        try:
            batch = conversation.send(answers)
        except StopIteration as stop:
            return cast("Verdict", stop.value)
        try:
            answers = oracle.answer(batch)
        except TrialError as error:  # a procedure may say what was measured before
            conversation.throw(error)
            raise


class _Record:
    """The answers to a batch so far, and the first reasons of failures."""

    def __init__(self, unit: str, on_error: str, shape: tuple[int, ...] = (0, 1, 1)) -> None:
        self.unit, self.on_error = unit, on_error
        self.changes, self.errors = np.full(shape, np.nan), np.full(shape[0], np.nan)
        self.predictions: list[Any] = []
        self.failures: list[Failed] = []
        self.n_failed = self.done = 0

    def enter(self, answer: Answer) -> Any:
        """Keep an answer; a failure ends the run or is kept as one, as the policy says."""
        answer = _whole(answer) if self.unit == "fit" else answer
        if answer.failure is not None:
            if self.on_error == "raise":
                error = failed_with(answer.failure, self.unit, self.done, self.done)
                error.partial = self.answers()
                raise error from answer.failure.cause
            self.n_failed += 1
            if len(self.failures) < MOST_FAILURES:
                self.failures.append(Failed(self.done, answer.failure.kind, answer.failure.message))
        kept = self._keep(answer)
        self.done += 1
        return kept

    def enter_block(self, block: Block) -> None:
        """Keep many trials at once."""
        stop = self.done + len(block.changes)
        self.changes[self.done : stop], self.errors[self.done : stop] = block[:2]
        self.done = stop

    def _keep(self, answer: Answer) -> Any:
        if self.unit == "fit":
            self.predictions.append(answer.values)
            return answer.values
        if answer.values is not None:
            self.changes[self.done] = answer.values
        self.errors[self.done] = answer.error
        return self.changes[self.done]

    def answers(self) -> Answers:
        done = self.done
        found = self.changes[:done].copy(), self.errors[:done].copy()
        return Answers(*found, tuple(self.failures), self.n_failed, tuple(self.predictions))


def _whole(answer: Answer) -> Answer:
    """Return the predictions of all calls as one array."""
    calls = (answer, *answer.also)
    failure = next((each.failure for each in calls if each.failure), None)
    if failure is not None or not answer.also:
        return replace(answer, failure=failure, values=None) if failure else answer
    try:
        return replace(answer, values=np.concatenate([each.values for each in calls]))
    except ValueError:
        text = "predictions of several calls have different shapes"
        return replace(answer, values=None, failure=Failure(text, "undefined"))


def failed_with(failure: Failure, unit: str, number: int, done: int) -> TrialError:
    """Return the error that ends a run, after so many trials or fits."""
    return TrialError(
        f"{unit} {number} failed: {failure.message.removesuffix('.')}. What was measured before it "
        f"({counted(done, unit)}) is in the `partial` attribute of this error; on_error='record' "
        f"counts a failed {unit} against 'stable' instead",
        trial=number,
        kind=failure.kind,
    )
