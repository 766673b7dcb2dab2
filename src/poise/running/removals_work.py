"""Trials of several removals at several points: a table of changes each.

A failed full fit leaves its own comparisons without a change, a failed reduced fit its
row of them, a prediction that is not a number one point. What did not fail is kept: a
failure counts against "stable" and never for "unstable", one comparison at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, TypeVarTuple, cast

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.global_state import GlobalGenerators
from poise.algorithms.prediction_arrays import REORDERED_SUMS
from poise.errors import TrialError, in_one_line
from poise.protocol.messages import Answer, Failure, Query, Removals, Task
from poise.running.tasks import ComparisonWork, portable

if TYPE_CHECKING:
    from poise.shortcuts.equal_trials import EqualTrialsOfPoints

__all__ = ["ChangeTable", "LossRemovalsWork", "RemovalsWork", "points_of", "same_predictions"]

Found = TypeVar("Found")
Given = TypeVarTuple("Given")


@dataclass
class ChangeTable:
    """The changes of one trial, nan where there is none, and the first reason for one."""

    changes: NDArray[np.float64]
    reason: BaseException | None = field(default=None)

    def attempt(self, compute: Callable[[*Given], Found], *given: *Given) -> Found | None:
        """Return what is computed; None, with a note, where user code fails."""
        try:
            return compute(*given)
        except KeyboardInterrupt:  # Ctrl-C
            raise
        except BaseException as error:  # a fit that wants to end the program ends itself only
            self.reason = self.reason or error
            return None

    @property
    def answer(self) -> NDArray[np.float64] | Failure:
        """A block of one trial; a failure that keeps the changes that are known, if one failed."""
        reason = self.reason
        if reason is None:
            return self.changes[None]
        kind: Literal["error", "death", "timeout"] = "error"
        if isinstance(reason, TrialError):
            kind = reason.kind
        return Failure(-1, in_one_line(reason), portable(reason), kind=kind, changes=self.changes)


class RemovalsWork(ComparisonWork):
    """The changes of trials with several removals and points."""

    def compute(self, task: Task, generators: GlobalGenerators) -> NDArray[np.float64] | Failure:
        """Return a block of one trial; a failure that holds what is known, if one failed."""
        assert isinstance(task, Removals)
        table = ChangeTable(np.full(task.shape, np.nan))
        full: NDArray[Any] | None = None
        for j, query in enumerate(task.reduced):
            if j < len(task.full):
                full = table.attempt(self._predictions, task.full[j], generators)
            if full is not None:
                reduced = table.attempt(self._predictions, query, generators)
                if reduced is not None:
                    self._compare(table, j, full, reduced, points_of(query))
        return table.answer

    def at_first_point(self) -> ComparisonWork:
        """Return the first removal at the first point of every trial, as trials by themselves."""
        split = cast("EqualTrialsOfPoints", self.tasks)  # a shortcut was found for them
        plain = (self.algorithm, self.sample, split.as_single_changes(), self.relax)
        return ComparisonWork(*plain, self.distance, configuration=self.configuration)

    def _predictions(self, query: Query, generators: GlobalGenerators) -> NDArray[Any]:
        """Fit, and return one prediction per point."""
        assert query.evaluate is not None  # a trial has points
        return self.predictions_at(query.evaluate, self.fitted(query, generators))

    def predictions(self, queries: Sequence[Query]) -> list[NDArray[Any]] | None:
        """Return the predictions of these fits, an array each; None if one fails."""
        table = ChangeTable(np.empty(0))
        with GlobalGenerators() as generators:
            found = [table.attempt(self._predictions, query, generators) for query in queries]
        known = [each for each in found if each is not None]
        return known if table.reason is None else None

    def _compare(
        self,
        table: ChangeTable,
        removal: int,
        full: NDArray[Any],
        reduced: NDArray[Any],
        rows: NDArray[np.int64],
    ) -> None:
        for t, pair in enumerate(zip(full, reduced, rows, strict=True)):
            change = table.attempt(self._change, *pair)
            if change is not None:
                table.changes[removal, t] = change

    def _change(self, full: Any, reduced: Any, row: int) -> float:
        """Compare two predictions at one row."""
        return self.distance(full, reduced)

    def _attempt(self, index: int, generators: GlobalGenerators) -> Answer:
        answer = super()._attempt(index, generators)
        return replace(answer, trial=index) if isinstance(answer, Failure) else answer


class LossRemovalsWork(RemovalsWork):
    """The changes of losses, at labelled rows."""

    def _change(self, full: Any, reduced: Any, row: int) -> float:
        return self.distance(full, reduced, self.sample.response(int(row)))


def points_of(query: Query) -> NDArray[np.int64]:
    """Return the rows of the sample at which a fit of a trial is evaluated."""
    assert isinstance(query.evaluate, np.ndarray)  # trials are about rows of the sample
    return query.evaluate


def same_predictions(work: RemovalsWork, queries: Sequence[Query]) -> bool:
    """Tell whether all these fits predict the same, up to rounding."""
    found = work.predictions(queries)
    if found is None:
        return False
    first = found[0]
    if first.dtype.kind not in "fiu":
        return all(np.array_equal(first, other) for other in found)
    slack = REORDERED_SUMS * float(np.abs(first).max(initial=0.0))
    return all(bool((np.abs(other - first) <= slack).all()) for other in found)
