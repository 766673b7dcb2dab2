"""The data of one question: labelled rows and unlabelled rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.fit_params import FitParams
from poise.data.groups import Groups
from poise.data.known_values import n_known_points, n_known_responses
from poise.data.on_disk import StoredTable
from poise.data.responses import check_responses, holds_labels
from poise.data.synthetic_rows import Rows, SyntheticRows
from poise.data.tables import FrameTable, Table, as_table, concatenate, is_sparse
from poise.errors import DataError

__all__ = ["Sample", "fingerprint"]

_AT_ONCE = 1 << 26  # bytes read together


class Sample:
    """Labelled rows (X, y) and, optionally, rows without a response.

    Rows are numbered from 0: first the labelled ones, then the unlabelled.
    Errors in the data are found here, before the first fit.

    Parameters
    ----------
    X, y : array, data frame, sparse matrix or list
        Labelled rows; kept as they are.
    X_unlabeled : same kind as X, optional
        More rows without a response: they serve as test points.
    groups : array, column or list, optional
        One label per labelled row; rows with equal labels stay together.
    fit_params : mapping, optional
        Further arguments of ``fit``; those with one value per row follow the rows.

    Examples
    --------
    >>> sample = Sample([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], [[9.0]])
    >>> sample.n_labeled, sample.n_unlabeled
    (3, 1)
    >>> sample.training(slice(0, 2))
    ([[1.0], [2.0]], [1.0, 2.0])
    >>> sample.points(np.array([2, 3]))
    [[3.0], [9.0]]
    """

    rows_elsewhere = False  # whether only workers of a cluster can read the rows

    def __init__(
        self,
        X: Any,
        y: Any,
        X_unlabeled: Any = None,
        groups: Any = None,
        fit_params: Mapping[str, Any] | None = None,
    ) -> None:
        self.X = as_table(X, "X")
        self.y = as_table(y, "y")
        self.X_unlabeled = None if X_unlabeled is None else as_table(X_unlabeled, "X_unlabeled")
        self.n_labeled = len(self.X)
        self.n_unlabeled = 0 if self.X_unlabeled is None else len(self.X_unlabeled)
        _check_lengths(self.X, self.y)
        check_responses(self.y)
        if self.X_unlabeled is not None:
            _check_columns(self.X, self.X_unlabeled)
        self.groups = None if groups is None else Groups(groups, self.n_labeled)
        self.fit_params = None
        if fit_params is not None:
            self.fit_params = FitParams(fit_params, self.n_labeled)

    def __getstate__(self) -> dict[str, Any]:
        """Return a copy: a thread may keep the digest here while another one pickles."""
        return vars(self).copy()

    @property
    def for_checks(self) -> Sample:
        """The rows on which the checks before the first fit turn: all of them, if they are here."""
        return self

    def with_true_rows(self) -> AbstractContextManager[None]:
        """Name rows in messages of checks as they are numbered in the data."""
        return nullcontext()

    def only(self, rows: NDArray[np.int64]) -> Sample:
        """Return a sample of these labelled rows and all unlabelled ones.

        Examples
        --------
        >>> Sample([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0]).only(np.array([0, 2])).y.native
        [1.0, 3.0]
        """
        points = None if self.X_unlabeled is None else self.X_unlabeled.native
        labels = None if self.groups is None else self.groups.labels[rows]
        kept = Sample(self.X.take(rows), self.y.take(rows), points, labels)
        kept.fit_params = None if self.fit_params is None else self.fit_params.only(rows)
        return kept

    def training(self, rows: Rows) -> tuple[Any, Any]:
        """Return fresh copies of the features and responses of labelled rows."""
        if isinstance(rows, SyntheticRows):
            return rows.copy()
        return self.X.take(rows), self.y.take(rows)

    def points(self, rows: Rows) -> Any:
        """Return fresh copies of the features of any rows, labelled or not."""
        if isinstance(rows, SyntheticRows):
            return rows.points()
        if isinstance(rows, slice):
            rows = np.arange(rows.start, rows.stop)
        if self.X_unlabeled is None or int(rows.max()) < self.n_labeled:
            return self.X.take(rows)
        if int(rows.min()) >= self.n_labeled:
            return self.X_unlabeled.take(rows - self.n_labeled)
        return self._mixed_points(self.X_unlabeled, rows)

    def _mixed_points(self, unlabeled: Table, rows: NDArray[np.int64]) -> Any:
        """Take labelled and unlabelled points, in the given order."""
        labeled = rows < self.n_labeled
        both = concatenate(
            self.X.take(rows[labeled]), unlabeled.take(rows[~labeled] - self.n_labeled)
        )
        position = np.empty(len(rows), dtype=np.int64)
        position[np.flatnonzero(labeled)] = np.arange(labeled.sum())
        position[np.flatnonzero(~labeled)] = np.arange(labeled.sum(), len(rows))
        return as_table(both, "X").take(position)

    def response(self, row: int) -> Any:
        """Return the response of one labelled row."""
        if row >= self.n_labeled:
            raise DataError(
                f"row {row} has no response: this question needs labelled test rows, and only "
                f"the first {self.n_labeled} rows are labelled"
            )
        return np.asarray(self.y.take(slice(row, row + 1)))[0]

    @cached_property
    def classes(self) -> tuple[NDArray[Any], ...]:
        """The distinct responses in ascending order, for each column of y."""
        values = np.asarray(self.y.native)
        return tuple(np.unique(column) for column in values.reshape(len(values), -1).T)

    @property
    def n_responses(self) -> int:
        """Number of responses of a row: the columns of y."""
        columns = self.y.columns()
        return 1 if columns is None else columns if isinstance(columns, int) else len(columns)

    @cached_property
    def n_classes(self) -> int | None:
        """Number of different responses, where somebody could know and try them all."""
        return n_known_responses(self.y)

    @cached_property
    def n_points(self) -> int | None:
        """Number of different points there can be, where somebody could try them all."""
        return n_known_points(self.X)

    @cached_property
    def has_labels(self) -> bool:
        """Whether the responses are text or categories, which cannot be subtracted."""
        return holds_labels(self.y)

    @cached_property
    def all_finite(self) -> bool:
        """Whether the features are a plain array of numbers without NaN or infinity."""
        tables = [self.X] if self.X_unlabeled is None else [self.X, self.X_unlabeled]
        return all(_finite_array(table.native) for table in tables)

    @cached_property
    def long_digest(self) -> str:
        """A digest of 256 bits, which nobody can forge; computed once, because it reads it all."""
        return self.digest(32)

    def digest(self, size: int = 16) -> str:
        """Return a fingerprint of the data, so that a record can refuse other data."""
        state = hashlib.blake2b(digest_size=size)
        for table in (self.X, self.y, self.X_unlabeled):
            if table is not None:
                _feed(state, table.native)
        if self.groups is not None:
            _feed(state, self.groups.codes)
        if self.fit_params is not None:
            state.update(repr(self.fit_params.constant).encode())
            for name, table in self.fit_params.per_row.items():
                state.update(name.encode())
                _feed(state, table.native)
        return state.hexdigest()


def _finite_array(native: Any) -> bool:
    if not isinstance(native, np.ndarray) or native.dtype.kind not in "fiu":
        return False
    if native.dtype.kind != "f":
        return True
    return all(np.isfinite(block).all() for block in _blocks(native))


def _blocks(native: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield some rows at a time: the array may be larger than memory."""
    step = max(1, _AT_ONCE * len(native) // max(1, native.nbytes))
    for start in range(0, len(native), step):
        yield native[start : start + step]


def _check_lengths(X: Table, y: Table) -> None:
    if len(X) == 0:
        raise DataError("X has no rows; a stability test needs labelled rows")
    if X.columns() in (0, ()):
        raise DataError("X has no columns; an algorithm needs at least one feature")
    if len(X) != len(y):
        raise DataError(f"X and y must have the same number of rows, got {len(X)} and {len(y)}")


def _check_columns(X: Table, unlabeled: Table) -> None:
    """Refuse unlabelled rows whose columns are not those of X."""
    if len(unlabeled) == 0:
        raise DataError("X_unlabeled has no rows; leave it out instead")
    if _kind(X) is not _kind(unlabeled):
        raise DataError(
            "X_unlabeled must be the same kind of container as X "
            f"({_named(X)}), got {_named(unlabeled)}"
        )
    expected, found = X.columns(), unlabeled.columns()
    if expected != found:
        raise DataError(f"X_unlabeled must have the columns of X ({expected}), got {found}")


def _kind(table: Table) -> type:
    """Return the type that X and X_unlabeled must share: for data frames also the library."""
    return type(table.native) if isinstance(table, FrameTable) else type(table)


def _named(table: Table) -> str:
    kind = type(table.native)
    library = f"{kind.__module__.partition('.')[0]} " if isinstance(table, FrameTable) else ""
    return f"{library}{kind.__name__}"


def fingerprint(native: Any) -> str:
    """Return a short hash of a container's type, shape and content.

    Examples
    --------
    >>> fingerprint(np.zeros(3)) == fingerprint(np.zeros(3))
    True
    """
    state = hashlib.blake2b(digest_size=16)
    _feed(state, native)
    return state.hexdigest()


def _feed(state: Any, native: Any) -> None:
    """Feed a container's type, shape and content to a hash."""
    if isinstance(native, np.ndarray) and native.dtype.kind != "O":
        state.update(f"{native.dtype.str}{native.shape}".encode())
        for block in [native] if native.flags.c_contiguous else _blocks(native):
            plain = np.ascontiguousarray(block)
            # Dates have no buffer; their bytes are those of whole numbers.
            state.update((plain.view(np.int64) if plain.dtype.kind in "Mm" else plain).data)
    elif isinstance(native, StoredTable):
        for frame in native.blocks():
            _feed(state, frame)
    elif is_sparse(native):
        for part in (native.data, native.indices, native.indptr):
            _feed(state, np.asarray(part))
    elif isinstance(native, (list, tuple, np.ndarray)):
        state.update(repr(list(native)).encode())
    else:
        _feed_frame(state, native)


def _feed_frame(state: Any, native: Any) -> None:
    import narwhals as nw

    wrapped: Any = nw.from_native(native, eager_only=True, allow_series=True)
    columns = wrapped.iter_columns() if hasattr(wrapped, "iter_columns") else [wrapped]
    for column in columns:
        state.update(f"{column.name}{column.dtype}".encode())
        _feed(state, column.to_numpy())
