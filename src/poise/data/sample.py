"""The rows of a question: labelled ones, unlabelled ones, their groups and arguments of fit."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from poise.checks import did_you_mean
from poise.data.copies import column_words, row_identities
from poise.data.fit_params import divided, other_length
from poise.data.randomness import Ids
from poise.data.rows import Rows, as_rows, column_of, is_sparse, join, own_copy, without_columns
from poise.data.suitable import check_responses, holds_labels, is_missing
from poise.errors import ArgumentError, DataError


@dataclass(frozen=True, eq=False)
class Sample:
    """Labelled rows (X, y) and, optionally, rows without a response.

    Rows are numbered from 0: first the labelled ones, then the unlabelled. Whatever holds them is
    kept as it is. What cannot be used is refused here, before the first fit.

    Attributes
    ----------
    X, y : Rows
        The labelled rows.
    X_unlabeled : Rows or None
        Rows without a response.
    groups, groups_unlabeled : array of int, or None
        Number of the group of each row, in order of appearance. -1 stands for unlabelled rows
        whose group has labelled rows too: they serve no trial.
    per_row : dict of str to Rows
        Arguments of fit with one value for each labelled row.
    constant : dict
        All other arguments of fit.
    ids : Rows or None
        What the labelled rows are called.

    Examples
    --------
    >>> sample = Sample.of([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], X_unlabeled=[[9.0]])
    >>> sample.n_labeled, sample.n_unlabeled
    (3, 1)
    >>> sample.training(np.array([0, 2]))
    ([[1.0], [3.0]], [1.0, 3.0], {})
    >>> sample.points(np.array([3, 2]))
    [[9.0], [3.0]]
    """

    X: Rows
    y: Rows
    X_unlabeled: Rows | None = None
    groups: Ids | None = None
    groups_unlabeled: Ids | None = None
    per_row: dict[str, Rows] = field(default_factory=dict)
    constant: dict[str, Any] = field(default_factory=dict)
    ids: Rows | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any = None,
        *,
        X_unlabeled: Any = None,
        groups: Any = None,
        groups_unlabeled: Any = None,
        fit_params: Mapping[str, Any] | None = None,
        sample_weight: Any = None,
        ids: Any = None,
    ) -> Sample:
        """Check the rows and what belongs to them; text names a column of the data frame X.

        Such a column, also one of X_unlabeled, is no feature.
        """
        rows = as_rows(X, "X")
        more = None if X_unlabeled is None else as_rows(X_unlabeled, "X_unlabeled")
        if isinstance(groups, str) and groups_unlabeled is None and _has(more, groups):
            groups_unlabeled = groups
        given = {"y": y, "groups": groups, "sample_weight": sample_weight, "ids": ids}
        named = [value for value in (*given.values(), groups_unlabeled) if isinstance(value, str)]
        y, groups, sample_weight, ids = (
            _column(rows, value, name) for name, value in given.items()
        )
        groups_unlabeled = _column(more, groups_unlabeled, "groups_unlabeled")
        rows, more = _without(rows, named), None if more is None else _without(more, named)
        responses = _responses(rows, y)
        _check_columns(rows, more)
        codes, more_codes = _groups(groups, groups_unlabeled, len(rows), more)
        per_row, constant = divided(fit_params, sample_weight, len(rows))
        names = None if ids is None else as_rows(ids, "ids")
        if names is not None and len(names) != len(rows):
            raise other_length("ids", len(rows), len(names))
        return cls(rows, responses, more, codes, more_codes, per_row, constant, names)

    @property
    def n_labeled(self) -> int:
        """How many rows have a response."""
        return len(self.X)

    @property
    def n_unlabeled(self) -> int:
        """How many rows have none."""
        return 0 if self.X_unlabeled is None else len(self.X_unlabeled)

    @property
    def n_groups(self) -> int | None:
        """How many groups the labelled rows form; None without groups."""
        return None if self.groups is None else int(self.groups.max()) + 1

    @property
    def n_groups_unlabeled(self) -> int:
        """How many groups have unlabelled rows only."""
        codes = self.groups_unlabeled
        return 0 if codes is None else int(codes.max(initial=-1)) + 1

    @property
    def n_responses(self) -> int:
        """How many responses a row has."""
        return len(self.y.labels)

    @property
    def columns(self) -> tuple[str, ...] | int | None:
        """The names of the features, or their number; None for rows that are no table."""
        return self.X.columns()

    def training(self, places: Ids) -> tuple[Any, Any, dict[str, Any]]:
        """Return fresh copies of features, responses and arguments of fit of labelled rows."""
        params = {name: own_copy(value) for name, value in self.constant.items()}
        params |= {name: rows.take(places) for name, rows in self.per_row.items()}
        return self.X.take(places), self.y.take(places), params

    def points(self, places: Ids) -> Any:
        """Return fresh copies of the features of any rows, labelled or not, in this order."""
        here = places < self.n_labeled
        if self.X_unlabeled is None or here.all():
            return self.X.take(places)
        unlabeled = self.X_unlabeled.take(places[~here] - self.n_labeled)
        if not here.any():
            return unlabeled
        both = as_rows(join(self.X.take(places[here]), unlabeled), "X")
        order = np.append(np.flatnonzero(here), np.flatnonzero(~here))
        return both.take(np.argsort(order))

    def responses(self, places: Ids) -> Any:
        """Return fresh copies of the responses of labelled rows."""
        if (places >= self.n_labeled).any():
            row = int(places.max())
            raise DataError(f"row {row} has no response: only {self.n_labeled} rows are labelled")
        return self.y.take(places)

    def label_of(self, place: int) -> object:
        """Return what people call a row: its id, its label in the frame's index, or its number."""
        labeled = place < self.n_labeled
        if labeled and self.ids is not None:
            return _plain(np.asarray(self.ids.take(np.array([place])))[0])
        rows, here = (self.X, place) if labeled else (self.X_unlabeled, place - self.n_labeled)
        index = None if rows is None else getattr(rows.native, "index", None)
        if index is None or callable(index) or type(index).__name__ == "RangeIndex":
            return place
        return _plain(index[here])

    def only(self, places: Ids) -> Sample:
        """Return these labelled rows and all unlabelled ones."""
        per_row = {name: as_rows(rows.take(places), name) for name, rows in self.per_row.items()}
        codes = self.groups
        return replace(
            self,
            X=as_rows(self.X.take(places), "X"),
            y=as_rows(self.y.take(places), "y"),
            groups=None if codes is None else np.unique(codes[places], return_inverse=True)[1],
            per_row=per_row,
            ids=None if self.ids is None else as_rows(self.ids.take(places), "ids"),
        )

    def set_aside(self, count: int) -> tuple[Sample, Sample]:
        """Return at least so many labelled rows (whole groups), and all the others.

        Which rows these are depends on nothing but the number of rows and the groups, so that a
        run that is continued sets the same ones aside.
        """
        units = np.arange(self.n_labeled) if self.groups is None else self.groups
        sizes = np.bincount(units)
        order = np.random.default_rng(0).permutation(len(sizes))
        chosen = order[: int(np.searchsorted(np.cumsum(sizes[order]), count)) + 1]
        aside = np.isin(units, chosen)
        if aside.sum() > self.n_labeled / 2:
            raise DataError(
                f"setting {count} of {self.n_labeled} labelled rows aside leaves too few",
                remedy="give epsilon as a number",
            )
        return self.only(np.flatnonzero(aside)), self.only(np.flatnonzero(~aside))

    def sd(self) -> float:
        """Return the standard deviation of the responses; of several, the root of their sum."""
        columns = [values for _, values in self.y.values()]
        if holds_labels(self.y) or any(values.dtype.kind not in "iuf" for values in columns):
            raise DataError("y holds labels, which have no standard deviation")
        if self.n_labeled < 2 or all((values == values[0]).all() for values in columns):
            raise DataError("y is the same in all rows, so its standard deviation is 0")
        return math.sqrt(sum(float(np.var(values, ddof=1, dtype=np.float64)) for values in columns))

    def digest(self) -> str:
        """Return a fingerprint of all values, the same for an array and a frame of them."""
        state = hashlib.blake2b(digest_size=32)
        tables = {"X": self.X, "y": self.y, "X_unlabeled": self.X_unlabeled, **self.per_row}
        for name, table in tables.items():
            if table is not None:
                state.update(f"{name}:{len(table)}:{len(table.labels)}\n".encode())
                _feed(state, table)
        for name, codes in (("groups", self.groups), ("unlabeled", self.groups_unlabeled)):
            state.update(name.encode() + (b"" if codes is None else codes.tobytes()))
        for name, value in sorted(self.constant.items()):
            state.update(f"{name}:{_fingerprint(value)}\n".encode())
        return state.hexdigest()


# Columns by name --------------------------------------------------------------------------------


def _has(rows: Rows | None, column: str) -> bool:
    names = None if rows is None else rows.columns()
    return isinstance(names, tuple) and column in names


def _column(rows: Rows | None, value: Any, name: str) -> Any:
    """Return the column that a text names; anything else as it is."""
    if not isinstance(value, str) or rows is None:
        return value
    holder = "X_unlabeled" if name == "groups_unlabeled" else "X"
    names = rows.columns()
    if not isinstance(names, tuple):
        raise DataError(
            f"names a column, but {holder} has no column names",
            argument=name,
            got=value,
            remedy=f"give one value per row, or make {holder} a data frame",
        )
    if value not in names:
        hint = did_you_mean(value, map(str, names))
        raise DataError(
            f"names no column of {holder}, which has {', '.join(map(str, names))}",
            argument=name,
            got=value,
            remedy=hint.removeprefix("; "),
        )
    return column_of(rows.native, value)


def _without(rows: Rows, named: list[str]) -> Rows:
    leave = [name for name in dict.fromkeys(named) if _has(rows, name)]
    return as_rows(without_columns(rows.native, leave), "X") if leave else rows


# Checks -----------------------------------------------------------------------------------------


def _responses(rows: Rows, y: Any) -> Rows:
    if len(rows) == 0:
        raise DataError("has no rows", argument="X", remedy="give labelled rows")
    if rows.columns() in (0, ()):
        raise DataError("has no columns", argument="X", remedy="give at least one feature")
    if y is None:
        raise DataError("y is missing", remedy="give the responses, or the name of a column of X")
    responses = as_rows(y, "y")
    if len(rows) != len(responses):
        lengths = f"{len(rows)} and {len(responses)}"
        raise DataError(f"X and y must have the same number of rows, got {lengths}")
    check_responses(responses)
    return responses


def _check_columns(X: Rows, more: Rows | None) -> None:
    """Refuse unlabelled rows whose columns are not those of X."""
    if more is None:
        return
    if len(more) == 0:
        raise DataError("has no rows", argument="X_unlabeled", remedy="leave it out instead")
    if X.kind != more.kind:
        rule = f"must be the same kind of container as X ({X.kind}), got {more.kind}"
        raise DataError(rule, argument="X_unlabeled")
    if X.columns() != more.columns():
        rule = f"must have the columns of X ({X.columns()}), got {more.columns()}"
        raise DataError(rule, argument="X_unlabeled")


def _groups(
    groups: Any, groups_unlabeled: Any, n_labeled: int, more: Rows | None
) -> tuple[Ids | None, Ids | None]:
    """Return the numbers of groups; -1 for unlabelled rows whose group has labelled rows."""
    if groups is None:
        if groups_unlabeled is not None:
            raise ArgumentError("needs groups as well", argument="groups_unlabeled")
        return None, None
    known: dict[Any, int] = {}
    codes = _codes(groups, "groups", n_labeled, known)
    if more is None:
        if groups_unlabeled is not None:
            raise ArgumentError("needs X_unlabeled as well", argument="groups_unlabeled")
        return codes, None
    if groups_unlabeled is None:
        raise DataError(
            "X_unlabeled needs groups_unlabeled where there are groups",
            remedy="a test point must not belong to a group that its trial was trained on",
        )
    here = len(known)
    return codes, np.maximum(
        _codes(groups_unlabeled, "groups_unlabeled", len(more), known) - here, -1
    )


def _codes(labels: Any, name: str, count: int, known: dict[Any, int]) -> Ids:
    """Replace labels of any hashable type by numbers, in order of appearance."""
    rows = as_rows(labels, name)
    if len(rows) != count:
        raise other_length(name, count, len(rows))
    plain = isinstance(rows.native, (list, tuple))
    if rows.columns() is not None and not plain:
        raise DataError("must be one column of labels", argument=name)
    values = rows.native if plain else rows.column(0).tolist()
    codes = np.empty(count, dtype=np.int64)
    for row, label in enumerate(values):
        if is_missing(label):
            raise DataError(
                f"must not be missing, got {label!r} in row {row} (counting from 0)",
                argument=name,
                remedy="give a row without a group a label of its own",
            )
        try:
            codes[row] = known.setdefault(label, len(known))
        except TypeError:
            raise DataError("must hold numbers or text", argument=name, got=label) from None
    return codes


# Words for values -------------------------------------------------------------------------------


def _plain(value: Any) -> object:
    return value.item() if isinstance(value, (np.str_, np.number, np.bool_)) else value


def _feed(state: Any, table: Rows) -> None:
    if is_sparse(table.native):  # which has too many columns to look at each
        state.update(row_identities(1, table).tobytes() + row_identities(2, table).tobytes())
        return
    for words in column_words(table):
        state.update(words.tobytes())


def _fingerprint(value: object) -> str:
    """Return a digest of an argument of fit; its text where it has none."""
    import joblib

    try:
        return str(joblib.hash(value))
    except Exception:  # what cannot be pickled
        return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
