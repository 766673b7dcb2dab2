"""The rows of a piece, in reading order, as a sample with its trials."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from poise.data.partitioned.column_roles import ColumnRoles
from poise.data.sample import Sample
from poise.protocol.work import WorkData
from poise.running.shuffle.cut_partition import Shard, unpacked
from poise.running.shuffle.piece_trials import trials_of_piece
from poise.running.shuffle.pieces import MovableTrials, Ranges, ranges_of
from poise.running.workers.chunk_job import Job, JobReport

__all__ = ["PIECE_COLUMN", "SHARD_COLUMN", "PieceJob", "assembled"]

# Of the tables that Dask or Ray moves: the number of a piece, and what a partition has of it.
PIECE_COLUMN = "piece"
SHARD_COLUMN = "shard"
_PIECES_KEPT = 2  # in a worker: chunks of a piece follow each other
_kept: OrderedDict[tuple[str, tuple[int, int]], WorkData] = OrderedDict()


def assembled(
    contents: Iterable[bytes], roles: ColumnRoles, plan: MovableTrials, ranges: Ranges
) -> WorkData:
    """Put rows into reading order; return them with the trials that use them."""
    shards: dict[bool, list[Shard]] = {True: [], False: []}
    for shard in map(unpacked, contents):
        shards[shard.labeled].append(shard)
    sample: Sample = roles.sample(_in_order(shards[True]), _in_order(shards[False]))
    return sample, trials_of_piece(plan, ranges)


def _in_order(shards: list[Shard]) -> Any:
    """Return all rows in the order of their keys; None if there are none."""
    if not shards:
        return None
    import pandas as pd

    keys, rows = (np.concatenate([shard[k] for shard in shards]) for k in (1, 2))
    frame = pd.concat([shard.frame for shard in shards])
    shards.clear()  # so that rows are held twice, and not three times
    return frame.iloc[np.lexsort((rows, keys))]


@dataclass(frozen=True)
class PieceJob:
    """A chunk of trials on the rows of one piece, which are handed over packed.

    Attributes
    ----------
    job : Job
        User code.
    plan : TrialSequence
        All trials, without their rows.
    roles : ColumnRoles
        Which columns are what.
    run : str
        A name of the run: workers keep the last pieces of a run in memory.
    """

    job: Job
    plan: MovableTrials
    roles: ColumnRoles
    run: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __call__(self, first: int, last: int, piece: tuple[int, int], *parts: Any) -> JobReport:
        """Compute one chunk in a worker."""
        return self.job(first, last, self._data(piece, parts))

    def _data(self, piece: tuple[int, int], parts: tuple[Any, ...]) -> WorkData:
        name = (self.run, piece)
        if name not in _kept:
            ranges = ranges_of(self.plan, [piece])
            _kept[name] = assembled(_contents(parts), self.roles, self.plan, ranges)
            while len(_kept) > _PIECES_KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(name)
        return _kept[name]


def _contents(parts: tuple[Any, ...]) -> Iterable[bytes]:
    """Yield packed rows, in whatever an engine handed them over."""
    for part in parts:
        yield from part.contents() if hasattr(part, "contents") else part[SHARD_COLUMN].tolist()
