"""The split of the rows among trials: as many trials as possible that share no row.

Trials divide *units* among themselves: rows, or whole groups of them. Trial k trains on n
consecutive labelled units (where units are replaced, fresh ones that take their place follow
them), and is evaluated at one row of each of T further units: leftover labelled units first, then
unlabelled ones. Units are put in a random order first, unless ``shuffle`` is False.
"""

from __future__ import annotations

import copy
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from poise import checks
from poise.data.randomness import Coupling, Ids, Randomness, as_coupling, order_of_keys

if TYPE_CHECKING:
    from poise.data.sample import Sample

_TERMS_AT_ONCE = 1024  # one pair of random terms costs as much as a block of them


@dataclass(frozen=True)
class Units:
    """Rows unit by unit: unit u is ``rows[u]``, or holds ``rows[starts[u] : starts[u + 1]]``.

    Where only some units are ``here``, in ascending order, these are meant.
    """

    rows: Ids
    starts: Ids | None = None
    here: Ids | None = None

    @classmethod
    def in_order(cls, order: Ids, codes: Ids | None) -> Units:
        """List the rows in this order, or group by group; -1 is not a group."""
        if codes is None:
            return cls(order)
        rank = np.append(np.argsort(order), len(order))[codes]
        sizes = np.bincount(rank, minlength=len(order))[: len(order)]
        starts = np.append(0, np.cumsum(sizes))
        return cls(np.argsort(rank, kind="stable")[: starts[-1]], starts)

    def followed_by(self, more: Units, rows: int, units: int) -> Units:
        """Put other units behind these; their rows are numbered from ``rows`` on."""
        starts = here = None
        if self.starts is not None and more.starts is not None:
            starts = np.append(self.starts[:-1], len(self.rows) + more.starts)
        if self.here is not None and more.here is not None:
            here = np.append(self.here, units + more.here)
        return Units(np.append(self.rows, rows + more.rows), starts, here)

    def __len__(self) -> int:
        return len(self.rows) if self.starts is None else len(self.starts) - 1

    def between(self, first: int, last: int) -> Ids:
        """Return the rows of consecutive units, without a copy."""
        if self.here is not None:
            first, last = np.searchsorted(self.here, [first, last]).tolist()
        if self.starts is not None:
            first, last = self.starts[first], self.starts[last]
        return self.rows[first:last]

    def of(self, units: Ids) -> Ids:
        """Return the rows of these units."""
        if self.starts is not None:
            return np.concatenate([self.rows[:0], *(self.between(u, u + 1) for u in units)])
        return self.rows[units if self.here is None else np.searchsorted(self.here, units)]

    def one_of(self, unit: int, randomness: Randomness, place: int) -> int:
        """Return the row that stands for a unit: of a group, a random one."""
        rows = self.between(unit, unit + 1)
        if len(rows) == 1:
            return int(rows[0])
        return int(rows[int(randomness.uniform("row of the test group", place) * len(rows))])


@dataclass(eq=False)
class Split:
    """The rows and random terms of every trial, by number.

    ``trials`` is the planned number also where fewer removals or points are used than were
    planned: these are then the first of the planned ones.

    Removal j takes the j-th block of ``remove`` units from the end: it stands last in the full
    fit, and is missing or replaced in the reduced one. With position "uniform", the units that
    leave are drawn beforehand and leave their places, and one full fit serves all removals.
    """

    sample: Sample
    randomness: Randomness
    coupling: Coupling
    _: KW_ONLY
    n: int
    trials: int
    removals: int = 1
    n_points: int = 1
    remove: int = 1
    replace: bool = False
    position: Literal["last", "uniform"] = "last"
    one_full_fit: bool = False
    shuffle: bool = True
    here: int | None = None  # how many trials, if not all
    _terms: dict[int, list[list[int]]] = field(default_factory=dict, repr=False)

    def with_fewer(self, removals: int, points: int) -> Split:
        """Return the first removals and points of the same trials."""
        fewer = copy.copy(self)
        fewer.removals, fewer.n_points = removals, points
        return fewer

    def on(self, sample: Any, units: Units | None = None, trials: int | None = None) -> Split:
        """Return the same trials, or the first ones, on some of the rows: those of these units."""
        here = copy.copy(self)
        here.sample, here.here = sample, trials
        if units is not None:
            here.units = units
        return here

    def __len__(self) -> int:
        return self.trials if self.here is None else self.here

    @property
    def full_fits(self) -> int:
        """How many full fits a trial has."""
        return 1 if self.one_full_fit or self.position == "uniform" else self.removals

    def rows(self, k: int, j: int) -> tuple[Ids, Ids]:
        """Return the rows of the full and of the reduced fit of one removal."""
        if j == 0 and self.position == "last" and not self.replace:  # the usual case is cheap
            first, last = k * self.n, (k + 1) * self.n
            between = self.units.between
            return between(first, last), between(first, last - self.remove)
        full, gone = np.arange(k * self.width, k * self.width + self.n), self._gone(k, j)
        fresh = np.arange(full[-1] + 1, (k + 1) * self.width)
        if self.position == "last":
            full = np.append(np.delete(full, gone), full[gone])
            gone = np.arange(self.n - self.remove, self.n)
        reduced = np.delete(full, gone)
        if self.replace:
            reduced = full.copy()
            reduced[gone] = fresh
        return self.units.of(full), self.units.of(reduced)

    def removed(self, k: int, j: int) -> Ids:
        """Return the rows that the reduced fit of one removal goes without."""
        return self.units.of(k * self.width + self._gone(k, j))

    def points(self, k: int) -> Ids:
        """Return the test rows of a trial; each does not depend on how many there are."""
        first = self.trials * self.width  # unit that is predicted
        places = range(k, self.trials * self.n_points, self.trials)
        rows = [self.units.one_of(first + p, self.randomness, p) for p in places]
        return np.array(rows, dtype=np.int64)

    def block(self, start: int, stop: int) -> tuple[Ids, Ids]:
        """Return rows (k, n) and test rows (k, T) of consecutive trials, for single rows.

        Removals take the last ones; where rows are replaced, or positions drawn, this is not so.
        """
        points = self.trials * (self.n + np.arange(self.n_points)) + np.arange(start, stop)[:, None]
        rows = self.units.between(start * self.n, stop * self.n)
        return rows.reshape(-1, self.n), self.units.of(points)

    def terms(self, k: int) -> tuple[int, int]:
        """Return ξ and ξ′ of a trial."""
        block, place = divmod(k, _TERMS_AT_ONCE)
        if block not in self._terms:
            start = block * _TERMS_AT_ONCE
            words = self.randomness.block("xi", start, start + _TERMS_AT_ONCE)
            made = [np.asarray(part, dtype=np.uint64) for part in self.coupling.pairs(words)]
            self._terms = {block: [part.tolist() for part in made]}
        xi, xi_reduced = self._terms[block]
        return xi[place], xi_reduced[place]

    @property
    def width(self) -> int:
        """How many units the fits of one trial take."""
        return self.n + (self.remove if self.replace else 0)

    def _gone(self, k: int, j: int) -> Ids:
        """Return the places, among the n units of a trial, of those that removal j takes."""
        before = j * self.remove
        if self.position == "last":
            return np.arange(self.n - before - self.remove, self.n - before)
        keys = self.randomness.generator("position", k).bit_generator.random_raw(self.n)
        drawn = order_of_keys(np.asarray(keys, dtype=np.uint64))
        return np.sort(drawn[before : before + self.remove])

    @cached_property
    def units(self) -> Units:
        """All units in the order in which trials take them, made on first look-up."""
        sample = self.sample
        role = "order of labelled rows" if sample.groups is None else "order of groups"
        here = self._side(role, sample.groups, sample.n_groups or sample.n_labeled)
        if not sample.n_unlabeled:
            return here
        codes = sample.groups_unlabeled
        count = sample.n_unlabeled if codes is None else sample.n_groups_unlabeled
        more = self._side("order of unlabelled rows", codes, count)
        return here.followed_by(more, sample.n_labeled, len(here))

    def _side(self, role: str, codes: Ids | None, count: int) -> Units:
        order = self.randomness.order(role, count) if self.shuffle else np.arange(count)
        return Units.in_order(order, codes)


# Fits that are made elsewhere -------------------------------------------------------------------


class TrialRows(NamedTuple):
    """The rows of one trial: n to train on, the same without the last, and a row to predict."""

    full: Ids
    reduced: Ids
    test: int


def trial_rows(rows: int, n: int, *, random_state: int = 0) -> list[TrialRows]:
    """Return which rows make the trials, where the fits are made elsewhere.

    In each trial, train on the rows ``full`` and on the rows ``reduced``; the change is how far the
    two predictions for row ``test`` are apart. ``Trials.from_changes(changes, n=n)``, or
    ``poise judge``, says what the changes of all trials show. A trial whose fit fails has the
    change nan; none may be left out.

    Parameters
    ----------
    rows, n : int
        Number of labelled rows; training size, at least 2.
    random_state : int
        Seed of the order of the rows: the trials are those of
        ``stability_test(…, n=n, random_state=random_state)``.

    Returns
    -------
    list of (full, reduced, test)
        Row numbers, counted from 0.

    Examples
    --------
    >>> import poise
    >>> [trial.test for trial in poise.trial_rows(20, n=4)]
    [0, 1, 15, 2]
    """
    from poise.data.sample import Sample

    count, size = checks.count("rows", rows, 1), checks.count("n", n, 2)
    nothing = np.zeros((count, 1))
    m = count // (size + 1)
    randomness = Randomness.from_state(random_state)
    split = Split(Sample.of(nothing, nothing), randomness, as_coupling("shared"), n=size, trials=m)
    return [TrialRows(*split.rows(k, 0), int(split.points(k)[0])) for k in range(m)]
