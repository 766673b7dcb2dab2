"""What is sent to workers: user code, data, and tasks."""

from __future__ import annotations

import abc
import dataclasses
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import Algorithm, Predict
from poise.algorithms.distance import Distance, Undefined, single
from poise.algorithms.fit_warnings import fit_ends
from poise.algorithms.global_state import (
    Configuration,
    GlobalGenerators,
    current_configuration,
    one_at_a_time,
)
from poise.algorithms.prediction_arrays import as_array, require_predictions
from poise.data.sample import Sample
from poise.data.synthetic_rows import Rows, n_rows
from poise.errors import TrialError, in_one_line
from poise.protocol.messages import (
    Answer,
    Change,
    Comparison,
    Failure,
    Query,
    Reply,
    Task,
    Tasks,
    first_query,
)
from poise.protocol.work import NO_SAMPLE, WorkData

__all__ = ["ComparisonWork", "FitByFitWork", "LossWork", "QueryWork", "portable"]


@dataclass(frozen=True)
class FitByFitWork(abc.ABC):
    """Computes a range of tasks; subclasses say what a task is.

    Parameters
    ----------
    algorithm : Algorithm
        The black box.
    sample : Sample
        The rows that tasks refer to.
    tasks : sequence
        Looked up by position.
    relax : bool
        Whether checks may be skipped once a first task has passed them.
    configuration : Configuration
        That of scikit-learn where the work was planned.
    float_errors : dict
        What NumPy did about overflow and the like there.
    """

    algorithm: Algorithm
    sample: Sample
    tasks: Tasks
    relax: bool
    configuration: Configuration = field(default_factory=current_configuration, kw_only=True)
    float_errors: dict[str, Any] = field(default_factory=lambda: dict(np.geterr()), kw_only=True)

    grain: ClassVar[int] = 1

    @abc.abstractmethod
    def compute(self, task: Task, generators: GlobalGenerators) -> Answer:
        """Return the answer to one task, or raise what user code raised."""

    def __call__(self, start: int, stop: int) -> Iterator[Answer]:
        """Yield an answer, or a failure, for each task."""
        known = self.configuration.in_force()
        with GlobalGenerators() as generators, known, ExitStack() as relaxed:
            for index in range(start, stop):
                answer = self._attempt(index, generators)
                if isinstance(answer, Failure) and index > start and self._skips_checks():
                    # A check that was skipped may name the reason: run it again with all.
                    relaxed.close()
                    answer = self._attempt(index, generators)
                    relaxed.enter_context(self.algorithm.skip_checks())
                yield answer
                if index == start and self.relax:
                    relaxed.enter_context(self.algorithm.skip_checks())

    def _skips_checks(self) -> bool:
        """Tell whether checks were skipped; if not, a failed task is not run again."""
        return self.relax and not isinstance(self.algorithm.skip_checks(), nullcontext)

    def _attempt(self, index: int, generators: GlobalGenerators) -> Answer:
        try:
            with one_at_a_time(self.algorithm.thread_safe), np.errstate():
                return self.compute(self.tasks[index], generators)
        except TrialError as error:  # an external program, which says itself why it failed
            return Failure(index, in_one_line(error), portable(error), kind=error.kind)
        except KeyboardInterrupt:  # Ctrl-C
            raise
        # Whatever a fit raises (SystemExit too) ends its own trial only.
        except BaseException as error:
            return Failure(index, in_one_line(error), portable(error))
        finally:
            fit_ends()

    def fitted(self, query: Query, generators: GlobalGenerators) -> Predict:
        """Train as the query says, with every global generator set from its ξ."""
        np.seterr(**self.float_errors)  # until the end of the task; an earlier fit may have set it
        return generators.seeded(query.xi, lambda: self._trained(query))

    def _trained(self, query: Query) -> Predict:
        X, y = self.sample.training(query.train)
        if self.sample.fit_params is None:
            return self.algorithm.fit(X, y, query.xi)
        arguments = self.sample.fit_params.of(query.train)
        return self.algorithm.fit_with(X, y, query.xi, arguments)

    def predictions_at(self, rows: Rows, predict: Predict) -> NDArray[Any]:
        """Return the predictions at these rows; refuse a wrong number of them."""
        array, count = as_array(predict(self.sample.points(rows))), n_rows(rows)
        if array.ndim == 0 or array.shape[0] != count:
            raise Undefined(
                f"predict returned an array of shape {array.shape} for {count} rows; "
                "it must return one prediction per row"
            )
        return array

    @property
    def suits_threads(self) -> bool:
        """Whether fits of this size run mostly outside Python's global lock."""
        return n_rows(first_query(self.tasks).train) >= self.algorithm.threads_from

    @property
    def data(self) -> WorkData:
        """What workers need besides user code; it is sent once."""
        return self.sample, self.tasks

    def without_data(self) -> Self:
        """Return the part that is sent with every chunk."""
        return self.with_data(NO_SAMPLE, ())

    def with_data(self, sample: Sample, tasks: Tasks) -> Self:
        """Return the same work on these data."""
        return dataclasses.replace(self, sample=sample, tasks=tasks)

    def with_algorithm(self, wrap: Callable[[Algorithm], Algorithm]) -> Self:
        """Return the same work with the algorithm wrapped."""
        return dataclasses.replace(self, algorithm=wrap(self.algorithm))


@dataclass(frozen=True)
class ComparisonWork(FitByFitWork):
    """The change between two predictions at one point."""

    distance: Distance

    def compute(self, task: Task, generators: GlobalGenerators) -> Change:
        """Return the change."""
        assert isinstance(task, Comparison)
        full = self._prediction(task.full, generators)
        reduced = self._prediction(task.reduced, generators)
        return self.distance(full, reduced)

    def comparing(self, tasks: Tasks, distance: Distance, relax: bool) -> Self:
        """Return work on other tasks of the same sample, by another distance."""
        return dataclasses.replace(self, tasks=tasks, distance=distance, relax=relax)

    def _prediction(self, query: Query, generators: GlobalGenerators) -> Any:
        assert query.evaluate is not None  # a comparison has a point
        predict = self.fitted(query, generators)
        return single(predict(self.sample.points(query.evaluate)))


@dataclass(frozen=True)
class LossWork(ComparisonWork):
    """The change between two losses at one labelled row."""

    def compute(self, task: Task, generators: GlobalGenerators) -> Change:
        """Return the change."""
        assert isinstance(task, Comparison)
        truth = self.sample.response(_only_row(task.full.evaluate))
        full = self._prediction(task.full, generators)
        reduced = self._prediction(task.reduced, generators)
        return self.distance(full, reduced, truth)


def _only_row(rows: object) -> int:
    """Return the number of the one row of the sample that is evaluated."""
    if isinstance(rows, np.ndarray) and len(rows) == 1:
        return int(rows[0])
    raise Undefined(
        "losses are compared at one labelled row; rows that poise generated have no response"
    )


@dataclass(frozen=True)
class QueryWork(FitByFitWork):
    """The predictions of one fitted model and, where it may be seen, the model."""

    models: bool

    def compute(self, task: Task, generators: GlobalGenerators) -> Reply:
        """Return the predictions, and the model if it was asked for."""
        assert isinstance(task, Query)
        predict = self.fitted(task, generators)
        values = np.empty(0)
        if task.evaluate is not None:
            values = self.predictions_at(task.evaluate, predict)
            require_predictions(values)
        return Reply(values, self.algorithm.model(predict) if self.models else None)


def portable(error: BaseException) -> BaseException:
    """Return the exception if it can be pickled and read, else a new one with its traceback."""
    import pickle

    try:
        pickle.loads(pickle.dumps(error))
        str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:
        text = "".join(traceback.format_exception(error))
        return RuntimeError(text)
    return error
