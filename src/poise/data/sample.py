"""The rows of a question: labelled ones, unlabelled ones, their groups and arguments of fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poise.checks import counted
from poise.data.copies import digest_of, sums_of
from poise.data.randomness import Ids
from poise.data.rows import Rows, as_rows, column_of, join, own_copy, without
from poise.data.suitable import check_responses, check_weights, holds_labels, refuse_missing
from poise.errors import ArgumentError, DataError

if TYPE_CHECKING:
    from poise.data.split import Split

_FIRST = 1_000  # rows that are read before a formula is tried
_PER_ROW = ("sample_weight", "groups")  # names that always mean one value per row


@dataclass(frozen=True, eq=False)
class Sample:
    """Labelled rows (X, y) and, optionally, rows without a response.

    Rows are numbered from 0: first the labelled ones, then the unlabelled. Whatever holds them is
    kept as it is. What cannot be used is refused here, before the first fit.
    """

    X: Rows
    y: Rows
    X_unlabeled: Rows | None = None
    # Numbers of groups, in order of appearance. -1 stands for unlabelled rows whose group has
    # labelled rows too: they serve no trial.
    groups: Ids | None = None
    groups_unlabeled: Ids | None = None
    # Arguments of fit with one value for each labelled row, and all others.
    per_row: dict[str, Rows] = field(default_factory=dict)
    constant: dict[str, Any] = field(default_factory=dict)
    ids: NDArray[Any] | None = None  # what the labelled rows are called

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
        columns = {name: column_of(rows, name, value) for name, value in given.items()}
        named = [v for v in (*given.values(), groups_unlabeled) if isinstance(v, str)]
        rows = without(rows, named)
        if more is not None:
            found = column_of(more, "groups_unlabeled", groups_unlabeled, "X_unlabeled")
            groups_unlabeled, more = found, without(more, named)
        responses = _responses(rows, columns["y"])
        _check_columns(rows, more)
        codes, more_codes = _numbered_groups(columns["groups"], groups_unlabeled, rows, more)
        per_row, constant = _divided(fit_params, columns["sample_weight"], rows)
        names = None if ids is None else _one_per_row(columns["ids"], "ids", rows).column(0)
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

    def glimpse(self) -> Sample:
        """Return the same with the first features only."""
        both = (self.X, self.X_unlabeled)
        X, more = (t and as_rows(t.take(np.arange(min(len(t), _FIRST))), "X") for t in both)
        return replace(self, X=X or self.X, X_unlabeled=more)

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

    def sd(self) -> float | None:
        """Return the sd of the responses, None of labels and where all are the same.

        Of several responses it is the root of the sum of their variances.
        """
        columns = list(self.y.columns())
        if holds_labels(self.y) or any(values.dtype.kind not in "iuf" for values in columns):
            return None
        if all((values == values[:1]).all() for values in columns):  # or there are none
            return None
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


# Checks -----------------------------------------------------------------------------------------


def _responses(rows: Rows, y: Any) -> Rows:
    if len(rows) == 0 or not len(rows.labels):
        problem = "has no rows" if len(rows) == 0 else "has no columns"
        raise DataError(problem, argument="X", remedy="give labelled rows with their features")
    if y is None:
        raise DataError("y is missing", remedy="give the responses, or the name of a column of X")
    responses = _one_per_row(y, "y", rows)
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
    kind, labels = type(rows.native), rows.labels
    columns = counted(len(labels), "column") if isinstance(labels, range) else list(labels)
    library = kind.__module__.partition(".")[0].removeprefix("builtins")
    return f"{library} {kind.__name__} of {columns}".lstrip()


# What belongs to the rows -------------------------------------------------------------------------


def _one_per_row(values: Any, name: str, rows: Rows) -> Rows:
    """Take values that go with rows; refuse more or fewer than there are rows."""
    found = as_rows(values, name)
    if len(found) != len(rows):
        kind = "unlabelled" if name == "groups_unlabeled" else "labelled"
        rule = f"must hold one value per {kind} row ({len(rows)}), got {len(found)}"
        raise DataError(rule, argument=name)
    return found


def _divided(
    values: Mapping[str, Any] | None, sample_weight: Any, rows: Rows
) -> tuple[dict[str, Rows], dict[str, Any]]:
    """Divide arguments of fit: as in scikit-learn, those as long as the rows follow them."""
    given: Any = {} if values is None else values
    if not isinstance(given, Mapping):
        rule = "must be a dict of arguments of fit, such as {'sample_weight': weights}"
        raise ArgumentError(rule, argument="fit_params", got=values)
    if sample_weight is not None:
        if "sample_weight" in given:
            raise ArgumentError("is given twice, also in fit_params", argument="sample_weight")
        given = {**given, "sample_weight": sample_weight}
    per_row, constant = {}, {}
    for name, value in given.items():
        kind, said = str(name).rpartition("__")[2], f"fit_params[{name!r}]"
        if (length := length_of(value)) is None or (length != len(rows) and kind not in _PER_ROW):
            constant[name] = value
        else:
            per_row[name] = _one_per_row(value, said, rows)
            if kind == "sample_weight":
                check_weights(per_row[name], said)
    return per_row, constant


def length_of(value: Any) -> int | None:
    """Count the rows of a container; None if the value is none."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return int(shape[0]) if shape else None
    return len(value) if isinstance(value, (list, tuple)) or hasattr(value, "to_numpy") else None


def _numbered_groups(
    groups: Any, groups_unlabeled: Any, rows: Rows, more: Rows | None
) -> tuple[Ids | None, Ids | None]:
    """Return the numbers of groups; -1 for unlabelled rows whose group has labelled rows."""
    if groups_unlabeled is not None and (groups is None or more is None):
        needs = "groups" if groups is None else "X_unlabeled"
        raise ArgumentError(f"needs {needs} as well", argument="groups_unlabeled")
    if groups is None:
        return None, None
    known: dict[Any, int] = {}
    codes = _codes(groups, "groups", rows, known)
    if more is None:
        return codes, None
    if groups_unlabeled is None:
        remedy = "a test point must not belong to a group that its trial was trained on"
        raise DataError("X_unlabeled needs groups_unlabeled where there are groups", remedy=remedy)
    here = len(known)
    return codes, np.maximum(_codes(groups_unlabeled, "groups_unlabeled", more, known) - here, -1)


def _codes(labels: Any, name: str, rows: Rows, known: dict[Any, int]) -> Ids:
    """Replace labels by numbers, in order of appearance."""
    found = _one_per_row(labels, name, rows)
    plain = isinstance(found.native, (list, tuple))
    if not (found.single or plain):
        raise DataError("must be one column of labels", argument=name)
    refuse_missing(found, name, "give a row without a group a label of its own")
    values = found.native if plain else found.column(0).tolist()
    try:
        return np.array([known.setdefault(label, len(known)) for label in values], dtype=np.int64)
    except TypeError:
        raise DataError("must hold numbers or text", argument=name) from None
