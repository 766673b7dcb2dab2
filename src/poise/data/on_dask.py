"""Rows that live on Dask: what is known of them here, and how they move to where they are fitted.

Each partition is looked at where it is. Then every row goes, by Dask's own shuffle, to the piece
of the run that needs it. This process sees the rows of the first trials, and some tens of
thousands that show what copies and classes there are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from poise.data.copies import chosen, digest_of, sums_of, telling_column
from poise.data.pieces import Order, Side
from poise.data.randomness import Ids, Words
from poise.data.rows import as_rows, is_on_dask
from poise.data.sample import Sample, length_of
from poise.data.split import Split
from poise.errors import AlgorithmError, ArgumentError, DataError

_AT_HAND = 100_000  # rows
_MOST_CLASSES = 1_000
_FIRST_TRIALS, _FIRST_ROWS = 8, 1 << 16  # that are looked at before the others
_PIECE = 1 << 26  # bytes
_PER_WORKER = 4  # pieces, because one worker is slower than another


class Columns(NamedTuple):
    """What columns mean, and what every fit gets besides."""

    y: str
    groups: str | None
    sample_weight: str | None
    constant: Mapping[str, Any]

    def sample(self, rows: Any, more: Any = None) -> Sample:
        """Make a sample of rows in memory; those that have moved have no groups any more."""
        groups = self.groups if self.groups in rows.columns else None
        beyond = more if more is not None and len(more) else None
        weights = self.sample_weight
        made = Sample.of(rows, self.y, X_unlabeled=beyond, groups=groups, sample_weight=weights)
        return replace(made, constant=dict(self.constant))


class Table(NamedTuple):
    """The partitions of a frame, the number of the first row of each, and an empty one."""

    parts: Sequence[Any] = ()
    first: Sequence[int] = (0,)
    empty: Any = None
    seen: Sequence[Seen] = ()

    def each(self, function: Callable[..., Any], what: Any) -> list[Any]:
        """Return what a function of ``what``, each partition and its number will give."""
        import dask

        shared = dask.delayed(what, traverse=False)  # in the graph once
        call = dask.delayed(function, pure=False)
        return [call(shared, *each) for each in zip(self.parts, self.first, strict=False)]


class Look(NamedTuple):
    """What it takes to look at a partition; ``head`` are labelled rows beside unlabelled ones."""

    columns: Columns
    check: Callable[[Sample], Any]
    head: Any
    keep: int  # rows

    def table(self, frame: Any) -> Table:
        """Look at each partition of a frame."""
        import dask

        parts = frame.to_delayed()  # once: other expressions of it may have other partitions
        table = Table(parts, range(len(parts)), frame._meta)
        seen = dask.compute(*table.each(_seen, self))
        first = np.cumsum([0, *(each.rows for each in seen)]).tolist()
        return table._replace(first=first, seen=seen)


class Seen(NamedTuple):
    """What a partition shows."""

    rows: int = 0
    some: Any = None  # rows that stand for it
    mean: float = 0.0  # of its responses
    squares: float = 0.0  # sum of their squared distances from it
    labels: tuple[Any, ...] = ()  # of its groups, in order of appearance
    classes: Mapping[Any, int] = {}  # how many rows have each


def _seen(look: Look, part: Any, number: int) -> Seen:
    """Check a partition as rows in memory are checked, and choose rows that stand for it.

    They are chosen by value, so that copies are among them or not; and one of each class.
    """
    groups, labeled = look.columns.groups, look.columns.y in part.columns
    if not len(part):
        return Seen(some=part if labeled else None)
    try:
        sample = look.columns.sample(*((part,) if labeled else (look.head, part)))
        checked = look.check(sample)
    except (ArgumentError, DataError, AlgorithmError) as error:
        error.problem += f" of partition {number}"
        raise
    labels = tuple(dict.fromkeys(part[groups].to_numpy().tolist())) if groups else ()
    if not labeled:
        return Seen(len(part), labels=labels)
    _, column = telling_column(look.columns.sample(look.head).X)
    some = chosen(sample.X, column, look.keep / len(part))
    values = sample.y.column(0)
    classes = np.unique(values, return_index=True)[1]
    if len(classes) <= _MOST_CLASSES:
        some = np.union1d(some, classes)
    spread = (0.0, 0.0)
    if values.dtype.kind in "iuf":
        spread = float(values.mean()), len(part) * float(np.var(values, dtype=np.float64))
    each = sample.classes if checked.n_classes else {}
    return Seen(len(part), part.iloc[some], *spread, labels, each)


@dataclass(frozen=True)
class DaskSample:
    """Rows on Dask, asked what a :class:`Sample` is asked."""

    columns: Columns
    tables: list[Table]  # labelled, unlabelled
    at_hand: Sample  # some labelled rows, one of each class among them, that stand for all
    numbers: list[dict[Any, int]]  # of groups of labelled rows, and of those that have none

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        check: Callable[[Sample], Any],
        *,
        X_unlabeled: Any = None,
        fit_params: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> DaskSample:
        """Look at all rows; ``check`` refuses those that the algorithm cannot take."""
        import pandas as pd

        _require_on_dask(X, X_unlabeled, {"y": y, **named})
        columns = Columns(y, named["groups"], named["sample_weight"], fit_params or {})
        head = next(filter(len, (part.head(1000).compute() for part in X.to_delayed())), X._meta)
        columns.sample(head)  # names a column that is not there
        look = Look(columns, check, head, -(-_AT_HAND // X.npartitions))
        tables = [look.table(X), Table()]
        if X_unlabeled is not None:
            tables[1] = look.table(X_unlabeled.drop(columns=[y], errors="ignore"))
        for name, value in columns.constant.items():
            if length_of(value) == tables[0].first[-1]:
                rule = "must not hold a value for each row: rows on Dask have columns for them"
                raise DataError(rule, argument=f"fit_params[{name!r}]")
        numbers: list[dict[Any, int]] = []
        for table in tables:
            labels = dict.fromkeys(label for each in table.seen for label in each.labels)
            new = [label for label in labels if not any(label in known for known in numbers)]
            numbers.append({label: k for k, label in enumerate(new)})
        at_hand = columns.sample(pd.concat([each.some for each in tables[0].seen]))
        return cls(columns, tables, at_hand, numbers)

    @property
    def n_labeled(self) -> int:
        """How many rows have a response."""
        return self.tables[0].first[-1]

    @property
    def n_unlabeled(self) -> int:
        """How many rows have none."""
        return self.tables[1].first[-1]

    @property
    def n_groups(self) -> int | None:
        """How many groups the labelled rows form; None without groups."""
        return len(self.numbers[0]) if self.columns.groups else None

    @property
    def n_groups_unlabeled(self) -> int:
        """How many groups have unlabelled rows only."""
        return len(self.numbers[1])

    @property
    def groups(self) -> None:
        """Refuse to: the group of every row may be more than this process can hold."""
        if self.columns.groups:
            raise DataError("which rows of groups on Dask made a trial is not known")

    groups_unlabeled = groups

    def sd(self) -> float | None:
        """Return the sd of the responses; None of labels, or where all are the same."""
        if self.at_hand.sd() is None:
            return None
        rows, mean, squares = np.array([s[:1] + s[2:4] for s in self.tables[0].seen]).T
        between = rows @ (mean - np.average(mean, weights=rows)) ** 2
        return math.sqrt((squares.sum() + between) / (rows.sum() - 1))

    @property
    def classes(self) -> dict[Any, int]:
        """How many rows each class has, in ascending order."""
        total = Counter[Any]()
        for each in self.tables[0].seen:
            total.update(each.classes)
        return dict(sorted(total.items()))

    def digest(self) -> str:
        """Return the fingerprint that the same rows have in memory."""
        import dask

        sides = zip(self.tables, self.numbers, strict=True)
        parts = [part for table, n in sides for part in table.each(_sums, (self.columns, n))]
        return digest_of(np.sum(dask.compute(*parts), axis=0), self.columns.constant)

    def label_of(self, place: int) -> int:
        """Return what people call a row: its number."""
        return place

    def set_aside(self, count: int) -> tuple[Sample, Sample]:
        """Refuse to: an allowed change is a number here."""
        raise DataError("rows on Dask cannot be set aside", remedy="give epsilon as a number")

    # How rows move

    def first(self, split: Split) -> tuple[Sample, Split]:
        """Fetch the rows of the first trials."""
        import dask
        import pandas as pd

        count = min(len(split), max(1, min(_FIRST_TRIALS, _FIRST_ROWS // split.width)))
        if not count:
            return self.at_hand, split
        sides = self.sides(split, np.array([0, count]))
        fetched = [dask.compute(*table) for table in self._placed(sides)]
        rows = [pd.concat(parts) if parts else None for parts in fetched]
        return gathered(self.columns, sides, 0, rows, split.on(None, trials=count))

    def pieces(self, split: Split, trials: range, workers: int) -> Ids:
        """Cut trials into pieces for so many workers; return where they begin, and the end."""
        rows = self.at_hand.X.native
        row = rows.memory_usage(index=False, deep=True).sum() / len(rows)
        most = int(_PIECE / (row * (split.width + split.n_points)))
        size = max(1, min(most, -(-len(trials) // (_PER_WORKER * workers))))
        return np.append(np.arange(trials.start, trials.stop, size), trials.stop)

    def sides(self, split: Split, first: Ids) -> tuple[Side, Side]:
        """Find which rows belong to pieces that begin at ``first``, which names the end, too."""
        begins = [split.width * first]
        begins += [split.trials * (split.width + t) + first for t in range(split.n_points)]
        piece, found, before = np.arange(len(first) - 1), list[Side](), 0
        intervals = np.concatenate([[each[:-1], each[1:], piece] for each in begins], axis=1)
        roles = ["order of groups" if self.columns.groups else "order of labelled rows"]
        roles.append("order of unlabelled rows")
        for table, numbers, role in zip(self.tables, self.numbers, roles, strict=True):
            random, ranks = split.randomness if split.shuffle and table.parts else None, None
            if self.columns.groups:
                places = random.order(role, len(numbers)) if random else np.arange(len(numbers))
                ranks = dict(zip(numbers, np.argsort(places).tolist(), strict=True))
            order = Order(table.first[-1], random, role, self.columns.groups, ranks)
            found.append(Side.of(order, intervals, before))
            before += found[-1].units
        return found[0], found[1]

    def _placed(self, sides: tuple[Side, Side]) -> list[list[Any]]:
        """Return what the partitions of each table will keep."""
        both = zip(self.tables, sides, strict=True)
        return [table.each(Side.placed, side) if side.words.size else [] for table, side in both]

    def moved(self, sides: tuple[Side, Side], pieces: int) -> list[tuple[Any, ...]]:
        """Return the rows of each piece, which Dask moves when they are needed."""
        import dask.dataframe as dd

        found: list[list[Any]] = []
        for table, side, parts in zip(self.tables, sides, self._placed(sides), strict=True):
            found.append([None] * pieces)
            if parts:
                empty = side.placed(table.empty, 0)
                frame = dd.from_delayed(parts, meta=empty, verify_meta=False)
                moved = frame.set_index("_piece", divisions=list(range(pieces + 1)))
                found[-1] = moved.to_delayed()
        return list(zip(*found, strict=True))


def gathered(
    columns: Columns, sides: tuple[Side, Side], piece: int, rows: Sequence[Any], split: Split
) -> tuple[Sample, Split]:
    """Put the rows of a piece in order, and return its trials on them."""
    here, more = rows
    here, units = sides[0].ordered(here, piece, 0)
    if more is not None:
        more, beyond = sides[1].ordered(more, piece, sides[0].order.rows)
        units = units.followed_by(beyond, len(here), sides[0].units)
    sample = columns.sample(here, more)
    return sample, split.on(sample, units, split.here)


def _sums(known: tuple[Columns, Mapping[Any, int]], part: Any, first: int) -> Words:
    """Return what a digest knows of a partition."""
    columns, numbers = known
    groups, labeled = columns.groups, columns.y in part.columns
    if not len(part):
        return sums_of({})
    if labeled:
        tables = columns.sample(part).tables
    else:
        rows = part.drop(columns=[groups, columns.sample_weight], errors="ignore")
        tables = {"X_unlabeled": as_rows(rows, "X_unlabeled")}
    if groups is not None:
        codes = np.array([numbers.get(label, -1) for label in part[groups].to_numpy().tolist()])
        tables["groups" if labeled else "groups_unlabeled"] = as_rows(codes, "groups")
    return sums_of(tables, first)


# What is refused


def _require_on_dask(X: Any, more: Any, named: Mapping[str, Any]) -> None:
    """Refuse what is not on Dask, or not in a column."""
    if more is not None and not is_on_dask(more):
        raise DataError("must be a data frame of Dask, as X is", argument="X_unlabeled")
    for frame in (X,) if more is None else (X, more):
        for name in frame.columns:
            if not getattr(getattr(frame[name], "cat", None), "known", True):
                problem = f"column {name!r} has other categories in every partition"
                raise DataError(problem, remedy="give X.categorize()")
    for name, value in named.items():
        if name == "ids" and value is not None:
            problem = "must be left out: rows on Dask are called by their numbers"
            raise DataError(problem, argument=name)
        if not (value is None or isinstance(value, str)):
            remedy = f"add it to X, as in X.assign({name}=...)"
            raise DataError("must be the name of a column of X", argument=name, remedy=remedy)
    if named["groups_unlabeled"] not in (None, named["groups"]):
        raise DataError("must be the column of groups", argument="groups_unlabeled")
