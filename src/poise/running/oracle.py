"""The oracle computes batches of trials; only it calls the user's algorithm.

A procedure yields batches. The oracle gives them to an engine, applies the failure
policy, and sends the answers back in plan order. So a procedure cannot look inside
the algorithm: it knows only what the oracle answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.algorithms.algorithm import Algorithm
from poise.algorithms.as_algorithm import as_algorithm
from poise.algorithms.distance import (
    Distance,
    distance_code,
    distance_name,
    needs_response,
)
from poise.algorithms.fit_warnings import counted_fit_warnings, listening
from poise.algorithms.losses import LossChange, as_change
from poise.arguments import counted
from poise.data.sample import Sample
from poise.errors import ArgumentError, RecordError, TrialError
from poise.protocol.budget import Budget, Counts, cost
from poise.protocol.messages import (
    FIT_BY_FIT,
    Answer,
    Answers,
    Batch,
    Change,
    Failure,
    Removals,
    Reply,
    Tasks,
    TellsState,
    first_query,
)
from poise.protocol.work import Work
from poise.running.answers import AnswerRecord, ChangeRecord, of_shape, record_for
from poise.running.execution import Execution
from poise.running.known_work import KnownWork
from poise.running.progress import Progress
from poise.running.removals_work import LossRemovalsWork, RemovalsWork
from poise.running.shuffle.fast_path_elsewhere import batched_anywhere
from poise.running.shuffle.gather import in_this_process
from poise.running.tasks import ComparisonWork, LossWork, QueryWork
from poise.running.workers.engine import Engine
from poise.running.workers.inner_threads import one_inner_thread

__all__ = ["AnswerLog", "Oracle"]


class AnswerLog(Protocol):
    """A journal: it keeps each answer when it comes in, and gives them back after a crash."""

    def begin(self, path: str, decision_points: tuple[float, ...]) -> Iterator[Change]:
        """Yield the answers that the journal already holds."""
        ...

    def append(self, answer: Change) -> None:
        """Keep one answer, or a block of them."""
        ...


@dataclass
class Oracle:
    """Answers batches about one algorithm on one sample.

    Parameters
    ----------
    algorithm : Algorithm
        The black box.
    sample : Sample
        The rows that queries refer to.
    distance : callable
        Turns two predictions into a change.
    engine : Engine
        Where the fits run.
    execution : Execution
        What a failed fit means, and whether shortcuts and progress are wanted.
    models : {"black-box", "transparent"}
        Whether fitted models stay hidden (Definition 2) or may be seen (Definition 3).
    budget : Budget
        What may be asked in all.
    journal : AnswerLog or None
        Where comparisons are written down as they are answered, and read from if
        an earlier run was cut short.
    """

    algorithm: Algorithm
    sample: Sample
    distance: Distance
    engine: Engine
    execution: Execution = field(default_factory=Execution)
    models: str = "black-box"
    budget: Budget = field(default_factory=Budget)
    journal: AnswerLog | None = None
    counts: Counts = field(default_factory=Counts, init=False)
    recalled: int = field(default=0, init=False)  # answers of the last batch from the journal

    def __post_init__(self) -> None:
        arguments.choice("models", self.models, ("black-box", "transparent"))

    @classmethod
    def about(
        cls,
        algorithm: Any,
        sample: Sample,
        distance: str | Distance = "auto",
        response: str = "predict",
        execution: Execution | None = None,
    ) -> Oracle:
        """Check the settings that concern the fits, and build the oracle."""
        with sample.with_true_rows():
            black_box = as_algorithm(algorithm, response).prepared(sample.for_checks)
        measure_of_change = as_change(distance, black_box.natural_distance)
        if isinstance(measure_of_change, LossChange):
            measure_of_change = measure_of_change.about(sample.for_checks)
        execution = Execution() if execution is None else execution
        black_box, engine = execution.engine_for(black_box)
        return cls(black_box, sample, measure_of_change, engine, execution)

    @property
    def names(self) -> tuple[str, str]:
        """The names of the algorithm and of the distance, for the record."""
        return self.algorithm.name, distance_name(self.distance, self.algorithm.natural_distance)

    @property
    def codes(self) -> tuple[str, str]:
        """Digests of the user's own algorithm and distance, for the record."""
        return self.algorithm.code, distance_code(self.distance)

    def answer(self, batch: Batch) -> Answers:
        """Compute a batch in plan order, stopping where ``batch.until`` says so."""
        self._permit(batch)
        record = record_for(batch)
        work, path = self._work(batch)
        try:
            with counted_fit_warnings():
                self._collect(work, path, batch, record)
        except RecordError as error:
            error.partial = record.entered() if record.done else None
            error.failures = tuple(failure.message for failure in record.failures)
            if record.done:
                measured = counted(record.done, "trial")
                error.add_note(f"what was measured ({measured}) is in the error's `partial`")
            raise
        except TrialError as error:
            error.failures = tuple(failure.message for failure in record.failures)
            raise
        finally:
            self.counts += cost(batch.tasks, record.done)
        return record.answers(path)

    def _permit(self, batch: Batch) -> None:
        """Refuse what this run does not allow, before any of it is computed."""
        if batch.models and self.models != "transparent":
            raise ArgumentError(
                "the procedure asks to see fitted models (Definition 3), but models='black-box' "
                "hides them (Definition 2); run it with models='transparent'"
            )
        if batch.models and batch.compares:
            raise ArgumentError("models can be seen in a batch of queries, not of comparisons")
        if self.sample.fit_params is not None and len(batch):
            self.sample.fit_params.require_rows(first_query(batch.tasks).train)
        if self.budget.limited:
            self.budget.check(self.counts, cost(batch.tasks, len(batch)))

    def _collect(self, work: Work, path: str, batch: Batch, record: AnswerRecord) -> None:
        if self._recall(path, batch, record) or record.done == len(batch):
            return
        state = batch.until.state if isinstance(batch.until, TellsState) else None
        shown = self.execution.progress
        answering = closing(self.engine.map(work, record.done, len(batch)))
        with (
            Progress(len(batch), shown, state=state, done=record.done) as progress,
            answering as answers,
        ):
            for answer in answers:
                finished = self._enter(answer, record)
                progress.advance_to(record.done)
                if finished:
                    break

    def _recall(self, path: str, batch: Batch, record: AnswerRecord) -> bool:
        """Read the answers that the journal holds; return whether they are enough."""
        if self.journal is None:
            return False
        known = of_shape(batch.shape, self.journal.begin(path, batch.decision_points))
        enough = any(self._enter(answer, record, new=False) for answer in known)
        self.recalled = record.done
        return enough

    def _enter(self, answer: Answer, record: AnswerRecord, new: bool = True) -> bool:
        """Apply the failure policy, and record the answer; return whether to stop."""
        if isinstance(answer, Failure):
            self._decide(answer, record)
            answer = replace(
                answer, cause=None
            )  # its traceback keeps the rows of the fit in memory
        before = record.done
        finished = record.enter(answer)
        if new and self.journal is not None and not isinstance(answer, Reply):
            # A block may hold trials after the one that decided.
            used = answer[: record.done - before] if isinstance(answer, np.ndarray) else answer
            self.journal.append(used)
        return finished

    def _work(self, batch: Batch) -> tuple[Work, str]:
        """Return the work of a batch, and the name of the way it is computed."""
        if batch.compares and self.execution.fast and batch.known is None:
            # Single trials that a shortcut cannot answer are computed with every check.
            checked = self._comparisons(batch, relax=False)
            fast = batched_anywhere(checked, self.algorithm.batch(), batch.decision_points)
            if fast is not None:
                return fast, fast.batch.name
        return self._fit_by_fit(batch, self.sample.all_finite), FIT_BY_FIT

    def _fit_by_fit(self, batch: Batch, relax: bool) -> Work:
        if batch.compares:
            return self._comparisons(batch, relax)
        return QueryWork(self.algorithm, self.sample, batch.tasks, relax, batch.models)

    def _comparisons(self, batch: Batch, relax: bool) -> ComparisonWork:
        if batch.shape:
            return self._removals(batch, relax)
        kind = LossWork if needs_response(self.distance) else ComparisonWork
        return kind(self.algorithm, self.sample, batch.tasks, relax, self.distance)

    def _removals(self, batch: Batch, relax: bool) -> RemovalsWork:
        about = self.algorithm, self.sample, batch.tasks, relax, self.distance
        if batch.known is not None:
            return KnownWork(*about, batch.known)
        return LossRemovalsWork(*about) if needs_response(self.distance) else RemovalsWork(*about)

    def ignores_row_order(self, trials: Tasks) -> bool:
        """See on the first trial whether the order of the rows matters, for one random term.

        Predictions of three full fits, each with another row moved last, are compared to nine
        digits. A fit that fails settles nothing, and so allows nothing; nor does a trial of
        one removal at one point, which has one full fit.
        """
        from poise.running.removals_work import same_predictions

        sample, tasks = in_this_process(self.sample, trials, [0])
        trial = tasks[0]
        if not isinstance(trial, Removals):
            return False
        work = replace(self, sample=sample)._removals(Batch([trial]), relax=False)
        with one_inner_thread():
            return same_predictions(work, [*trial.full[:2], trial.full[-1]])

    def repeat(self, batch: Batch, index: int) -> Answer:
        """Compute one task of a batch again, fit by fit and in this process; no result uses it."""
        with one_inner_thread(), listening() as heard:
            [answer] = self._fit_by_fit(batch, relax=False)(index, index + 1)
            heard.forget()  # said before
        return answer

    def answer_some(self, batch: Batch, trials: Sequence[int]) -> tuple[NDArray[np.float64], str]:
        """Compute some trials of a batch again, by the way that computes all of them.

        A shortcut computes blocks of trials at once. Whole blocks are computed here too, so that
        nothing can differ. It runs in this process. Returns the changes of those trials, and
        the way they were computed.
        """
        work, path = self._work(batch)
        found = np.empty((len(trials), *batch.shape))
        grain = work.grain
        with one_inner_thread(), counted_fit_warnings():
            for first in sorted({trial // grain * grain for trial in trials}):
                block = ChangeRecord(grain, None, batch.shape)
                for answer in work(first, min(first + grain, len(batch))):
                    block.enter(answer)
                for place, trial in enumerate(trials):
                    if first <= trial < first + grain:
                        found[place] = block.changes[trial - first]
        return found, path

    def _decide(self, failure: Failure, record: AnswerRecord) -> None:
        """Apply the policy: a failed trial is never dropped."""
        policy = "on_timeout" if failure.kind == "timeout" else "on_error"
        if getattr(self.execution, policy) == "raise":
            raise TrialError(
                f"trial {failure.trial} failed: {failure.message}. What was measured before it "
                f"({counted(record.done, 'trial')}) is in the `partial` attribute of this error; "
                f"{policy}='unstable' would count a failed trial against stability",
                trial=failure.trial,
                partial=record.entered(),
                kind=failure.kind,
            ) from failure.cause
