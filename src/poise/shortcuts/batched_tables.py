"""Many trials of several removals and points in one computation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.algorithm import BatchAlgorithm, Stack
from poise.data.tables import as_table
from poise.protocol.messages import Removals
from poise.protocol.work import TablesFitByFit
from poise.shortcuts.batched import BatchedWork, compared_trials, rows_of, warn_of_disagreement
from poise.shortcuts.equal_trials import EqualTrials, EqualTrialsOfPoints
from poise.shortcuts.shortcut import AGREEMENT, Floats, Pairs, Tables

__all__ = [
    "BatchedPoints",
    "BatchedTables",
    "CompiledTables",
    "TableBatch",
    "batched_tables",
]


@runtime_checkable
class TableBatch(BatchAlgorithm, Protocol):
    """Computes the predictions after every removal, of many trials at once."""

    def removes_all(self, n: int, d: int) -> bool:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.removes_all`."""

    @property
    def seldom_needs_fits(self) -> bool:
        """See :attr:`poise.shortcuts.shortcut.TableShortcut.seldom_needs_fits`."""

    def tables(self, X: Floats, y: NDArray[Any], points: Floats, removals: int) -> Tables:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.tables`."""


def batched_tables(
    work: TablesFitByFit,
    tasks: EqualTrialsOfPoints,
    batch: BatchAlgorithm,
    decision_points: tuple[float, ...],
) -> BatchedWork | None:
    """Return the batched form of trials with several removals or points, if it agrees."""
    sample, _ = work.data
    settings = work, batch, sample, tasks, work.distance, decision_points
    if not batch.exact:
        return CompiledTables(*settings)
    d = rows_of(sample.X).shape[1]
    if isinstance(batch, TableBatch) and batch.removes_all(tasks.n, d):
        fast = BatchedTables(work, batch, *settings[2:])
        return fast if fast.agrees() else None
    if tasks.removals > 1:
        return None
    first = work.at_first_point()
    single = first.data[1]
    assert isinstance(single, EqualTrials)  # rows and size of the trials are the same
    alone = BatchedWork(first, batch, sample, single, work.distance, decision_points)
    return BatchedPoints(*settings) if alone.agrees() else None


@dataclass(frozen=True)
class _OfPoints(BatchedWork):
    """What trials of several points have in common."""

    fit_by_fit: TablesFitByFit
    tasks: EqualTrialsOfPoints

    def _point(self, start: int, stop: int, t: int) -> Floats:
        """Return the t-th point of a range of trials."""
        rows = self.tasks.rows(start, stop, t)[1]
        return rows_of(as_table(self.sample.points(rows), "X"))


@dataclass(frozen=True)
class BatchedPoints(_OfPoints):
    """One removal at several points: the shortcut for one point is asked once for each."""

    def changes(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute a table of changes per trial, and say which of them need the fits themselves."""
        stack, points = self.stack(start, stop), self.tasks.points
        changes = np.empty((stop - start, 1, points))
        doubtful = np.zeros(stop - start, dtype=np.bool_)
        for t in range(points):
            here = stack._replace(x=self._point(start, stop, t))
            changes[:, 0, t], unsure = self._judged(here, self._pairs(here))
            doubtful |= unsure
        return changes, doubtful


@dataclass(frozen=True)
class CompiledTables(_OfPoints):
    """Several removals and points, by compiled code that trains once for all points.

    Every removal is a pair of fits by itself: the removed row is moved last, as in a trial with
    one removal. A weight of 0 is not the same as a missing row for every algorithm.
    """

    def changes(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute a table of changes per trial, and say which of them need the fits themselves."""
        split = self.tasks
        points = [self._point(start, stop, t) for t in range(split.points)]
        stack = self.stack(start, stop)._replace(x=np.stack(points, axis=1))
        pairs, found = (stop - start) * split.removals, []
        for first in range(0, pairs, self.pairs_at_once):
            last = min(first + self.pairs_at_once, pairs)
            some = self._removed(stack, np.arange(first, last))
            found.append(self._judged_at_points(some))
        changes, unsure = (np.concatenate(part) for part in zip(*found, strict=True))
        shape = stop - start, split.removals
        return changes.reshape(*shape, -1), np.asarray(unsure.reshape(shape).any(axis=1))

    def _removed(self, stack: Stack, pairs: NDArray[np.int64]) -> Stack:
        """Return some removals as trials of their own, with the removed row last."""
        trials, removals = np.divmod(pairs, self.tasks.removals)
        rows = np.tile(np.arange(self.tasks.n), (len(pairs), 1))
        for order, removal in zip(rows, removals, strict=True):
            order[-1 - removal :] = np.roll(order[-1 - removal :], -1)
        X, y = (part[trials[:, None], rows] for part in (stack.X, stack.y))
        return Stack(X, y, stack.x[trials], stack.xi[trials], stack.xi_reduced[trials])

    def _judged_at_points(self, stack: Stack) -> tuple[Floats, NDArray[np.bool_]]:
        full, reduced, trusted = self._pairs(stack)
        judged = [
            self._judged(stack, Pairs(full[:, t], reduced[:, t], trusted))
            for t in range(self.tasks.points)
        ]
        changes = np.stack([changes for changes, _ in judged], axis=1)
        return changes, np.any([unsure for _, unsure in judged], axis=0)

    @property
    def pairs_at_once(self) -> int:
        """How many pairs of fits are computed at once."""
        return self._equal_blocks(len(self.tasks) * self.tasks.removals)

    @property
    def grain(self) -> int:
        """How many trials are computed at once."""
        return max(1, self.pairs_at_once // self.tasks.removals)


@dataclass(frozen=True)
class BatchedTables(_OfPoints):
    """Every removal at every point from one fit of the trial."""

    batch: TableBatch

    def changes(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compute a table of changes per trial, and say which of them need the fits themselves."""
        found = self._tables(start, stop)
        if self._undefined(found.full):
            return np.zeros(found.reduced.shape), np.ones(len(found.full), dtype=np.bool_)
        if found.full.dtype.kind != "f":
            return self._changes_of_labels(found), ~found.trusted
        with np.errstate(invalid="ignore", over="ignore"):
            changes = np.abs(found.full[:, None, :] - found.reduced)
            doubtful = ~(found.trusted & np.isfinite(changes).all(axis=(1, 2)))
            doubtful |= self._close_to_a_decision(changes, found.slack)
        return np.sign(changes) if self._compares_labels else changes, doubtful

    def _tables(self, start: int, stop: int) -> Tables:
        stack, split = self.stack(start, stop), self.tasks
        points = np.stack([self._point(start, stop, t) for t in range(split.points)], axis=1)
        return self.batch.tables(stack.X, stack.y, points, split.removals)

    def _close_to_a_decision(self, changes: Floats, slack: Floats) -> NDArray[np.bool_]:
        """Mark trials with a change so close to a threshold that rounding could decide."""
        near = np.zeros(len(changes), dtype=np.bool_)
        for value in self.decision_points:
            close = np.abs(changes - value) <= 4.0 * slack[:, None, :]
            near |= (close & (changes != 0)).any(axis=(1, 2))
        return near

    def _changes_of_labels(self, found: Tables) -> Floats:
        changes = np.zeros(found.reduced.shape)
        differ = found.full[:, None, :] != found.reduced
        differ[~found.trusted] = False
        for trial, removal, point in np.argwhere(differ):
            pair = found.full[trial, point], found.reduced[trial, removal, point]
            changes[trial, removal, point] = self.distance(*pair)
        return changes

    @property
    def _bytes_per_trial(self) -> int:
        n, d = self.tasks.n, rows_of(self.sample.X).shape[1]
        cells = self.tasks.removals * self.tasks.points
        numbers = 3 * n * d + 6 * cells + self.tasks.points * (n + d)
        return int(super()._bytes_per_trial + 8 * numbers)

    def agrees(self) -> bool:
        """Compute one removal of a few trials both ways; warn and return False if one differs."""
        trials = compared_trials(self.tasks, rows_of(self.sample.X).shape[1])
        removals = np.linspace(0, self.tasks.removals - 1, len(trials)).astype(int).tolist()
        compared = 0
        for trial, removal in zip(trials, removals, strict=True):
            try:
                found = self._tables(trial, trial + 1)
            except Exception:  # such as labels that cannot be sorted
                return False
            if found.trusted[0]:
                compared += 1
                if not self._confirmed(trial, removal, found):
                    return False
        return compared > 0

    def _confirmed(self, trial: int, removal: int, found: Tables) -> bool:
        task = self.tasks[trial]
        assert isinstance(task, Removals)
        fitted = self.fit_by_fit.predictions([task.full[0], task.reduced[removal]])
        if fitted is None:
            return False
        stand_in = found.full[0], found.reduced[0, removal]
        response = np.abs(rows_of(self.sample.y)) if found.full.dtype.kind == "f" else None
        if all(_agree(*pair, response) for pair in zip(stand_in, fitted, strict=True)):
            return True
        warn_of_disagreement(self.batch.name, trial, stand_in, (fitted[0], fitted[1]))
        return False


def _agree(stand_in: NDArray[Any], fitted: NDArray[Any], response: Floats | None) -> bool:
    """Compare predictions at all points: labels must be the same, numbers nearly the same."""
    if response is None or fitted.dtype.kind != "f":
        return np.array_equal(stand_in, fitted)
    slack = AGREEMENT * max(float(np.abs(fitted).max()), float(response.mean()))
    return fitted.shape == stand_in.shape and bool((np.abs(stand_in - fitted) <= slack).all())
