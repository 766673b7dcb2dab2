"""What is known of rows that lie elsewhere: one small part per partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.known_values import FIRST_RESPONSES, FIRST_ROWS
from poise.data.partitioned.column_roles import ColumnRoles
from poise.data.partitioned.partition_types import common_types, with_types
from poise.data.partitioned.smallest_hashes import SmallestHashes
from poise.data.partitioned.witness_rows import (
    MOST_CLASSES,
    different_responses,
    witness_rows,
)

__all__ = ["PartitionSummary", "Summarize", "TableSummary"]


@dataclass(frozen=True, kw_only=True)
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
    points, responses : data frame, array
        The first rows: some features, and more responses.
    different : ndarray or None
        The different responses; None if they are too many to be listed.
    groups : (list, ndarray) or None
        The different labels of groups as they appear, and the rows of each.
    sketch : SmallestHashes
        The smallest hashes of rows.
    """

    rows: int
    n_bytes: int
    empty: Any
    witnesses: Any
    places: NDArray[np.int64]
    points: Any
    responses: Any = ()
    different: Any = None
    groups: tuple[list[Any], NDArray[np.int64]] | None = None
    sketch: SmallestHashes = field(default_factory=lambda: SmallestHashes.joined([]))


@dataclass(frozen=True)
class Summarize:
    """Tells what is known of a partition; called where it lies.

    Parameters
    ----------
    roles : ColumnRoles
        Which columns are what.
    labeled : bool
        Whether the rows have responses.
    hashed : list of str
        The columns in which copies of rows are equal.
    """

    roles: ColumnRoles
    labeled: bool = True
    hashed: tuple[Any, ...] = ()

    def __call__(self, partition: Any, _first: int) -> PartitionSummary:
        """Look at one partition."""
        frame = partition[self.roles.used if self.labeled else list(self.roles.features)]
        target = self.roles.target if self.labeled else None
        places = witness_rows(frame, target)
        return PartitionSummary(
            rows=len(frame),
            n_bytes=int(frame.memory_usage(index=False, deep=False).sum()),
            empty=frame.iloc[:0],
            witnesses=frame.iloc[places],
            places=places,
            points=frame[list(self.roles.features)].iloc[:FIRST_ROWS],
            sketch=SmallestHashes.of(frame[list(self.hashed)]),
            **({} if target is None else self._of_responses(partition, frame[target])),
        )

    def _of_responses(self, partition: Any, responses: Any) -> dict[str, Any]:
        return {
            "responses": np.asarray(responses.iloc[:FIRST_RESPONSES]),
            "different": _listed(responses),
            "groups": None if self.roles.groups is None else self._groups(partition),
        }

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

    Attributes
    ----------
    rows, n_bytes : int
        How many rows there are, and how large they are.
    firsts : list of int
        How many rows come before each partition.
    types : dict
        The type of each column.
    witnesses, places : data frame, ndarray of int
        The rows that checks need, and their numbers.
    points, responses : data frame, array
        The first rows.
    different : ndarray or None
        The different responses; None if they are too many to be listed.
    sketch : SmallestHashes
        The smallest hashes of rows.
    """

    def __init__(self, parts: Sequence[PartitionSummary], target: Any = None) -> None:
        counts = np.array([part.rows for part in parts], dtype=np.int64)
        self.rows = int(counts.sum())
        self.firsts = (np.cumsum(counts) - counts).tolist()
        self.n_bytes = sum(part.n_bytes for part in parts)
        filled = [part for part in parts if part.rows]
        self.types = common_types([part.empty for part in filled or parts])
        places = [first + part.places for first, part in zip(self.firsts, parts, strict=True)]
        rows = self._joined([part.witnesses for part in filled])
        kept = witness_rows(rows, target)
        self.witnesses = rows.iloc[kept]
        self.places = np.concatenate([np.empty(0, dtype=np.int64), *places])[kept]
        self.points = self._joined([part.points for part in _first(filled, FIRST_ROWS)])
        self.responses = _first_responses(filled)
        self.different = _different([part.different for part in filled])
        self.sketch = SmallestHashes.joined([part.sketch for part in filled])

    def _joined(self, frames: list[Any]) -> Any:
        import pandas as pd

        if not frames:
            return pd.DataFrame(columns=list(self.types))
        types = {name: self.types[name] for name in frames[0].columns}
        return pd.concat([with_types(frame, types) for frame in frames])


def _first(parts: list[PartitionSummary], rows: int) -> list[PartitionSummary]:
    """Return as many partitions as have the first rows."""
    before = np.cumsum([0, *(part.rows for part in parts)])[:-1]
    return [part for part, start in zip(parts, before, strict=True) if start < rows]


def _first_responses(parts: list[PartitionSummary]) -> Any:
    some = [part.responses for part in _first(parts, FIRST_RESPONSES)] or [np.empty(0)]
    return np.concatenate(some)[:FIRST_RESPONSES]


def _different(lists: list[Any]) -> Any:
    import pandas as pd

    if not lists or any(values is None for values in lists):
        return None
    found = pd.unique(np.concatenate(lists))
    return found if len(found) <= MOST_CLASSES else None
