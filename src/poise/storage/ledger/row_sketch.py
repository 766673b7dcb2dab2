"""Which rows a question was put to: keyed hashes of them, or the smallest of these."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.keyed_row_hashes import RowKey, row_identities
from poise.data.on_disk import StoredTable
from poise.data.tables import Table, as_table
from poise.data.used_rows import FALSE_ALARM
from poise.errors import RecordError

__all__ = ["RowSketch", "row_hashes"]

Hashes = NDArray[np.uint64]

_KEPT_AT_LEAST = 4_096  # all hashes of so many rows, 32 KiB
_KEPT_SHARE = 64  # of more rows, one in so many
_MOST_ROWS = 2**64
_LARGEST_REPEATED_SHARE = 0.5  # of rows with an equal; beyond it, equality does not tell rows apart


def row_hashes(key: RowKey, *tables: Table) -> Hashes:
    """Hash the rows of tables that stand side by side, also of a table that stays on disk.

    Examples
    --------
    >>> rows = as_table([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]], "X")
    >>> hashes = row_hashes(RowKey(b"0123456789abcdef"), rows)
    >>> bool(hashes[0] == hashes[2]), bool(hashes[0] == hashes[1])
    (True, False)
    """
    parts = [
        np.fromiter((int(each, 16) for each in row_identities(key, *piece)), dtype=np.uint64)
        for piece in _pieces(tables)
    ]
    return np.concatenate(parts)


def _pieces(tables: tuple[Table, ...]) -> Iterator[tuple[Table, ...]]:
    """Yield the rows in pieces that fit into memory."""
    stored = next((table for table in tables if isinstance(table.native, StoredTable)), None)
    if stored is None:
        yield tables
        return
    for rows in stored.native.slices():
        chosen = np.arange(rows.start, rows.stop)
        yield tuple(as_table(table.take(chosen), "X") for table in tables)


@dataclass(frozen=True)
class RowSketch:
    """The smallest hashes of a set of rows: all of them if there are not many.

    A hash is a random number that depends on the row and on the key of the ledger, so the
    smallest hashes are those of a random choice of rows, and of two sets they are those of the
    same choice. If a share s of all rows of two sets is in both, a row of both is among the k
    smallest hashes of all rows with probability at least 1 − (1 − s)^k, and then it is in both
    sketches. k is 4,096 or more: s = 1/200 is missed with probability 1.2e-9.

    Parameters
    ----------
    hashes : array of uint64
        In ascending order, each once.
    distinct : int
        How many different rows there are.
    repeated : float
        The share of rows that have an equal in the set.

    Examples
    --------
    >>> old = RowSketch.of(np.arange(1000, dtype=np.uint64))
    >>> new = RowSketch.of(np.arange(900, 2000, dtype=np.uint64))
    >>> old.shared_with(new), RowSketch.from_entry(old.to_entry()).shared_with(old)
    (100, 1000)
    """

    hashes: Hashes
    distinct: int
    repeated: float

    @classmethod
    def of(cls, hashes: Hashes) -> RowSketch:
        """Keep the smallest hashes of all rows."""
        different, counts = np.unique(hashes, return_counts=True)
        repeated = float(counts[counts > 1].sum() / max(1, len(hashes)))
        kept = max(_KEPT_AT_LEAST, len(different) // _KEPT_SHARE)
        return cls(different[:kept], len(different), repeated)

    @property
    def tells_rows_apart(self) -> bool:
        """Whether different rows are mostly different here."""
        return self.repeated <= _LARGEST_REPEATED_SHARE

    @property
    def _end(self) -> int:
        """Up to which hash every row is here."""
        return int(self.hashes[-1]) if len(self.hashes) < self.distinct else 2**64 - 1

    def _up_to(self, end: int) -> Hashes:
        return self.hashes[: np.searchsorted(self.hashes, np.uint64(end), side="right")]

    def shared_with(self, other: RowSketch, *, whole: bool = True) -> int:
        """Estimate how many rows are in both sets; 0 if chance explains them.

        It is exact if all hashes of both sets are kept. If columns take few values, some rows are
        equal by chance: about the share of rows that have an equal in their own set (Good and
        Turing). More than chance explains are found by chance with probability 1e-6. A few equal
        responses, or equal features, are chance also if all are different in either set: of 1,500
        numbers with six decimals, one in ten times one is also among 1,500 others.
        """
        end = min(self._end, other._end)
        here, there = self._up_to(end), other._up_to(end)
        found = len(np.intersect1d(here, there, assume_unique=True))
        if found <= self._by_chance(other, min(len(here), len(there)), whole):
            return 0
        return round(found / len(here) * self.distinct)

    def _by_chance(self, other: RowSketch, count: int, whole: bool) -> int:
        share = max(self.repeated, other.repeated)
        if share > _LARGEST_REPEATED_SHARE or count == 0 or (whole and share == 0.0):
            return 0
        from scipy.stats import binom

        if whole:
            return int(binom.isf(FALSE_ALARM, count, share))
        # One repetition more than there is may have been missed by chance.
        return min(int(binom.isf(FALSE_ALARM, count, max(share, 1 / count))), count // 2)

    def to_entry(self) -> dict[str, Any]:
        """Return it as part of a line."""
        written = base64.b64encode(self.hashes.astype("<u8").tobytes()).decode()
        return {"hashes": written, "distinct": self.distinct, "repeated": self.repeated}

    @classmethod
    def from_entry(cls, entry: dict[str, Any]) -> RowSketch:
        """Read what :meth:`to_entry` returned; refuse what no set of rows gives."""
        try:
            raw = base64.b64decode(entry["hashes"], validate=True)
            hashes = np.frombuffer(raw, dtype="<u8").astype(np.uint64)
            sketch = cls(hashes, int(entry["distinct"]), float(entry["repeated"]))
        except (KeyError, TypeError, ValueError, OverflowError, binascii.Error) as error:
            raise RecordError(f"its hashes cannot be read ({error})") from None
        ordered = bool((hashes[1:] > hashes[:-1]).all())
        possible = len(hashes) <= sketch.distinct <= _MOST_ROWS and 0 <= sketch.repeated <= 1
        if not (ordered and possible):
            raise RecordError("its hashes are not those of a set of rows")
        return sketch
