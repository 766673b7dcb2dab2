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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.data.randomness import Ids, Words
from poise.data.rows import Rows, as_rows, is_sparse
from poise.data.suitable import is_missing

if TYPE_CHECKING:
    from poise.data.sample import Sample

_ROWS_COMPARED = 2_000  # distinct rows from which the chance of equal values is estimated
_VALUES_LOOKED_AT = 500_000  # 4 MB
_ROWS_LOOKED_AT = 1_000  # to find the column by which they are chosen
_BY_CHANCE = 1e-6  # probability of more rows that are known by chance
_BEYOND_CHANCE = 1_000  # times more equal pairs than expected
_GOLDEN = 0x9E3779B97F4A7C15  # 2⁶⁴ divided by the golden ratio: its multiples spread
_VALUES_AT_ONCE = 1 << 15  # so many stay in the cache while they are mixed


def copies(sample: Sample, total: int = 0) -> str | None:
    """Return a warning about rows that occur more than once, or None.

    The sample may be a part of ``total`` rows.
    """
    looked_at, here = _some_rows(sample), sample.n_labeled + sample.n_unlabeled
    if looked_at is None:
        return None
    rows, observed, expected = find_copies(looked_at)
    if observed <= _BEYOND_CHANCE * expected:
        return None
    total = total or here
    together = "put copies into one group" if sample.groups is not None else "give groups="
    at_least = "" if looked_at is sample and total == here else "At least "
    return (
        f"{at_least}{rows:,} of {total:,} rows have an equal row elsewhere. Copies of one "
        "observation end up in different trials, which are then not independent, and the error "
        f"level does not hold; drop all but one of them, or {together} to keep them together"
    )


def _some_rows(sample: Sample) -> Sample | None:
    """Return a part of many rows: to read them all may take longer than the fits.

    Rows are chosen by their value in one column, so that copies are in it together or not at all.
    None says that they all differ there.
    """
    total = sample.n_labeled + sample.n_unlabeled
    share = max(_ROWS_COMPARED, _VALUES_LOOKED_AT // len(sample.X.labels)) / total
    if share >= 1:
        return sample
    more = sample.X_unlabeled
    table, column = telling_column(*_compared(sample))
    rows = chosen(table, column, share)
    some = as_rows(table.take(rows), "X")
    if more is None and column is not None and _distinct(_words(some.column(column))):
        return None
    part = sample.only(rows)
    if more is None:
        return part
    rows = more.take(chosen(more, column, share))
    return replace(part, X_unlabeled=as_rows(rows, "X_unlabeled"), groups_unlabeled=None)


def _compared(sample: Sample) -> tuple[Rows, ...]:
    """Return what is compared: of rows some of which have no response, the features only."""
    return (sample.y, sample.X) if sample.X_unlabeled is None else (sample.X,)


def telling_column(*tables: Rows) -> tuple[Rows, int | None]:
    """Return the column with the most values among the first rows; None: all of them together."""
    counts: dict[tuple[Rows, int], int] = {}
    for table in tables:
        if is_sparse(table.native):
            return table, None
        first = as_rows(table.take(np.arange(min(len(table), _ROWS_LOOKED_AT))), "X")
        for place, words in enumerate(_column_words(first)):
            counts[table, place] = len(np.unique(words))
            if counts[table, place] == len(first):  # no column has more
                return table, place
    return max(counts, key=counts.__getitem__)


def chosen(rows: Rows, column: int | None, share: float) -> Ids:
    """Return about this share of rows; a column of few values may choose more or fewer."""
    if share >= 1:
        return np.arange(len(rows))
    parts = [row_identities(0, rows)] if column is None else _parts(rows.column(column))
    low = np.concatenate([words < np.uint64(share * 2**64) for words in parts])
    return np.flatnonzero(low)[: math.ceil(2 * share * len(rows))]


def _parts(values: NDArray[Any]) -> Iterator[Words]:
    """Return words that spread whatever the values are, and not for all of them at once."""
    for part in np.array_split(values, 1 + len(values) // _VALUES_AT_ONCE):
        yield _words(part) * np.uint64(_GOLDEN)


def _distinct(words: Words) -> bool:
    ordered = np.sort(words)  # many times as fast as np.unique
    return bool((ordered[1:] != ordered[:-1]).all())


def find_copies(sample: Sample) -> tuple[int, int, float]:
    """Count rows that have an equal in another group, or anywhere if there are no groups.

    If there are unlabelled rows, only features are compared, also between the two kinds of rows.
    Returns how many such rows there are, how many pairs of equal ones, and how many pairs to expect
    if columns were independent.
    """
    tables = _compared(sample)
    words = row_identities(0, *tables)
    if sample.X_unlabeled is not None:
        words = np.append(words, row_identities(0, sample.X_unlabeled))
    if _distinct(words):
        return 0, 0, 0.0
    owners = np.arange(len(words))
    if sample.groups is not None:
        owners[: sample.n_labeled] = sample.groups
    _, first, place, counts = np.unique(
        words, return_index=True, return_inverse=True, return_counts=True
    )
    elsewhere = np.bincount(place, owners != owners[first][place])  # than with the first of them
    shared = counts[elsewhere > 0]
    expected = _pairs(len(words)) * _chance(tables, np.sort(first[first < sample.n_labeled]))
    return int(shared.sum()), int(_pairs(shared).sum()), expected


def _chance(tables: Sequence[Rows], different: Ids) -> float:
    """Estimate the probability that two observations agree in every column.

    The shares of pairs of different rows that agree in a column are multiplied. One pair is added
    to each, so that none of them is 0.
    """
    some, chance = different[:: 1 + len(different) // _ROWS_COMPARED], 1.0
    for table in tables:
        rows = as_rows(table.take(some), "X")
        # a sparse matrix, which may have very many columns, counts as one
        for words in [row_identities(0, rows)] if is_sparse(rows.native) else _column_words(rows):
            equal = _pairs(np.unique(words, return_counts=True)[1]).sum()
            chance *= (equal + 1) / (_pairs(len(some)) + 1)
    return chance


def _pairs(count: Any) -> Any:
    return count * (count - 1) / 2


# The one hash of rows ---------------------------------------------------------------------------


def row_identities(key: int | str, *tables: Rows) -> Words:
    """Return a word for each row of tables that stand side by side.

    Equal rows have equal words and others almost never, in every process and container: an array,
    a frame and a sparse matrix of the same values have the same words.
    """
    widths = np.cumsum([len(table.labels) for table in tables])
    factors = np.split(_factors(key, int(widths[-1])), widths[:-1])
    total = np.zeros(len(tables[0]), dtype=np.uint64)
    for table, mine in zip(tables, factors, strict=True):
        if is_sparse(table.native):
            total += _sparse_words(table.native, mine)
        elif (array := table.numbers()) is not None:
            total += _array_words(array.reshape(len(array), len(mine)), mine)
        else:
            for factor, words in zip(mine, _column_words(table), strict=True):
                total += mixed(words) * factor
    return mixed(total)


def rows_in_both(known: Sequence[Rows], others: Sequence[Rows]) -> Ids:
    """Return the places of other rows that occur among known ones, unless chance explains it."""
    return beyond_chance(row_identities(0, *known), row_identities(0, *others))


def beyond_chance(known: Words, words: Words) -> Ids:
    """Return the places of the words among known ones; none if chance explains so many.

    Where columns take few values, rows are equal by chance, as known ones are to each other.
    """
    found = np.flatnonzero(np.isin(words, known))
    if not len(found):
        return found
    from scipy.stats import binom

    share = chance_of_equals(known)
    return found[: 0 if share and len(found) <= binom.isf(_BY_CHANCE, len(words), share) else None]


def chance_of_equals(words: Words) -> float:
    """Return the share of rows that are equal to another."""
    _, place, count = np.unique(words, return_inverse=True, return_counts=True)
    return float(np.mean(count[place] > 1))


def _column_words(rows: Rows) -> Iterator[Words]:
    """Return a word for each value, column by column; equal values have equal words."""
    return map(_words, rows.columns())


def _words(values: NDArray[Any]) -> Words:
    if values.dtype.kind in "iufb":
        return _number_words(values)
    if values.dtype.kind in "Mm":
        return mixed(values.astype(f"{values.dtype.kind}8[ns]").view(np.uint64))
    known: dict[Any, int] = {}
    return np.array([_word(value, known) for value in values.tolist()], dtype=np.uint64)


def _number_words(values: NDArray[Any]) -> Words:
    """Return the bits of numbers as floats; 0 and −0 are equal."""
    return np.asarray(np.add(values, 0.0, dtype=np.float64)).view(np.uint64)


def mixed(words: Words) -> Words:
    """Make every bit of a word depend on every other (the finaliser of SplitMix64); 0 stays 0."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


@lru_cache(maxsize=64)
def _factors(key: int | str, count: int) -> Words:
    """Return an odd factor of its own for every column, so that swapped values do not cancel."""
    columns = np.arange(1, count + 1, dtype=np.uint64)
    return mixed(columns * np.uint64(_GOLDEN) + np.uint64(_hash(str(key)))) | np.uint64(1)


def _array_words(array: NDArray[Any], factors: Words) -> Words:
    words = np.empty(len(array), dtype=np.uint64)
    step = max(1, _VALUES_AT_ONCE // max(1, len(factors)))
    for start in range(0, len(array), step):
        words[start : start + step] = mixed(_number_words(array[start : start + step])) @ factors
    return words


def _sparse_words(native: Any, factors: Words) -> Words:
    """Hash the entries of a sparse matrix; an entry of 0 adds nothing, as one that is absent."""
    entries = mixed(_number_words(native.data))
    hashed = type(native)((entries, native.indices, native.indptr), shape=native.shape)
    return np.asarray(hashed @ factors)


def _word(value: Any, known: dict[Any, int]) -> int:
    """Return the word of one value; a number has that of the same number in an array."""
    try:
        if value not in known:
            number = math.nan if is_missing(value) else value
            if isinstance(number, numbers.Real):
                known[value] = int(_number_words(np.array([float(number)]))[0])
            else:
                kind = "str" if isinstance(value, str) else type(value).__name__
                known[value] = _hash(f"{kind}:{value}")
        return known[value]
    except (TypeError, OverflowError):  # lists, dicts and arrays; numbers beyond floats
        import joblib

        return _hash(str(joblib.hash(value)))


def _hash(text: str) -> int:
    content = text.encode(errors="surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


# Digests ------------------------------------------------------------------------------------------


def sums_of(tables: Mapping[str, Rows], first: int = 0) -> Words:
    """Return what a digest knows of tables: sums over their rows, counted from ``first``.

    So parts of a table can be looked at anywhere, in any order.
    """
    sums = np.zeros(2, dtype=np.uint64)
    for name, table in tables.items():
        places = mixed(np.arange(first, first + len(table), dtype=np.uint64))
        keys = (f"{name}:{len(table.labels)}:{k}" for k in range(len(sums)))
        sums += np.array([mixed(row_identities(key, table) + places).sum() for key in keys])
    return sums


def digest_of(sums: Words, constant: Mapping[str, Any]) -> str:
    """Return the fingerprint of rows by their sums, and of what every fit gets."""
    state = hashlib.blake2b(sums.tobytes(), digest_size=32)
    for name, value in sorted(constant.items()):
        state.update(f"{name}:{hashed(value)}\n".encode())
    return state.hexdigest()


def hashed(value: object) -> str:
    """Name and digest an object, such as an array, by what it is pickled as."""
    import joblib

    try:
        return f"{type(value).__name__} {joblib.hash(value)}"
    except Exception:  # such as locks and open files
        return type(value).__name__
