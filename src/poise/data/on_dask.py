"""Rows that live on Dask: what is known of them here, and how they move to where they are fitted.

Each partition is looked at where it is. Then every row goes, by Dask's own shuffle, to the piece
of the run that needs it. This process sees the rows of the first trials, and some tens of
thousands that show what copies and classes there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from poise.data.belonging import length_of
from poise.data.copies import chosen, telling_column
from poise.data.pieces import Order, Pieces, Side
from poise.data.randomness import Ids, Words
from poise.data.rows import as_rows, is_on_dask
from poise.data.sample import Sample, digest_of, sums_of
from poise.data.split import Split, Units
from poise.errors import DataError

_AT_HAND = 100_000  # rows
_MOST_CLASSES = 1_000
_FIRST_TRIALS, _FIRST_ROWS = 8, 1 << 16  # that are looked at before the others
_PIECE = 1 << 26  # bytes
_PER_WORKER = 4  # pieces, because one worker is slower than another


@dataclass(frozen=True)
class Columns:
    """What columns mean, and what every fit gets besides."""

    y: str
    groups: str | None
    sample_weight: str | None
    constant: Mapping[str, Any]

    def sums(self, part: Any, first: int, labeled: bool) -> dict[str, Words]:
        """Return what a digest knows of a partition."""
        if not len(part):
            return {}
        if labeled:
            return sums_of(self.sample(part).tables, first)
        rows = part.drop(columns=[self.y, self.groups, self.sample_weight], errors="ignore")
        return sums_of({"X_unlabeled": as_rows(rows, "X_unlabeled")}, first)

    def sample(self, rows: Any, more: Any = None) -> Sample:
        """Make a sample of rows in memory; those that have moved have no groups any more."""
        made = Sample.of(
            rows,
            self.y,
            X_unlabeled=more if more is not None and len(more) else None,
            groups=self.groups if self.groups in rows.columns else None,
            sample_weight=self.sample_weight,
        )
        return replace(made, constant=dict(self.constant))


@dataclass(frozen=True)
class Seen:
    """What a partition shows."""

    rows: int = 0
    some: Any = None  # rows that stand for it
    mean: float = 0.0  # of its responses
    squares: float = 0.0  # the sum of their squared distances from it
    labels: tuple[Any, ...] = ()  # of its groups, in order of appearance


@dataclass(frozen=True)
class Look:
    """Checks partitions as rows in memory are checked; ``head`` are some labelled rows."""

    columns: Columns
    check: Callable[[Sample], object]
    head: Any
    keep: int  # rows of each partition

    def __call__(self, part: Any, number: int, labeled: bool) -> Seen:
        """Look at one partition; unlabelled rows are checked beside labelled ones."""
        if not len(part):
            return Seen(some=part)
        try:
            sample = self.columns.sample(*((part,) if labeled else (self.head, part)))
            self.check(sample)
        except Exception as error:
            if hasattr(error, "problem"):
                error.problem += f" of partition {number}"
            raise
        groups = self.columns.groups
        labels = tuple(dict.fromkeys(part[groups].to_numpy().tolist())) if groups else ()
        if not labeled:
            return Seen(len(part), labels=labels)
        y, mean, squares = sample.y.column(0), 0.0, 0.0
        if y.dtype.kind in "iuf":
            mean = float(y.mean())
            squares = float(np.var(y, dtype=np.float64)) * len(y)
        return Seen(len(part), part.iloc[self._telling(sample)], mean, squares, labels)

    def _telling(self, sample: Sample) -> Ids:
        """Choose rows by value, so that copies are among them or not, and one of each class."""
        column = telling_column(self.columns.sample(self.head).X)
        some = chosen(sample.X, column, self.keep / sample.n_labeled)
        classes = np.unique(sample.y.column(0), return_index=True)[1]
        return np.union1d(some, classes) if len(classes) <= _MOST_CLASSES else some


@dataclass(frozen=True)
class Table:
    """A frame of Dask: its partitions, an empty one, and what was seen in each."""

    parts: list[Any]
    empty: Any
    seen: tuple[Seen, ...]

    @classmethod
    def of(cls, frame: Any, look: Look, labeled: bool) -> Table:
        """Look at each partition."""
        import dask

        parts = frame.to_delayed()  # once: other expressions of it may have other partitions
        what, each = shared(look), later(Look.__call__)
        seen = dask.compute(*(each(what, part, k, labeled) for k, part in enumerate(parts)))
        return cls(parts, frame._meta, seen)

    def __len__(self) -> int:
        return sum(each.rows for each in self.seen)

    def mapped(self, function: Callable[..., Any], what: Any, *more: Any) -> list[Any]:
        """Return what a function of each partition, and the number of its first row, will give."""
        node, each = shared(what), later(function)
        starts = np.cumsum([0, *(each.rows for each in self.seen)]).tolist()
        return [each(node, part, row, *more) for part, row in zip(self.parts, starts, strict=False)]


def shared(what: Any) -> Any:
    """Put an object into the graph of Dask once."""
    import dask

    return dask.delayed(what, traverse=False)


def later(function: Callable[..., Any]) -> Any:
    """Return a function that is computed by Dask, anew each time."""
    import dask

    return dask.delayed(function, pure=False)


@dataclass(frozen=True, eq=False)
class DaskSample:
    """Rows on Dask, asked what a :class:`Sample` is asked.

    Attributes
    ----------
    at_hand : Sample
        Some labelled rows, one of each class among them, that stand for all.
    """

    columns: Columns
    labeled: Table
    unlabeled: Table
    at_hand: Sample

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        check: Callable[[Sample], object],
        *,
        X_unlabeled: Any = None,
        groups: Any = None,
        groups_unlabeled: Any = None,
        fit_params: Mapping[str, Any] | None = None,
        sample_weight: Any = None,
        ids: Any = None,
    ) -> DaskSample:
        """Look at all rows; ``check`` refuses those that the algorithm cannot take."""
        import pandas as pd

        X, y = (X, y) if isinstance(y, str) else _with_responses(X, y)
        named = {"groups": groups, "sample_weight": sample_weight}
        _require_columns(named | {"ids": ids, "groups_unlabeled": groups_unlabeled})
        if X_unlabeled is not None and not is_on_dask(X_unlabeled):
            raise DataError("must be a data frame of Dask, as X is", argument="X_unlabeled")
        frames = [X] if X_unlabeled is None else [X, X_unlabeled]
        for frame in frames:
            _require_known_categories(frame)
        columns = Columns(y, groups, sample_weight, fit_params or {})
        head = X.head(1000, npartitions=-1)
        columns.sample(head)
        look = Look(columns, check, head, -(-_AT_HAND // X.npartitions))
        tables = [Table.of(frame, look, frame is X) for frame in frames]
        at_hand = columns.sample(pd.concat([each.some for each in tables[0].seen]))
        for name, value in columns.constant.items():
            if length_of(value) == len(tables[0]):
                rule = "must not hold a value for each row: rows on Dask have columns for them"
                raise DataError(rule, argument=f"fit_params[{name!r}]")
        labeled, unlabeled = (*tables, Table([], None, ()))[:2]
        return cls(columns, labeled, unlabeled, at_hand)

    @property
    def n_labeled(self) -> int:
        """How many rows have a response."""
        return len(self.labeled)

    @property
    def n_unlabeled(self) -> int:
        """How many rows have none."""
        return len(self.unlabeled)

    @property
    def n_groups(self) -> int | None:
        """How many groups the labelled rows form; None without groups."""
        return len(self._numbers[0]) if self.columns.groups else None

    @property
    def n_groups_unlabeled(self) -> int:
        """How many groups have unlabelled rows only."""
        return len(self._numbers[1])

    @cached_property
    def _numbers(self) -> tuple[dict[Any, int], dict[Any, int]]:
        """Number the groups of each table in order of appearance."""
        known: list[dict[Any, int]] = [{}, {}]
        for numbers, table in zip(known, (self.labeled, self.unlabeled), strict=True):
            for each in table.seen:
                for label in each.labels:
                    if label not in known[0]:
                        numbers.setdefault(label, len(numbers))
        return known[0], known[1]

    def sd(self) -> float:
        """Return the standard deviation of the responses."""
        self.at_hand.sd()  # refuses labels, and responses that are all the same
        seen = [each for each in self.labeled.seen if each.rows]
        mean = sum(each.rows * each.mean for each in seen) / self.n_labeled
        squares = sum(each.squares + each.rows * (each.mean - mean) ** 2 for each in seen)
        return math.sqrt(squares / (self.n_labeled - 1))

    def label_of(self, place: int) -> int:
        """Return what people call a row: its number."""
        return place

    def set_aside(self, count: int) -> tuple[Sample, Sample]:
        """Refuse to: an allowed change is a number here."""
        raise DataError("rows on Dask cannot be set aside", remedy="give epsilon as a number")

    def digest(self) -> str:
        """Return the fingerprint that the same rows have in memory."""
        import dask

        parts = self.labeled.mapped(Columns.sums, self.columns, True)
        parts += self.unlabeled.mapped(Columns.sums, self.columns, False)
        sums: dict[str, Words] = {}
        for found in dask.compute(*parts):
            for name, words in found.items():
                sums[name] = sums.get(name, np.uint64(0)) + words
        return digest_of(sums, self.groups, self.groups_unlabeled, self.columns.constant)

    @cached_property
    def groups(self) -> Ids | None:
        """The number of each row's group, fetched when somebody asks which rows made a trial."""
        return self._codes(self.labeled, self._numbers[0])

    @cached_property
    def groups_unlabeled(self) -> Ids | None:
        """The same of unlabelled rows; -1 where the group has labelled rows too."""
        return self._codes(self.unlabeled, self._numbers[1])

    def _codes(self, table: Table, numbers: Mapping[Any, int]) -> Ids | None:
        import dask

        name = self.columns.groups
        if name is None or not table:
            return None
        labels = dask.compute(*table.mapped(_labels, name))
        return np.array([numbers.get(each, -1) for part in labels for each in part], np.int64)

    # How rows move

    def pieces(self, split: Split, trials: range, workers: int = 0) -> Pieces:
        """Cut trials into pieces for so many workers, or into a single one."""
        rows = self.at_hand.X.native
        trial = rows.memory_usage(index=False, deep=True).sum() / len(rows)
        trial *= split.width + split.n_points
        fair = -(-len(trials) // (_PER_WORKER * workers)) if workers else len(trials)
        size = max(1, min(int(_PIECE / trial), fair)) if workers else fair
        first = np.append(np.arange(trials.start, trials.stop, size), trials.stop)
        labeled = self._order(split, self.labeled, "order of labelled rows", 0)
        unlabeled = self._order(split, self.unlabeled, "order of unlabelled rows", 1)
        units = self.n_labeled, 0 if split.losses else self.n_unlabeled
        if self.columns.groups:
            units = len(self._numbers[0]), 0 if split.losses else len(self._numbers[1])
        return Pieces.of(split, first, (labeled, unlabeled), units)

    def _order(self, split: Split, table: Table, role: str, which: int) -> Order:
        randomness, ranks = split.randomness if split.shuffle and table else None, None
        if self.columns.groups:
            role = role if which else "order of groups"
            order = np.arange(len(self._numbers[which]))
            if randomness is not None:
                order = randomness.order(role, len(order))
            ranks = dict(zip(self._numbers[which], np.argsort(order).tolist(), strict=True))
        return Order(len(table), randomness, role, ranks)

    def placed(self, pieces: Pieces) -> Iterator[tuple[list[Any], Any]]:
        """Return what partitions of both tables will keep for pieces, and an empty one."""
        group = self.columns.groups
        for side, table in ((pieces.labeled, self.labeled), (pieces.unlabeled, self.unlabeled)):
            if len(side.piece):
                yield table.mapped(Side.placed, side, group), side.placed(table.empty, 0, group)
            else:
                yield [], None

    def moved(self, pieces: Pieces) -> list[tuple[Any, Any]]:
        """Return the rows of each piece, moved by Dask when they are needed."""
        import dask.dataframe as dd

        tables: list[list[Any]] = []
        for parts, empty in self.placed(pieces):
            tables.append([None] * len(pieces))
            if parts:
                frame = dd.from_delayed(parts, meta=empty, verify_meta=False)
                moved = frame.set_index("_piece", divisions=list(range(len(pieces) + 1)))
                tables[-1] = moved.to_delayed()
        return list(zip(*tables, strict=True))

    def first(self, split: Split) -> tuple[Sample, Split]:
        """Fetch the rows of the first trials."""
        import dask
        import pandas as pd

        count = min(len(split), max(1, min(_FIRST_TRIALS, _FIRST_ROWS // split.width)))
        pieces = self.pieces(split, range(count))
        fetched = (dask.compute(*parts) for parts, _ in self.placed(pieces))
        rows, more = (pd.concat(parts) if parts else None for parts in fetched)
        return gathered(self.columns, pieces, 0, rows, more, split.on(None, trials=count))


def gathered(
    columns: Columns, pieces: Pieces, piece: int, rows: Any, more: Any, split: Split
) -> tuple[Sample, Split]:
    """Put the rows of a piece in order, and return its trials on them."""
    rows, here = pieces.labeled.ordered(rows, piece)
    beyond = Units(np.arange(0), None, np.arange(0), pieces.unlabeled.units)
    if more is not None:
        more, beyond = pieces.unlabeled.ordered(more, piece, pieces.labeled.order.count)
    beyond = replace(beyond, rows=beyond.rows + len(rows))
    sample = columns.sample(rows, more)
    return sample, split.on(sample, here, beyond, trials=split.here)


def _labels(name: str, part: Any, first: int) -> list[Any]:
    labels: list[Any] = part[name].to_numpy().tolist()
    return labels


def _with_responses(X: Any, y: Any) -> tuple[Any, str]:
    """Make a Dask Series a column."""
    problem = "must be the name of a column, or a Series of Dask with the partitions of X"
    if not (type(y).__module__.startswith("dask.") and type(y).__name__ == "Series"):
        raise DataError(problem, argument="y", got=y)
    name = y.name if isinstance(y.name, str) and y.name not in X.columns else "_y"
    try:
        return X.assign(**{name: y}), name
    except ValueError as error:
        raise DataError(problem, argument="y") from error


def _require_columns(given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if not (value is None or isinstance(value, str)):
            raise DataError("must be the name of a column of X", argument=name)
    if given["ids"] is not None:
        raise DataError(
            "must be left out: rows on Dask are called by their numbers", argument="ids"
        )
    if given["groups_unlabeled"] not in (None, given["groups"]):
        raise DataError("must be the column of the groups of X", argument="groups_unlabeled")


def _require_known_categories(frame: Any) -> None:
    for name in frame.columns:
        if not getattr(getattr(frame[name], "cat", None), "known", True):
            problem = f"column {name!r} has other categories in every partition"
            raise DataError(problem, argument="X", remedy="give X.categorize()")
