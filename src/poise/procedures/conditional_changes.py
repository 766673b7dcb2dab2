"""The fits of data-conditional stability: one training set, and fresh rows.

The training rows are rows 0 to n − 1 of the sample, and the fresh rows come after them. All fits
use the same random term. What does not depend on the trial is fitted once, and every other fit is
compared with its predictions.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poise.errors import RecordError, TrialError
from poise.protocol.budget import Counts
from poise.protocol.known_predictions import KnownPredictions
from poise.protocol.messages import Answers, Batch, Failure, Query, Removals, Until
from poise.results.conditional_design import ConditionalDesign
from poise.results.conditional_trials import ConditionalTrials

__all__ = ["AddOneChanges", "ConditionalChanges", "DeployedChanges", "JackknifeChanges"]

Indices = NDArray[np.int64]
Measured = Generator[Batch, Answers, ConditionalTrials]


class FitTasks(Sequence[Removals]):
    """Tasks that are made when they are looked up.

    Parameters
    ----------
    changes : ConditionalChanges
        The notion, which makes a task from the number of a training row or of a trial.
    which : sequence of int
        These numbers.
    cost_of_one : Counts
        What each task asks for.
    """

    def __init__(
        self, changes: ConditionalChanges, which: Sequence[int], cost_of_one: Counts
    ) -> None:
        self.changes, self.which, self.cost_of_one = changes, which, cost_of_one

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, index: int) -> Removals: ...
    @overload
    def __getitem__(self, index: slice) -> list[Removals]: ...
    def __getitem__(self, index: int | slice) -> Removals | list[Removals]:
        if isinstance(index, slice):
            return [self.changes.task(number) for number in self.which[index]]
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.changes.task(self.which[index])

    def cost(self, stop: int) -> Counts:
        """Return what the first ``stop`` tasks ask for."""
        one = self.cost_of_one
        return Counts(one.calls * stop, one.training_rows * stop, one.evaluation_rows * stop)


@dataclass(frozen=True)
class ConditionalChanges(abc.ABC):
    """The changes of one notion: what is fitted once, and what is fitted for each trial.

    Parameters
    ----------
    design : ConditionalDesign
        Notion, rows and points.
    order : ndarray of int
        The fresh rows, counting from 0, in the order in which trials use them.
    xi : int
        The random term of every fit.
    """

    design: ConditionalDesign
    order: Indices
    xi: int

    @abc.abstractmethod
    def measured(
        self, *, until: Until | None = None, decision_points: tuple[float, ...] = (0.0,)
    ) -> Measured:
        """Yield the fits, and return the changes of every trial that was run."""

    @abc.abstractmethod
    def task(self, number: int) -> Removals:
        """Return the fits of one trial; for "deployed", the fit without one training row."""

    @property
    def fresh(self) -> Indices:
        """The fresh row of each trial: its point, or the row that is added."""
        return self.order[: self.design.n_trials]

    @property
    def training(self) -> Indices:
        """The training rows."""
        return np.arange(self.design.n)

    @property
    def fresh_rows(self) -> Indices:
        """All fresh rows, by their numbers in the sample."""
        return self.design.n + np.arange(self.design.n_fresh)

    def without(self, row: int) -> Indices:
        """Return the training rows but one."""
        return np.delete(self.training, row)

    def record(
        self, changes: ArrayLike, n_fits: int, failures: Sequence[str] = ()
    ) -> ConditionalTrials:
        """Return changes of the first trials as a record."""
        table = np.asarray(changes, dtype=np.float64)
        known = self.fresh[: len(table)]
        return ConditionalTrials(table, self.design, known, n_fits, tuple(failures))

    def full_fit(self) -> Generator[Batch, Answers, KnownPredictions | Failure]:
        """Fit all training rows; return the predictions at all fresh rows."""
        query = Query(self.training, self.fresh_rows, self.xi)
        answers = yield from self._asked(Batch([query]), lambda _: self.all_failed("no full fit"))
        [found] = answers.predictions
        return found if isinstance(found, Failure) else KnownPredictions.of(self.design.n, found)

    def all_failed(self, reason: str) -> ConditionalTrials:
        """Return the record of a run whose first fit failed: no change is known."""
        size = self.design.n_trials, self.design.changes_per_trial
        return self.record(np.full(size, np.nan), 1, (reason,))

    def _compared(
        self,
        tasks: FitTasks,
        known: KnownPredictions,
        until: Until | None,
        decision_points: tuple[float, ...],
    ) -> Measured:
        """Yield the fits of the trials, and return their changes from what is known."""
        batch = Batch(tasks, until, decision_points, known=known)
        answers = yield from self._asked(batch, lambda error: self._first(error.partial))
        return self._first(answers.changes, [failure.message for failure in answers.failures])

    def _first(self, changes: object, failures: Sequence[str] = ()) -> ConditionalTrials:
        """Return the changes of the first trials, one after the other, as a record."""
        table = np.asarray(changes, dtype=np.float64).reshape(-1, self.design.changes_per_trial)
        return self.record(table, self.design.fits(len(table)), failures)

    def _asked(
        self, batch: Batch, partial: Callable[[TrialError | RecordError], ConditionalTrials]
    ) -> Generator[Batch, Answers, Answers]:
        """Ask for a batch; after a failed fit, the error holds what was measured before."""
        try:
            answers = yield batch
        except (TrialError, RecordError) as error:
            error.partial = partial(error)
            raise
        return answers


@dataclass(frozen=True)
class ChosenChanges(ConditionalChanges):
    """The changes of a notion of which some fits may be left out, where a formula serves.

    Parameters
    ----------
    chosen : tuple of int or None
        The numbers of the tasks to run: training rows to remove, each by itself, or trials. None
        for all of them.
    """

    chosen: tuple[int, ...] | None = None

    def only(self, chosen: Sequence[int]) -> Self:
        """Return the same without the other tasks; their changes are nan, or left out."""
        return replace(self, chosen=tuple(chosen))


@dataclass(frozen=True)
class DeployedChanges(ChosenChanges):
    """|A[D](X) − A[D∖i](X)| for every training row i at every fresh X: n + 1 fits in all.

    Tasks are training rows; the changes of removals that were not chosen are nan.
    """

    def measured(
        self, *, until: Until | None = None, decision_points: tuple[float, ...] = (0.0,)
    ) -> Measured:
        """Yield the full fit and the fits without one row; return the changes."""
        known = yield from self.full_fit()
        if isinstance(known, Failure):
            return self.all_failed(known.message)
        removed = range(self.design.n) if self.chosen is None else self.chosen
        tasks = FitTasks(self, removed, Counts(1, self.design.n - 1, self.design.n_fresh))
        batch = Batch(tasks, decision_points=decision_points, known=known)
        answers = yield from self._asked(batch, lambda error: self._partial(removed, error))
        failures = [failure.message for failure in answers.failures]
        found = self._table(removed, answers.changes)
        return replace(found, n_fits=1 + len(removed), failures=tuple(failures))

    def task(self, number: int) -> Removals:
        """Return the fit without one training row, at all fresh rows."""
        return Removals((), (Query(self.without(number), self.fresh_rows, self.xi),))

    def _partial(
        self, removed: Sequence[int], error: TrialError | RecordError
    ) -> ConditionalTrials:
        error.add_note("Here a trial is the removal of one training row, at all fresh rows.")
        return self._table(removed, error.partial)

    def _table(self, removed: Sequence[int], changes: object) -> ConditionalTrials:
        """Turn one row of changes per removal into one per fresh row, nan where none is known."""
        known = np.asarray(changes, dtype=np.float64).reshape(-1, self.design.n_fresh)
        table = np.full((self.design.n_fresh, self.design.n), np.nan)
        table[:, list(removed[: len(known)])] = known.T
        return self.record(table[self.order], 1 + len(known))


@dataclass(frozen=True)
class AddOneChanges(ConditionalChanges):
    """|A[D∪Z](X) − A[D](X)| for a fresh labelled Z and T fresh X: one fit per trial."""

    def measured(
        self, *, until: Until | None = None, decision_points: tuple[float, ...] = (0.0,)
    ) -> Measured:
        """Yield the full fit and one fit per trial; return the changes."""
        known = yield from self.full_fit()
        if isinstance(known, Failure):
            return self.all_failed(known.message)
        one = Counts(1, self.design.n + 1, self.design.points)
        tasks = FitTasks(self, range(self.design.n_trials), one)
        return (yield from self._compared(tasks, known, until, decision_points))

    def task(self, number: int) -> Removals:
        """Return the fit with one more row, at the points of its trial."""
        m, points = self.design.n_trials, self.design.points
        first = m + number * points
        rows = self.design.n + self.order
        train = np.append(self.training, rows[number])
        return Removals((), (Query(train, rows[first : first + points], self.xi),))


@dataclass(frozen=True)
class JackknifeChanges(ChosenChanges):
    """|A[D∖i](X_i) − A[D∖i∪Z](X_i)| for every training row i and a fresh labelled Z.

    Tasks are trials; those that were not chosen are left out.
    """

    def measured(
        self, *, until: Until | None = None, decision_points: tuple[float, ...] = (0.0,)
    ) -> Measured:
        """Yield the n leave-one-out fits, and n more fits per trial; return the changes."""
        known = yield from self._left_out()
        if known is None:
            return self.all_failed("every leave-one-out fit failed")
        which = range(self.design.n_trials) if self.chosen is None else self.chosen
        n = self.design.n
        tasks = FitTasks(self, which, Counts(n, n * n, n))
        return (yield from self._compared(tasks, known, until, decision_points))

    def _left_out(self) -> Generator[Batch, Answers, KnownPredictions | None]:
        """Predict each training row by the model without it; None if every fit failed."""
        queries = [Query(self.without(i), np.array([i]), self.xi) for i in self.training]
        batch = Batch(queries)
        answers = yield from self._asked(batch, lambda _: self.record(self._nothing, 0))
        said = answers.predictions
        failed = np.array([isinstance(found, Failure) for found in said])
        if failed.all():
            return None
        some = said[int(np.flatnonzero(~failed)[0])]
        values = [some if missing else found for found, missing in zip(said, failed, strict=True)]
        return KnownPredictions(0, np.concatenate(values), failed)

    @property
    def _nothing(self) -> NDArray[np.float64]:
        return np.empty((0, self.design.n))

    def task(self, number: int) -> Removals:
        """Return the n leave-one-out fits with one more row."""
        added = self.design.n + self.order[number]
        fits = (
            Query(np.append(self.without(i), added), np.array([i]), self.xi)
            for i in range(self.design.n)
        )
        return Removals((), tuple(fits))
