"""Rows given to a record, with their identities; those already used are refused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.keyed_row_hashes import RowKey, row_identities
from poise.data.sample import Sample
from poise.data.tables import as_table, concatenate
from poise.errors import DataError
from poise.storage.monitor_record import RecordContent, RowBatch

__all__ = ["NewRows"]

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class NewRows:
    """Labelled and unlabelled rows, each with what identifies it.

    Attributes
    ----------
    X, y, X_unlabeled : containers
        As the user gave them; ``X_unlabeled`` may be None.
    rows, features : tuple of str
        Identities of the labelled rows: with their response, and of their features alone.
    unlabeled : tuple of str
        Identities of the unlabelled rows.
    """

    X: Any
    y: Any
    X_unlabeled: Any
    rows: tuple[str, ...]
    features: tuple[str, ...]
    unlabeled: tuple[str, ...]

    @classmethod
    def of(
        cls,
        key: RowKey,
        X: Any,
        y: Any,
        X_unlabeled: Any = None,
        ids: Any = None,
        ids_unlabeled: Any = None,
    ) -> NewRows:
        """Check rows and identify them: by their content, or by what the user calls them."""
        sample = Sample(X, y, X_unlabeled)
        unlabeled: tuple[str, ...] = ()
        if sample.X_unlabeled is not None:
            known = ids_unlabeled, sample.n_unlabeled, "ids_unlabeled"
            unlabeled = _by_name(key, *known) or tuple(row_identities(key, sample.X_unlabeled))
        if ids is not None:
            named = _by_name(key, ids, sample.n_labeled, "ids")
            return cls(X, y, X_unlabeled, named, named, unlabeled)
        rows = tuple(row_identities(key, sample.X, sample.y))
        features = tuple(row_identities(key, sample.X))
        return cls(X, y, X_unlabeled, rows, features, unlabeled)

    @property
    def tables(self) -> dict[str, Any]:
        """The containers by name, without those that are empty."""
        named = {"X": self.X, "y": self.y, "X_unlabeled": self.X_unlabeled}
        filled = {"X": self.rows, "y": self.rows, "X_unlabeled": self.unlabeled}
        return {name: table for name, table in named.items() if filled[name]}

    def used(self, record: RecordContent) -> tuple[Positions, Positions]:
        """Return the positions of labelled and of unlabelled rows that the record has used."""
        whole, points = record.used_rows(), record.used_features(unlabeled_only=True)
        seen = [
            row in whole or features in points
            for row, features in zip(self.rows, self.features, strict=True)
        ]
        everything = record.used_features()
        return np.flatnonzero(seen), np.flatnonzero([row in everything for row in self.unlabeled])

    def equal_to(self, others: NewRows) -> tuple[Positions, Positions]:
        """Return the positions of rows that are among the others too."""
        labeled, unlabeled = set(others.rows), set(others.unlabeled) | set(others.features)
        points = set(others.unlabeled)
        seen = [
            row in labeled or features in points
            for row, features in zip(self.rows, self.features, strict=True)
        ]
        return np.flatnonzero(seen), np.flatnonzero([row in unlabeled for row in self.unlabeled])

    def without(self, labeled: Positions, unlabeled: Positions) -> NewRows:
        """Return the other rows."""
        return self.take(
            np.setdiff1d(np.arange(len(self.rows)), labeled),
            np.setdiff1d(np.arange(len(self.unlabeled)), unlabeled),
        )

    def take(self, labeled: Positions, unlabeled: Positions) -> NewRows:
        """Return these rows, in this order."""
        more = self.X_unlabeled
        return NewRows(
            as_table(self.X, "X").take(labeled),
            as_table(self.y, "y").take(labeled),
            None if more is None else as_table(more, "X_unlabeled").take(unlabeled),
            tuple(self.rows[i] for i in labeled),
            tuple(self.features[i] for i in labeled),
            tuple(self.unlabeled[i] for i in unlabeled),
        )

    def after(self, leftovers: NewRows) -> NewRows:
        """Return the leftovers and then these."""
        return NewRows(
            _joined("X", leftovers.X, self.X),
            _joined("y", leftovers.y, self.y),
            _joined("X_unlabeled", leftovers.X_unlabeled, self.X_unlabeled),
            leftovers.rows + self.rows,
            leftovers.features + self.features,
            leftovers.unlabeled + self.unlabeled,
        )

    def find(self, batch: RowBatch) -> tuple[Positions, Positions, int]:
        """Find the rows of a batch; also return how many of them are missing."""
        labeled, unlabeled = (
            _found(batch.rows, self.rows),
            _found(batch.unlabeled, self.unlabeled),
        )
        missing = int((labeled < 0).sum() + (unlabeled < 0).sum())
        return labeled, unlabeled, missing

    @cached_property
    def sample(self) -> Sample:
        """All rows as a sample."""
        return Sample(self.X, self.y, self.X_unlabeled if self.unlabeled else None)


def _by_name(key: RowKey, ids: Any, count: int, name: str) -> tuple[str, ...]:
    """Identify rows by names that the user gave; () if there are none."""
    if ids is None:
        return ()
    named = np.asarray(as_table(ids, name).native).tolist()
    if len(named) != count:
        raise DataError(f"{name} must hold one name per row ({count}), got {len(named)}")
    if len(set(named)) < len(named):
        raise DataError(f"{name} must hold a different name for each row; some occur twice")
    return tuple(key.hash(b"id\x1d" + str(each).encode()) for each in named)


def _found(wanted: Sequence[str], among: Iterable[str]) -> Positions:
    """Return where each wanted identity is, -1 if nowhere; equal rows are taken in turn."""
    places = defaultdict(list)
    for position, identity in enumerate(among):
        places[identity].append(position)
    for several in places.values():
        several.reverse()
    found = [places[each].pop() if places.get(each) else -1 for each in wanted]
    return np.array(found, dtype=np.int64)


def _joined(name: str, first: Any, second: Any) -> Any:
    """Join two containers of one kind; either may be None."""
    if first is None or second is None:
        return second if first is None else first
    above, below = as_table(first, name), as_table(second, name)
    if type(above) is not type(below) or above.columns() != below.columns():
        raise DataError(
            f"{name} cannot be joined to the rows left over from before: give the same kind of "
            f"container ({type(above.native).__name__}) with the same columns"
        )
    return concatenate(above.native, below.native)
