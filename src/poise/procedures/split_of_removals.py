"""The split of the averaged test: several removals and test points per trial.

Trial k trains on rows kn … kn+n−1 of the labelled rows, as in the paper's split, and is
evaluated at rows mn+k, mn+m+k, mn+2m+k, …: leftover labelled rows first, then the
unlabelled ones. Removal j takes the j-th row from the end: that row is moved last, the
full fit is made, the row is dropped, the reduced fit is made. No row serves two trials.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from poise.procedures.split_of_rows import RowTrials, Split
from poise.protocol.budget import Counts
from poise.protocol.messages import Query, Removals

__all__ = ["RemovalSplit"]

Rows = NDArray[np.int64] | slice


@dataclass
class RemovalSplit(RowTrials[Removals]):
    """Trials of R removals at T points each.

    Both fits of every removal use the random terms of the trial: what the comparisons
    of one trial have in common does not matter, only that each by itself has the law of
    the paper's (Lemma 1 of the averaged test).

    Parameters
    ----------
    n, n_trials, n_labeled, n_unlabeled, randomness, coupling, shuffle
        As in :class:`~poise.procedures.split_of_rows.TrialSequence`.
    removals, points : int
        R and T.
    one_full_fit : bool
        Whether one full fit serves all removals; right only for an algorithm that does
        not depend on the order of its rows, for one and the same random term.

    Examples
    --------
    >>> from poise.protocol.randomness import Randomness, Shared
    >>> settings = 3, 2, 10, 0, Randomness(0), Shared(), False
    >>> trial = RemovalSplit(*settings, removals=2, points=2)[1]
    >>> [query.train for query in trial.full]
    [slice(3, 6, None), array([3, 5, 4])]
    >>> [query.train for query in trial.reduced], trial.full[0].evaluate
    ([slice(3, 5, None), array([3, 5])], array([7, 9]))
    """

    removals: int = 1
    points: int = 1
    one_full_fit: bool = False

    def trial(self, index: int, xi: int, xi_reduced: int) -> Removals:
        """Return the queries of one trial."""
        points = np.array([self.test_row(index, t) for t in range(self.points)])
        pairs = [self._pair(index, j) for j in range(self.removals)]
        full = tuple(Query(rows, points, xi) for rows, _ in pairs[: self._n_full])
        return Removals(full, tuple(Query(rows, points, xi_reduced) for _, rows in pairs))

    def _pair(self, index: int, removal: int) -> tuple[Rows, Rows]:
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

    @property
    def _n_full(self) -> int:
        return 1 if self.one_full_fit else self.removals

    def cost(self, stop: int) -> Counts:
        """Return what the first ``stop`` trials ask for."""
        full, reduced = self._n_full * stop, self.removals * stop
        calls = full + reduced
        return Counts(calls, full * self.n + reduced * (self.n - 1), calls * self.points)
