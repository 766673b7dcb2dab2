"""Many trials at once have the rows that each trial has by itself."""

from __future__ import annotations

import numpy as np
import pytest

from poise.procedures.split_of_rows import Split, TrialSizes
from poise.protocol.randomness import Randomness, Shared


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("n_labeled", [12, 13, 15, 16])  # 12: every test row is an unlabelled one
def test_test_rows_of_a_range_are_those_of_its_trials(n_labeled, shuffle) -> None:
    split = Split(TrialSizes(3, 4, n_labeled, 4), Randomness(5), Shared(), shuffle=shuffle)
    for start in range(4):
        train, points = split.rows(start, 4)
        assert points.tolist() == [split.test_row(trial) for trial in range(start, 4)]
        whole = np.arange(n_labeled)[train] if isinstance(train, slice) else train
        apart = [split.training(3 * trial, 3 * trial + 3) for trial in range(start, 4)]
        each = [np.arange(n_labeled)[a] if isinstance(a, slice) else a for a in apart]
        assert whole.tolist() == np.concatenate(each).tolist()
