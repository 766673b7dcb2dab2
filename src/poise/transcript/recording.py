"""The record of one run, written while it happens."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from poise.budget import Counts
from poise.errors import TrialError
from poise.oracle import Procedure
from poise.record import Answers, Batch, Comparison, Made, Query, Rows
from poise.sample import Sample

__all__ = ["Recorder", "Refusal", "Stage", "Transcript", "verdict_in_words"]


def verdict_in_words(result: Any) -> str:
    """Return one word for what a procedure concluded, whatever kind of object it returned.

    Examples
    --------
    >>> from poise import Trials
    >>> verdict_in_words(Trials.from_changes([0.0] * 30, n=5).test(epsilon=0.1, delta=0.1))
    'stable'
    >>> verdict_in_words(True), verdict_in_words({"stable": True})
    ('True', 'dict')
    """
    verdict = getattr(result, "verdict", result)
    return str(verdict) if isinstance(verdict, (str, bool, int, float)) else type(verdict).__name__


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
    tasks : tuple of Query or tuple of Comparison
        Those that were answered; a batch that was stopped has fewer than asked.
    answers : Answers
        What the procedure was sent.
    refusal : Refusal or None
        What was thrown into the procedure instead.
    models : bool
        Whether the batch asked to see the fitted models.
    """

    asked: int
    tasks: tuple[Any, ...]
    answers: Answers
    refusal: Refusal | None = None
    models: bool = False

    @classmethod
    def of(cls, batch: Batch, outcome: Answers | TrialError) -> Stage:
        """Copy what is needed: a procedure may go on changing its own arrays."""
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
    """Drop exceptions of user code: they hold on to its frames and cannot be saved."""
    clean = {failure.trial: replace(failure, cause=None) for failure in answers.failures}
    failed = {id(failure): failure.trial for failure in answers.failures}
    predictions = tuple(
        clean[failed[id(value)]] if id(value) in failed else value for value in answers.predictions
    )
    return replace(answers, failures=tuple(clean.values()), predictions=predictions)


def _copied(task: Query | Comparison) -> Query | Comparison:
    if isinstance(task, Comparison):
        return Comparison(_copied_query(task.full), _copied_query(task.reduced))
    return _copied_query(task)


def _copied_query(query: Query) -> Query:
    evaluate = None if query.evaluate is None else _copied_rows(query.evaluate)
    return Query(_copied_rows(query.train), evaluate, int(query.xi))


def _copied_rows(rows: Rows) -> Rows:
    if isinstance(rows, slice):
        return np.arange(rows.start, rows.stop)
    return Made(*rows.copy()) if isinstance(rows, Made) else np.array(rows, dtype=np.int64)


@dataclass(frozen=True)
class Transcript:
    """One run, complete: the verdict is a function of this alone (Definition 1).

    Every ξ stands in the question it belongs to; every ζ follows from ``seed``.

    Attributes
    ----------
    procedure : Procedure or None
        What asked; None where a file names a procedure that poise cannot rebuild.
    procedure_name : str
        Its class.
    sample : Sample
        The data.
    seed : int
        Root of all randomness of the run.
    stages : tuple of Stage
        Every batch with its answers.
    algorithm, distance : str
        Names, for the reader.
    models, on_error, on_timeout : str
        Rules of the run.
    verdict : str
        What the procedure concluded.
    counts : Counts
        What was asked in all.

    Examples
    --------
    >>> import poise
    >>> from sklearn.dummy import DummyRegressor
    >>> test = poise.procedures.BinomialTest(n=5, epsilon=0.5, delta=0.2)
    >>> run = poise.run(test, DummyRegressor(), [[0.0]] * 90, [1.0] * 90, random_state=0)
    >>> poise.replay(run.transcript) == run.result
    True
    """

    procedure: Procedure | None
    procedure_name: str
    sample: Sample
    seed: int
    stages: tuple[Stage, ...]
    algorithm: str
    distance: str
    models: str
    on_error: str
    on_timeout: str
    verdict: str
    counts: Counts

    def save(self, path: str | Path) -> None:
        """Write everything to one file (NumPy's npz format; nothing in it is code)."""
        from poise.transcript.archive import save

        save(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> Transcript:
        """Read what :meth:`save` wrote."""
        from poise.transcript.archive import load

        return load(Path(path))


@dataclass
class Recorder:
    """Watches a run and keeps every batch with its answers."""

    stages: list[Stage] = field(default_factory=list)

    def __call__(self, batch: Batch, outcome: Answers | TrialError) -> None:
        """Write down one stage."""
        self.stages.append(Stage.of(batch, outcome))
