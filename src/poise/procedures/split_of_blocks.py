"""The split of the averaged test for groups, several rows removed together, and replacement.

Removal j takes the j-th block of ``remove`` units from the end: these units are moved last,
the full fit is made, they are dropped (or fresh ones take their place), the reduced fit is
made. Every comparison by itself has the law of the first: n i.i.d. units in some order, of
which the last ones go. The fresh units are the same for all removals of a trial, and the test
points are one row each of T further units. No unit serves two trials, which is all that the
independence of the shares needs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from poise.procedures.split_of_groups import UnitTrials
from poise.protocol.budget import Counts
from poise.protocol.messages import Query, Removals

__all__ = ["BlockSplit"]


@dataclass
class BlockSplit(UnitTrials[Removals]):
    """Trials of R removals of whole units, at T points each.

    Parameters
    ----------
    n, n_trials, n_labeled, n_unlabeled, randomness, coupling, shuffle, remove, replace, groups
        As in :class:`~poise.procedures.split_of_groups.UnitTrials`.
    removals, points : int
        R and T.
    one_full_fit : bool
        Whether one full fit serves all removals; right only for an algorithm that does
        not depend on the order of its rows, for one and the same random term.

    Examples
    --------
    >>> from poise.protocol.randomness import Randomness, Shared
    >>> settings = 4, 2, 12, 0, Randomness(0), Shared(), False
    >>> trial = BlockSplit(*settings, remove=2, removals=2, points=2)[1]
    >>> [query.train.tolist() for query in trial.full]
    [[4, 5, 6, 7], [6, 7, 4, 5]]
    >>> [query.train.tolist() for query in trial.reduced], trial.full[0].evaluate
    ([[4, 5], [6, 7]], array([ 9, 11]))
    """

    removals: int = 1
    points: int = 1
    one_full_fit: bool = False

    def trial(self, index: int, xi: int, xi_reduced: int) -> Removals:
        """Return the queries of one trial."""
        points = np.array([self.test_row(index, t) for t in range(self.points)])
        pairs = [self.pair(index, j) for j in range(self.removals)]
        full = tuple(Query(rows, points, xi) for rows, _ in pairs[: self._n_full])
        return Removals(full, tuple(Query(rows, points, xi_reduced) for _, rows in pairs))

    @property
    def _n_full(self) -> int:
        return 1 if self.one_full_fit else self.removals

    def cost(self, stop: int) -> Counts:
        """Return what the first ``stop`` trials ask for."""
        sizes = [self.sizes(stop, j) for j in range(self.removals)]
        rows = sum(full for full, _ in sizes[: self._n_full]) + sum(small for _, small in sizes)
        calls = (self._n_full + self.removals) * stop
        return Counts(calls, rows, calls * self.points)
