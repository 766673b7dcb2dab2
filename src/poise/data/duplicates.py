"""Equal rows: copies of one observation are not independent of each other.

If a row occurs twice, a trial may be tested at a row that it, or another trial,
was trained on, and the count of large changes is not Binomial any more. But equal
rows need not be copies: where columns take few values, chance alone makes some.
So they are counted, and reported only where chance does not explain them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.on_disk import StoredTable
from poise.data.sample import Sample
from poise.data.tables import Table
from poise.errors import PoiseWarning

__all__ = ["Copies", "find_copies", "warn_of_copies"]

_VALUES_LOOKED_AT = 200_000  # a few milliseconds; of a larger table, some rows are looked at
_ROWS_COMPARED = 2_000  # distinct rows from which the chance of equal values is estimated
_BEYOND_CHANCE = 1_000  # times more equal pairs than expected
_SLOT_BITS = 18  # slots enough that few of the rows looked at share one
_FAMILIAR = "iufb"  # kinds of numbers

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Copies:
    """What was found.

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


def warn_of_copies(sample: Sample) -> None:
    """Warn if rows occur more than once and chance does not explain it."""
    found = find_copies(sample)
    if not found.beyond_chance:
        return
    remedy = "drop all but one of them, or give groups= so that they stay together"
    if sample.groups is not None:
        remedy = "drop all but one of them, or put them into one group"
    warnings.warn(
        f"{found.rows:,} of the {found.looked_at:,} rows looked at have an equal elsewhere. "
        "Copies of one observation end up in different trials, which are then not independent, "
        f"and the error level does not hold; {remedy}",
        PoiseWarning,
        stacklevel=3,
    )


def find_copies(sample: Sample) -> Copies:
    """Count rows with equal features and response; those of one group are allowed to be equal.

    Unlabelled rows are compared by their features, among themselves and with
    the labelled ones. Of a large table, rows that hold 200,000 values are
    looked at; if a good part of it are copies, some of them are among those.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    >>> find_copies(Sample(np.vstack([X, X[:5]]), np.append(y, y[:5]))).rows
    10
    """
    chosen = _chosen(sample.X)
    columns = list(_columns(sample.X, chosen))
    rows = np.arange(sample.n_labeled) if chosen is None else chosen
    owners = rows if sample.groups is None else sample.groups.codes[rows]
    if sample.X_unlabeled is None:
        return _count([*columns, *_columns(sample.y, chosen)], owners)
    more = _chosen(sample.X_unlabeled)
    pairs = zip(columns, _columns(sample.X_unlabeled, more), strict=True)
    columns = [np.concatenate(pair) for pair in pairs]
    strangers = sample.n_labeled + np.arange(len(columns[0]) - len(owners))
    return _count(columns, np.concatenate([owners, strangers]))


def _chosen(table: Table) -> NDArray[np.int64] | None:
    """Choose rows to look at, always the same ones; None means all of them."""
    columns = table.columns()
    width = 1 + (columns if isinstance(columns, int) else len(columns or ()))
    count = _VALUES_LOOKED_AT // width
    if len(table) <= count:
        return None
    # Drawing with replacement and dropping repeats takes no time that grows with the table;
    # small integers are sorted faster.
    kind = np.min_scalar_type(len(table))
    drawn = np.sort(np.random.default_rng(0).integers(0, len(table), count, dtype=kind))
    chosen: NDArray[np.int64] = drawn[np.append(True, drawn[1:] != drawn[:-1])].astype(np.int64)
    return chosen


def _count(columns: list[Words], owners: NDArray[np.int64]) -> Copies:
    keys = _combined(columns, len(owners))
    if not _any_equal(keys):
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
    expected = _pairs(len(keys)) * _chance(columns, first)
    return Copies(int(counts[shared].sum()), len(keys), expected, observed)


def _any_equal(keys: Words) -> bool:
    """Tell whether a word occurs twice, without sorting all of them.

    Each word writes its number into a slot that its first bits choose. The last
    one stays there: an equal of it finds it in its own place. The few that find
    another word there are sorted.
    """
    slots = keys >> np.uint64(64 - _SLOT_BITS)
    numbers = np.arange(len(keys), dtype=np.int32)
    found = np.empty(1 << _SLOT_BITS, dtype=np.int32)
    found[slots] = numbers
    there = found[slots]
    displaced = np.flatnonzero(there != numbers)
    in_order = np.sort(keys[displaced])
    return bool(
        (keys[there[displaced]] == keys[displaced]).any() or (in_order[1:] == in_order[:-1]).any()
    )


def _chance(columns: list[Words], distinct: NDArray[np.int64]) -> float:
    """Estimate the probability that two different observations agree in every column.

    The share of equal pairs is found column by column, among rows that are not
    equal, and multiplied. One pair is added to each, so that a column without
    any is not taken for proof that there are none.
    """
    some = np.sort(distinct)[:: 1 + len(distinct) // _ROWS_COMPARED]
    chance = 1.0
    for column in columns:
        _, counts = np.unique(column[some], return_counts=True)
        equal = float((counts * (counts - 1) / 2).sum())
        chance *= (equal + 1) / (_pairs(len(some)) + 1)
    return chance


def _pairs(count: int) -> float:
    return count * (count - 1) / 2


def _combined(columns: list[Words], rows: int) -> Words:
    """Hash each row: equal rows get equal words, others hardly ever do."""
    keys = np.zeros(rows, dtype=np.uint64)
    for column in columns:
        keys = _mixed(keys * np.uint64(0x9E3779B97F4A7C15) + column)
    return keys


def _mixed(words: Words) -> Words:
    """Let every bit of a word depend on every other (the finaliser of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


def _columns(table: Table, chosen: NDArray[np.int64] | None) -> Iterator[Words]:
    """Yield the columns of a table, or of some of its rows, with equal words for equal values."""
    native = table.native if chosen is None else table.take(chosen)
    if isinstance(native, StoredTable):
        native = native.take(slice(0, len(native)))
    if hasattr(native, "indptr"):
        yield _sparse_words(native)
    elif isinstance(native, np.ndarray):
        yield from (_words(column) for column in native.reshape(len(native), -1).T)
    elif isinstance(native, (list, tuple)):
        yield _words_of_objects(native)
    else:
        yield from _frame_columns(native)


def _frame_columns(native: Any) -> Iterator[Words]:
    import narwhals as nw

    wrapped: Any = nw.from_native(native, eager_only=True, allow_series=True)
    columns = wrapped.iter_columns() if hasattr(wrapped, "iter_columns") else [wrapped]
    yield from (_words(column.to_numpy()) for column in columns)


def _words(column: NDArray[Any]) -> Words:
    if column.dtype.kind not in _FAMILIAR:
        return _words_of_objects(column.tolist())
    return column.astype(np.float64).view(np.uint64)


def _words_of_objects(values: Any) -> Words:
    return np.array([hash(repr(value)) for value in values], dtype=np.int64).view(np.uint64)


def _sparse_words(native: Any) -> Words:
    """Hash the entries of each row of a sparse matrix, where they stand."""
    entries = _combined([_words(native.indices), _words(native.data)], len(native.data))
    total = np.concatenate([[np.uint64(0)], np.cumsum(entries, dtype=np.uint64)])
    return np.asarray(total[native.indptr[1:]] - total[native.indptr[:-1]])
