"""The oracle answers batches in plan order; a procedure knows only what it was answered."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
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
from poise.engine.surroundings import Heard, Settings
from poise.engine.work import Work
from poise.errors import TrialError
from poise.progress import Progress
from poise.results.trials import MOST_FAILURES, Failed

if TYPE_CHECKING:
    from poise.shortcuts.blocks import Block, Shortcut

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
    settings: Settings = field(default_factory=Settings.here)

    def on(self, sample: Sample) -> Oracle:
        """Return the same on some of the rows."""
        if sample is self.sample or self.shortcut is None:
            return self if sample is self.sample else replace(self, sample=sample)
        shortcut = self.shortcut.on(self.shortcut.family, sample, self.shortcut.removals)
        return replace(self, sample=sample, shortcut=shortcut)

    def work(self, tasks: Sequence[Query] | Sequence[Trial], relax: bool = True) -> Work:
        """Return these tasks as work about the algorithm."""
        keep_causes = self.execution.on_error == "raise"
        about = self.algorithm, self.sample, self.distance
        return Work(*about, tasks, relax, keep_causes, self.settings)

    def answer(self, batch: Batch) -> Answers:
        """Answer one trial, or query, after the other, until the batch has seen enough."""
        tasks, total, known = batch.tasks, len(batch.tasks), len(batch.known)
        first: Any = tasks if hasattr(tasks, "shape") else tasks[0]
        if isinstance(first, Query):
            record, fits_each = _Record("fit", self.execution.on_error), 1
        else:
            shape = total, *self.work(()).shape(first)
            record, fits_each = _Record("trial", self.execution.on_error, shape), first.n_fits
        found = self._answers(batch)
        shown = Progress(total, self.execution.progress, f"{record.unit}s", batch.state)
        with shown as progress, closing(cast("Generator[Answer | Block]", found)):
            for answer in chain((batch.known[k] for k in range(known)), found):
                if not isinstance(answer, Answer):
                    record.enter_block(answer)
                    continue
                if record.done >= known:
                    self.heard.add(fits_each, answer.said)
                latest = record.enter(answer)
                progress.advance_to(record.done)
                if batch.until is not None and batch.until(latest):
                    break
        return record.answers()

    def _answers(self, batch: Batch) -> Iterator[Answer | Block]:
        """Yield the answers that are not known, in plan order; whole blocks of a formula."""
        if self.sample.at_hand is not self.sample:
            from poise.engine.on_dask import answers

            return answers(self, batch)
        if self.shortcut is not None and batch.places is not None:
            from poise.engine.formulas import by_formula

            return by_formula(self, self.shortcut, batch, singly=batch.until is not None)
        span = range(len(batch.known), len(batch.tasks))
        return self.execution.compute(self.work(batch.tasks), span)

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
