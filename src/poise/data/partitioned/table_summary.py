"""What is known of rows that lie elsewhere: one small part per partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.partitioned.column_roles import ColumnRoles
from poise.data.partitioned.partition_types import common_types, with_types
from poise.data.partitioned.witness_rows import (
    MOST_CLASSES,
    different_responses,
    witness_rows,
)

__all__ = ["PartitionSummary", "Summarize", "TableSummary"]

_FIRST_RESPONSES = 1000  # among these numbers that are not whole show themselves
_FIRST_POINTS = 100


@dataclass(frozen=True)
class PartitionSummary:
    """What a worker tells of one partition.

    Attributes
    ----------
    rows, n_bytes : int
        How many rows there are, and how large they are.
    empty : data frame
        The columns and their types.
    witnesses, places : data frame, ndarray of int
        The rows that checks need, and where in the partition they are.
    start : data frame
        The first rows.
    different : ndarray or None
        The different responses; None if they are too many to be listed.
    groups : (list, ndarray) or None
        The different labels of groups as they appear, and the rows of each.
    """

    rows: int
    n_bytes: int
    empty: Any
    witnesses: Any
    places: NDArray[np.int64]
    start: Any
    different: Any = None
    groups: tuple[list[Any], NDArray[np.int64]] | None = None


@dataclass(frozen=True)
class Summarize:
    """Tells what is known of a partition; called where it lies.

    Parameters
    ----------
    roles : ColumnRoles
        Which columns are what.
    labeled : bool
        Whether the rows have responses.
    """

    roles: ColumnRoles
    labeled: bool = True

    def __call__(self, partition: Any, _first: int) -> PartitionSummary:
        """Look at one partition."""
        frame = partition[self.roles.used if self.labeled else list(self.roles.features)]
        target = self.roles.target if self.labeled else None
        places = witness_rows(frame, target)
        return PartitionSummary(
            len(frame),
            int(frame.memory_usage(index=False, deep=False).sum()),
            frame.iloc[:0],
            frame.iloc[places],
            places,
            frame.iloc[: _FIRST_RESPONSES if self.labeled else 0],
            None if target is None else _listed(frame[target]),
            None if target is None or self.roles.groups is None else self._groups(partition),
        )

    def _groups(self, partition: Any) -> tuple[list[Any], NDArray[np.int64]]:
        import pandas as pd

        codes, labels = pd.factorize(
            np.asarray(partition[self.roles.groups]), use_na_sentinel=False
        )
        return labels.tolist(), np.bincount(codes, minlength=len(labels))


def _listed(responses: Any) -> Any:
    """Return the different responses, in memory that does not depend on their number."""
    different = different_responses(responses)
    return None if different is None or len(different) > MOST_CLASSES else different


class TableSummary:
    """What is known of a whole table.

    Parameters
    ----------
    parts : sequence of PartitionSummary
        One for each partition, in order.
    target : str, optional
        The column of responses.
    """

    def __init__(self, parts: Sequence[PartitionSummary], target: Any = None) -> None:
        self.parts_with_rows = [part for part in parts if part.rows]
        counts = np.array([part.rows for part in parts], dtype=np.int64)
        self.rows = int(counts.sum())
        self.firsts = (np.cumsum(counts) - counts).tolist()
        self.n_bytes = sum(part.n_bytes for part in parts)
        self.types = common_types([part.empty for part in self.parts_with_rows or parts])
        self.witnesses, self.places = self._witnesses(parts, target)
        self.start = self._joined([part.start for part in self._first_parts()])
        self.start = self.start.iloc[:_FIRST_RESPONSES]

    def _first_parts(self) -> list[PartitionSummary]:
        """Return as many partitions as have the first rows."""
        rows, chosen = 0, []
        for part in self.parts_with_rows:
            if rows < _FIRST_RESPONSES:
                chosen.append(part)
                rows += part.rows
        return chosen

    def _witnesses(
        self, parts: Sequence[PartitionSummary], target: Any
    ) -> tuple[Any, NDArray[np.int64]]:
        """Return the rows that checks need, and their numbers in the table."""
        frame = self._joined([part.witnesses for part in self.parts_with_rows])
        numbered = zip(self.firsts, parts, strict=True)
        rows = np.concatenate([first + part.places for first, part in numbered] or [[]])
        kept = witness_rows(frame, target)
        return frame.iloc[kept], rows[kept].astype(np.int64)

    def _joined(self, frames: list[Any]) -> Any:
        import pandas as pd

        alike = [with_types(frame, self.types) for frame in frames]
        return pd.concat(alike) if alike else pd.DataFrame(columns=list(self.types))

    @property
    def different(self) -> Any:
        """The different responses; None if they are too many to be listed."""
        lists = [part.different for part in self.parts_with_rows]
        if any(values is None for values in lists):
            return None
        import pandas as pd

        found = pd.unique(np.concatenate(lists))
        return found if len(found) <= MOST_CLASSES else None

    @property
    def first_points(self) -> Any:
        """A few first rows."""
        return self.start.iloc[:_FIRST_POINTS]
