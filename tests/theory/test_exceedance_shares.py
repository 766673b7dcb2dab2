"""Shares of changes beyond ε: strict, with failures on the safe side."""

from __future__ import annotations

import math

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import shares
from poise.theory.exceedance_shares import TrialChanges


def test_ties_do_not_count_and_shapes_do_not_matter() -> None:
    changes = np.array([[[0.1, 0.2], [0.3, 0.4]], [[0.2, 0.2], [0.2, 0.5]]])
    for form in (changes, changes.reshape(2, 4), changes.tolist(), [list(changes[0]), changes[1]]):
        assert shares(form, 0.2).tolist() == [0.5, 0.25]
    assert shares([0.1, 0.2, 0.3], 0.2).tolist() == [0.0, 0.0, 1.0]
    assert shares([], 0.2).size == shares(np.empty((0, 3)), 0.2).size == 0


def test_failures_and_infinities() -> None:
    changes = [[math.nan, math.inf, 0.0, 0.0], [math.nan] * 4]
    assert shares(changes, 1.0).tolist() == [0.5, 1.0]
    assert shares(changes, 1.0, failures_exceed=False).tolist() == [0.25, 0.0]


def test_going_down_adds_up_to_the_shares() -> None:
    rng = np.random.default_rng(0)
    changes = [rng.exponential(1, int(rng.integers(1, 7))).round(1) for _ in range(30)]
    changes[4] = np.array([math.inf, 0.2])
    table = TrialChanges.of(changes)
    for block in (1, 7, 1000):
        rows = [pair for part in table.shares_downwards(block) for pair in zip(*part, strict=True)]
        assert [epsilon for epsilon, _ in rows] == table.candidates()[::-1].tolist()
        for epsilon, row in rows:
            assert row.tolist() == table.shares(epsilon).tolist()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([[0.1], []], "got none in trial 1"),
        ([[0.1], [-0.1]], "at least 0, got -0.1"),
        (0.5, "one entry per trial, got 0.5"),
    ],
)
def test_refusals(changes, message) -> None:
    with pytest.raises(ArgumentError, match=message):
        shares(changes, 0.1)
