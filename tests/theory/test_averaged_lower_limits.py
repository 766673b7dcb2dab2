"""Lower limits of the averaged test: tied to its verdict, exact on 0/1 data, and valid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from poise.theory.averaged_lower_limits import (
    delta_interval_common,
    delta_lower_common,
    delta_lower_grid,
    epsilon_lower_common,
    epsilon_lower_scan,
)
from poise.theory.betting_process import mirror


def test_the_limit_is_at_least_delta_iff_the_mirror_says_unstable() -> None:
    rng = np.random.default_rng(0)
    said = set()
    for _ in range(300):
        m, delta = int(rng.integers(1, 50)), float(rng.choice([0.05, 0.2, 0.5]))
        changes = rng.exponential(size=(m, 1, 3)) * rng.choice([0.3, 1.0, 3.0])
        planned = m + int(rng.integers(0, 5))
        shares = (changes > 1).mean(axis=(1, 2))
        unstable = mirror(shares, delta, 0.1, n_trials=planned).accepted
        said.add(unstable)
        lower = delta_lower_common(shares, delta, 0.1, n_trials=planned)
        assert (lower >= delta) == unstable
        reach = epsilon_lower_common(changes, 1.0, delta, 0.1, n_trials=planned)
        assert (reach > 1.0) == unstable
    assert said == {True, False}


@pytest.mark.parametrize("ones", [0, 1, 7, 24, 40])
def test_on_single_changes_it_is_clopper_pearson_rounded_down_to_the_grid(ones: int) -> None:
    shares = np.random.default_rng(1).permutation([1.0] * ones + [0.0] * (40 - ones))
    exact = beta.ppf(0.05, ones, 40 - ones + 1) if ones else 0.0
    grid = (np.arange(200) / 200) ** 2
    assert delta_lower_grid(shares, 0.05) == pytest.approx(grid[grid <= exact].max())


def test_limits_for_the_change() -> None:
    """With δ = 0 every change that occurred is below the quantile; a failure shows nothing."""
    changes = [[0.1, 0.7], [0.3, math.nan]]
    assert epsilon_lower_scan(changes, delta=0.0, alpha=0.05) == 0.7
    assert epsilon_lower_common(changes, 0.5, delta=0.0, alpha=0.05) == 0.7
    assert epsilon_lower_scan([[math.nan]] * 50, delta=0.1, alpha=0.05) == 0.0
    assert epsilon_lower_scan([[math.inf]] * 50, delta=0.1, alpha=0.05) == math.inf


def test_no_limit_is_wrong_more_often_than_its_level() -> None:
    """Shares of changes E₁E₂: products of exponentials, the first the same within a trial."""
    from scipy.special import kv

    runs, alpha = 150, 0.1
    truth = 2 * kv(1, 2.0)  # P(E₁E₂ > 1), by integration
    rng = np.random.default_rng(3)
    wrong = np.zeros(5, dtype=int)
    for _ in range(runs):
        changes = rng.exponential(size=(15, 1, 4)) * rng.exponential(size=(15, 1, 1))
        shares = (changes > 1).mean(axis=(1, 2))
        low, high = delta_interval_common(shares, shares, 0.3, alpha)
        wrong += [
            delta_lower_common(shares, 0.3, alpha) > truth,
            delta_lower_grid(shares, alpha) > truth,
            epsilon_lower_common(changes, 0.9, truth, alpha) > 1,
            epsilon_lower_scan(changes, truth, alpha) > 1,
            not low <= truth <= high,
        ]
    # Exceeded once in 5 million runs by a limit of exactly this level: 1e-6 for all five.
    assert (wrong <= binom.isf(2e-7, runs, alpha)).all()
