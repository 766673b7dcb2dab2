"""The data of a question whose rows lie elsewhere."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from poise.data.fit_params import rows_of_value
from poise.data.groups import Groups
from poise.data.known_values import ROWS_FOR_CODES, n_known_among, n_known_points
from poise.data.partitioned.column_roles import ColumnRoles
from poise.data.partitioned.group_sizes import GroupSizes
from poise.data.partitioned.partition_types import with_types
from poise.data.partitioned.partitions import Partitions
from poise.data.partitioned.row_fingerprint import fingerprint_of_part
from poise.data.partitioned.smallest_hashes import RowsBelow
from poise.data.partitioned.table_summary import Summarize, TableSummary
from poise.data.sample import Sample
from poise.data.tables import as_table
from poise.errors import DataError, PoiseError

__all__ = ["PartitionedSample", "PartitionedTable"]


@dataclass(frozen=True)
class PartitionedTable:
    """Rows in partitions, and what is known of them.

    Attributes
    ----------
    partitions : Partitions
        Where the rows are.
    summary : TableSummary
        What workers told of them.
    """

    partitions: Partitions
    summary: TableSummary


class PartitionedSample(Sample):
    """Labelled and unlabelled rows in partitions that only workers read.

    It knows how many rows there are and what the checks before the first fit need. What
    needs all rows here is refused.

    Parameters
    ----------
    partitions : Partitions
        The labelled rows.
    target : str
        The column of responses.
    unlabeled : Partitions, optional
        Rows without a response, with the same features.
    groups : str, optional
        The column of groups.
    fit_params : mapping, optional
        Further arguments of ``fit``; text that names a column means that column.
    """

    rows_elsewhere = True

    def __init__(
        self,
        partitions: Partitions,
        target: str,
        unlabeled: Partitions | None = None,
        groups: Any = None,
        fit_params: Mapping[str, Any] | None = None,
    ) -> None:
        self.roles = ColumnRoles.of(partitions.columns(), target, groups, fit_params)
        _refuse_arrays(self.roles.constant)
        # Unlabelled rows are compared with labelled ones by what both have.
        beside = () if unlabeled is not None else (self.roles.target,)
        self.hashed = (*self.roles.features, *beside)
        parts = partitions.map(Summarize(self.roles, hashed=self.hashed))
        self.labeled = PartitionedTable(partitions, TableSummary(parts, target))
        self.n_labeled = self.labeled.summary.rows
        if self.n_labeled == 0:
            raise DataError("X has no rows; a stability test needs labelled rows")
        self.unlabeled = None if unlabeled is None else self._without_responses(unlabeled)
        self.n_unlabeled = 0 if self.unlabeled is None else self.unlabeled.summary.rows
        self.groups = None
        if groups is not None:
            counted = [part.groups for part in parts if part.groups is not None]
            self.groups = GroupSizes(counted)
            _refuse_missing(self.groups)
        with self.with_true_rows():
            self._witnesses = self._checked()
        self.fit_params = self._witnesses.fit_params

    def _without_responses(self, partitions: Partitions) -> PartitionedTable:
        self.roles.require_features(partitions.columns())
        look = Summarize(self.roles, labeled=False, hashed=self.hashed)
        summary = TableSummary(partitions.map(look))
        if summary.rows == 0:
            raise DataError("X_unlabeled has no rows; leave it out instead")
        return PartitionedTable(partitions, summary)

    def _checked(self) -> Sample:
        """Return a sample of the rows on which checks turn; refuse unsuitable responses."""
        points = None if self.unlabeled is None else self.unlabeled.summary.witnesses
        return self.roles.sample(self.labeled.summary.witnesses, points)

    def __getattr__(self, name: str) -> Any:
        """Refuse what needs all rows here."""
        if name not in ("X", "y", "X_unlabeled"):
            raise AttributeError(name)
        raise DataError(
            f"the rows of X are on the workers of {self.engine.title()}, and this needs them here; "
            f"give {self.labeled.partitions.remedy}, if this machine can hold it"
        )

    @property
    def for_checks(self) -> Sample:
        """The rows on which the checks before the first fit turn."""
        return self._witnesses

    @property
    def engine(self) -> str:
        """The cluster whose workers read the rows."""
        return self.labeled.partitions.engine

    @property
    def bytes_per_row(self) -> int:
        """How large a labelled row is."""
        return 1 + self.labeled.summary.n_bytes // self.n_labeled

    @contextmanager
    def with_true_rows(self) -> Iterator[None]:
        """Put the numbers that rows have in the table into what checks say of few rows."""
        try:
            yield
        except PoiseError as error:
            error.args = (self._with_true_rows(str(error.args[0])), *error.args[1:])
            raise

    def _with_true_rows(self, message: str) -> str:
        table = self.unlabeled if "X_unlabeled" in message else self.labeled
        places = self.labeled.summary.places if table is None else table.summary.places

        def true(found: re.Match[str]) -> str:
            return f"in row {places[int(found[1])]} (counting from 0)"

        return re.sub(r"in row (\d+) \(counting from 0\)", true, message)

    @property
    def n_responses(self) -> int:
        """Number of responses of a row: one column."""
        return 1

    @cached_property
    def n_classes(self) -> int | None:
        """Number of different responses, where somebody could know and try them all."""
        summary = self.labeled.summary
        if summary.different is None:
            return None
        return n_known_among(summary.responses, summary.different, self.n_labeled)

    @cached_property
    def n_points(self) -> int | None:
        """Number of different points there can be, where somebody could try them all."""
        features = list(self.roles.features)
        summary = self.labeled.summary
        if n_known_points(as_table(summary.points, "X")) is None:
            return None
        first = self.labeled.partitions.map(_FirstRows(features), summary.firsts)
        import pandas as pd

        types = {name: summary.types[name] for name in features}
        frames = [with_types(frame, types) for frame in first if len(frame)]
        return n_known_points(as_table(pd.concat(frames), "X"))

    @cached_property
    def has_labels(self) -> bool:
        """Whether the responses are text or categories, which cannot be subtracted."""
        return self.for_checks.has_labels

    @cached_property
    def all_finite(self) -> bool:
        """Whether the features are a plain array: data frames are not."""
        return False

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The distinct responses in ascending order."""
        return self.for_checks.classes

    def rows_below(self, limit: np.uint64) -> Sample:
        """Return the rows whose hashes are below a limit, as a sample that is here."""
        import pandas as pd

        groups = [] if self.roles.groups is None else [self.roles.groups]
        found = []
        for table, more in ((self.labeled, groups), (self.unlabeled, [])):
            if table is not None:
                columns = list(table.summary.types)
                look = RowsBelow(limit, list(self.hashed), [*columns, *more])
                rows = pd.concat(table.partitions.map(look, table.summary.firsts))
                found.append(rows.assign(**with_types(rows, table.summary.types)))
        sample = self.roles.sample(*found)
        if groups:
            sample.groups = Groups(found[0][groups[0]], len(found[0]))
        return sample

    def digest(self, size: int = 16) -> str:
        """Return a fingerprint of the data, however they are partitioned."""
        state = hashlib.blake2b(digest_size=size)
        state.update(repr((self.roles, self.n_labeled, self.n_unlabeled)).encode())
        groups = [] if self.roles.groups is None else [self.roles.groups]
        for table, more in ((self.labeled, groups), (self.unlabeled, [])):
            if table is not None:
                columns = [*table.summary.types, *more]
                state.update(repr(list(table.summary.types.values())).encode())
                find = _Fingerprint(table.summary.types, columns)
                parts = table.partitions.map(find, table.summary.firsts)
                state.update(
                    repr([sum(part) % 2**64 for part in zip(*parts, strict=True)]).encode()
                )
        return state.hexdigest()


@dataclass(frozen=True)
class _FirstRows:
    """Return those rows of a partition that are among the first of the table."""

    features: list[Any]

    def __call__(self, partition: Any, first: int) -> Any:
        return partition[self.features].iloc[: max(0, ROWS_FOR_CODES - first)]


@dataclass(frozen=True)
class _Fingerprint:
    """Return the part of a partition in the fingerprint of its table."""

    types: dict[Any, Any]
    columns: list[Any]

    def __call__(self, partition: Any, first: int) -> tuple[int, int]:
        frame = with_types(partition, self.types)
        beside = [name for name in self.columns if name not in frame.columns]
        return fingerprint_of_part(frame.assign(**{n: partition[n] for n in beside}), first)


def _refuse_arrays(constant: Mapping[str, Any]) -> None:
    for name, value in constant.items():
        if rows_of_value(value) is not None:
            raise DataError(
                f"fit_params[{name!r}] must be the name of a column of X, or a value that belongs "
                f"to no row: the rows of X are elsewhere; got a {type(value).__name__}"
            )


def _refuse_missing(groups: GroupSizes) -> None:
    missing = [label for label in groups.labels if label is None or label != label]
    if missing:
        raise DataError(
            f"groups must not hold missing labels, got {missing[0]!r}; a row without a group "
            "needs a label of its own"
        )
