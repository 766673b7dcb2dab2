"""The paper's split: as many trials as possible that share no row.

Trial k trains on rows kn … kn+n−1 of the labelled rows, drops the last of them,
and is evaluated at row mn+k, counting the leftover labelled rows first and the
unlabelled ones after them. Rows are put in random order first, unless ``shuffle`` is False.
"""

from __future__ import annotations

import abc
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from poise.protocol.budget import Counts
from poise.protocol.messages import Comparison, Query, Removals
from poise.protocol.random_order import OF_LABELED, OF_UNLABELED
from poise.protocol.randomness import Coupling, Randomness

__all__ = ["RowTrials", "Split", "Trial", "TrialSequence", "TrialSizes"]

Trial = TypeVar("Trial", Comparison, Removals)

_TERMS_AT_ONCE = 1024  # random terms are made in blocks; a single one costs as much


class TrialSizes(NamedTuple):
    """How many trials there are, and of how many rows.

    Workers get these numbers rather than a design, for which they would import all results.

    Attributes
    ----------
    n, n_trials : int
        Training size and number of trials.
    n_labeled, n_unlabeled : int
        Rows available.
    """

    n: int
    n_trials: int
    n_labeled: int
    n_unlabeled: int


@dataclass
class TrialSequence(Sequence[Trial]):
    """Trials that share no row, each made when it is looked up.

    Parameters
    ----------
    sizes : TrialSizes
        How many trials there are, and of how many rows.
    randomness, coupling : Randomness, Coupling
        Where (ξ, ξ′) of each trial come from.
    shuffle : bool
        Whether to put the rows in random order first.
    rows_elsewhere : bool
        Whether the rows are not here: trials then name them by their places in the order in
        which trials read them, and whoever brings the rows puts them in that order.
    in_waves : bool
        Whether the first trials may be all that are needed: their rows are then brought first.
    """

    sizes: TrialSizes
    randomness: Randomness
    coupling: Coupling
    shuffle: bool = True
    rows_elsewhere: bool = field(default=False, kw_only=True)
    in_waves: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        self.n, self.n_trials, self.n_labeled, self.n_unlabeled = self.sizes
        self._block = -1
        self._xi = self._xi_reduced = np.empty(0, dtype=np.uint64)
        self.unlabeled = self._order(OF_UNLABELED, self.n_unlabeled)

    @abc.abstractmethod
    def trial(self, index: int, xi: int, xi_reduced: int) -> Trial:
        """Return the queries of one trial."""

    @abc.abstractmethod
    def test_row(self, trial: int, point: int = 0) -> int:
        """Return the row at which this trial is evaluated; there may be several of them."""

    @abc.abstractmethod
    def cost(self, stop: int) -> Counts:
        """Return what the first ``stop`` trials ask for: two fits each, one point each."""

    @abc.abstractmethod
    def reading_order(self) -> NDArray[np.int64] | None:
        """Return the labelled rows in the order in which trials read them; None if as they are."""

    @abc.abstractmethod
    def in_reading_order(self) -> Self:
        """Return the same trials for labelled rows that were put in that order."""

    @property
    @abc.abstractmethod
    def units_per_trial(self) -> int:
        """Labelled units (rows, or groups) that one trial trains on, in both fits together."""

    @property
    @abc.abstractmethod
    def n_units(self) -> int:
        """Labelled units in all: those of training first, then those of the first points."""

    @abc.abstractmethod
    def first_rows(self, units: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many labelled rows come before each of these units in reading order."""

    @property
    def points(self) -> int:
        """At how many points a trial is evaluated."""
        return 1

    def _order(self, role: str, count: int) -> NDArray[np.int64] | None:
        """Return a random order, or None if things stay where they are."""
        here = self.shuffle and not self.rows_elsewhere
        return self.randomness.order(role, count) if here else None

    def __len__(self) -> int:
        return self.n_trials

    @overload
    def __getitem__(self, index: int) -> Trial: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Trial]: ...
    def __getitem__(self, index: int | slice) -> Trial | Sequence[Trial]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        if not 0 <= index < self.n_trials:
            raise IndexError(index)
        return self.trial(index, *self._terms(index))

    def unlabeled_row(self, position: int) -> int:
        """Return the number of an unlabelled row; they come after the labelled ones."""
        row = position if self.unlabeled is None else int(self.unlabeled[position])
        return self.n_labeled + row

    def _terms(self, trial: int) -> tuple[int, int]:
        """Return (ξ, ξ′) of one trial, from the block it lies in."""
        block, offset = divmod(trial, _TERMS_AT_ONCE)
        if block != self._block:
            first = block * _TERMS_AT_ONCE
            self._xi, self._xi_reduced = self.terms(first, first + _TERMS_AT_ONCE)
            self._block = block
        return int(self._xi[offset]), int(self._xi_reduced[offset])

    def terms(self, start: int, stop: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return (ξ, ξ′) for a range of trials."""
        return self.coupling.pairs(self.randomness.block("xi", start, stop))


@dataclass
class RowTrials(TrialSequence[Trial]):
    """Trials on n consecutive single rows each; the test rows come after all of them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.labeled = self._order(OF_LABELED, self.n_labeled)

    def reading_order(self) -> NDArray[np.int64] | None:
        """Return the labelled rows in the order in which trials read them; None if as they are."""
        return self.labeled

    def in_reading_order(self) -> Self:
        """Return the same trials for labelled rows that were put in that order."""
        moved = copy.copy(self)
        moved.labeled = None
        return moved

    @property
    def units_per_trial(self) -> int:
        """Rows that one trial trains on."""
        return self.n

    @property
    def n_units(self) -> int:
        """Labelled rows."""
        return self.n_labeled

    def first_rows(self, units: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many labelled rows come before each of these: a unit is a row."""
        return units

    def training(self, first: int, last: int) -> NDArray[np.int64] | slice:
        """Return the labelled rows at these places of the order in which trials read them."""
        return slice(first, last) if self.labeled is None else self.labeled[first:last]

    def test_row(self, trial: int, point: int = 0) -> int:
        """Return the row at which this trial is evaluated; there may be several of them."""
        position = self.n_trials * (self.n + point) + trial
        if position >= self.n_labeled:
            return self.unlabeled_row(position - self.n_labeled)
        return position if self.labeled is None else int(self.labeled[position])

    def rows(
        self, start: int, stop: int, point: int = 0
    ) -> tuple[NDArray[np.int64] | slice, NDArray[np.int64]]:
        """Return the training rows of a range of trials, end to end, and their test rows."""
        before = self.n_trials * (self.n + point)
        points = np.arange(before + start, before + stop)
        left = points < self.n_labeled
        if self.labeled is not None:
            points[left] = self.labeled[points[left]]
        if self.unlabeled is not None:
            points[~left] = self.n_labeled + self.unlabeled[points[~left] - self.n_labeled]
        return self.training(start * self.n, stop * self.n), points


@dataclass
class Split(RowTrials[Comparison]):
    """The trials of the Binomial test: n rows, and again without the last of them.

    Examples
    --------
    >>> from poise.protocol.randomness import Shared
    >>> split = Split(TrialSizes(3, 2, 8, 0), Randomness(0), Shared(), shuffle=False)
    >>> split[1].full.train, split[1].reduced.train, split[1].full.evaluate
    (slice(3, 6, None), slice(3, 5, None), array([7]))
    """

    def trial(self, index: int, xi: int, xi_reduced: int) -> Comparison:
        """Return the two queries of one trial."""
        point = np.array([self.test_row(index)])
        first, last = index * self.n, (index + 1) * self.n
        return Comparison(
            Query(self.training(first, last), point, xi),
            Query(self.training(first, last - 1), point, xi_reduced),
        )

    def cost(self, stop: int) -> Counts:
        """Return what the first ``stop`` trials ask for: two fits each, one point each."""
        return Counts(2 * stop, (2 * self.n - 1) * stop, 2 * stop)
