"""The only caller of user code.

A procedure yields batches; the oracle has an engine compute them, applies the
failure policy, and sends back the answers in plan order. A procedure therefore
cannot look inside the algorithm: everything it knows went through here.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from poise import _check
from poise.algorithm import Algorithm
from poise.ambient import AmbientGenerators
from poise.distance import Distance, single
from poise.engines import Engine
from poise.engines.batched import batched
from poise.errors import TrialError
from poise.progress import Progress
from poise.randomness import Randomness
from poise.record import Batch, Comparison, Failure, Query
from poise.sample import Sample

FIT_BY_FIT = "fit by fit"

__all__ = ["FIT_BY_FIT", "Answers", "Oracle", "Procedure", "run_procedure"]


@dataclass(frozen=True)
class Answers:
    """What came back, in plan order, up to where the batch was stopped.

    Attributes
    ----------
    changes : ndarray of float64
        One change per comparison; ``inf`` where the trial failed and the
        policy counts that as unstable.
    failures : tuple of Failure
        The trials that failed under that policy.
    path : str
        How the changes were computed: fit by fit, or the name of a shortcut.
    """

    changes: NDArray[np.float64]
    failures: tuple[Failure, ...] = ()
    path: str = FIT_BY_FIT


class _Ledger:
    """Changes in plan order; knows when the procedure has seen enough."""

    def __init__(self, total: int, until: Callable[[float], bool] | None) -> None:
        self.changes = np.empty(total, dtype=np.float64)
        self.done = 0
        self.until = until

    def enter(self, answer: float | NDArray[np.float64]) -> bool:
        """Write down one change or a block of them; return whether to stop."""
        if self.until is None:
            count = np.size(answer)
            self.changes[self.done : self.done + count] = answer
            self.done += count
            return False
        for change in np.atleast_1d(answer).tolist():
            self.changes[self.done] = change
            self.done += 1
            if self.until(change):
                return True
        return False

    def entered(self) -> NDArray[np.float64]:
        return self.changes[: self.done]


class Procedure(Protocol):
    """A black-box test (Definition 1): the code between two yields is the paper's f⁽ʳ⁾."""

    def ask(self, sample: Sample, randomness: Randomness) -> Generator[Batch, Answers, Any]:
        """Yield batches, be sent their answers, return the verdict."""
        ...


@dataclass(frozen=True)
class ComparisonWork:
    """Computes the changes of a range of comparisons; this is what travels to workers."""

    algorithm: Algorithm
    distance: Distance
    sample: Sample
    tasks: Any
    relax: bool  # whether checks may be skipped once a first trial has passed them

    def __call__(self, start: int, stop: int) -> Iterator[float | Failure]:
        """Yield a change, or a failure, for each task."""
        with AmbientGenerators() as ambient, ExitStack() as relaxed:
            for index in range(start, stop):
                answer = self._attempt(index, ambient)
                if isinstance(answer, Failure) and index > start and self.relax:
                    # Skipped checks may have hidden the reason: run it again with all of them.
                    relaxed.close()
                    answer = self._attempt(index, ambient)
                    relaxed.enter_context(self.algorithm.proven())
                yield answer
                if index == start and self.relax:
                    relaxed.enter_context(self.algorithm.proven())

    def _attempt(self, index: int, ambient: AmbientGenerators) -> float | Failure:
        try:
            return self._change(self.tasks[index], ambient)
        except Exception as error:
            return Failure(index, _one_line(error), _portable(error))

    def _change(self, comparison: Comparison, ambient: AmbientGenerators) -> float:
        full = self._prediction(comparison.full, ambient)
        reduced = self._prediction(comparison.reduced, ambient)
        return self.distance(full, reduced)

    def _prediction(self, query: Query, ambient: AmbientGenerators) -> Any:
        ambient.pin(query.xi)
        X, y = self.sample.training(query.train)
        predict = self.algorithm.fit(X, y, query.xi)
        return single(predict(self.sample.points(query.evaluate)))

    def shared(self, folder: Path) -> _SharedWork:
        """Return the same work with the data left in a file that workers map."""
        from poise.engines.parallel import write_shared

        return _SharedWork(
            self.algorithm,
            self.distance,
            write_shared((self.sample, self.tasks), folder),
            self.relax,
        )


@dataclass(frozen=True)
class _SharedWork:
    """A :class:`ComparisonWork` whose data stay behind in a memory-mapped file."""

    algorithm: Algorithm
    distance: Distance
    path: str
    relax: bool

    def __call__(self, start: int, stop: int) -> Iterator[float | Failure]:
        from poise.engines.parallel import load_shared

        sample, tasks = load_shared(self.path)
        work = ComparisonWork(self.algorithm, self.distance, sample, tasks, self.relax)
        return work(start, stop)


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split()) or 'no message'}"


def _portable(error: BaseException) -> BaseException:
    """Return the exception if it survives pickling, else one that carries its traceback."""
    import pickle

    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        text = "".join(traceback.format_exception(error))
        return RuntimeError(text)
    return error


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
    progress : bool or None
        Whether to draw a bar; None decides by the terminal.
    fast : bool
        Whether many trials may be computed at once where that is exact.
    """

    algorithm: Algorithm
    sample: Sample
    distance: Distance
    engine: Engine
    on_error: str = "raise"
    progress: bool | None = None
    fast: bool = True
    _relax: bool | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        _check.choice("on_error", self.on_error, ("raise", "unstable"))

    def answer(self, batch: Batch) -> Answers:
        """Compute a batch of comparisons, stopping where ``batch.until`` says so."""
        ledger = _Ledger(len(batch), batch.until)
        failures: list[Failure] = []
        work, path = self._work(batch)
        answering = closing(self.engine.map(work, 0, len(batch)))
        with Progress(len(batch), self.progress) as progress, answering as answers:
            for answer in answers:
                if isinstance(answer, Failure):
                    self._decide(answer, ledger.entered())
                    failures.append(answer)
                    answer = np.inf
                finished = ledger.enter(answer)
                progress.advance_to(ledger.done)
                if finished:
                    break
        return Answers(ledger.entered(), tuple(failures), path)

    def _work(self, batch: Batch) -> tuple[Any, str]:
        """Return the work of a batch and a word for the path taken."""
        if self._relax is None:
            self._relax = self.sample.all_finite()
        work = ComparisonWork(self.algorithm, self.distance, self.sample, batch.tasks, self._relax)
        fast = batched(work, self.algorithm.batch(), batch.near) if self.fast else None
        return (work, FIT_BY_FIT) if fast is None else (fast, fast.batch.name)

    def _decide(self, failure: Failure, measured: NDArray[np.float64]) -> None:
        """Apply the policy: a failed trial is never dropped."""
        if self.on_error == "raise":
            raise TrialError(
                f"trial {failure.trial} failed: {failure.message}. The {len(measured)} trials "
                "before it are in the `partial` attribute of this error; on_error='unstable' "
                "would count a failed trial as an infinite change",
                trial=failure.trial,
                partial=measured.copy(),
            ) from failure.cause


def run_procedure(procedure: Procedure, oracle: Oracle, randomness: Randomness) -> Any:
    """Drive a procedure to its verdict.

    A failed trial is thrown into the procedure, so that it can say what had
    been measured until then.
    """
    conversation = procedure.ask(oracle.sample, randomness)
    try:
        batch = next(conversation)
        while True:
            try:
                answers = oracle.answer(batch)
            except TrialError as error:
                batch = conversation.throw(error)
            else:
                batch = conversation.send(answers)
    except StopIteration as stop:
        return stop.value
