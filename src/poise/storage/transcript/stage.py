"""One batch of a run: what was asked, and what was answered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from poise.data.synthetic_rows import Rows, SyntheticRows
from poise.errors import TrialError
from poise.protocol.messages import Answers, Batch, Query, Task, queries_of, with_queries

__all__ = ["Refusal", "Stage"]


@dataclass(frozen=True)
class Refusal:
    """An error that was thrown into the procedure instead of answers.

    Attributes
    ----------
    kind : str
        Name of the exception's class.
    message : str
        What it said.
    trial : int
        Which task failed; -1 if none was tried.
    partial : object
        Answers to the tasks before it.
    """

    kind: str
    message: str
    trial: int
    partial: Any


@dataclass(frozen=True)
class Stage:
    """One batch: what was asked, and what was answered.

    Attributes
    ----------
    asked : int
        Number of tasks in the batch.
    tasks : tuple of Query, of Comparison or of Removals
        Those that were answered; a batch that was stopped has fewer than asked.
    answers : Answers
        What the procedure was sent.
    refusal : Refusal or None
        What was thrown into the procedure instead.
    models : bool
        Whether the batch asked to see the fitted models.
    """

    asked: int
    tasks: tuple[Task, ...]
    answers: Answers
    refusal: Refusal | None = None
    models: bool = False

    @classmethod
    def of(cls, batch: Batch, outcome: Answers | TrialError) -> Stage:
        """Copy the batch: a procedure may later change its own arrays."""
        if isinstance(outcome, TrialError):
            answers, refusal = Answers(), _refusal(outcome)
            answered = len(refusal.partial)
        else:
            answers, refusal = _without_causes(outcome), None
            answered = len(answers.changes) + len(answers.predictions)
        tasks = tuple(_copied(batch.tasks[index]) for index in range(answered))
        return cls(len(batch), tasks, answers, refusal, batch.models)


def _refusal(error: TrialError) -> Refusal:
    partial: Any = () if error.partial is None else error.partial
    return Refusal(type(error).__name__, str(error), error.trial, partial)


def _without_causes(answers: Answers) -> Answers:
    """Drop exceptions of user code: they keep its frames in memory and cannot be saved."""
    clean = {failure.trial: replace(failure, cause=None) for failure in answers.failures}
    failed = {id(failure): failure.trial for failure in answers.failures}
    predictions = tuple(
        clean[failed[id(value)]] if id(value) in failed else value for value in answers.predictions
    )
    return replace(answers, failures=tuple(clean.values()), predictions=predictions)


def _copied(task: Task) -> Task:
    return with_queries(task, [_copied_query(query) for query in queries_of(task)])


def _copied_query(query: Query) -> Query:
    evaluate = None if query.evaluate is None else _copied_rows(query.evaluate)
    return Query(_copied_rows(query.train), evaluate, int(query.xi))


def _copied_rows(rows: Rows) -> Rows:
    if isinstance(rows, slice):
        return np.arange(rows.start, rows.stop)
    return (
        SyntheticRows(*rows.copy())
        if isinstance(rows, SyntheticRows)
        else np.array(rows, dtype=np.int64)
    )
