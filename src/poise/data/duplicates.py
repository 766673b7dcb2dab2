"""Equal rows: copies of one observation are not independent of each other.

If a row occurs twice, a trial may be tested at a row on which it, or another trial,
was trained, and the count of large changes is no longer Binomial. But equal rows need
not be copies: if columns take few values, some rows are equal by chance. So equal rows
are counted, and reported only if chance does not explain them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from poise.data.groups import Groups
from poise.data.on_disk import StoredTable
from poise.data.partitioned.partitioned_sample import PartitionedSample
from poise.data.partitioned.smallest_hashes import SmallestHashes
from poise.data.row_hashes import Words, column_words, number_words, row_words
from poise.data.sample import Sample
from poise.data.tables import FrameTable, ListTable, Table, array_of, as_table
from poise.errors import warn_of_validity

__all__ = [
    "Copies",
    "about_copies",
    "copies_among",
    "copies_elsewhere",
    "find_copies",
    "warn_of_copies",
]

_VALUES_HASHED = 200_000_000  # a second or two; in a larger table, only some rows are examined
_VALUES_READ = 200_000  # from a table that stays on disk
_WEIGHT_OF_OBJECTS = 20  # times as long as a number takes
_ROWS_COMPARED = 2_000  # distinct rows from which the chance of equal values is estimated
_BEYOND_CHANCE = 1_000  # times more equal pairs than expected
_ODD = np.uint64(0x9E3779B97F4A7C15)  # the upper half of a product with it depends on all bits
_LAST = int(sys.byteorder == "little")  # the upper half of a word comes last in memory, or first
_FIRST_COLUMNS = 2  # enough to tell most rows apart, and far less to read than all of them


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


def warn_of_copies(sample: Sample, stacklevel: int = 4) -> None:
    """Warn if rows occur more than once and chance does not explain it.

    The line that the warning names is that of the user, who calls the caller of the caller.
    """
    said = about_copies(sample)
    if said:
        warn_of_validity(said, stacklevel=stacklevel)


def about_copies(sample: Sample) -> str:
    """Say that rows occur more than once and chance does not explain it; "" if none does."""
    if sample not in _said:
        _said[sample] = _about(_found(sample), sample)
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


def _found(sample: Sample) -> Copies:
    return (
        copies_elsewhere(sample) if isinstance(sample, PartitionedSample) else find_copies(sample)
    )


def copies_elsewhere(sample: PartitionedSample) -> Copies:
    """Count equal rows among those with the smallest hashes, wherever they lie.

    Only where two of these have one hash are such rows brought together, to see whether they
    are equal by chance. A part of the different rows is looked at, and all copies of each: so
    the same part of all equal pairs is found, while the pairs among these rows are fewer.
    """
    tables = [sample.labeled, *([] if sample.unlabeled is None else [sample.unlabeled])]
    sketch = SmallestHashes.joined([table.summary.sketch for table in tables])
    if not sketch.has_equals:
        return Copies(0, len(sketch.hashes), 0.0, 0)
    few = sketch.of_few_rows()
    found = find_copies(sample.rows_below(few.limit))
    return replace(found, expected=found.expected / few.share)


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
    if sample.X_unlabeled is None:
        return _count([labeled], sample.groups)
    return _count([labeled, _Looked(sample.X_unlabeled)], sample.groups)


def copies_among(table: Table, *beside: Table) -> Copies:
    """Count equal rows of tables that stand side by side, as :func:`find_copies` does.

    Examples
    --------
    >>> copies_among(as_table([[1.0], [2.0], [1.0]], "X"), as_table([5.0, 6.0, 5.0], "y")).rows
    2
    """
    return _count([_Looked(table, beside)], None)


class _Looked:
    """The examined rows of tables that stand side by side."""

    def __init__(self, table: Table, beside: tuple[Table, ...] = ()) -> None:
        self.tables = [table, *beside]
        self.chosen = _chosen(table)
        self.count = len(table) if self.chosen is None else len(self.chosen)

    def numbers(self, some: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row numbers of some of these rows."""
        return some if self.chosen is None else self.chosen[some]

    def first_words(self) -> Words:
        """Hash the response, or the first columns: rows that differ there need no other look."""
        response = array_of(self.tables[-1])
        if isinstance(response, np.ndarray) and response.dtype == np.float64 and response.ndim == 1:
            return number_words(response if self.chosen is None else response[self.chosen])
        return row_words([_first_columns(table) for table in self.tables], self.chosen)

    def words(self, some: NDArray[np.int64]) -> Words:
        """Hash some of these rows whole."""
        return row_words(self.tables, self.numbers(some))

    def columns(self, some: NDArray[np.int64]) -> list[Words]:
        """Return the columns of some of these rows."""
        rows = self.numbers(some)
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


def _first_columns(table: Table) -> Table:
    """Return the first columns of an array, and other tables whole."""
    array = array_of(table)
    if isinstance(array, np.ndarray) and array.ndim == 2 and array.shape[1] > _FIRST_COLUMNS:
        return as_table(array[:, :_FIRST_COLUMNS], "X")
    return table


def _owners(
    looked: list[_Looked], groups: Groups | None, some: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the groups of rows that are numbered through all parts; else every row has its own."""
    if groups is None:
        return some
    mine = some < looked[0].count
    owners = len(groups.codes) + some  # more than any group
    owners[mine] = groups.codes[looked[0].numbers(some[mine])]
    return owners


def _count(looked: list[_Looked], groups: Groups | None) -> Copies:
    total = sum(part.count for part in looked)
    words = [part.first_words() for part in looked]
    candidates = _occur_twice(words[0] if len(words) == 1 else np.concatenate(words))
    if not len(candidates):
        return Copies(0, total, 0.0, 0)
    keys = np.concatenate([part.words(rows) for part, rows in _parts(looked, candidates)])
    _, first, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    owners = _owners(looked, groups, candidates)
    lowest = owners[first].copy()
    highest = lowest.copy()
    np.minimum.at(lowest, inverse, owners)
    np.maximum.at(highest, inverse, owners)
    shared = lowest < highest
    observed = int((counts[shared] * (counts[shared] - 1) // 2).sum())
    if not observed:
        return Copies(0, total, 0.0, 0)
    expected = _pairs(total) * _chance(looked, _one_of_each(total, candidates, first))
    return Copies(int(counts[shared].sum()), total, expected, observed)


def _occur_twice(keys: Words) -> NDArray[np.int64]:
    """Return the positions of the keys that occur more than once.

    Half of every key is sorted first, which takes half the time. Only keys that share a half,
    or the first quarter of one, are then compared whole.
    """
    words = keys * _ODD
    halves, quarters = words.view(np.uint32)[_LAST::2], words.view(np.uint16)[3 * _LAST :: 4]
    shared = np.zeros(1 << 16, dtype=np.bool_)
    shared[_repeated(halves) >> np.uint32(16)] = True
    suspects = np.flatnonzero(shared[quarters]) if shared.any() else np.empty(0, dtype=np.int64)
    again = _repeated(keys[suspects])
    return suspects[np.isin(keys[suspects], again)]


def _repeated(keys: NDArray[Any]) -> NDArray[Any]:
    """Return the keys that occur more than once."""
    in_order = np.sort(keys)
    return np.asarray(in_order[1:][in_order[1:] == in_order[:-1]])


def _one_of_each(
    total: int, candidates: NDArray[np.int64], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the rows without those that are equal to an earlier one."""
    distinct = np.ones(total, dtype=np.bool_)
    distinct[candidates] = False
    distinct[candidates[first]] = True
    return np.flatnonzero(distinct)


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
    columns = [part.columns(here) for part, here in _parts(looked, some) if len(here)]
    return [np.concatenate(pieces) for pieces in zip(*columns, strict=True)]


def _parts(
    looked: list[_Looked], some: NDArray[np.int64]
) -> Iterator[tuple[_Looked, NDArray[np.int64]]]:
    """Yield each part with its own numbers of rows that are numbered through all parts."""
    begin = 0
    for part in looked:
        end = begin + part.count
        yield part, some[(some >= begin) & (some < end)] - begin
        begin = end


def _pairs(count: int) -> float:
    return count * (count - 1) / 2
