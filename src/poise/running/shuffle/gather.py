"""The rows of a few trials, brought to this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from poise.data.partitioned.partitioned_sample import PartitionedSample
from poise.data.sample import Sample
from poise.protocol.messages import Tasks
from poise.protocol.work import WorkData
from poise.running.shuffle.assemble import assembled
from poise.running.shuffle.cut_order import cut_order
from poise.running.shuffle.pieces import MovableTrials, ranges_of

__all__ = ["in_this_process"]


def in_this_process(sample: Sample, tasks: Tasks, trials: Sequence[int]) -> WorkData:
    """Return rows that are here, and trials that name them; only some trials are needed.

    Rows that are in this process already are returned as they are.
    """
    if not isinstance(sample, PartitionedSample):
        return sample, tasks
    plan = cast("MovableTrials", tasks)  # a split knows where its rows are
    ranges = ranges_of(plan, [(k, k + 1) for k in sorted(set(trials))])
    contents: list[bytes] = []
    for table, cut in cut_order(sample, plan, [ranges]):
        for shards in table.partitions.map(cut, table.summary.firsts):
            contents.extend(shards.values())
    return assembled(_released(contents), sample.roles, plan, ranges)


def _released(contents: list[bytes]) -> Iterator[bytes]:
    """Yield packed rows and let go of them, so that this process does not hold rows twice."""
    contents.reverse()
    while contents:
        yield contents.pop()
