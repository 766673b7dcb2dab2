"""The split for groups, for the removal of several rows, and for replacement.

The trials divide *units* among themselves: labelled rows, or groups of them. A trial takes
n units to train on and, if units are replaced rather than removed, as many fresh ones as
are replaced. Its second fit goes without the last ``remove`` of the n, or has the fresh
ones in their place. It is evaluated at a row of one more unit: leftover labelled units
first, then unlabelled rows, each of which is a unit of its own.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poise.data.groups import Groups, Layout
from poise.procedures.split_of_rows import TrialSequence
from poise.protocol.budget import Counts
from poise.protocol.messages import Comparison, Query

__all__ = ["UnitSplit"]


@dataclass
class UnitSplit(TrialSequence[Comparison]):
    """Trials whose two fits differ in whole units, and which share none.

    The test row of a labelled group is drawn from it uniformly, by a random
    number of the trial's own.

    Parameters
    ----------
    n, n_trials, n_labeled, n_unlabeled, randomness, coupling, shuffle
        As in :class:`TrialSequence`; n counts units.
    remove : int
        How many of the n units the second fit goes without.
    replace : bool
        Whether fresh units take their place.
    groups : Groups or None
        Which rows form a unit; None makes each row one.

    Examples
    --------
    >>> from poise.protocol.randomness import Randomness, Shared
    >>> split = UnitSplit(3, 2, 10, 0, Randomness(0), Shared(), False, remove=1, replace=True)
    >>> split[1].full.train, split[1].reduced.train, split[1].full.evaluate
    (array([4, 5, 6]), array([4, 5, 7]), array([9]))
    """

    remove: int = 1
    replace: bool = False
    groups: Groups | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.groups is None:
            order = self._order("order of labelled rows", self.n_labeled)
            rows = np.arange(self.n_labeled) if order is None else order
            self.units = Layout(rows, np.arange(self.n_labeled + 1))
        else:
            self.units = self.groups.layout(self._order("order of groups", len(self.groups)))

    @property
    def units_per_trial(self) -> int:
        """Units that one trial trains on, in both fits together."""
        return self.n + (self.remove if self.replace else 0)

    def trial(self, index: int, xi: int, xi_reduced: int) -> Comparison:
        """Return the two queries of one trial."""
        first = index * self.units_per_trial
        full = self._rows(first, first + self.n)
        reduced = self._rows(first, first + self.n - self.remove)
        if self.replace:
            fresh = self._rows(first + self.n, first + self.n + self.remove)
            reduced = np.concatenate([reduced, fresh])
        point = np.array([self.test_row(index)])
        return Comparison(Query(full, point, xi), Query(reduced, point, xi_reduced))

    def reading_order(self) -> NDArray[np.int64]:
        """Return the labelled rows in the order in which trials read them."""
        return self.units.rows

    def in_reading_order(self) -> Self:
        """Return the same trials for labelled rows that were put in that order."""
        moved = copy.copy(self)
        moved.units = Layout(np.arange(self.n_labeled), self.units.starts)
        return moved

    def _rows(self, first: int, last: int) -> NDArray[np.int64]:
        """Return the rows of consecutive units."""
        return self.units.rows[self.units.starts[first] : self.units.starts[last]]

    def test_row(self, trial: int) -> int:
        """Return the row at which this trial is evaluated."""
        unit = self.n_trials * self.units_per_trial + trial
        n_units = len(self.units.starts) - 1
        if unit >= n_units:
            return self.unlabeled_row(unit - n_units)
        rows = self._rows(unit, unit + 1)
        draw = self.randomness.uniform("row of the test group", trial) if len(rows) > 1 else 0.0
        return int(rows[int(draw * len(rows))])

    def cost(self, stop: int) -> Counts:
        """Return what the first ``stop`` trials ask for: two fits each, one point each."""
        starts, first = self.units.starts, np.arange(stop) * self.units_per_trial
        full = starts[first + self.n] - starts[first]
        reduced = starts[first + self.n - self.remove] - starts[first]
        if self.replace:
            reduced = reduced + starts[first + self.n + self.remove] - starts[first + self.n]
        return Counts(2 * stop, int(full.sum() + reduced.sum()), 2 * stop)
