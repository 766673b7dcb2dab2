"""Design and planning of the averaged test, before anything is looked at."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import (
    averaged_design,
    fits_per_trial,
    n_trials,
    spare_points,
    spread,
    trials_for_averaging,
    trials_with_spread,
)

SIZES = list(itertools.product((2, 5, 9), (0, 8, 60, 200), (0, 1, 77)))


@pytest.mark.parametrize(("n", "labeled", "unlabeled"), SIZES)
def test_no_row_serves_two_trials(n, labeled, unlabeled) -> None:
    for points in (1, 2, 5):
        m = averaged_design.trials(n, labeled, unlabeled, points)
        rows = [row for k in range(1, m + 1) for row in range((k - 1) * n + 1, k * n + 1)]
        rows += [
            averaged_design.test_row(n, m, k, t)
            for k in range(1, m + 1)
            for t in range(1, points + 1)
        ]
        assert len(set(rows)) == len(rows) == m * (n + points)
        assert max(rows, default=0) <= labeled + unlabeled
        assert m * n <= labeled
        # one more trial would not fit
        assert (m + 1) * n > labeled or (m + 1) * (n + points) > labeled + unlabeled


@pytest.mark.parametrize(("n", "labeled", "unlabeled"), SIZES)
def test_spare_points_cost_no_trial_and_one_more_would(n, labeled, unlabeled) -> None:
    m, points = n_trials(n, labeled, unlabeled), spare_points(n, labeled, unlabeled)
    assert averaged_design.trials(n, labeled, unlabeled, points) == m
    if m:
        assert averaged_design.trials(n, labeled, unlabeled, points + 1) < m
    else:
        assert points == 1


def test_one_full_fit_serves_only_where_that_is_proved() -> None:
    assert fits_per_trial(5, True, "coupled") == 6
    assert fits_per_trial(5, False, "coupled") == 10
    assert fits_per_trial(5, False, "coupled", exchangeable_bags=True) == 6
    assert fits_per_trial(5, False, "shared", exchangeable_bags=True) == 10
    with pytest.raises(ArgumentError, match="coupling must be one of"):
        fits_per_trial(5, True, "other")


def test_one_full_fit_with_symmetry_in_distribution_only_is_a_false_certificate() -> None:
    """A[D; ξ] = the label of row ⌊ξ|D|⌋ + 1 has δ* = 1/2; one full fit gives (n + 1)/(3n)."""
    rng, n, runs = np.random.default_rng(0), 8, 20_000
    labels, xi, run = rng.normal(size=(runs, n)), rng.random(runs), np.arange(20_000)
    of_n, of_fewer = (xi * n).astype(int), (xi * (n - 1)).astype(int)
    one_fit, own_fit = [], []
    for i in range(n):
        others = np.delete(labels, i, axis=1)
        moved_last = np.concatenate([others, labels[:, [i]]], axis=1)
        reduced = others[run, of_fewer]
        one_fit.append((labels[run, of_n] != reduced).mean())
        own_fit.append((moved_last[run, of_n] != reduced).mean())
    error = 5 * 0.5 / math.sqrt(runs)  # five deviations of one indicator
    assert np.mean(one_fit) == pytest.approx((n + 1) / (3 * n), abs=error)
    assert np.mean(own_fit) == pytest.approx(1 / 2, abs=error)


def test_the_test_rows_are_counted_from_one() -> None:
    with pytest.raises(ArgumentError, match="k must be at most m = 3"):
        averaged_design.test_row(5, 3, 4, 1)
    with pytest.raises(ArgumentError, match="t must be"):
        averaged_design.test_row(5, 3, 1, 0)


def test_known_numbers_of_trials_for_averaging() -> None:
    assert [trials_for_averaging(d, 0.05) for d in (0.05, 0.1, 0.2)] == [123, 59, 27]
    assert [trials_for_averaging(d, 0.1) for d in (0.05, 0.1, 0.2)] == [96, 46, 22]
    assert trials_for_averaging(0.0, 0.05) == math.inf


def test_spread_by_its_definition() -> None:
    """E S² / E S of shares whose indicators depend on each other as stated."""
    rng, R, T = np.random.default_rng(0), 3, 4
    base = rng.random((200_000, 1, 1)) < 0.3  # a trial is exposed as a whole, or not
    hits = base & (rng.random((200_000, R, T)) < 0.4)
    share = hits.mean(axis=(1, 2))
    v = spread(R, T, q_removal=0.4, q_point=0.4, q_both=0.4)
    assert v == pytest.approx((share**2).mean() / share.mean(), abs=0.01)
    assert spread(1, 1, 0.3, 0.3, 0.3) == 1


def test_trials_with_spread_at_the_ends() -> None:
    assert trials_with_spread(0.1, 0.05, 0.05, v=1.0, trials_binomial=171) == pytest.approx(171)
    constant = math.log(20) / math.log(0.95 / 0.9)
    assert trials_with_spread(0.1, 0.05, 0.05, 0.05, 171) == pytest.approx(constant)
    assert trials_with_spread(0.1, 0.1, 0.05, 0.5, 171) == math.inf
