"""The rows of a question: labelled ones, unlabelled ones, their groups and arguments of fit."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.checks import counted, did_you_mean
from poise.data.copies import mixed, row_identities
from poise.data.randomness import Ids, Words
from poise.data.rows import Rows, as_rows, column_of, join, own_copy, without_columns
from poise.data.suitable import check_responses, holds_labels
from poise.errors import DataError

if TYPE_CHECKING:
    from poise.data.split import Split


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
    ids : array or None
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
    ids: NDArray[Any] | None = None

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

        Such a column, also one of X_unlabeled, is not a feature.
        """
        rows = as_rows(X, "X")
        more = None if X_unlabeled is None else as_rows(X_unlabeled, "X_unlabeled")
        if groups_unlabeled is None and more is not None and isinstance(groups, str):
            groups_unlabeled = groups
        given = {"y": y, "groups": groups, "sample_weight": sample_weight, "ids": ids}
        columns = {name: _column(rows, "X", name, value) for name, value in given.items()}
        named = [v for v in (*given.values(), groups_unlabeled) if isinstance(v, str)]
        rows = _without(rows, named)
        if more is not None:
            groups_unlabeled = _column(more, "X_unlabeled", "groups_unlabeled", groups_unlabeled)
            more = _without(more, named)
        responses = _responses(rows, columns["y"])
        _check_columns(rows, more)
        belong = (groups, groups_unlabeled, fit_params, sample_weight, ids)
        if all(each is None for each in belong):
            return cls(rows, responses, more)
        from poise.data.groups_and_weights import divided, numbered_groups, one_per_row

        codes, more_codes = numbered_groups(columns["groups"], groups_unlabeled, rows, more)
        per_row, constant = divided(fit_params, columns["sample_weight"], rows)
        names = None if ids is None else one_per_row(columns["ids"], "ids", rows).column(0)
        return cls(rows, responses, more, codes, more_codes, per_row, constant, names)

    @property
    def at_hand(self) -> Sample:
        """The rows in the memory of this process: all of them."""
        return self

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

    def training(self, places: Ids) -> tuple[Any, Any, dict[str, Any]]:
        """Return fresh copies of features, responses and arguments of fit of labelled rows."""
        params = {name: own_copy(value) for name, value in self.constant.items()}
        params |= {name: rows.take(places) for name, rows in self.per_row.items()}
        return self.points(places), self.y.take(places), params

    def points(self, places: Ids) -> Any:
        """Return fresh copies of the features of any rows, labelled or not, in this order."""
        if self.X_unlabeled is None or (here := places < self.n_labeled).all():
            return self.X.take(places)
        unlabeled = self.X_unlabeled.take(places[~here] - self.n_labeled)
        if not here.any():
            return unlabeled
        both = as_rows(join(self.X.take(places[here]), unlabeled), "X")
        order = np.append(np.flatnonzero(here), np.flatnonzero(~here))
        return both.take(np.argsort(order))

    def knowing(self, y: Rows) -> Sample:
        """Return the sample with responses of its unlabelled rows, which stay apart from others."""
        mine, theirs = self.y.native, y.native
        if type(mine) is not type(theirs):  # responses in different containers become arrays
            mine, theirs = np.asarray(mine), np.asarray(theirs)
        return replace(self, y=as_rows(join(mine, theirs), "y"))

    def responses(self, places: Ids) -> Any:
        """Return fresh copies of the responses of rows that have one."""
        return self.y.take(places)

    def label_of(self, place: int) -> object:
        """Return what people call a row: its id, its label in the frame's index, or its number."""
        rows, here = self.X, place
        if place >= self.n_labeled and self.X_unlabeled is not None:
            rows, here = self.X_unlabeled, place - self.n_labeled
        elif self.ids is not None:
            return self.ids[place : place + 1].tolist()[0]
        index = getattr(rows.native, "index", None)
        if index is None or callable(index) or type(index).__name__ == "RangeIndex":
            return place
        return index[here : here + 1].tolist()[0]

    def only(self, places: Ids) -> Sample:
        """Return these labelled rows and all unlabelled ones."""
        X, y = as_rows(self.X.take(places), "X"), as_rows(self.y.take(places), "y")
        per_row = {name: as_rows(rows.take(places), name) for name, rows in self.per_row.items()}
        ids = None if self.ids is None else self.ids[places]
        codes = self.groups
        if codes is not None:
            codes = np.unique(codes[places], return_inverse=True)[1]
        return replace(self, X=X, y=y, groups=codes, per_row=per_row, ids=ids)

    def set_aside(self, count: int) -> tuple[Sample, Sample]:
        """Return at least so many labelled rows (whole groups), and all the others.

        Which rows these are depends on nothing but the number of rows and the groups, so that a
        run that is continued sets the same ones aside.
        """
        units = np.arange(self.n_labeled) if self.groups is None else self.groups
        sizes = np.bincount(units)
        order = np.random.default_rng(0).permutation(len(sizes))
        last = int(np.searchsorted(np.cumsum(sizes[order]), count))
        aside = np.isin(units, order[: last + 1])
        if aside.sum() > self.n_labeled / 2:
            problem = f"setting {count} of {self.n_labeled} labelled rows aside leaves too few"
            raise DataError(problem, remedy="give epsilon as a number")
        return self.only(np.flatnonzero(aside)), self.only(np.flatnonzero(~aside))

    def sd(self) -> float:
        """Return the standard deviation of the responses; of several, the root of their sum."""
        columns = [values for _, values in self.y.values()]
        if holds_labels(self.y) or any(values.dtype.kind not in "iuf" for values in columns):
            raise DataError("y holds labels, which have no standard deviation")
        if len(self.y) < 2 or all((values == values[0]).all() for values in columns):
            raise DataError("y is the same in all rows, so its standard deviation is 0")
        return math.sqrt(sum(float(np.var(values, ddof=1, dtype=np.float64)) for values in columns))

    @property
    def classes(self) -> dict[Any, int]:
        """How many rows each class of a single response has, in ascending order."""
        found, rows = np.unique(self.y.column(0), return_counts=True)
        return dict(zip(found.tolist(), rows.tolist(), strict=True))

    def digest(self) -> str:
        """Return a fingerprint of all values, the same for an array and a frame of them."""
        return digest_of(sums_of(self.tables), self.constant)

    @property
    def tables(self) -> dict[str, Rows]:
        """All rows and what follows them, by name."""
        found = {"X": self.X, "y": self.y, "X_unlabeled": self.X_unlabeled, **self.per_row}
        codes = {"groups": self.groups, "groups_unlabeled": self.groups_unlabeled}
        found |= {k: None if v is None else as_rows(v, k) for k, v in codes.items()}
        return {name: rows for name, rows in found.items() if rows is not None}

    def first(self, split: Split) -> tuple[Sample, Split]:
        """Return the rows that the first trials need, and the trials that are there: all."""
        return self, split


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
        state.update(f"{name}:{_fingerprint(value)}\n".encode())
    return state.hexdigest()


# Columns by name --------------------------------------------------------------------------------


def _column(rows: Rows, holder: str, argument: str, value: Any) -> Any:
    """Return the column that a text names; anything else as it is."""
    if not isinstance(value, str):
        return value
    if value in rows.labels:
        return column_of(rows.native, value)
    names = [label for label in rows.labels if isinstance(label, str)]
    problem = f"names no column of {holder}, which has {', '.join(names) or 'no column names'}"
    hint = did_you_mean(value, names).removeprefix("; ")
    raise DataError(problem, argument=argument, got=value, remedy=hint)


def _without(rows: Rows, named: list[str]) -> Rows:
    leave = [name for name in dict.fromkeys(named) if name in rows.labels]
    return as_rows(without_columns(rows.native, leave), "X") if leave else rows


# Checks -----------------------------------------------------------------------------------------


def _responses(rows: Rows, y: Any) -> Rows:
    if len(rows) == 0 or not len(rows.labels):
        problem = "has no rows" if len(rows) == 0 else "has no columns"
        raise DataError(problem, argument="X", remedy="give labelled rows with their features")
    if y is None:
        raise DataError("y is missing", remedy="give the responses, or the name of a column of X")
    responses = as_rows(y, "y")
    if len(rows) != len(responses):
        rule = "X and y must have the same number of rows"
        raise DataError(f"{rule}, got {len(rows)} and {len(responses)}")
    check_responses(responses)
    return responses


def _check_columns(X: Rows, more: Rows | None) -> None:
    """Refuse unlabelled rows whose columns are not those of X."""
    if more is None:
        return
    if len(more) == 0:
        raise DataError("has no rows", argument="X_unlabeled", remedy="leave it out instead")
    mine, theirs = ((type(rows.native), rows.single, rows.labels) for rows in (X, more))
    if mine != theirs:
        rule = f"must be like X ({_described(X)}), got {_described(more)}"
        raise DataError(rule, argument="X_unlabeled")


def _described(rows: Rows) -> str:
    count = counted(len(rows.labels), "column")
    kind = type(rows.native)
    name = f"{kind.__module__.partition('.')[0]} {kind.__name__}".removeprefix("builtins ")
    return f"{name} of {count if isinstance(rows.labels, range) else list(rows.labels)}"


def _fingerprint(value: object) -> str:
    """Return a digest of an argument of fit; its type where it has none."""
    import joblib

    try:
        return str(joblib.hash(value))
    except Exception:  # what cannot be pickled
        return str(type(value))
