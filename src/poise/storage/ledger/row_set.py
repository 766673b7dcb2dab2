"""The rows of one question: known by their features and by their responses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.data.keyed_row_hashes import RowKey
from poise.data.sample import Sample, fingerprint
from poise.errors import RecordError
from poise.storage.ledger.row_sketch import RowSketch, row_hashes

__all__ = ["RowSet"]

_PARTS = ("features", "responses", "whole")


@dataclass(frozen=True)
class RowSet:
    """Hashes of the rows of a sample, without their order.

    Rows are known again by their features (if the response is another one), by their responses
    (if columns were dropped) and whole. Features or responses that mostly occur more than once,
    such as the labels of a classifier, tell nothing and are left out. If whole rows mostly occur
    more than once, all rows that are equal count as the same.

    Parameters
    ----------
    digest : str
        A keyed hash of all hashes: equal rows in any order have the same.
    labeled, unlabeled : int
        Numbers of rows.
    parts : dict from str to RowSketch
        "whole", and "features" and "responses" where they tell rows apart.
    arrangement : str
        A keyed hash of the rows in their order, with their groups and further arguments of
        ``fit``: a run is repeated exactly only if it is the same. It is not part of the line.

    Examples
    --------
    >>> key = RowKey(b"0123456789abcdef")
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    >>> old, grown = (RowSet.of(key, Sample(X[:stop], y[:stop])) for stop in (60, 100))
    >>> old.shared_with(grown), old.shared_with(RowSet.of(key, Sample(X[60:], y[60:])))
    (60, 0)
    >>> fewer_columns = RowSet.of(key, Sample(X[:, :2], y))
    >>> old.shared_with(fewer_columns)
    60
    """

    digest: str
    labeled: int
    unlabeled: int
    parts: dict[str, RowSketch]
    arrangement: str = field(default="", compare=False)

    @classmethod
    def of(cls, key: RowKey, sample: Sample, set_aside: Sample | None = None) -> RowSet:
        """Hash the rows of a sample, and those that were set aside to find its scale."""
        parts_of = [sample] if set_aside is None else [sample, set_aside]
        whole = np.concatenate([row_hashes(key, each.X, each.y) for each in parts_of])
        features = np.concatenate([row_hashes(key, each.X) for each in parts_of])
        responses = np.concatenate([row_hashes(key, each.y) for each in parts_of])
        if sample.X_unlabeled is not None:
            features = np.append(features, row_hashes(key, sample.X_unlabeled))
        hashes = {"whole": whole, "features": features, "responses": responses}
        parts = {name: RowSketch.of(each) for name, each in hashes.items()}
        kept = {name: p for name, p in parts.items() if name == "whole" or p.tells_rows_apart}
        words = b"".join(np.sort(hashes[name]).tobytes() for name in ("whole", "features"))
        digest = key.hash(b"set of rows\x1d" + words)
        ordered = whole.tobytes() + features.tobytes() + _more(sample)
        order = key.hash(b"order of rows\x1d" + ordered)
        labeled = sum(each.n_labeled for each in parts_of)
        return cls(digest, labeled, sample.n_unlabeled, kept, order)

    def shared_with(self, other: RowSet) -> int:
        """Estimate how many of these rows are in the other set too; 0 if chance explains them."""
        if self.digest == other.digest:
            return self.labeled + self.unlabeled
        both = [name for name in _PARTS if name in self.parts and name in other.parts]
        counts = [
            self.parts[name].shared_with(other.parts[name], whole=name == "whole") for name in both
        ]
        return max(counts, default=0)

    def to_entry(self) -> dict[str, Any]:
        """Return its line."""
        parts = {name: part.to_entry() for name, part in self.parts.items()}
        return {"rows": self.digest, "labeled": self.labeled, "unlabeled": self.unlabeled, **parts}

    @classmethod
    def from_entry(cls, entry: dict[str, Any]) -> RowSet:
        """Read its line."""
        named = [name for name in _PARTS if isinstance(entry.get(name), dict)]
        counts = entry.get("labeled"), entry.get("unlabeled")
        if not (isinstance(entry.get("rows"), str) and all(_is_count(each) for each in counts)):
            raise RecordError("it does not say how many rows there are")
        parts = {name: RowSketch.from_entry(entry[name]) for name in named}
        return cls(entry["rows"], entry["labeled"], entry["unlabeled"], parts)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**64


def _more(sample: Sample) -> bytes:
    """Return what belongs to the rows besides features and responses."""
    parts = [] if sample.groups is None else [fingerprint(sample.groups.codes)]
    if sample.fit_params is not None:
        parts.append(repr(sample.fit_params.constant))
        parts += [name + fingerprint(t.native) for name, t in sample.fit_params.per_row.items()]
    return "\x1d".join(parts).encode()
