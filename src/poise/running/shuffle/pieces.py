"""Ranges of trials whose rows are moved together.

A piece holds all rows of some successive trials: those that they train on, which lie together in
reading order, and those of their test points, one further range for each point of a trial.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from poise.protocol.messages import Comparison, Removals
from poise.protocol.randomness import Randomness

__all__ = [
    "MovableRemovals",
    "MovableRows",
    "MovableTrials",
    "Ranges",
    "cut_into_pieces",
    "first_wave",
    "ranges_of",
]

Numbers = NDArray[np.int64]

_PIECE_BYTES = 1 << 26  # of rows: little to hold, and few shards of each partition
_PIECES_PER_WORKER = 4  # at least, if there are so many trials: no worker waits for another
_HALVINGS = 4  # the first wave moves a sixteenth of the rows


class MovableTrials(Protocol):
    """Trials that name rows by their places in reading order, and can say which rows these are."""

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        ...

    @property
    def n_labeled(self) -> int:
        """Number of labelled rows."""
        ...

    @property
    def n_unlabeled(self) -> int:
        """Number of unlabelled rows."""
        ...

    @property
    def shuffle(self) -> bool:
        """Whether rows are in random order."""
        ...

    @property
    def in_waves(self) -> bool:
        """Whether the first trials may be all that are needed."""
        ...

    @property
    def randomness(self) -> Randomness:
        """Where the order of rows comes from."""
        ...

    @property
    def units_per_trial(self) -> int:
        """Labelled units (rows, or groups) that one trial trains on."""
        ...

    @property
    def n_units(self) -> int:
        """Labelled units in all."""
        ...

    @property
    def points(self) -> int:
        """At how many points a trial is evaluated."""
        ...

    def first_rows(self, units: Numbers) -> Numbers:
        """Return how many labelled rows come before each of these units in reading order."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Comparison | Removals: ...


@runtime_checkable
class MovableRows(MovableTrials, Protocol):
    """Trials of n single rows each, which shortcuts read in blocks."""

    @property
    def n(self) -> int:
        """The training size."""
        ...

    def rows(self, start: int, stop: int, point: int = 0) -> tuple[Numbers | slice, Numbers]:
        """Return the training rows of a range of trials, end to end, and one point of each."""
        ...

    def terms(self, start: int, stop: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return (ξ, ξ′) for a range of trials."""
        ...


@runtime_checkable
class MovableRemovals(MovableRows, Protocol):
    """The same with several removals and points a trial."""

    @property
    def removals(self) -> int:
        """How many removals a trial has."""
        ...

    def as_single_changes(self) -> MovableRows:
        """Return the first removal at the first point of every trial."""
        ...


class Ranges(NamedTuple):
    """Places in reading order, as ascending ranges: an array of shape (ranges, 2) each.

    Attributes
    ----------
    labeled : ndarray of int
        Of labelled units.
    unlabeled : ndarray of int
        Of unlabelled rows.
    """

    labeled: Numbers
    unlabeled: Numbers


@dataclass(frozen=True)
class _Shape:
    """What the places of a trial depend on."""

    n_trials: int
    per_trial: int
    points: int
    n_units: int


def ranges_of(plan: MovableTrials, runs: Iterable[tuple[int, int]]) -> Ranges:
    """Return the places that trials use; they are given as ranges that do not overlap.

    Trial k of m trains on units ku … ku+u−1 and is evaluated at units mu+k, mu+m+k, …, of
    which those after the labelled ones are unlabelled rows.
    """
    shape = _Shape(plan.n_trials, plan.units_per_trial, plan.points, plan.n_units)
    labeled: list[tuple[int, int]] = []
    unlabeled: list[tuple[int, int]] = []
    for first, last in runs:
        labeled.append((first * shape.per_trial, last * shape.per_trial))
        for start, stop in _points(shape, first, last):
            labeled.append((start, min(stop, shape.n_units)))
            unlabeled.append((max(start, shape.n_units) - shape.n_units, stop - shape.n_units))
    return Ranges(_ascending(labeled), _ascending(unlabeled))


def _points(shape: _Shape, first: int, last: int) -> Iterable[tuple[int, int]]:
    for point in range(shape.points):
        before = shape.n_trials * (shape.per_trial + point)
        yield before + first, before + last


def _ascending(ranges: list[tuple[int, int]]) -> Numbers:
    some = sorted((start, stop) for start, stop in ranges if start < stop)
    return np.array(some, dtype=np.int64).reshape(-1, 2)


def cut_into_pieces(
    start: int, stop: int, bytes_per_trial: float, workers: int, piece_bytes: int = _PIECE_BYTES
) -> list[tuple[int, int]]:
    """Cut a range of trials into pieces of about equal size.

    Examples
    --------
    >>> cut_into_pieces(2, 12, bytes_per_trial=8.0, workers=1, piece_bytes=24)
    [(2, 4), (4, 7), (7, 9), (9, 12)]
    """
    trials = stop - start
    wanted = max(trials * bytes_per_trial / piece_bytes, _PIECES_PER_WORKER * workers)
    count = max(1, min(trials, int(np.ceil(wanted))))
    edges = start + np.arange(count + 1) * trials // count
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def first_wave(pieces: int, workers: int) -> int:
    """Return how many pieces are moved first, if a run may stop early; then as many again.

    Every wave reads all rows once to find those that it moves.

    Examples
    --------
    >>> first_wave(64, workers=1), first_wave(1000, workers=2)
    (4, 62)
    """
    return max(2 * workers, pieces >> _HALVINGS)
