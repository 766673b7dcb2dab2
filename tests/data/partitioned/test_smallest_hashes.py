"""Copies of rows are found wherever they lie, and chance is told apart from copies."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from poise.data.duplicates import about_copies, copies_elsewhere, find_copies
from poise.data.partitioned import smallest_hashes
from poise.data.partitioned.column_roles import named_columns
from poise.data.partitioned.partitioned_sample import PartitionedSample
from poise.data.partitioned.smallest_hashes import SmallestHashes
from poise.data.sample import Sample
from shared.partitions import FramesHere


def make_rows(count: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(count, 2)), columns=["a", "b"])
    frame["town"] = rng.choice(["Bath", "Ely"], count)
    return frame.assign(who=np.arange(count), y=rng.normal(size=count))


def elsewhere(frame: pd.DataFrame, parts: int, **more: Any) -> PartitionedSample:
    edges = np.linspace(0, len(frame), parts + 1).astype(int)
    frames = [frame[a:b] for a, b in pairwise(edges)]
    return PartitionedSample(FramesHere(frames), "y", **more)


def with_copies(frame: pd.DataFrame, count: int) -> pd.DataFrame:
    """Put copies of the first rows at the end, in other partitions, as other people."""
    return pd.concat([frame, frame[:count].assign(who=-1 - np.arange(count))], ignore_index=True)


@pytest.mark.parametrize("groups", [None, "who"])
def test_the_same_copies_as_in_memory_where_all_rows_are_looked_at(groups: str | None) -> None:
    frame = with_copies(make_rows(150), 12)
    frame = frame if groups else frame.drop(columns="who")
    columns = named_columns(frame, "y", None, groups, None)
    assert copies_elsewhere(elsewhere(frame, 3, groups=groups)) == find_copies(Sample(**columns))
    assert find_copies(Sample(**columns)).rows == 24


def test_copies_in_one_group_are_no_copies() -> None:
    frame = with_copies(make_rows(150), 12)
    frame["who"] = np.r_[np.arange(150), np.arange(12)]
    assert about_copies(elsewhere(frame, 3, groups="who")) == ""


def test_a_part_of_the_rows_shows_a_part_of_the_copies() -> None:
    """Of 8000 rows that are equal to another about 6 % are seen, 464 with standard deviation 30."""
    frame = with_copies(make_rows(12_000), 4_000).drop(columns="who")
    sample = elsewhere(frame, 4)
    found = copies_elsewhere(sample)
    share = SmallestHashes.joined([sample.labeled.summary.sketch]).share
    assert 0.03 < share < 0.08
    assert 240 < found.rows < 690
    assert found.looked_at < 1024
    assert "rows looked at have an equal elsewhere" in about_copies(sample)


def test_equal_rows_by_chance_are_no_copies() -> None:
    """Few values: the pairs that are seen are a share of all pairs, and so are those expected."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 30, size=(8_000, 2)), columns=["a", "b"])
    sample = elsewhere(frame.assign(y=rng.integers(0, 30, 8_000)), 4)
    found = copies_elsewhere(sample)
    assert found.observed > 0
    assert found.expected / 3 < found.observed < 3 * found.expected
    assert about_copies(sample) == ""


def test_unlabelled_rows_are_compared_with_labelled_ones() -> None:
    """Whole numbers in one table are floats in the other."""
    labeled = make_rows(100).drop(columns="who").assign(k=np.arange(100))
    points = labeled[:7].drop(columns="y").astype({"k": float})
    sample = elsewhere(labeled, 2, unlabeled=FramesHere([points]))
    assert copies_elsewhere(sample).rows == 14


def test_few_rows_are_brought_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smallest_hashes, "_MOST_ROWS", 40)
    frame = with_copies(make_rows(150), 150).drop(columns="who")
    found = copies_elsewhere(elsewhere(frame, 3))
    assert found.looked_at == found.rows == 40


def test_rows_of_lists_have_hashes() -> None:
    frame = pd.DataFrame({"a": [[1], [2], [1]]})
    assert SmallestHashes.of(frame).has_equals
    assert not SmallestHashes.of(frame[:2]).has_equals
