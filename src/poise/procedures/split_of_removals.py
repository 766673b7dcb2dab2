"""The split of the averaged test: several removals and test points per trial.

Trial k trains on rows kn … kn+n−1 of the labelled rows, as in the paper's split, and is
evaluated at rows mn+k, mn+m+k, mn+2m+k, …: leftover labelled rows first, then the
unlabelled ones. Removal j takes the j-th row from the end: that row is moved last, the
full fit is made, the row is dropped, the reduced fit is made. No row serves two trials.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.procedures.split_of_rows import RowTrials, Split, TrialSequence
from poise.protocol.budget import Counts
from poise.protocol.messages import Query, Removals

__all__ = ["ChangesPerTrial", "RemovalSplit", "RemovalTrials"]

Rows = NDArray[np.int64] | slice


class ChangesPerTrial(NamedTuple):
    """How many changes a trial has, and how many fits they take.

    Attributes
    ----------
    removals, points : int
        R and T.
    one_full_fit : bool
        Whether one full fit serves all removals; right only for an algorithm that does
        not depend on the order of its rows, for one and the same random term.
    """

    removals: int = 1
    points: int = 1
    one_full_fit: bool = False


@dataclass
class RemovalTrials(TrialSequence[Removals]):
    """Trials of R removals at T points each, whatever is removed.

    Parameters
    ----------
    sizes, randomness, coupling, shuffle
        As in :class:`~poise.procedures.split_of_rows.TrialSequence`.
    changes : ChangesPerTrial
        R, T, and whether one full fit serves all removals.
    """

    changes: ChangesPerTrial = field(default_factory=ChangesPerTrial)

    @property
    def removals(self) -> int:
        """How many removals a trial has."""
        return self.changes.removals

    @property
    def points(self) -> int:
        """At how many points a trial is evaluated."""
        return self.changes.points

    @property
    def n_full(self) -> int:
        """How many full fits a trial has."""
        return 1 if self.changes.one_full_fit else self.removals

    @abc.abstractmethod
    def pair(self, index: int, removal: int = 0) -> tuple[Rows, Rows]:
        """Return the rows of both fits of one removal; what is removed comes last."""

    def trial(self, index: int, xi: int, xi_reduced: int) -> Removals:
        """Return the queries of one trial."""
        points = np.array([self.test_row(index, t) for t in range(self.points)])
        pairs = [self.pair(index, j) for j in range(self.removals)]
        full = tuple(Query(rows, points, xi) for rows, _ in pairs[: self.n_full])
        return Removals(full, tuple(Query(rows, points, xi_reduced) for _, rows in pairs))


@dataclass
class RemovalSplit(RowTrials[Removals], RemovalTrials):
    """Trials of R removals at T points each.

    Both fits of every removal use the random terms of the trial: what the comparisons
    of one trial have in common does not matter, only that each by itself has the law of
    the paper's (Lemma 1 of the averaged test).

    Parameters
    ----------
    sizes, randomness, coupling, shuffle, changes
        As in :class:`RemovalTrials`.

    Examples
    --------
    >>> from poise.procedures.split_of_rows import TrialSizes
    >>> from poise.protocol.randomness import Randomness, Shared
    >>> settings = TrialSizes(3, 2, 10, 0), Randomness(0), Shared(), False
    >>> trial = RemovalSplit(*settings, ChangesPerTrial(removals=2, points=2))[1]
    >>> [query.train for query in trial.full]
    [slice(3, 6, None), array([3, 5, 4])]
    >>> [query.train for query in trial.reduced], trial.full[0].evaluate
    ([slice(3, 5, None), array([3, 5])], array([7, 9]))
    """

    def pair(self, index: int, removal: int = 0) -> tuple[Rows, Rows]:
        """Return the rows with the removed one moved last, and the rows without it."""
        first, last = index * self.n, (index + 1) * self.n
        if removal == 0:  # already the last: a range of rows is cheap to read
            return self.training(first, last), self.training(first, last - 1)
        rows = self.training(first, last)
        rows = np.arange(first, last) if isinstance(rows, slice) else rows
        removed = self.n - 1 - removal
        kept = np.delete(rows, removed)
        return np.append(kept, rows[removed]), kept

    def as_single_changes(self) -> Split:
        """Return the first removal at the first point of every trial."""
        same = {each.name: getattr(self, each.name) for each in fields(Split)}
        return Split(**same)

    def cost(self, stop: int) -> Counts:
        """Return what the first ``stop`` trials ask for."""
        full, reduced = self.n_full * stop, self.removals * stop
        calls = full + reduced
        return Counts(calls, full * self.n + reduced * (self.n - 1), calls * self.points)
