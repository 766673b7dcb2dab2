"""The keys at some ranks are those of the whole order, computed at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from poise.protocol import keys_at_ranks as module
from poise.protocol.keys_at_ranks import keys_at_ranks
from poise.protocol.randomness import Randomness


def check(keys: NDArray[np.uint64], ranks: NDArray[np.int64]) -> None:
    """Compare with a stable sort of all keys."""
    order = np.argsort(keys, kind="stable")
    found, rows = keys_at_ranks(lambda start, stop: keys[start:stop], len(keys), ranks)
    assert rows.tolist() == order[ranks].tolist()
    assert found.tolist() == keys[order[ranks]].tolist()


@given(st.data())
def test_many_rows_with_equal_keys(data: st.DataObject) -> None:
    """Keys that occur often, and such as differ only in their last bits."""
    few = st.sampled_from([0, 1, 7, 1 << 40, (1 << 64) - 1, (1 << 64) - 2, 1 << 63])
    keys = np.array(data.draw(st.lists(few, min_size=1, max_size=60)), dtype=np.uint64)
    ranks = data.draw(st.sets(st.integers(0, len(keys) - 1)))
    check(keys, np.array(sorted(ranks), dtype=np.int64))


@pytest.mark.parametrize("count", [1, 2, 255, 256, 1000, 70_001])
def test_the_keys_of_rows(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that end anywhere."""
    monkeypatch.setattr(module, "_KEYS_AT_ONCE", 997)
    keys = Randomness(5).keys("order of labelled rows", 0, count)
    ranks = np.unique(np.linspace(0, count - 1, 41).astype(np.int64))
    check(keys, ranks)


@pytest.mark.parametrize(("most", "tasks"), [(1, 1), (5, 5), (32, 14)])
def test_many_rows_are_looked_at_in_tasks(
    most: int, tasks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranges that end anywhere, twice: for counts, and for keys."""
    monkeypatch.setattr(module, "_KEYS_AT_ONCE", 997)
    monkeypatch.setattr(module, "_KEYS_IN_A_TASK", 5003)
    monkeypatch.setattr(module, "_FEW_TASKS", most)
    asked = []

    def elsewhere(function: Any, spans: Any) -> Any:
        asked.extend(spans)
        return [function(*span) for span in spans]

    keys = Randomness(5).keys("order of labelled rows", 0, 70_001)
    ranks = np.unique(np.linspace(0, 70_000, 41).astype(np.int64))
    found, rows = keys_at_ranks(lambda a, b: keys[a:b], 70_001, ranks, elsewhere)
    order = np.argsort(keys, kind="stable")
    assert (rows.tolist(), found.tolist()) == (order[ranks].tolist(), keys[rows].tolist())
    if tasks == 1:
        assert not asked  # a range that is alone is looked at here
    else:
        assert len(asked) == 2 * tasks
        assert sum(stop - start for start, stop in asked) == 2 * 70_001


@pytest.mark.parametrize(
    ("rows", "tasks"), [(0, 0), (1 << 24, 1), (10**8, 6), (10**10, 69), (10**13, 2183)]
)
def test_number_of_tasks(rows: int, tasks: int) -> None:
    """The keys of 10^13 rows take two minutes to count and as long to send: 2,183 times 64 MB."""
    spans = module._spans(rows)
    assert len(spans) == tasks
    assert [a for a, _ in spans[1:]] == [b for _, b in spans[:-1]]
    assert not spans or (spans[0][0], spans[-1][1]) == (0, rows)


def test_few_keys_are_held_at_once() -> None:
    """Of a million keys a few thousand are kept, however many are looked at."""
    kept = []
    whole = np.random.default_rng(0).integers(0, 2**64 - 1, 1_000_000, dtype=np.uint64)
    sorted_once = np.lexsort

    def watched(keys: tuple[NDArray[np.int64], NDArray[np.uint64]]) -> NDArray[np.int64]:
        kept.append(len(keys[0]))
        return sorted_once(keys)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.np, "lexsort", watched)
        keys_at_ranks(lambda start, stop: whole[start:stop], len(whole), np.array([3, 500_000]))
    assert kept[0] < 2_000
