"""Groups of two rows each: the smallest that can be taken apart by mistake."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import poise
from poise.data.groups import Groups
from poise.procedures.split_of_groups import RemovedUnits, UnitSplit
from poise.procedures.split_of_rows import TrialSizes
from poise.protocol.randomness import Randomness, Shared
from shared.algorithms import Spy

N_GROUPS, N = 40, 5
PAIRS = np.repeat(np.arange(N_GROUPS), 2)
X = np.arange(2.0 * N_GROUPS).reshape(-1, 1)


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize(("remove", "replace"), [(1, False), (2, False), (1, True)])
def test_pairs_stay_together(shuffle, remove, replace) -> None:
    spy = Spy()
    trials = poise.measure(
        spy, X, X[:, 0], n=N, groups=PAIRS, shuffle=shuffle, remove=remove, replace=replace,
        random_state=0, check=False,
    )  # fmt: skip
    units = N + (remove if replace else 0)
    assert trials.n_trials == N_GROUPS // (units + 1)
    seen: set[int] = set()
    for full, reduced, point in spy.trials():
        assert len(full) == 2 * N
        assert len(reduced) == 2 * (N if replace else N - remove)
        for rows in (full, reduced):
            assert all(a // 2 == b // 2 for a, b in list(pairwise(rows))[::2])  # row and partner
        kept = 2 * (N - remove)
        assert reduced[:kept] == full[:kept]
        used = {row // 2 for row in [*full, *reduced, point]}
        assert len(used) == units + 1  # no group serves twice within a trial,
        assert not used & seen  # nor in two trials
        seen |= used


def test_either_row_of_a_pair_may_be_the_test_point() -> None:
    """Each with probability 1/2: fewer than 60 of 200 have probability 3e-9."""
    removed = RemovedUnits(groups=Groups(np.repeat(np.arange(400), 2), 800))
    split = UnitSplit(TrialSizes(1, 200, 800, 0), Randomness(0), Shared(), False, removed)
    rows = [split.test_row(trial) for trial in range(200)]
    assert [row // 2 for row in rows] == list(range(200, 400))
    assert 60 <= sum(row % 2 for row in rows) <= 140


def test_the_split_itself_without_an_order() -> None:
    removed = RemovedUnits(groups=Groups(PAIRS, len(PAIRS)))
    split = UnitSplit(TrialSizes(N, 6, 2 * N_GROUPS, 0), Randomness(0), Shared(), False, removed)
    first = split[0]
    assert np.asarray(first.full.train).tolist() == list(range(10))
    assert np.asarray(first.reduced.train).tolist() == list(range(8))
