"""Which rows a trial takes: by hand, in every design none that another takes, and in pieces."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.data.on_dask import Columns, DaskSample, Table, gathered
from poise.data.pieces import Order
from poise.data.randomness import Randomness, as_coupling
from poise.data.sample import Sample
from poise.data.split import Split
from poise.errors import DataError


def split_of(labeled: int, unlabeled: int = 0, groups: Any = None, **asked: Any) -> Split:
    more = np.zeros((unlabeled, 1)) if unlabeled else None
    names = asked.pop("groups_unlabeled", None)
    if groups is not None and unlabeled and names is None:
        names = [("alone", row) for row in range(unlabeled)]
    rows = np.zeros((labeled, 1)), np.zeros(labeled)
    sample = Sample.of(*rows, X_unlabeled=more, groups=groups, groups_unlabeled=names)
    root = asked.pop("root", 0)
    return Split(sample, Randomness(root), as_coupling("shared"), **asked)


def test_the_papers_split_by_hand() -> None:
    """Trial k (from 1): rows (k-1)n+1 … kn, without kn, at row mn+k, leftover ones first."""
    for n, labeled, unlabeled in [(2, 7, 0), (3, 12, 4), (3, 13, 9), (5, 26, 2), (4, 16, 4)]:
        m = min(labeled // n, (labeled + unlabeled) // (n + 1))
        split = split_of(labeled, unlabeled, n=n, trials=m, shuffle=False)
        assert len(split) == m
        for k in range(1, m + 1):
            full, reduced = split.rows(k - 1, 0)
            assert full.tolist() == [row - 1 for row in range((k - 1) * n + 1, k * n + 1)]
            assert reduced.tolist() == full.tolist()[:-1]
            assert split.removed(k - 1, 0).tolist() == [k * n - 1]
            assert split.points(k - 1).tolist() == [m * n + k - 1]
            words = Randomness(0).block("xi", k - 1, k)[0].tolist()
            assert split.terms(k - 1) == (words[0], words[0])


def test_what_is_removed_stands_last_or_is_replaced() -> None:
    asked = {"n": 4, "trials": 2, "shuffle": False}
    cases = [
        ({"removals": 3}, 2, ([4, 6, 7, 5], [4, 6, 7])),
        ({"remove": 2, "removals": 2}, 1, ([6, 7, 4, 5], [6, 7])),
        ({"replace": True, "removals": 2}, 1, ([5, 6, 8, 7], [5, 6, 8, 9])),
        ({"replace": True, "remove": 2}, 0, ([6, 7, 8, 9], [6, 7, 10, 11])),
        ({"groups": [0, 0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8]}, 0, ([6, 7, 8, 9, 10], [6, 7, 8, 9])),
    ]
    for case, removal, (full, reduced) in cases:
        labeled = 12 if "groups" in case else 14
        split = split_of(labeled, 5, **asked, **case)
        assert [rows.tolist() for rows in split.rows(1, removal)] == [full, reduced]
        gone = [row for row in full if row not in reduced]
        assert split.removed(1, removal).tolist() == gone
        assert split.full_fits == case.get("removals", 1)
    assert split_of(14, n=4, trials=2, removals=3, one_full_fit=True).full_fits == 1


def test_rows_removed_in_place_are_drawn_beforehand() -> None:
    """Each place is as likely (6 standard errors), and none is drawn twice in a trial."""
    split = split_of(4000, n=4, trials=800, removals=3, position="uniform", shuffle=False)
    assert split.full_fits == 1
    seen = np.zeros(4)
    for k in range(800):
        places = []
        for j in range(3):
            full, reduced = split.rows(k, j)
            assert full.tolist() == list(range(4 * k, 4 * k + 4))
            gone = split.removed(k, j)
            assert reduced.tolist() == [row for row in full if row not in gone]
            places.append(int(gone[0]) - 4 * k)
        assert len(set(places)) == 3
        seen[places[0]] += 1
        assert split.with_fewer(1, 1).removed(k, 0).tolist() == split.removed(k, 0).tolist()
    assert (np.abs(seen - 200) < 6 * np.sqrt(800 * 3 / 16)).all()
    asked = {"n": 6, "trials": 9, "remove": 2, "removals": 2, "shuffle": False, "replace": True}
    split = split_of(99, position="uniform", **asked)
    for k, j in np.ndindex(9, 2):
        full, reduced = split.rows(k, j)
        assert full[full != reduced].tolist() == split.removed(k, j).tolist()
        assert reduced[full != reduced].tolist() == [8 * k + 6, 8 * k + 7]


def test_no_row_serves_two_trials() -> None:
    for seed in range(600):
        rng = np.random.default_rng(seed)
        n, flag = int(rng.integers(2, 7)), [bool(rng.integers(2)) for _ in range(5)]
        remove = int(rng.integers(1, n))
        here, there = int(rng.integers(3, 81)), int(rng.integers(0, 31))
        rows: dict[str, Any] = {"labeled": here, "unlabeled": there}
        if flag[0]:
            rows["groups"] = rng.integers(0, 41, here).tolist()
            rows["groups_unlabeled"] = rng.integers(0, 41, there).tolist() if there else None
        asked = {"n": n, "remove": remove, "removals": int(rng.integers(1, n // remove + 1))}
        asked |= {"n_points": int(rng.integers(1, 5)), "root": seed, "shuffle": flag[1]}
        asked |= {"replace": flag[2], "one_full_fit": flag[3]}
        _check(rows, asked | {"position": "uniform" if flag[4] else "last"})


def _check(rows: dict[str, Any], asked: dict[str, Any]) -> None:
    sample = split_of(**rows, n=2, trials=0).sample
    labeled, unlabeled = sample.groups, sample.groups_unlabeled
    labeled = np.arange(rows["labeled"]) if labeled is None else labeled
    unlabeled = np.arange(rows["unlabeled"]) if unlabeled is None else unlabeled
    other = np.where(unlabeled < 0, -1, unlabeled + labeled.max() + 1)  # -1 serves no trial
    owner = np.append(labeled, other)  # the unit of each row
    units, more = len(set(labeled)), len(set(unlabeled[unlabeled >= 0]))
    width = asked["n"] + asked["remove"] * asked["replace"]
    m = min(units // width, (units + more) // (width + asked["n_points"]))
    split = split_of(**rows, **asked, trials=m)
    used: set[int] = {-1}
    for k in range(m):
        pairs = [split.rows(k, j) for j in range(asked["removals"])]
        trained = {int(owner[row]) for pair in pairs for fit in pair for row in fit}
        points = split.points(k)
        assert points[:1].tolist() == split.with_fewer(1, 1).points(k).tolist()
        tested = {int(owner[row]) for row in points}
        assert (len(trained), len(tested)) == (width, asked["n_points"])
        assert not trained & tested
        assert not used & (trained | tested)
        used |= trained | tested
        everything = [set(split.removed(k, j).tolist()) for j in range(asked["removals"])]
        assert sum(map(len, everything)) == len(set().union(*everything))
        for (full, reduced), gone in zip(pairs, everything, strict=True):
            assert len({int(owner[row]) for row in full}) == asked["n"]
            assert sorted(full) == sorted(np.flatnonzero(np.isin(owner, owner[full])))  # whole
            assert not gone & set(reduced.tolist())
            assert set(full.tolist()) - gone <= set(reduced.tolist())
            if asked["position"] == "last":
                assert gone == set(full[len(full) - len(gone) :].tolist())


def test_each_row_of_a_test_group_is_as_likely() -> None:
    asked = {"groups": np.repeat(np.arange(300), 3), "n": 2, "trials": 100}
    split = split_of(900, **asked, shuffle=False)
    drawn = np.concatenate([split_of(900, **asked, root=r).points(7) % 3 for r in range(600)])
    assert (np.abs(np.bincount(drawn, minlength=3) - 200) < 6 * np.sqrt(600 * 2 / 9)).all()
    assert {int(split.points(k)[0]) // 3 for k in range(100)} == set(range(200, 300))


# Pieces: every row finds its own, whatever the partitions


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
    alone = frames[1] if len(beyond) else None
    sample = Sample.of(frames[0], "y", groups=groups, X_unlabeled=alone)
    asked = {"n": n, "trials": trials, "replace": replaced, "position": position}
    asked |= {"n_points": (units + more) // trials - n - replaced, "shuffle": shuffle}
    split = Split(sample, Randomness(1), as_coupling("shared"), **asked)
    cuts = st.lists(st.integers(0, 99), max_size=3)
    there = on_dask(sample, groups, *((frame, data.draw(cuts)) for frame in frames))
    first = there.pieces(split, range(data.draw(st.integers(0, trials - 1)), trials), workers)
    sides, moved = there.sides(split, first), []
    for side, table in zip(sides, there.tables, strict=True):
        parts = zip(table.parts, table.first, strict=False)
        moved.append(pd.concat([side.placed(*each) for each in parts][::-1]))
    for piece, (begin, end) in enumerate(pairwise(first.tolist())):
        mine = [table[table["_piece"] == piece] for table in moved]
        few, here = gathered(there.columns, sides, piece, mine, split)
        numbers = np.array([few.label_of(row) for row in range(few.n_labeled + few.n_unlabeled)])
        assert few.X.native["x"].tolist() == sample.points(numbers[: few.n_labeled])["x"].tolist()
        for k in range(begin, end):
            for mine, theirs in zip(here.rows(k, 0), split.rows(k, 0), strict=True):
                assert numbers[mine].tolist() == theirs.tolist()
            assert numbers[here.points(k)].tolist() == split.points(k).tolist()
            mine, theirs = few.points(here.points(k)), sample.points(split.points(k))
            assert mine["x"].tolist() == theirs["x"].tolist()
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
