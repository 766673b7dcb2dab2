"""Pieces hold exactly the rows of their trials, each once."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest

from poise.procedures.split_of_blocks import BlockSplit
from poise.procedures.split_of_groups import RemovedUnits, UnitSplit
from poise.procedures.split_of_removals import ChangesPerTrial, RemovalSplit
from poise.procedures.split_of_rows import Split, TrialSizes
from poise.protocol.messages import queries_of
from poise.protocol.randomness import Randomness, Shared
from poise.running.shuffle.key_edges import KeyEdges
from poise.running.shuffle.piece_trials import trials_of_piece
from poise.running.shuffle.pieces import cut_into_pieces, first_wave, ranges_of
from poise.running.shuffle.row_places import KeyPlaces, NumberPlaces


def plans(**more: Any) -> list[Any]:
    """Return plans of each kind: points that are labelled, unlabelled, and some of both."""
    settings = Randomness(3), Shared(), True
    return [
        Split(TrialSizes(4, 6, 30, 0), *settings, **more),
        Split(TrialSizes(4, 6, 27, 9), *settings, **more),
        Split(TrialSizes(4, 6, 24, 9), *settings, **more),
        RemovalSplit(TrialSizes(4, 6, 40, 5), *settings, ChangesPerTrial(2, 3), **more),
        RemovalSplit(TrialSizes(4, 6, 26, 17), *settings, ChangesPerTrial(4, 3), **more),
        UnitSplit(TrialSizes(4, 5, 32, 4), *settings, RemovedUnits(2, replace=True), **more),
        BlockSplit(
            TrialSizes(4, 6, 30, 9), *settings, ChangesPerTrial(2, 2), RemovedUnits(2), **more
        ),
    ]


def rows_of(task: Any) -> set[int]:
    queries = queries_of(task)
    train = [np.r_[query.train].tolist() for query in queries]
    points = [query.evaluate.tolist() for query in queries]  # type: ignore[union-attr]
    return set(chain.from_iterable(train + points))


@pytest.mark.parametrize("number", range(len(plans())))
def test_a_piece_has_the_rows_of_its_trials(number: int) -> None:
    plan = plans(rows_elsewhere=True)[number]
    for first, last in cut_into_pieces(1, len(plan), 8.0, 1, piece_bytes=16):
        labeled, unlabeled = ranges_of(plan, [(first, last)])
        here = set(np.concatenate([np.arange(*each) for each in labeled]).tolist())
        here |= {plan.n_labeled + k for each in unlabeled for k in range(*each)}
        assert here == set.union(*(rows_of(plan[k]) for k in range(first, last)))


@pytest.mark.parametrize("number", range(len(plans())))
def test_trials_of_a_piece_name_the_same_rows_as_trials_in_memory(number: int) -> None:
    """Put the rows of a piece in order, and look up which they are."""
    memory, plan = plans()[number], plans(rows_elsewhere=True)[number]
    counts = {"": plan.n_labeled, "un": plan.n_unlabeled}
    orders = [Randomness(3).order(f"order of {k}labelled rows", n) for k, n in counts.items()]
    ranges = ranges_of(plan, [(1, 3), (4, 5)])
    places = [np.concatenate([[], *(np.arange(*each) for each in part)]) for part in ranges]
    rows = [order[place.astype(int)] for order, place in zip(orders, places, strict=True)]
    numbers = np.concatenate([rows[0], plan.n_labeled + rows[1]])
    trials = trials_of_piece(plan, ranges)
    assert len(trials) == len(memory)
    for k in (1, 2, 4):
        for here, there in zip(queries_of(trials[k]), queries_of(memory[k]), strict=True):
            assert numbers[here.train].tolist() == np.asarray(there.train).tolist()
            assert numbers[here.evaluate].tolist() == there.evaluate.tolist()
            assert here.xi == there.xi
    if hasattr(memory, "rows"):
        points = getattr(memory, "points", 1)
        for t in range(points):
            here, there = trials.rows(1, 3, t), memory.rows(1, 3, t)
            assert [numbers[part].tolist() for part in here] == [part.tolist() for part in there]
        for here, there in zip(trials.terms(1, 3), memory.terms(1, 3), strict=True):
            assert here.tolist() == there.tolist()


def test_pieces_are_successive_and_no_larger_than_asked_for() -> None:
    pieces = cut_into_pieces(7, 1007, 1000.0, workers=2, piece_bytes=30_000)
    assert pieces[0][0] == 7
    assert pieces[-1][1] == 1007
    assert all(one[1] == two[0] for one, two in pairwise(pieces))
    assert max(last - first for first, last in pieces) == 30
    assert cut_into_pieces(0, 3, 1e9, workers=4) == [(0, 1), (1, 2), (2, 3)]
    assert len(cut_into_pieces(0, 1000, 1.0, workers=3)) == 12
    assert first_wave(10, 3) == 6


def test_a_row_at_a_cut_belongs_to_the_piece_after_it() -> None:
    """Rows with equal keys are told apart by their numbers."""
    keys = np.array([5, 5, 5, 1, 9, 5, 5, 1], dtype=np.uint64)

    class Tied(NumberPlaces):
        def at(self, positions: Any, spread: Any) -> Any:
            order = np.argsort(keys, kind="stable")[positions]
            return keys[order], order

    ranges = [np.array([[1, 3]]), np.array([[3, 4], [6, 7]]), np.array([[4, 6], [7, 8]])]
    edges = KeyEdges.of(Tied(), ranges, 8)
    expected = np.empty(8, dtype=int)
    expected[np.argsort(keys, kind="stable")] = [-1, 0, 0, 1, 2, 2, 1, 2]
    assert edges.pieces_of(keys, np.arange(8)).tolist() == expected.tolist()
    some = edges.only(1, 2).pieces_of(keys, np.arange(8))
    assert some.tolist() == np.where(expected == 1, 0, -1).tolist()


@pytest.mark.parametrize("count", [40, 41])
def test_cuts_of_random_order(count: int) -> None:
    places = KeyPlaces(Randomness(2), "order of labelled rows", count)
    ranges = [np.array([[0, 7], [30, 33]]), np.array([[7, 20], [33, count]])]
    pieces = KeyEdges.of(places, ranges, count).pieces_of(
        places.of(range(count), 0), np.arange(count)
    )
    order = Randomness(2).order("order of labelled rows", count)
    expected = [0] * 7 + [1] * 13 + [-1] * 10 + [0] * 3 + [1] * (count - 33)
    assert pieces[order].tolist() == expected
