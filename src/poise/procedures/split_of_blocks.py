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

from poise.procedures.split_of_groups import UnitTrials
from poise.procedures.split_of_removals import RemovalTrials
from poise.protocol.budget import Counts
from poise.protocol.messages import Removals

__all__ = ["BlockSplit"]


@dataclass
class BlockSplit(UnitTrials[Removals], RemovalTrials):
    """Trials of R removals of whole units, at T points each.

    Parameters
    ----------
    sizes, randomness, coupling, shuffle, changes
        As in :class:`~poise.procedures.split_of_removals.RemovalTrials`.
    removed : RemovedUnits
        As in :class:`~poise.procedures.split_of_groups.UnitTrials`.

    Examples
    --------
    >>> from poise.procedures.split_of_groups import RemovedUnits
    >>> from poise.procedures.split_of_removals import ChangesPerTrial
    >>> from poise.procedures.split_of_rows import TrialSizes
    >>> from poise.protocol.randomness import Randomness, Shared
    >>> settings = TrialSizes(4, 2, 12, 0), Randomness(0), Shared(), False
    >>> changes = ChangesPerTrial(removals=2, points=2)
    >>> trial = BlockSplit(*settings, changes, RemovedUnits(remove=2))[1]
    >>> [query.train.tolist() for query in trial.full]
    [[4, 5, 6, 7], [6, 7, 4, 5]]
    >>> [query.train.tolist() for query in trial.reduced], trial.full[0].evaluate
    ([[4, 5], [6, 7]], array([ 9, 11]))
    """

    def cost(self, stop: int) -> Counts:
        """Return what the first ``stop`` trials ask for."""
        sizes = [self.training_rows(stop, j) for j in range(self.removals)]
        rows = sum(full for full, _ in sizes[: self.n_full]) + sum(small for _, small in sizes)
        calls = (self.n_full + self.removals) * stop
        return Counts(calls, rows, calls * self.points)
