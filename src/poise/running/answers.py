"""The record of answers, in plan order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poise.errors import RecordError
from poise.protocol.messages import Answer, Answers, Batch, Change, Failure, Reply, Until

__all__ = ["AnswerRecord", "of_shape", "record_for"]


class AnswerRecord(Protocol):
    """The record into which the oracle writes answers; it says when a procedure needs no more."""

    done: int
    failures: list[Failure]

    def enter(self, answer: Answer) -> bool:
        """Write down what an engine handed back; return whether to stop."""
        ...

    def entered(self) -> NDArray[np.float64] | list[Any]:
        """Return what has been written so far."""
        ...

    def answers(self, path: str) -> Answers:
        """Return everything, as it is sent to the procedure."""
        ...


def record_for(batch: Batch) -> AnswerRecord:
    """Open the record that fits the kind of question."""
    if batch.compares:
        return ChangeRecord(len(batch), batch.until, batch.shape)
    return PredictionRecord(batch.until, batch.models)


class ChangeRecord:
    """Changes, one or a block at a time; a failed trial is an infinite change.

    With a ``shape`` every trial has a table of changes, in which nan stands for a failure.

    Examples
    --------
    >>> record = ChangeRecord(5, until=lambda change: change > 1)
    >>> record.enter(np.array([0.5, 2.0, 0.1]))
    True
    >>> record.entered()
    array([0.5, 2. ])
    """

    def __init__(self, total: int, until: Until | None, shape: tuple[int, ...] = ()) -> None:
        self.changes = np.empty((total, *shape), dtype=np.float64)
        self.done = 0
        self.until = until
        self.failures: list[Failure] = []

    def enter(self, answer: Answer) -> bool:
        """Write down one change, a block of them, or a failure; return whether to stop."""
        if isinstance(answer, Failure):
            self.failures.append(answer)
            if self.changes.ndim > 1:
                return self._enter_one(np.nan if answer.changes is None else answer.changes)
            return self._enter_one(np.inf, shown=np.nan)
        if isinstance(answer, Reply):
            raise TypeError("a comparison is answered by a change, not by predictions")
        if not isinstance(answer, np.ndarray):
            return self._enter_one(answer)
        if self.until is None:
            self.changes[self.done : self.done + len(answer)] = answer
            self.done += len(answer)
            return False
        several = answer if answer.ndim > 1 else answer.tolist()
        return any(self._enter_one(change) for change in several)

    def _enter_one(self, change: float | NDArray[np.float64], shown: float | None = None) -> bool:
        self.changes[self.done] = change
        self.done += 1
        if self.until is None:
            return False
        if self.changes.ndim > 1:
            return self.until(self.changes[self.done - 1])
        return self.until(change if shown is None else shown)

    def entered(self) -> NDArray[np.float64]:
        """Return the changes so far as a view, not a copy: do not change them."""
        changes = self.changes[: self.done]
        changes.setflags(write=False)
        return changes

    def answers(self, path: str) -> Answers:
        """Return the changes and the failures among them."""
        return Answers(self.entered(), tuple(self.failures), path)


def of_shape(shape: tuple[int, ...], answers: Iterable[Change]) -> Iterator[Change]:
    """Yield the answers of a journal; refuse one that has another shape than its trials.

    Examples
    --------
    >>> list(of_shape((), [np.array([[[0.5, 0.1]]])]))
    Traceback (most recent call last):
    poise.errors.RecordError: line 2 of the journal holds 1 × 2 changes, not a single one. ...
    """
    line = 2
    for answer in answers:
        found = _shape(answer)
        if found not in (None, shape):
            raise RecordError(
                f"line {line} of the journal holds {_sized(found)}, not {_sized(shape)}. "
                "It was edited; begin a new journal"
            )
        yield answer
        line += len(answer) if isinstance(answer, np.ndarray) else 1


def _shape(answer: Change) -> tuple[int, ...] | None:
    """Return the shape of one trial's changes; None for a failure without any."""
    if isinstance(answer, Failure):
        return None if answer.changes is None else answer.changes.shape
    return answer.shape[1:] if isinstance(answer, np.ndarray) else ()


def _sized(shape: tuple[int, ...] | None) -> str:
    return " × ".join(map(str, shape)) + " changes" if shape else "a single one"


class PredictionRecord:
    """Predictions of one query at a time, with the model where it may be seen."""

    def __init__(self, until: Until | None, models: bool) -> None:
        self.predictions: list[Any] = []
        self.models: list[Any] | None = [] if models else None
        self.done = 0
        self.until = until
        self.failures: list[Failure] = []

    def enter(self, answer: Answer) -> bool:
        """Write down one answer; a failure stands in the place of its predictions."""
        if isinstance(answer, Failure):
            self.failures.append(answer)
            answer = Reply(answer)
        if not isinstance(answer, Reply):
            raise TypeError("a query is answered by predictions, not by a change")
        self.predictions.append(answer.predictions)
        if self.models is not None:
            self.models.append(answer.model)
        self.done += 1
        return self.until is not None and self.until(answer.predictions)

    def entered(self) -> list[Any]:
        """Return the predictions so far."""
        return list(self.predictions)

    def answers(self, path: str) -> Answers:
        """Return the predictions, the failures among them, and the models if asked for."""
        return Answers(
            failures=tuple(self.failures),
            path=path,
            predictions=tuple(self.predictions),
            models=() if self.models is None else tuple(self.models),
        )
