"""P-values for a ledger, which may ask at another level than the test was made for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import poise
from poise.results.pvalues_any_level import pvalues_at_any_level


def test_p_values_of_bets_are_not_limited_by_their_level() -> None:
    asked = (0.2, 0.1)
    trials = poise.Trials.from_changes(np.zeros((200, 1, 2)), n=5)
    assert trials.test(*asked).pvalue > 0.04
    stable, unstable = pvalues_at_any_level(trials, asked, 0.05)
    assert 0.9**200 <= stable <= 2 * 0.9**200
    assert unstable == 1.0
    moved = poise.Trials.from_changes(np.ones((60, 1, 2)), n=5)
    stable, unstable = pvalues_at_any_level(moved, asked, 0.05)
    assert stable == 1.0
    assert unstable < 1e-6
    single = poise.Trials.from_changes(np.zeros(60), n=5)
    judged = single.test(*asked)
    assert pvalues_at_any_level(single, asked, 0.05) == (judged.pvalue, judged.pvalue_unstable)


def test_they_are_valid_at_every_level() -> None:
    """Shares with mean delta: P(p <= t) <= t; more than these of 1,000 have probability 1e-6."""
    rng, runs = np.random.default_rng(5), 1_000
    found = []
    for _ in range(runs):
        changes = np.repeat(rng.uniform(size=(30, 1, 1)) < 0.2, 2, axis=2)
        trials = poise.Trials.from_changes(changes.astype(float), n=5)
        found.append(pvalues_at_any_level(trials, (0.5, 0.2), 0.05)[0])
    for level in (0.2, 0.1, 0.05, 0.025, 0.01, 0.003, 0.001):
        assert np.sum(np.array(found) <= level) <= binom.isf(1e-6, runs, level)
    assert np.mean(np.array(found) <= 0.05) > 0.01


@pytest.mark.parametrize("moved", range(0, 25, 3))
def test_they_decide_as_the_test_does(moved) -> None:
    changes = np.zeros((40, 1, 3))
    changes.ravel()[: moved * 3 : 2] = 1.0
    trials = poise.Trials.from_changes(changes, n=5)
    found = pvalues_at_any_level(trials, (0.5, 0.2), 0.05)
    judged = trials.test(epsilon=0.5, delta=0.2)
    assert (found[0] <= 0.05) == judged.stable
    assert (found[1] <= 0.05) == (judged.verdict.value == "unstable")
