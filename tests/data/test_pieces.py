"""Every row finds its piece, whatever the partitions; a piece has the trials of memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.data.on_dask import Columns, DaskSample, Seen, Table, gathered
from poise.data.pieces import Order
from poise.data.randomness import Randomness, as_coupling
from poise.data.sample import Sample
from poise.data.split import Split
from poise.errors import DataError


def table_of(frame, cuts, groups):
    """What is known of a frame in so many partitions, some of them empty."""
    ends = [0, *sorted(cut % (len(frame) + 1) for cut in cuts), len(frame)]
    parts = [frame.iloc[a:b] for a, b in pairwise(ends)]
    seen = [Seen(len(p), labels=tuple(dict.fromkeys(p["g"])) if groups else ()) for p in parts]
    return Table(parts, frame.iloc[:0], tuple(seen))


@given(st.data())
def test_a_piece_has_the_trials_of_memory(data) -> None:
    n, trials, workers = (data.draw(st.integers(low, 4)) for low in (2, 1, 1))
    grouped, shuffle, replaced = (data.draw(st.booleans()) for _ in range(3))
    more, spare = data.draw(st.integers(0, 20)), data.draw(st.integers(0, 5))
    position = data.draw(st.sampled_from(["last", "uniform"]))
    units = trials * (n + replaced) + (spare if more >= trials else trials + spare)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    sizes = rng.integers(1, 3 if grouped else 2, units)
    labeled = pd.DataFrame({"x": rng.normal(size=sizes.sum()), "y": 1.0})
    labeled["g"] = rng.permutation(np.repeat([f"g{k}" for k in range(units)], sizes))
    beyond = pd.DataFrame({"x": rng.normal(size=more + 2), "g": ["g0", *range(more), 0]})
    beyond = beyond.drop(index=[0, more + 1]) if not grouped else beyond
    groups = "g" if grouped else None
    frames = [each if grouped else each.drop(columns="g") for each in (labeled, beyond)]
    sample = Sample.of(
        frames[0], "y", groups=groups, X_unlabeled=frames[1] if len(beyond) else None
    )
    asked = {"n": n, "trials": trials, "replace": replaced, "position": position}
    points = (units + more) // trials - n - replaced
    split = Split(
        sample, Randomness(1), as_coupling("shared"), n_points=points, shuffle=shuffle, **asked
    )
    cuts = st.lists(st.integers(0, 99), max_size=3)
    tables = [table_of(frame, data.draw(cuts), grouped) for frame in frames]
    there = DaskSample(Columns("y", groups, None, {}), *tables, at_hand=sample)
    pieces = there.pieces(split, range(data.draw(st.integers(0, trials - 1)), trials), workers)
    moved = []
    for side, table in zip((pieces.labeled, pieces.unlabeled), tables, strict=True):
        rows = np.cumsum([0, *(each.rows for each in table.seen)])
        parts = [
            side.placed(part, row, groups) for part, row in zip(table.parts, rows, strict=False)
        ]
        moved.append(pd.concat(parts[::-1]))
    for piece in range(len(pieces)):
        mine = (table[table["_piece"] == piece] for table in moved)
        few, here = gathered(there.columns, pieces, piece, *mine, split)
        numbers = np.array([few.label_of(row) for row in range(few.n_labeled + few.n_unlabeled)])
        assert few.X.native["x"].tolist() == sample.points(numbers[: few.n_labeled])["x"].tolist()
        for k in pieces.trials(piece):
            for mine, theirs in zip(here.rows(k, 0), split.rows(k, 0), strict=True):
                assert numbers[mine].tolist() == theirs.tolist()
            assert numbers[here.points(k)].tolist() == split.points(k).tolist()
            values = [
                s.points(p.points(k))["x"].tolist() for s, p in ((few, here), (sample, split))
            ]
            assert values[0] == values[1]
            assert here.terms(k) == split.terms(k)
            if not (grouped or replaced or position == "uniform"):
                for mine, theirs in zip(here.block(k, k + 1), split.block(k, k + 1), strict=True):
                    assert numbers[mine].tolist() == theirs.tolist()


@pytest.mark.parametrize("count", [1, 2, 1_000, 70_000, (1 << 20) + 3])
def test_words_at_places_without_all_of_them(count) -> None:
    order = Order(count, Randomness(5), "rows")
    ordered = np.sort(order.words(0, count))
    assert (np.argsort(order.words(0, count)) == Randomness(5).order("rows", count)).all()
    places = np.unique(np.random.default_rng(0).integers(0, count, 50))
    assert (order.at(places) == ordered[places]).all()
    assert order.at(np.array([count])) == 2**64 - 1
    assert (order.words(count // 3, 1) == order.words(0, count)[count // 3]).all()


def test_a_row_that_is_missing_is_an_error() -> None:
    frame = pd.DataFrame({"x": np.arange(8.0), "y": 0.0})
    sample = Sample.of(frame, "y")
    split = Split(sample, Randomness(0), as_coupling("shared"), n=3, trials=2)
    there = DaskSample(
        Columns("y", None, None, {}), table_of(frame, [], False), Table([], None, ()), sample
    )
    pieces = there.pieces(split, range(2))
    rows = pieces.labeled.placed(frame, 0, None)
    with pytest.raises(DataError, match="not the same whenever they are read"):
        gathered(there.columns, pieces, 0, rows.iloc[1:], None, split)
