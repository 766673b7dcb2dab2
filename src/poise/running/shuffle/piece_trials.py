"""The trials of a piece, with rows numbered as in the piece.

Trials keep their numbers and their random terms. Only the rows that they name are counted from
the first row of the piece: labelled ones in reading order, then unlabelled ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, overload

import numpy as np
from numpy.typing import NDArray

from poise.protocol.messages import Query, Task, queries_of, with_queries
from poise.running.shuffle.pieces import MovableRemovals, MovableRows, MovableTrials, Ranges

__all__ = ["PieceTrials", "trials_of_piece"]

Numbers = NDArray[np.int64]


class _Renumbered:
    """The places of some ranges, counted on through all of them."""

    def __init__(self, ranges: Numbers) -> None:
        self.starts = ranges[:, 0]
        lengths = ranges[:, 1] - ranges[:, 0]
        self.before = np.cumsum(lengths) - lengths
        self.count = int(lengths.sum())

    def __call__(self, places: Numbers) -> Numbers:
        here = np.searchsorted(self.starts, places, side="right") - 1
        return np.asarray(places - self.starts[here] + self.before[here])


class PieceTrials(Sequence[Task]):
    """The trials of a plan, of which only some have their rows here.

    Parameters
    ----------
    plan : TrialSequence
        All trials, with rows named by their places in reading order.
    ranges : Ranges
        The places whose rows are here.
    """

    def __init__(self, plan: MovableTrials, ranges: Ranges) -> None:
        self.plan, self.ranges = plan, ranges
        rows = plan.first_rows(ranges.labeled.ravel()).reshape(-1, 2)
        self._labeled, self._unlabeled = _Renumbered(rows), _Renumbered(ranges.unlabeled)

    def __len__(self) -> int:
        return len(self.plan)

    @overload
    def __getitem__(self, index: int) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> list[Task]: ...
    def __getitem__(self, index: int | slice) -> Task | list[Task]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        task = self.plan[index]
        return with_queries(task, [self._query(query) for query in queries_of(task)])

    def _query(self, query: Query) -> Query:
        # The trials of a split name rows of the sample, and have a point.
        train, points = cast("Numbers | slice", query.train), cast("Numbers", query.evaluate)
        return Query(self._training(train), self._any_rows(points), query.xi)

    def _training(self, rows: Numbers | slice) -> Numbers | slice:
        if not isinstance(rows, slice):
            return self._labeled(rows)
        first = int(self._labeled(np.array([rows.start]))[0])
        here = slice(first, first + rows.stop - rows.start)
        # Rows are taken as they are in memory, so that their copies lie in the same way.
        return np.arange(here.start, here.stop) if self.plan.shuffle else here

    def _any_rows(self, rows: Numbers) -> Numbers:
        here = np.empty_like(rows)
        labeled = rows < self.plan.n_labeled
        here[labeled] = self._labeled(rows[labeled])
        others = rows[~labeled] - self.plan.n_labeled
        here[~labeled] = self._labeled.count + self._unlabeled(others)
        return here


class PieceOfRows(PieceTrials):
    """Trials of equal size, which shortcuts read in blocks."""

    plan: MovableRows

    @property
    def n(self) -> int:
        """The training size."""
        return self.plan.n

    def rows(self, start: int, stop: int, point: int = 0) -> tuple[Numbers | slice, Numbers]:
        """Return the training rows of a range of trials, end to end, and one point of each."""
        train, points = self.plan.rows(start, stop, point)
        return self._training(train), self._any_rows(points)

    def terms(self, start: int, stop: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return (ξ, ξ′) for a range of trials."""
        return self.plan.terms(start, stop)


class PieceOfRemovals(PieceOfRows):
    """Trials of several removals and points."""

    plan: MovableRemovals

    @property
    def removals(self) -> int:
        """R, the removals of a trial."""
        return self.plan.removals

    @property
    def points(self) -> int:
        """T, the points of a trial."""
        return self.plan.points

    def as_single_changes(self) -> PieceOfRows:
        """Return the first removal at the first point of every trial."""
        return PieceOfRows(self.plan.as_single_changes(), self.ranges)


def trials_of_piece(plan: MovableTrials, ranges: Ranges) -> PieceTrials:
    """Return the trials whose rows are here, in the form that the plan has."""
    if isinstance(plan, MovableRemovals):
        return PieceOfRemovals(plan, ranges)
    return (PieceOfRows if isinstance(plan, MovableRows) else PieceTrials)(plan, ranges)
