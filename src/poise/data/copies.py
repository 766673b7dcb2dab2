"""Equal rows: copies of one observation are not independent of each other.

If an observation occurs twice, a trial may be evaluated at a row on which it, or another trial,
was trained, and the error level does not hold. But equal rows need not be copies: where columns
take few values, some rows are equal by chance. So a warning is given only where rows are equal
far more often than chance explains.
"""

from __future__ import annotations

import hashlib
import math
import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.data.randomness import Ids, Words
from poise.data.rows import Rows, as_rows, is_sparse
from poise.data.suitable import is_missing

if TYPE_CHECKING:
    from poise.data.sample import Sample

_BYTES_LOOKED_AT = 4 << 20  # in a call, so that looking costs less than gathering the rows
_FIRST_ROWS = 1_000  # by which the columns are chosen that tell rows apart
_ROWS_COMPARED = 2_000  # distinct rows from which the chance of equal values is estimated
_BEYOND_CHANCE = 1_000  # times more equal pairs than expected
_GOLDEN = 0x9E3779B97F4A7C15  # 2⁶⁴ divided by the golden ratio: its multiples spread
_VALUES_AT_ONCE = 1 << 15  # so many stay in the cache while they are mixed


@dataclass(frozen=True)
class Copies:
    """The equal rows that were found.

    Attributes
    ----------
    rows : int
        Rows that have an equal in another group, or anywhere if there are no groups.
    looked_at, of_rows : int
        Rows among which equals were looked for, and all rows.
    observed, expected : int, float
        Pairs of equal rows, and how many to expect if columns were independent of each other.
    """

    rows: int
    looked_at: int
    of_rows: int
    observed: int = 0
    expected: float = 0.0

    @property
    def beyond_chance(self) -> bool:
        """Whether there are far more equal rows than columns with few values explain."""
        return self.rows > 0 and self.observed > _BEYOND_CHANCE * self.expected


def copies(sample: Sample, every_row: bool = False) -> str | None:
    """Return a warning about rows that occur more than once, or None."""
    found = find_copies(sample, math.inf if every_row else _BYTES_LOOKED_AT)
    if not found.beyond_chance:
        return None
    at_least = "At least " if found.looked_at < found.of_rows else ""
    together = "put copies into one group" if sample.groups is not None else "give groups="
    return (
        f"{at_least}{found.rows:,} of {found.of_rows:,} rows have an equal row elsewhere. Copies "
        "of one observation end up in different trials, which are then not independent, and the "
        f"error level does not hold; drop all but one of them, or {together} to keep them together"
    )


def find_copies(sample: Sample, most_bytes: float = math.inf) -> Copies:
    """Count rows with equal features and response; rows of one group may be equal.

    If there are unlabelled rows, only features are compared, also between the two kinds of rows.
    Of a large table the same random part of the *different* rows is looked at in every run, with
    all copies of each.

    Examples
    --------
    >>> from poise.data.sample import Sample
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    >>> find_copies(Sample.of(np.vstack([X, X[:5]]), np.append(y, y[:5]))).rows
    10
    """
    parts: list[tuple[Rows, ...]] = [(sample.X, sample.y)]
    if sample.X_unlabeled is not None:
        parts = [(sample.X,), (sample.X_unlabeled,)]
    total = sample.n_labeled + sample.n_unlabeled
    width = sum(map(_width, parts[0]))
    share = min(1.0, most_bytes / (8 * total * width))
    owners = np.arange(total)
    if sample.groups is not None:
        owners[: sample.n_labeled] = sample.groups
    if share < 1:
        places = _some_different_rows(parts, share)
        parts = [_taken(part, chosen) for part, chosen in zip(parts, places, strict=True)]
        owners = owners[
            np.concatenate([places[0], *(sample.n_labeled + more for more in places[1:])])
        ]
    found = _count(parts, owners, share)
    return Copies(found.rows, found.looked_at, total, found.observed, found.expected)


# The one hash of rows ---------------------------------------------------------------------------


def row_identities(key: int, *tables: Rows) -> Words:
    """Return a word for each row of tables that stand side by side.

    Equal rows have equal words and others almost never, in every process and container: an array,
    a frame and a sparse matrix of the same values have the same words.

    Examples
    --------
    >>> words = row_identities(0, as_rows([[1.0, 2.0], [2.0, 1.0], [1, 2]], "X"))
    >>> bool(words[0] == words[2]), bool(words[0] == words[1])
    (True, False)
    """
    total = np.zeros(len(tables[0]), dtype=np.uint64)
    begin = 0
    for table in tables:
        factors = _factors(key, begin, begin + len(table.labels))
        begin += len(table.labels)
        if is_sparse(table.native):
            total += _sparse_words(table.native, factors)
        elif (array := table.numbers()) is not None:
            total += _array_words(array.reshape(len(array), len(factors)), factors)
        else:
            for factor, words in zip(factors, column_words(table), strict=True):
                total += mixed(words) * factor
    return mixed(total)


def rows_in_both(first: Sequence[Rows], second: Sequence[Rows]) -> Ids:
    """Return the places of the rows of the second tables that occur among those of the first.

    Examples
    --------
    >>> trained, fresh = as_rows([[1.0], [2.0]], "X"), as_rows([[5.0], [2.0]], "X_fresh")
    >>> rows_in_both([trained], [fresh])
    array([1])
    """
    return np.flatnonzero(np.isin(row_identities(0, *second), row_identities(0, *first)))


def column_words(rows: Rows) -> Iterator[Words]:
    """Yield a word for each value, column by column; equal values have equal words."""
    for _, values in rows.values():
        if values.dtype.kind in "iufb":
            yield number_words(values)
        elif values.dtype.kind in "Mm":
            yield mixed(values.astype(f"{values.dtype.kind}8[ns]").view(np.uint64))
        else:
            yield _words_of_objects(values.tolist())


def number_words(values: NDArray[Any]) -> Words:
    """Return the bits of numbers as floats; 0 and −0 are equal."""
    return np.asarray(np.add(values, 0.0, dtype=np.float64)).view(np.uint64)


def mixed(words: Words) -> Words:
    """Make every bit of a word depend on every other (the finaliser of SplitMix64); 0 stays 0."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


@lru_cache(maxsize=64)
def _factors(key: int, start: int, stop: int) -> Words:
    """Return an odd factor of its own for every column, so that swapped values do not cancel."""
    begin = int.from_bytes(hashlib.blake2b(str(key).encode(), digest_size=8).digest(), "little")
    columns = np.arange(start + 1, stop + 1, dtype=np.uint64)
    return mixed(columns * np.uint64(_GOLDEN) + np.uint64(begin)) | np.uint64(1)


def _array_words(array: NDArray[Any], factors: Words) -> Words:
    words = np.empty(len(array), dtype=np.uint64)
    step = max(1, _VALUES_AT_ONCE // max(1, len(factors)))
    for start in range(0, len(array), step):
        words[start : start + step] = mixed(number_words(array[start : start + step])) @ factors
    return words


def _sparse_words(native: Any, factors: Words) -> Words:
    """Hash the entries of a sparse matrix; an entry of 0 adds nothing, as one that is absent."""
    if not native.has_canonical_format:
        native = native.copy()
        native.sum_duplicates()
    entries = mixed(number_words(native.data)) * factors[native.indices]
    total = np.append(np.uint64(0), np.cumsum(entries, dtype=np.uint64))
    return np.asarray(total[native.indptr[1:]] - total[native.indptr[:-1]])


def _words_of_objects(values: list[Any]) -> Words:
    words: dict[Any, int] = {}
    found = []
    for value in values:
        try:
            word = words.get(value)
            if word is None:
                word = words[value] = _word_of(value)
        except TypeError:  # lists, dicts and arrays
            word = _word_of_bytes(_bytes_of(value))
        found.append(word)
    return np.array(found, dtype=np.uint64)


def _word_of(value: Any) -> int:
    """Return the word of one value; numbers have that of the same number in an array."""
    if is_missing(value):
        value = math.nan
    if isinstance(value, numbers.Real) and (value != value or _fits(value)):
        return int(number_words(np.array([float(value)]))[0])
    kind = "str" if isinstance(value, str) else type(value).__name__
    return _word_of_bytes(f"{kind}:{value}".encode(errors="surrogatepass"))


def _fits(value: Any) -> bool:
    try:
        return bool(float(value) == value)
    except OverflowError:
        return False


def _bytes_of(value: object) -> bytes:
    if isinstance(value, np.ndarray) and value.dtype.kind in "iufb":
        return str(value.shape).encode() + number_words(value).tobytes()
    import joblib

    return str(joblib.hash(value)).encode()


def _word_of_bytes(content: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


# Counting ---------------------------------------------------------------------------------------


def _some_different_rows(parts: list[tuple[Rows, ...]], share: float) -> list[Ids]:
    """Choose rows by their values in few columns: all copies of a row are in, or none."""
    columns = _telling_columns(parts[0])
    limit = np.uint64(share * 2.0**64)
    return [np.flatnonzero(_words_in(part, columns) < limit) for part in parts]


def _telling_columns(tables: tuple[Rows, ...]) -> list[int]:
    """Return the columns with the most distinct values, as few as tell most rows apart.

    Text comes last, because it takes longest.
    """
    first = _taken(tables, np.arange(min(_FIRST_ROWS, len(tables[0]))))
    distinct = [float(len(np.unique(words))) for words in _columns(first)]
    slow = [
        not is_sparse(table.native) and table.column(place).dtype.kind not in "iufbMm"
        for table in first
        for place in range(_width(table))
    ]
    in_order = sorted(range(len(distinct)), key=lambda place: (slow[place], -distinct[place]))
    told = np.cumprod([distinct[place] for place in in_order])
    return in_order[: int(np.searchsorted(told, len(first[0]) / 2)) + 1]


def _words_in(tables: tuple[Rows, ...], columns: list[int]) -> Words:
    total = np.zeros(len(tables[0]), dtype=np.uint64)
    places = [(table, place) for table in tables for place in range(_width(table))]
    for column in columns:
        table, place = places[column]
        whole = is_sparse(table.native)
        total += row_identities(column, table if whole else as_rows(table.column(place), "X"))
    return total


def _count(parts: list[tuple[Rows, ...]], owners: Ids, share: float) -> Copies:
    words = np.concatenate([row_identities(0, *part) for part in parts])
    ordered = np.sort(words)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(again):
        return Copies(0, len(words), len(words))
    candidates = np.flatnonzero(np.isin(words, again))
    _, first, inverse, counts = np.unique(
        words[candidates], return_index=True, return_inverse=True, return_counts=True
    )
    lowest = owners[candidates[first]]
    highest = lowest.copy()
    np.minimum.at(lowest, inverse, owners[candidates])
    np.maximum.at(highest, inverse, owners[candidates])
    shared = counts[lowest < highest]
    distinct = np.delete(np.arange(len(words)), np.delete(candidates, first))
    expected = _pairs(len(words)) * _chance(parts, distinct) / share
    observed = int((shared * (shared - 1) // 2).sum())
    return Copies(int(shared.sum()), len(words), len(words), observed, expected)


def _chance(parts: list[tuple[Rows, ...]], distinct: Ids) -> float:
    """Estimate the probability that two observations agree in every column.

    The shares of pairs of distinct rows that agree in a column are multiplied. One pair is added
    to each, so that none of them is 0.
    """
    some = distinct[:: 1 + len(distinct) // _ROWS_COMPARED]
    split_at = len(parts[0][0])
    taken = [_taken(parts[0], some[some < split_at])]
    taken += [_taken(part, some[some >= split_at] - split_at) for part in parts[1:]]
    chance = 1.0
    for pieces in zip(*map(_columns, taken), strict=True):
        _, counts = np.unique(np.concatenate(pieces), return_counts=True)
        equal = float((counts * (counts - 1) / 2).sum())
        chance *= (equal + 1) / (_pairs(len(some)) + 1)
    return chance


def _columns(tables: tuple[Rows, ...]) -> Iterator[Words]:
    """Yield the columns of some rows; a sparse matrix, which may have very many, is one."""
    for table in tables:
        yield from [row_identities(0, table)] if is_sparse(table.native) else column_words(table)


def _width(table: Rows) -> int:
    """Return how many columns there are; a sparse matrix is one."""
    return 1 if is_sparse(table.native) else len(table.labels)


def _taken(tables: tuple[Rows, ...], places: Ids) -> tuple[Rows, ...]:
    return tuple(as_rows(table.take(places), "X") for table in tables)


def _pairs(count: int) -> float:
    return count * (count - 1) / 2
