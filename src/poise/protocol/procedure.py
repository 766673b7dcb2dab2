"""The interface of procedures: a generator that yields batches and returns a verdict."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Protocol, TypeVar

from poise.data.sample import Sample
from poise.errors import ArgumentError, RecordError, TrialError
from poise.protocol.messages import Answers, Batch
from poise.protocol.randomness import Randomness

__all__ = ["Procedure", "Respondent", "Watch", "converse", "run_procedure"]


class Procedure(Protocol):
    """A black-box test (Definition 2): the code between two yields is the paper's f⁽ʳ⁾.

    Examples
    --------
    >>> import poise
    >>> class AskNothing:
    ...     def ask(self, sample, randomness):
    ...         yield poise.Batch([])
    ...         return "inconclusive"
    >>> poise.run(AskNothing(), lambda X, y, seed: None, [[0.0]], [0.0]).verdict
    'inconclusive'
    """

    def ask(self, sample: Sample, randomness: Randomness) -> Generator[Batch, Answers, Any]:
        """Yield batches, be sent their answers, return the verdict."""
        ...


class Respondent(Protocol):
    """What answers a procedure: the oracle, or a transcript."""

    @property
    def sample(self) -> Sample:
        """The rows that questions refer to."""
        ...

    def answer(self, batch: Batch) -> Answers:
        """Answer a batch in plan order, stopping where ``batch.until`` says so."""
        ...


Concluded = TypeVar("Concluded")
Watch = Callable[[Batch, Answers | TrialError], None]


def run_procedure(
    procedure: Procedure,
    oracle: Respondent,
    randomness: Randomness,
    watch: Watch | None = None,
) -> Any:
    """Run a procedure until its verdict.

    A failed trial, or a journal that cannot be written, is thrown into the
    procedure, so that it can report what was measured before. ``watch`` is called with
    every batch and its answers.
    """
    conversation = procedure.ask(oracle.sample, randomness)
    name = type(procedure).__name__
    if not isinstance(conversation, Generator):
        raise ArgumentError(
            f"ask of {name} must be a generator (yield a poise.Batch, return the verdict), got a "
            f"{type(conversation).__name__}"
        )
    return converse(conversation, oracle, watch, name)


def converse(
    conversation: Generator[Batch, Answers, Concluded],
    oracle: Respondent,
    watch: Watch | None = None,
    name: str = "the procedure",
) -> Concluded:
    """Answer each batch until the procedure returns its verdict."""
    try:
        batch = next(conversation)
        while True:
            if not isinstance(batch, Batch):
                raise ArgumentError(f"{name} must yield a poise.Batch, got {batch!r}")
            answers = _answers_or_error(oracle, batch)
            if watch is not None and not isinstance(answers, RecordError):
                watch(batch, answers)
            if isinstance(answers, (TrialError, RecordError)):
                batch = conversation.throw(answers)
            else:
                batch = conversation.send(answers)
    except StopIteration as stop:
        concluded: Concluded = stop.value
        return concluded


def _answers_or_error(oracle: Respondent, batch: Batch) -> Answers | TrialError | RecordError:
    try:
        return oracle.answer(batch)
    except RecordError as error:
        if error.partial is None:
            raise  # not about the trials: the procedure does not get it
        return error
    except TrialError as error:
        return error
