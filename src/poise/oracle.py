"""The only caller of user code.

A procedure yields batches; the oracle has an engine compute them, applies the
failure policy, and sends back the answers in plan order. A procedure therefore
cannot look inside the algorithm: everything it knows went through here.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from poise import _check
from poise._words import counted
from poise.adapters import as_algorithm
from poise.algorithm import Algorithm
from poise.budget import Budget, Counts, cost
from poise.distance import Distance, as_distance, needs_response
from poise.engines import Engine, choose_engine
from poise.engines.batched import batched
from poise.engines.threads import one_inner_thread
from poise.errors import ArgumentError, RecordError, TrialError
from poise.journal import Journal
from poise.ledger import Ledger, ledger_for
from poise.losses import LossChange
from poise.progress import Progress
from poise.randomness import Randomness
from poise.record import FIT_BY_FIT, Answers, Batch, Failure, first_query
from poise.sample import Sample
from poise.work import ComparisonWork, LossWork, QueryWork

__all__ = ["Answers", "Oracle", "Procedure", "Respondent", "run_procedure"]


class Procedure(Protocol):
    """A black-box test (Definition 1): the code between two yields is the paper's f⁽ʳ⁾.

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
    """Whoever answers a procedure: the oracle, or a recording of what it said."""

    @property
    def sample(self) -> Sample:
        """The rows that questions refer to."""
        ...

    def answer(self, batch: Batch) -> Answers:
        """Answer a batch in plan order, stopping where ``batch.until`` says so."""
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
    on_error : {"raise", "unstable"}
        Stop at the first failed trial, or count it as an infinite change.
    on_timeout : {"raise", "unstable"}
        The same for a fit that took too long. It is asked for by itself, because
        how long a fit takes depends on the machine.
    progress : bool or None
        False shows no progress.
    fast : bool
        Whether many trials may be computed at once where that is exact.
    models : {"black-box", "transparent"}
        Whether fitted models stay hidden (Definition 1) or may be seen (Definition 2).
    budget : Budget
        What may be asked in all.
    journal : Journal or None
        Where comparisons are written down as they are answered, and read from if
        an earlier run was cut short.
    """

    algorithm: Algorithm
    sample: Sample
    distance: Distance
    engine: Engine
    on_error: str = "raise"
    on_timeout: str = "raise"
    progress: bool | None = None
    fast: bool = True
    models: str = "black-box"
    budget: Budget = field(default_factory=Budget)
    journal: Journal | None = None
    counts: Counts = field(default_factory=Counts, init=False)

    def __post_init__(self) -> None:
        _check.flag("fast", self.fast)
        if self.progress is not None:
            _check.flag("progress", self.progress)
        _check.choice("on_error", self.on_error, ("raise", "unstable"))
        _check.choice("on_timeout", self.on_timeout, ("raise", "unstable"))
        _check.choice("models", self.models, ("black-box", "transparent"))

    @classmethod
    def about(
        cls,
        algorithm: Any,
        sample: Sample,
        distance: str | Distance = "auto",
        *,
        response: str = "predict",
        n_jobs: int | None = None,
        backend: str | None = None,
        address: str | None = None,
        timeout: float | None = None,
        **policy: Any,
    ) -> Oracle:
        """Check everything that concerns the fits, and bring it together."""
        black_box = as_algorithm(algorithm, response).prepared(sample)
        measure_of_change = as_distance(distance, black_box.natural_distance)
        if isinstance(measure_of_change, LossChange):
            measure_of_change = measure_of_change.about(sample)
        _check_timeout(timeout)
        limited = None if timeout is None else black_box.within(timeout)
        if limited is not None:
            black_box, timeout = limited, None
        engine = choose_engine(n_jobs, backend, address=address, timeout=timeout)
        return cls(black_box, sample, measure_of_change, engine, **policy)

    @property
    def names(self) -> tuple[str, str]:
        """The names of the algorithm and of the distance, for the record."""
        return self.algorithm.name, getattr(self.distance, "__name__", "unnamed")

    def answer(self, batch: Batch) -> Answers:
        """Compute a batch in plan order, stopping where ``batch.until`` says so."""
        self._permit(batch)
        ledger = ledger_for(batch)
        work, path = self._work(batch)
        try:
            self._collect(work, path, batch, ledger)
        except RecordError as error:
            error.partial = ledger.entered() if ledger.done else None
            raise
        finally:
            self.counts += cost(batch.tasks, ledger.done)
        return ledger.answers(path)

    def _permit(self, batch: Batch) -> None:
        """Refuse what this run does not allow, before any of it is computed."""
        if batch.models and self.models != "transparent":
            raise ArgumentError(
                "the procedure asks to see fitted models (Definition 2), but models='black-box' "
                "hides them (Definition 1); run it with models='transparent'"
            )
        if batch.models and batch.compares:
            raise ArgumentError("models can be seen in a batch of queries, not of comparisons")
        if self.sample.fit_params is not None and len(batch):
            self.sample.fit_params.require_rows(first_query(batch.tasks).train)
        if self.budget.limited:
            self.budget.check(self.counts, cost(batch.tasks, len(batch)))

    def _collect(self, work: Any, path: str, batch: Batch, ledger: Ledger) -> None:
        if self._recall(path, batch, ledger) or ledger.done == len(batch):
            return
        state = getattr(batch.until, "state", None)
        answering = closing(self.engine.map(work, ledger.done, len(batch)))
        with (
            Progress(len(batch), self.progress, state=state, done=ledger.done) as progress,
            answering as answers,
        ):
            for answer in answers:
                finished = self._enter(answer, ledger)
                progress.advance_to(ledger.done)
                if finished:
                    break

    def _recall(self, path: str, batch: Batch, ledger: Ledger) -> bool:
        """Enter what the journal already holds; return whether that is enough."""
        if self.journal is None:
            return False
        known = self.journal.begin(path, batch.near)
        return any(self._enter(answer, ledger, new=False) for answer in known)

    def _enter(self, answer: Any, ledger: Ledger, new: bool = True) -> bool:
        """Decide about a failure, and write the answer down; return whether to stop."""
        if isinstance(answer, Failure):
            self._decide(answer, ledger)
            answer = replace(answer, cause=None)  # its traceback holds on to the rows of the fit
        before = ledger.done
        finished = ledger.enter(answer)
        if new and self.journal is not None:
            # A block may reach beyond the trial that settled the matter.
            used = answer[: ledger.done - before] if isinstance(answer, np.ndarray) else answer
            self.journal.append(used)
        return finished

    def _work(self, batch: Batch) -> tuple[Any, str]:
        """Return the work of a batch and a word for the path taken."""
        if batch.compares and self.fast:
            # Single trials that a shortcut hands back are computed with every check.
            checked = self._fit_by_fit(batch, relax=False)
            fast = batched(checked, self.algorithm.batch(), batch.near)
            if fast is not None:
                return fast, fast.batch.name
        return self._fit_by_fit(batch, self.sample.all_finite), FIT_BY_FIT

    def _fit_by_fit(self, batch: Batch, relax: bool) -> Any:
        common = (self.algorithm, self.sample, batch.tasks, relax)
        if not batch.compares:
            return QueryWork(*common, batch.models)
        kind = LossWork if needs_response(self.distance) else ComparisonWork
        return kind(*common, self.distance)

    def repeat(self, batch: Batch, index: int) -> Any:
        """Compute one task of a batch once more, fit by fit and here; it counts for nothing."""
        with one_inner_thread():
            [answer] = self._fit_by_fit(batch, relax=False)(index, index + 1)
        return answer

    def _decide(self, failure: Failure, ledger: Ledger) -> None:
        """Apply the policy: a failed trial is never dropped."""
        policy = "on_timeout" if failure.kind == "timeout" else "on_error"
        if getattr(self, policy) == "raise":
            raise TrialError(
                f"trial {failure.trial} failed: {failure.message}. What was measured before it "
                f"({counted(ledger.done, 'trial')}) is in the `partial` attribute of this error; "
                f"{policy}='unstable' would count a failed trial as an infinite change",
                trial=failure.trial,
                partial=ledger.entered(),
                kind=failure.kind,
            ) from failure.cause


def _check_timeout(timeout: Any) -> None:
    number = isinstance(timeout, numbers.Real) and not isinstance(timeout, bool)
    if timeout is not None and not (number and timeout > 0):
        raise ArgumentError(f"timeout must be a number of seconds > 0 or None, got {timeout!r}")


Watch = Callable[[Batch, Answers | TrialError], None]


def run_procedure(
    procedure: Procedure,
    oracle: Respondent,
    randomness: Randomness,
    watch: Watch | None = None,
) -> Any:
    """Drive a procedure to its verdict.

    A failed trial, or a journal that cannot be written, is thrown into the
    procedure, so that it can say what had been measured until then. ``watch`` is
    shown every batch with its answers.
    """
    conversation = procedure.ask(oracle.sample, randomness)
    if not isinstance(conversation, Generator):
        raise ArgumentError(
            f"ask of {type(procedure).__name__} must be a generator (yield a poise.Batch, return "
            f"the verdict), got a {type(conversation).__name__}"
        )
    try:
        batch = next(conversation)
        while True:
            if not isinstance(batch, Batch):
                raise ArgumentError(
                    f"{type(procedure).__name__} must yield a poise.Batch, got {batch!r}"
                )
            answers = _answers_or_error(oracle, batch)
            if watch is not None and not isinstance(answers, RecordError):
                watch(batch, answers)
            if isinstance(answers, (TrialError, RecordError)):
                batch = conversation.throw(answers)
            else:
                batch = conversation.send(answers)
    except StopIteration as stop:
        return stop.value


def _answers_or_error(oracle: Respondent, batch: Batch) -> Answers | TrialError | RecordError:
    try:
        return oracle.answer(batch)
    except RecordError as error:
        if error.partial is None:
            raise  # not about what was measured: no business of the procedure
        return error
    except TrialError as error:
        return error
