"""Cut the order of rows into pieces, so that every partition knows which rows go where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from poise.data.partitioned.partitioned_sample import PartitionedSample, PartitionedTable
from poise.protocol.random_order import OF_GROUPS, OF_LABELED, OF_UNLABELED
from poise.running.shuffle.cut_partition import CutPartition
from poise.running.shuffle.key_edges import KeyEdges
from poise.running.shuffle.pieces import MovableTrials, Ranges
from poise.running.shuffle.row_places import GroupPlaces, KeyPlaces, NumberPlaces, RowPlaces

__all__ = ["Cuts", "cut_order", "only_pieces"]

Cuts = list[tuple[PartitionedTable, CutPartition]]
"""The tables that trials read rows of, and how each of their partitions is cut."""


def cut_order(sample: PartitionedSample, plan: MovableTrials, pieces: Sequence[Ranges]) -> Cuts:
    """Say how partitions are cut so that each piece gets the rows at its places.

    The keys of all rows are looked at, those of many rows by the workers: no row is read for
    that.
    """
    spread = sample.labeled.partitions.spread
    places = _labeled_places(sample, plan)
    edges = KeyEdges.of(places, [each.labeled for each in pieces], plan.n_units, spread)
    types = sample.labeled.summary.types
    cuts = [(sample.labeled, CutPartition(places, edges, types, labeled=True))]
    if sample.unlabeled is not None:
        others = _places(plan, OF_UNLABELED, plan.n_unlabeled)
        edges = KeyEdges.of(others, [each.unlabeled for each in pieces], plan.n_unlabeled, spread)
        types = sample.unlabeled.summary.types
        cuts.append((sample.unlabeled, CutPartition(others, edges, types, labeled=False)))
    return cuts


def _labeled_places(sample: PartitionedSample, plan: MovableTrials) -> RowPlaces:
    if sample.groups is None:
        return _places(plan, OF_LABELED, plan.n_labeled)
    count = len(sample.groups)
    order = plan.randomness.order(OF_GROUPS, count) if plan.shuffle else None
    return GroupPlaces(sample.roles.groups, sample.groups.labels.tolist(), order)


def _places(plan: MovableTrials, role: str, count: int) -> RowPlaces:
    return KeyPlaces(plan.randomness, role, count) if plan.shuffle else NumberPlaces()


def only_pieces(cuts: Cuts, first: int, last: int) -> Cuts:
    """Keep pieces ``first`` to ``last - 1``; the rows of others are not moved."""
    return [(table, replace(cut, edges=cut.edges.only(first, last))) for table, cut in cuts]
