"""Every row finds its piece, whatever the partitions; a piece has the trials of memory."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.data.on_dask import Columns, DaskSample, Look, Table, _seen, gathered
from poise.data.pieces import Order
from poise.data.randomness import Randomness, as_coupling
from poise.data.sample import Sample
from poise.data.split import Split
from poise.errors import DataError


def on_dask(sample, groups, *tables):
    """Frames in partitions, some of them empty, and what is known of them."""
    made, labels = [], []
    for frame, cuts in tables:
        ends = [0, *sorted(cut % (len(frame) + 1) for cut in cuts), len(frame)]
        parts = [frame.iloc[a:b] for a, b in pairwise(ends)]
        made.append(Table(parts, ends, frame.iloc[:0]))
        labels.append(dict.fromkeys(frame[groups]) if groups else {})
    labels = [labels[0], [label for label in labels[1] if label not in labels[0]]]
    numbers = [{label: k for k, label in enumerate(each)} for each in labels]
    return DaskSample(Columns("y", groups, None, {}), made, sample, numbers)


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
    there = on_dask(sample, groups, *((frame, data.draw(cuts)) for frame in frames))
    first = there.pieces(split, range(data.draw(st.integers(0, trials - 1)), trials), workers)
    sides = there.sides(split, first)
    moved = [
        pd.concat(
            [side.placed(*each) for each in zip(table.parts, table.first, strict=False)][::-1]
        )
        for side, table in zip(sides, there.tables, strict=True)
    ]
    for piece, (begin, end) in enumerate(pairwise(first.tolist())):
        mine = [table[table["_piece"] == piece] for table in moved]
        few, here = gathered(there.columns, sides, piece, mine, split)
        numbers = np.array([few.label_of(row) for row in range(few.n_labeled + few.n_unlabeled)])
        assert few.X.native["x"].tolist() == sample.points(numbers[: few.n_labeled])["x"].tolist()
        for k in range(begin, end):
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
    there = on_dask(sample, None, (frame, []), (frame, []))
    sides = there.sides(split, np.array([0, 2]))
    rows = sides[0].placed(frame, 0)
    with pytest.raises(DataError, match="not the same whenever they are read"):
        gathered(there.columns, sides, 0, [rows.iloc[1:], None], split)


def test_the_sd_is_that_of_all_rows() -> None:
    y = np.random.default_rng(0).lognormal(size=3000)
    frame = pd.DataFrame({"x": np.arange(3000.0), "y": y})
    columns = Columns("y", None, None, {})
    look = Look(columns, lambda sample: SimpleNamespace(n_classes=None), frame.head(), 5)
    parts = [frame[:1100], frame[1100:1100], frame[1100:]]
    seen = [_seen(look, part, k) for k, part in enumerate(parts)]
    few = columns.sample(pd.concat([each.some for each in seen]))
    made = DaskSample(columns, [Table(parts, (0, 1100, 1100, 3000), seen=seen), Table()], few, [])
    assert few.n_labeled < 100
    assert made.sd() == pytest.approx(np.std(y, ddof=1), rel=1e-12)
