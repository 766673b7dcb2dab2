"""Cut a partition into the rows of each piece; other rows are not moved."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poise.data.files.file_parts import FilePart
from poise.data.partitioned.partition_types import with_types
from poise.running.shuffle.key_edges import KeyEdges
from poise.running.shuffle.row_places import RowPlaces

__all__ = ["CutPartition", "Shard", "unpacked"]


class Shard(NamedTuple):
    """The rows of one partition that belong to one piece.

    Attributes
    ----------
    labeled : bool
        Whether they have responses.
    keys, rows : ndarray
        By which they are put in order.
    frame : data frame
        The rows.
    """

    labeled: bool
    keys: NDArray[np.uint64]
    rows: NDArray[np.int64]
    frame: Any


@dataclass(frozen=True)
class CutPartition:
    """Cuts a partition where it lies; called with the partition and the rows before it.

    Parameters
    ----------
    places : RowPlaces
        The order of rows.
    edges : KeyEdges
        Where it is cut.
    types : dict
        The columns that fits need, and their types.
    labeled : bool
        Whether the rows have responses.
    """

    places: RowPlaces
    edges: KeyEdges
    types: dict[Any, Any]
    labeled: bool

    def __call__(self, partition: Any, first: int) -> dict[int, bytes]:
        """Return the rows of each piece that has some here, packed.

        A part of a file is read only if a piece has rows of it.
        """
        if isinstance(partition, FilePart) and self.places.reads_rows:
            partition = partition.read()
        keys = self.places.of(partition, first)
        rows = np.arange(first, first + len(partition))
        pieces = self.edges.pieces_of(keys, rows)
        order = np.argsort(pieces, kind="stable")
        order = order[int((pieces < 0).sum()) :]
        if not len(order):
            return {}
        partition = partition.read() if isinstance(partition, FilePart) else partition
        found, starts = np.unique(pieces[order], return_index=True)
        frame = with_types(partition, self.types)
        parts = zip(found.tolist(), pairwise([*starts, len(order)]), strict=True)
        return {piece: self._packed(frame, keys, rows, order[a:b]) for piece, (a, b) in parts}

    def _packed(
        self, frame: Any, keys: NDArray[np.uint64], rows: NDArray[np.int64], here: Any
    ) -> bytes:
        shard = Shard(self.labeled, keys[here], rows[here], frame.iloc[here])
        return pickle.dumps(tuple(shard), protocol=pickle.HIGHEST_PROTOCOL)


def unpacked(content: bytes) -> Shard:
    """Return the rows that were packed."""
    return Shard(*pickle.loads(content))
