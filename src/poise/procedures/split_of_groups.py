"""The split for groups, for the removal of several rows, and for replacement.

The trials divide *units* among themselves: labelled rows, or groups of them. A trial takes
n units to train on and, if units are replaced rather than removed, as many fresh ones as
are replaced. Its second fit goes without the last ``remove`` of the n, or has the fresh
ones in their place. It is evaluated at a row of one more unit: leftover labelled units
first, then unlabelled rows, each of which is a unit of its own.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from poise.data.groups import Groups, Layout, WholeNumbers
from poise.procedures.split_of_rows import Trial, TrialSequence
from poise.protocol.budget import Counts
from poise.protocol.messages import Comparison, Query
from poise.protocol.random_order import OF_GROUPS, OF_LABELED

__all__ = ["RemovedUnits", "UnitSplit", "UnitTrials"]

Rows = NDArray[np.int64]


class RemovedUnits(NamedTuple):
    """What is removed from a trial.

    Attributes
    ----------
    remove : int
        How many of the n units the second fit goes without.
    replace : bool
        Whether fresh units take their place.
    groups : Groups or None
        Which rows form a unit; None makes each row one.
    """

    remove: int = 1
    replace: bool = False
    groups: Groups | None = None


@dataclass
class UnitTrials(TrialSequence[Trial]):
    """Trials whose fits differ in whole units, and which share none.

    The test row of a labelled group is drawn from it uniformly, by a random
    number of the trial's own.

    Parameters
    ----------
    sizes, randomness, coupling, shuffle
        As in :class:`TrialSequence`; n counts units.
    removed : RemovedUnits
        How many units are removed, and which rows form a unit.
    """

    removed: RemovedUnits = field(default_factory=RemovedUnits)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.remove, self.replace, groups = self.removed
        if groups is not None:
            order = self.randomness.order(OF_GROUPS, len(groups)) if self.shuffle else None
            self.units = groups.layout(order)
        elif self.rows_elsewhere:
            several = WholeNumbers(self.n_labeled), WholeNumbers(self.n_labeled + 1)
            self.units = Layout(*cast("tuple[Rows, Rows]", several))
        else:
            order = self._order(OF_LABELED, self.n_labeled)
            rows = np.arange(self.n_labeled) if order is None else order
            self.units = Layout(rows, np.arange(self.n_labeled + 1))

    @property
    def units_per_trial(self) -> int:
        """Units that one trial trains on, in both fits together."""
        return self.n + (self.remove if self.replace else 0)

    @property
    def n_units(self) -> int:
        """Labelled rows, or groups of them."""
        return len(self.units.starts) - 1

    def first_rows(self, units: Rows) -> Rows:
        """Return how many labelled rows come before each of these units in reading order."""
        return self.units.starts[units]

    def pair(self, index: int, removal: int = 0) -> tuple[Rows, Rows]:
        """Return the rows of both fits; the units that are removed come last.

        The first removal takes the last units of the trial, the next those before them.
        """
        first = index * self.units_per_trial
        end = first + self.n - removal * self.remove
        start = end - self.remove
        kept: list[Rows] = [self._rows(first, start), self._rows(end, first + self.n)]
        full = np.concatenate([*kept, self._rows(start, end)])
        if self.replace:
            kept.append(self._rows(first + self.n, first + self.n + self.remove))
        return full, np.concatenate(kept)

    def reading_order(self) -> Rows:
        """Return the labelled rows in the order in which trials read them."""
        return self.units.rows

    def in_reading_order(self) -> Self:
        """Return the same trials for labelled rows that were put in that order."""
        moved = copy.copy(self)
        moved.units = Layout(np.arange(self.n_labeled), self.units.starts)
        return moved

    def _rows(self, first: int, last: int) -> Rows:
        """Return the rows of consecutive units."""
        return self.units.rows[self.units.starts[first] : self.units.starts[last]]

    def test_row(self, trial: int, point: int = 0) -> int:
        """Return the row at which this trial is evaluated; there may be several of them."""
        place = self.n_trials * point + trial
        unit = self.n_trials * self.units_per_trial + place
        if unit >= self.n_units:
            return self.unlabeled_row(unit - self.n_units)
        rows = self._rows(unit, unit + 1)
        draw = self.randomness.uniform("row of the test group", place) if len(rows) > 1 else 0.0
        return int(rows[int(draw * len(rows))])

    def training_rows(self, stop: int, removal: int = 0) -> tuple[int, int]:
        """Count the rows of all full fits, and of all reduced fits, of the first trials."""
        starts, first = self.units.starts, np.arange(stop) * self.units_per_trial
        last = first + self.n
        full = starts[last] - starts[first]
        end = last - removal * self.remove
        reduced = full - (starts[end] - starts[end - self.remove])
        if self.replace:
            reduced = reduced + starts[last + self.remove] - starts[last]
        return int(full.sum()), int(reduced.sum())


@dataclass
class UnitSplit(UnitTrials[Comparison]):
    """The trials of the Binomial test on units: n of them, and again without the last ones.

    Examples
    --------
    >>> from poise.procedures.split_of_rows import TrialSizes
    >>> from poise.protocol.randomness import Randomness, Shared
    >>> sizes, removed = TrialSizes(3, 2, 10, 0), RemovedUnits(remove=1, replace=True)
    >>> split = UnitSplit(sizes, Randomness(0), Shared(), shuffle=False, removed=removed)
    >>> split[1].full.train, split[1].reduced.train, split[1].full.evaluate
    (array([4, 5, 6]), array([4, 5, 7]), array([9]))
    """

    def trial(self, index: int, xi: int, xi_reduced: int) -> Comparison:
        """Return the two queries of one trial."""
        full, reduced = self.pair(index)
        point = np.array([self.test_row(index)])
        return Comparison(Query(full, point, xi), Query(reduced, point, xi_reduced))

    def cost(self, stop: int) -> Counts:
        """Return what the first ``stop`` trials ask for: two fits each, one point each."""
        return Counts(2 * stop, sum(self.training_rows(stop)), 2 * stop)
