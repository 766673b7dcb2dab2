"""Digests of the rows that a test has used, so that no row is used twice."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.on_disk import StoredTable
from poise.data.row_hashes import Words, row_words
from poise.data.sample import Sample
from poise.data.tables import Table, array_of, as_table, is_sparse

__all__ = ["FALSE_ALARM", "RowDigests", "digest_of_rows", "equal_rows"]

FALSE_ALARM = 1e-6  # probability of more equal rows than the bound, by chance alone
_MOST_ROWS = 1_000_000  # eight bytes each


@dataclass(frozen=True)
class RowDigests:
    """One word per row of a sample; equal rows have equal words.

    Attributes
    ----------
    labeled : array of uint64
        Of features and response, in ascending order.
    unlabeled : array of uint64
        Of features alone, in ascending order.
    fit_params : tuple of str
        Further arguments of ``fit``, such as weights.

    Examples
    --------
    >>> used = RowDigests.of(Sample([[1.0], [2.0]], [5.0, 6.0]))
    >>> used.find([[2.0], [3.0]], [6.0, 6.0]).tolist()
    [0]
    """

    labeled: Words
    unlabeled: Words
    fit_params: tuple[str, ...] = ()

    @classmethod
    def of(cls, sample: Sample) -> RowDigests | None:
        """Digest every row; None of a table that is huge, stays on disk or lies elsewhere."""
        if sample.rows_elsewhere:
            return None
        tables = [sample.X] if sample.X_unlabeled is None else [sample.X, sample.X_unlabeled]
        on_disk = any(isinstance(table, StoredTable) for table in tables)
        if on_disk or sum(map(len, tables)) > _MOST_ROWS:
            return None
        more = np.zeros(0, dtype=np.uint64)
        if sample.X_unlabeled is not None:
            more = _words(sample.X_unlabeled)
        names = () if sample.fit_params is None else tuple(sample.fit_params.names)
        return cls(np.sort(_words(sample.X, sample.y)), np.sort(more), names)

    def find(self, X: Any, y: Any) -> NDArray[np.int64]:
        """Return the positions of the rows that are among those digested."""
        features, responses = as_table(X, "X"), as_table(y, "y")
        known = np.isin(_words(features, responses), self.labeled)
        if len(self.unlabeled):
            known |= np.isin(_words(features), self.unlabeled)
        return np.flatnonzero(known)

    def most_by_chance(self, count: int) -> int:
        """Bound how many of ``count`` other rows are equal to one of these by chance.

        Where columns take few values, rows of the sample are equal to each other too: another
        row is about as likely to have an equal here as one of these rows. More than the bound
        are found with probability 1e-6.
        """
        from scipy.stats import binom

        share = max(_share_of_equals(part) for part in (self.labeled, self.unlabeled))
        return int(binom.isf(FALSE_ALARM, count, share)) if share > 0 else 0


def _share_of_equals(words: Words) -> float:
    """Return the share of sorted words that have an equal."""
    if len(words) < 2:
        return 0.0
    same = words[1:] == words[:-1]
    return float(np.mean(np.append(same, False) | np.append(False, same)))


def _words(*tables: Table) -> Words:
    """Digest rows of tables side by side, in whatever container their numbers came."""
    arrays = [array_of(table) for table in tables]
    return row_words(
        [
            table if array is None else as_table(array, "X")
            for table, array in zip(tables, arrays, strict=True)
        ]
    )


def digest_of_rows(X: Table, y: Table) -> str:
    """Return one digest of labelled rows, whatever their order and container.

    Examples
    --------
    >>> first = digest_of_rows(as_table([[1.0], [2.0]], "X"), as_table([5.0, 6.0], "y"))
    >>> first == digest_of_rows(as_table([[2.0], [1.0]], "X"), as_table(np.array([6, 5]), "y"))
    True
    """
    responses = as_table(np.asarray(y.native), "y")
    tables = [_as_numbers(X), _as_numbers(responses)]
    if None not in tables:
        words = np.sort(row_words([table for table in tables if table is not None]))
        return hashlib.blake2b(words.tobytes(), digest_size=16).hexdigest()
    # Python's hashes of text differ from process to process.
    beside = zip(_rows_as_text(X.native), _rows_as_text(responses.native), strict=True)
    rows = sorted(f"{row} -> {answer}" for row, answer in beside)
    return hashlib.blake2b("\n".join(rows).encode(), digest_size=16).hexdigest()


def _as_numbers(table: Table) -> Table | None:
    """Return a table of numbers, in whatever container they came; None if there are others."""
    if is_sparse(table.native):
        return table
    array = array_of(table)
    if isinstance(table.native, list):
        array = np.asarray(table.native)
    return None if array is None or array.dtype.kind not in "biuf" else as_table(array, "X")


def _rows_as_text(native: Any) -> list[str]:
    rows = native if isinstance(native, list) else np.asarray(native, dtype=object)
    return [str([str(value) for value in np.ravel(np.asarray(row, dtype=object))]) for row in rows]


def equal_rows(known: list[Table], others: list[Table]) -> tuple[NDArray[np.int64], int]:
    """Find rows of some tables that are rows of others; also bound how many are by chance.

    Parameters
    ----------
    known, others : list of Table
        Tables that stand side by side, with the same columns in both lists.

    Returns
    -------
    found : ndarray of int
        Positions among the ``others``.
    by_chance : int
        More than so many are equal by chance with probability 1e-6.

    Examples
    --------
    >>> first, second = as_table([[1.0], [2.0]], "X"), as_table([[2.0], [3.0]], "X")
    >>> equal_rows([first], [second])
    (array([0]), 0)
    """
    digests = RowDigests(np.sort(_words(*known)), np.zeros(0, dtype=np.uint64))
    found = np.flatnonzero(np.isin(_words(*others), digests.labeled))
    return found, digests.most_by_chance(len(others[0]))
