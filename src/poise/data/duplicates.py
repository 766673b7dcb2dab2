"""Equal rows: copies of one observation are not independent of each other.

If a row occurs twice, a trial may be tested at a row on which it, or another trial,
was trained, and the count of large changes is no longer Binomial. But equal rows need
not be copies: if columns take few values, some rows are equal by chance. So equal rows
are counted, and reported only if chance does not explain them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from poise.data.on_disk import StoredTable
from poise.data.row_hashes import Words, column_words, row_words
from poise.data.sample import Sample
from poise.data.tables import FrameTable, ListTable, Table, array_of
from poise.errors import warn_of_validity

__all__ = ["Copies", "about_copies", "find_copies", "warn_of_copies"]

_VALUES_HASHED = 200_000_000  # a second or two; in a larger table, only some rows are examined
_VALUES_READ = 200_000  # from a table that stays on disk
_WEIGHT_OF_OBJECTS = 20  # times as long as a number takes
_ROWS_COMPARED = 2_000  # distinct rows from which the chance of equal values is estimated
_BEYOND_CHANCE = 1_000  # times more equal pairs than expected


@dataclass(frozen=True)
class Copies:
    """The equal rows that were found.

    Attributes
    ----------
    rows : int
        Rows that have an equal in another group, or anywhere if there are no groups.
    looked_at : int
        Rows among which equals were looked for.
    expected : float
        Pairs of equal rows to expect if the columns were independent of each other.
    observed : int
        Pairs of equal rows found.
    """

    rows: int
    looked_at: int
    expected: float
    observed: int

    @property
    def beyond_chance(self) -> bool:
        """Whether there are far more equal rows than columns with few values explain."""
        return self.rows > 0 and self.observed > _BEYOND_CHANCE * self.expected


# Several measurements share a sample, and its rows are hashed once.
_said: WeakKeyDictionary[Sample, str] = WeakKeyDictionary()


def warn_of_copies(sample: Sample) -> None:
    """Warn if rows occur more than once and chance does not explain it."""
    said = about_copies(sample)
    if said:
        warn_of_validity(said, stacklevel=3)


def about_copies(sample: Sample) -> str:
    """Say that rows occur more than once and chance does not explain it; "" if none does."""
    if sample not in _said:
        _said[sample] = _about(find_copies(sample), sample)
    return _said[sample]


def _about(found: Copies, sample: Sample) -> str:
    if not found.beyond_chance:
        return ""
    remedy = "drop all but one of them, or give groups= so that they stay together"
    if sample.groups is not None:
        remedy = "drop all but one of them, or put them into one group"
    looked_at = "" if found.looked_at == sample.n_labeled + sample.n_unlabeled else " looked at"
    return (
        f"{found.rows:,} of the {found.looked_at:,} rows{looked_at} have an equal elsewhere. "
        "Copies of one observation end up in different trials, which are then not independent, "
        f"and the error level does not hold; {remedy}"
    )


def find_copies(sample: Sample) -> Copies:
    """Count rows with equal features and response; rows of one group may be equal.

    Unlabelled rows are compared by their features, among themselves and with
    the labelled ones. Every row is examined, unless the table is huge or stays on disk:
    then so many rows that copies are found if a good part of the table are copies.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    >>> find_copies(Sample(np.vstack([X, X[:5]]), np.append(y, y[:5]))).rows
    10
    """
    labeled = _Looked(sample.X, () if sample.X_unlabeled is not None else (sample.y,))
    owners = labeled.numbers if sample.groups is None else sample.groups.codes[labeled.numbers]
    if sample.X_unlabeled is None:
        return _count([labeled], owners)
    unlabeled = _Looked(sample.X_unlabeled)
    strangers = sample.n_labeled + np.arange(len(unlabeled.numbers))
    return _count([labeled, unlabeled], np.concatenate([owners, strangers]))


class _Looked:
    """The examined rows of tables that stand side by side."""

    def __init__(self, table: Table, beside: tuple[Table, ...] = ()) -> None:
        self.tables = [table, *beside]
        chosen = _chosen(table)
        self.numbers = np.arange(len(table)) if chosen is None else chosen
        self.words = row_words(self.tables, chosen)

    def columns(self, some: NDArray[np.int64]) -> list[Words]:
        """Return the columns of some of these rows."""
        rows = self.numbers[some]
        return list(chain.from_iterable(column_words(table, rows) for table in self.tables))


def _chosen(table: Table) -> NDArray[np.int64] | None:
    """Choose the rows to examine, always the same ones; None means all."""
    columns = table.columns()
    width = 1 + (columns if isinstance(columns, int) else len(columns or ()))
    values = _VALUES_READ if isinstance(table, StoredTable) else _VALUES_HASHED
    numbers = not isinstance(table, (FrameTable, ListTable)) or array_of(table) is not None
    count = values // (width if numbers else _WEIGHT_OF_OBJECTS * width)
    if len(table) <= count:
        return None
    # Drawing with replacement and dropping repeats takes the same time for any table;
    # small integers are sorted faster.
    kind = np.min_scalar_type(len(table))
    drawn = np.sort(np.random.default_rng(0).integers(0, len(table), count, dtype=kind))
    chosen: NDArray[np.int64] = drawn[np.append(True, drawn[1:] != drawn[:-1])].astype(np.int64)
    return chosen


def _count(looked: list[_Looked], owners: NDArray[np.int64]) -> Copies:
    keys = np.concatenate([part.words for part in looked])
    in_order = np.sort(keys)
    if not (in_order[1:] == in_order[:-1]).any():
        return Copies(0, len(keys), 0.0, 0)
    _, first, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    lowest = owners[first].copy()
    highest = lowest.copy()
    np.minimum.at(lowest, inverse, owners)
    np.maximum.at(highest, inverse, owners)
    shared = lowest < highest
    observed = int((counts[shared] * (counts[shared] - 1) // 2).sum())
    expected = _pairs(len(keys)) * _chance(looked, first)
    return Copies(int(counts[shared].sum()), len(keys), expected, observed)


def _chance(looked: list[_Looked], distinct: NDArray[np.int64]) -> float:
    """Estimate the probability that two different observations agree in every column.

    The share of equal pairs is found column by column, among rows that are not
    equal, and multiplied. One pair is added to each share, so that no share is 0.
    """
    some = np.sort(distinct)[:: 1 + len(distinct) // _ROWS_COMPARED]
    chance = 1.0
    for column in _columns_of(looked, some):
        _, counts = np.unique(column, return_counts=True)
        equal = float((counts * (counts - 1) / 2).sum())
        chance *= (equal + 1) / (_pairs(len(some)) + 1)
    return chance


def _columns_of(looked: list[_Looked], some: NDArray[np.int64]) -> list[Words]:
    """Return the columns of rows that are numbered through all parts."""
    columns, begin = [], 0
    for part in looked:
        end = begin + len(part.numbers)
        here = some[(some >= begin) & (some < end)] - begin
        if len(here):
            columns.append(part.columns(here))
        begin = end
    return [np.concatenate(pieces) for pieces in zip(*columns, strict=True)]


def _pairs(count: int) -> float:
    return count * (count - 1) / 2
