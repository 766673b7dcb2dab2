"""Estimation mode: grids, scans and profiles of the averaged test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import ArgumentError
from poise.theory import (
    averaged_profile,
    delta_hat,
    delta_hat_grid,
    epsilon_hat,
    epsilon_hat_scan,
    hedge,
    shares,
)
from poise.theory.many_hedges import hedge_side_by_side


@settings(max_examples=40, deadline=None)
@given(
    seen=st.lists(st.booleans(), min_size=1, max_size=60), alpha=st.sampled_from([0.01, 0.1, 0.3])
)
def test_on_zeros_and_ones_the_grid_is_clopper_pearson_rounded_up(seen, alpha) -> None:
    exact = delta_hat(sum(seen), len(seen), alpha)
    expected = min([(j / 200) ** 2 for j in range(200) if (j / 200) ** 2 >= exact], default=1.0)
    assert delta_hat_grid(np.array(seen, dtype=float), alpha) == expected


@settings(max_examples=40, deadline=None)
@given(
    changes=st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0, math.inf]), max_size=40),
    delta=st.sampled_from([0.0, 0.1, 0.3]),
    alpha=st.sampled_from([0.05, 0.3]),
)
def test_with_single_changes_the_scan_is_the_papers_estimate(changes, delta, alpha) -> None:
    assert epsilon_hat_scan(changes, delta, alpha) == epsilon_hat(changes, delta, alpha)


def test_the_scan_is_the_hedge_at_every_candidate() -> None:
    """Against the definition, on ragged changes with ties, over more than one block."""
    rng = np.random.default_rng(2)
    for _ in range(12):
        m = int(rng.integers(20, 60))
        changes = [rng.exponential(1, int(rng.integers(1, 20))).round(2) for _ in range(m)]
        changes[3] = np.array([math.nan, 0.4])
        delta, alpha = 0.4, 0.2
        expected = math.inf
        candidates = {float(x) for row in changes for x in row if math.isfinite(x)} | {0.0}
        for candidate in sorted(candidates, reverse=True):
            if not hedge(shares(changes, candidate), delta, alpha).accepted:
                break
            expected = candidate
        assert epsilon_hat_scan(changes, delta, alpha) == expected


def test_the_grid_is_the_hedge_at_every_grid_value() -> None:
    rng = np.random.default_rng(4)
    for _ in range(5):
        seen = rng.beta(0.3, 2, int(rng.integers(5, 40)))
        expected = 1.0
        for j in range(49, 0, -1):
            if not hedge(seen, (j / 50) ** 2, 0.1).accepted:
                break
            expected = (j / 50) ** 2
        assert delta_hat_grid(seen, 0.1, size=50) == expected


RUNS = 400


def grid_limits(table: np.ndarray, alpha: float, size: int) -> np.ndarray:
    """Compute the limit of every row of shares, with all hedges side by side."""
    grid = (np.arange(size - 1, 0, -1) / size) ** 2
    runs = hedge_side_by_side(np.repeat(table, grid.size, axis=0), np.tile(grid, len(table)), alpha)
    accepted = np.logical_and.accumulate(runs.accepted.reshape(len(table), -1), axis=1)
    return np.append(1.0, grid)[accepted.sum(axis=1)]


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, size: rng.binomial(10, 0.12, size) / 10,
        lambda rng, size: rng.beta(0.05, 0.05 * 0.88 / 0.12, size),
        lambda rng, size: (rng.random(size) < 0.12).astype(float),
    ],
)
def test_the_grid_misses_at_most_alpha(draw) -> None:
    """Three laws with δ* = .12: an alarm by chance has probability 1e-6 in all."""
    rng, alpha = np.random.default_rng(9), 0.2
    table = draw(rng, (RUNS, 16))
    limits = grid_limits(table, alpha, size=60)
    assert [delta_hat_grid(row, alpha, size=60) for row in table[:40]] == limits[:40].tolist()
    missed = np.mean(limits < 0.12)
    assert missed <= alpha + 5.1 * math.sqrt(alpha * (1 - alpha) / RUNS)


def test_the_scan_misses_at_most_alpha() -> None:
    """Exponential changes, correlated within a trial; an alarm by chance: 1e-6."""
    rng, alpha, delta, runs = np.random.default_rng(10), 0.2, 0.3, 300
    truth = -math.log(delta)
    missed = 0
    for _ in range(runs):
        common = rng.exponential(1, (20, 1))
        changes = np.where(rng.random((20, 4)) < 0.3, common, rng.exponential(1, (20, 4)))
        missed += epsilon_hat_scan(changes, delta, alpha) < truth
    assert missed / runs <= alpha + 4.9 * math.sqrt(alpha * (1 - alpha) / runs)


def test_the_coin_only_helps() -> None:
    rng = np.random.default_rng(5)
    seen = rng.beta(0.3, 2, 30)
    assert delta_hat_grid(seen, 0.1, zeta=0.3) <= delta_hat_grid(seen, 0.1)
    changes = rng.exponential(1, (30, 3))
    assert epsilon_hat_scan(changes, 0.2, 0.1, zeta=0.3) <= epsilon_hat_scan(changes, 0.2, 0.1)


def test_a_profile_is_the_scan_at_each_level_and_a_step_function() -> None:
    changes = np.random.default_rng(6).exponential(1, (120, 5))
    profile = averaged_profile(changes, 0.1, levels=(0.1, 0.2, 0.4))
    assert profile.epsilon_hat == tuple(
        epsilon_hat_scan(changes, level, 0.1 / 3) for level in (0.1, 0.2, 0.4)
    )
    low, middle, high = sorted(profile.epsilon_hat)
    assert [profile.delta_hat(x) for x in (0.0, low, middle, high, high + 1)] == [
        1.0, 0.4, 0.2, 0.1, 0.1,
    ]  # fmt: skip


def test_nothing_to_say() -> None:
    assert delta_hat_grid([1.0] * 5, 0.05) == 1
    assert delta_hat_grid([], 0.05) == 1
    assert epsilon_hat_scan([], 0.1, 0.05) == math.inf
    assert epsilon_hat_scan([[math.inf]] * 50, 0.1, 0.05) == math.inf
    assert epsilon_hat_scan([[0.0]] * 50, 0.1, 0.05) == 0
    assert averaged_profile([], 0.1).delta_hat(1.0) == 1


@pytest.mark.parametrize("levels", [(), (0.2, 0.1), (0.1, 0.1)])
def test_levels_increase(levels) -> None:
    with pytest.raises(ArgumentError, match="levels must increase"):
        averaged_profile([0.1], 0.1, levels=levels)
