"""Levels, power and coverage of public questions, through real fits of a world with a known law.

The mean of n normal responses changes by |Y_n − mean of the others|/n when the last row is removed,
so P(change > ε) = erfc(ε √(n(n−1)/2)). Seeds are fixed; each check alarms falsely with probability
below 1e-7, and is told by exact Binomial tails.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import erfcinv
from scipy.stats import binom

import poise

N, RUNS, M = 4, 700, 30
ALARM = 1e-7


def mean(X, y, seed):
    level = float(np.mean(y))
    return lambda points: np.full(len(points), level)


def epsilon_where(delta_star):
    return float(erfcinv(delta_star) / math.sqrt(N * (N - 1) / 2))


@pytest.fixture(scope="module")
def runs():
    """Changes of many runs of M trials, from one measurement of real fits."""
    rng = np.random.default_rng(20261118)
    rows = RUNS * M * (N + 1)
    X, y = np.zeros((rows, 1)), rng.normal(size=rows)
    trials = poise.measure(mean, X, y, n=N, max_trials=None, check=False, fast=False)
    assert trials.n_trials == RUNS * M
    return [poise.Trials.from_changes(part, n=N) for part in trials.values.reshape(RUNS, M)]


def agrees(count, chance):
    """Require that so many of RUNS are compatible with a known chance."""
    low, high = binom.ppf([ALARM / 2, 1 - ALARM / 2], RUNS, chance)
    assert low <= count <= high


@pytest.mark.parametrize("delta_star", [0.2, 0.05])
def test_verdicts_and_limits_are_wrong_as_often_as_they_may(runs, delta_star):
    """Half the level, or < for <=, would give other chances at every one of these."""
    epsilon, delta, alpha = epsilon_where(delta_star), 0.2, 0.1
    results = [trials.test(epsilon, delta, alpha) for trials in runs]
    few = [c for c in range(M + 1) if binom.cdf(c, M, delta) <= alpha]
    many = [c for c in range(M + 1) if binom.sf(c - 1, M, delta) <= alpha]
    agrees(sum(each.stable for each in results), binom.pmf(few, M, delta_star).sum())
    unstable = sum(each.verdict == "unstable" for each in results)
    agrees(unstable, binom.pmf(many, M, delta_star).sum())
    # Clopper-Pearson: the limit is wrong where a test of δ* itself would reject
    few = [c for c in range(M + 1) if binom.cdf(c, M, delta_star) <= alpha]
    many = [c for c in range(M + 1) if binom.sf(c - 1, M, delta_star) <= alpha]
    upper = sum(trials.delta_upper(epsilon, alpha) < delta_star for trials in runs)
    lower = sum(trials.delta_lower(epsilon, alpha) > delta_star for trials in runs)
    agrees(upper, binom.pmf(few, M, delta_star).sum())
    agrees(lower, binom.pmf(many, M, delta_star).sum())


def test_the_profile_holds_for_all_epsilon_at_once(runs):
    grid = np.linspace(0, 3, 400)
    truth = np.array([math.erfc(e * math.sqrt(N * (N - 1) / 2)) for e in grid])
    missed = 0
    for trials in runs[:300]:
        profile = trials.profile(0.2)
        missed += bool((np.array([profile.at(e) for e in grid]) < truth).any())
    low, high = binom.ppf([ALARM, 1 - ALARM], 300, 0.2)
    assert 0.5 * low <= missed <= high


def test_the_averaged_test_keeps_its_level_and_has_more_power():
    """Nearest neighbours, 8 points a trial: reading the first point alone decides less."""
    rng = np.random.default_rng(7)
    rows, m, points = 160, 45, 8
    X = rng.uniform(size=(rows * m * (10 + points), 1))
    y = rng.normal(size=len(X))

    def nearest(X, y, seed):
        return lambda new: y[np.abs(X[:, 0][None, :] - new[:, :1]).argmin(axis=1)]

    found = poise.measure(
        nearest, X, y, n=10, points_per_trial=points, max_trials=None, check=False
    )
    delta_star = 0.1  # the removed row is the nearest of ten
    parts = found.changes.reshape(rows, m, 1, points)
    runs = [poise.Trials.from_changes(part, n=10) for part in parts]
    assert abs((found.changes > 0).mean() - delta_star) < 0.006
    at_level = sum(run.test(0, delta_star, 0.1).stable for run in runs)
    assert at_level <= binom.ppf(1 - ALARM, rows, 0.1)
    averaged = sum(run.test(0, 0.25, 0.05).stable for run in runs)
    binomial = sum(run.test(0, 0.25, 0.05, test="binomial").stable for run in runs)
    assert averaged > binomial + 30
    missed = sum(run.delta_upper(0, 0.1) < delta_star for run in runs)
    assert missed <= binom.ppf(1 - ALARM, rows, 0.1)
