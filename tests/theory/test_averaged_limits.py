"""Limits that go with the verdict: stable iff δ̂ ≤ δ iff ε̂ ≤ ε, and they miss rarely."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import (
    AveragedTest,
    all_in,
    all_in_delta_hat,
    delta_hat_common,
    delta_hat_to_print,
    epsilon_hat_common,
    shares,
)

EPSILONS = (0.0, 0.1, 0.3, 0.7, 1.5)


def random_changes(rng: np.random.Generator, m: int) -> np.ndarray:
    """Changes with ties, zeros, infinities and failures, at one of several scales."""
    size = (m, int(rng.integers(1, 3)), int(rng.integers(1, 4)))
    changes = rng.exponential(rng.choice([0.03, 0.2, 1.0]), size).round(1)
    changes[rng.random(size) < 0.01] = math.inf
    changes[rng.random(size) < 0.01] = math.nan
    return changes


@pytest.mark.parametrize("seed", range(6))
def test_stable_is_what_the_limits_say_at_any_stopping_time(seed) -> None:
    """1500 random runs a seed, 9,000 in all: stopped where forced, or anywhere before."""
    rng, found = np.random.default_rng([77, seed]), {"stable": 0, "unstable": 0, "inconclusive": 0}
    for _ in range(1500):
        m, delta = int(rng.integers(0, 14)), float(rng.choice([0.05, 0.2, 0.4, 0.6]))
        alpha, epsilon = float(rng.choice([0.05, 0.2, 0.4])), float(rng.choice(EPSILONS))
        changes, coin = random_changes(rng, m), bool(rng.random() < 0.5)
        test = AveragedTest(m, delta, alpha, randomized=coin)
        stop = m if rng.random() < 0.7 else int(rng.integers(0, m + 1))
        exceeding = shares(changes, epsilon)
        ignoring = shares(changes, epsilon, failures_exceed=False)
        while test.trials < stop and not test.forced:
            test.update(exceeding[test.trials], ignoring[test.trials])
        zeta = float(rng.random()) if coin else 1.0
        verdict, seen = test.decide(zeta), test.trials
        found[verdict] += 1
        plan = {"n_trials": m, "zeta": zeta}
        delta_hat = delta_hat_common(exceeding[:seen], delta, alpha, **plan)
        epsilon_hat = epsilon_hat_common(changes[:seen], epsilon, delta, alpha, **plan)
        assert (verdict == "stable") == (delta_hat <= delta) == (epsilon_hat <= epsilon)
    assert min(found.values()) > 100


def test_limits_fall_when_shares_do_and_keep_to_the_plan() -> None:
    base = [0.1, 0.0, 0.3, 0.0] * 5
    higher = [share + 0.1 for share in base]
    assert delta_hat_common(base, 0.2, 0.1) < delta_hat_common(higher, 0.2, 0.1)
    with pytest.raises(ArgumentError, match="n_trials must be at least the 20 shares"):
        delta_hat_common(base, 0.2, 0.1, n_trials=19)


def test_without_trials_or_with_ones_only_nothing_is_excluded() -> None:
    assert delta_hat_common([], 0.1, 0.05) == 1
    assert delta_hat_common([1.0] * 9, 0.1, 0.05) == 1
    assert epsilon_hat_common([], 0.5, 0.1, 0.05) == math.inf
    assert epsilon_hat_common([[math.nan]] * 9, 0.5, 0.1, 0.05) == math.inf


def test_the_coin_may_bring_the_limit_to_zero() -> None:
    assert delta_hat_common([], 0.1, 0.05, zeta=0.01) == 0
    assert epsilon_hat_common([], 0.5, 0.1, 0.05, zeta=0.01) == 0


def test_at_the_limit_the_process_just_reaches_one() -> None:
    shares_seen = [0.0, 0.2, 0.05] * 8
    limit = delta_hat_common(shares_seen, 0.2, 0.1)
    test = AveragedTest(24, 0.2, 0.1)
    while not test.update(shares_seen[test.trials]):
        pass
    staked, seen = np.array(test.hedge.fractions), np.array(test.hedge.shares)
    for delta, reached in ((limit * (1 - 1e-7), False), (limit * (1 + 1e-7), True)):
        factors = (1 - staked * seen - (1 - staked) * delta) / (1 - delta)
        assert (0.1 * np.cumprod(factors)).max() == pytest.approx(1, abs=1e-5)
        assert ((0.1 * np.cumprod(factors)).max() >= 1) == reached


def test_after_a_three_way_verdict_the_raw_limit_would_miss_too_often() -> None:
    """δ* just below δ: "unstable" is false and so is a δ̂ below δ*; together more than α."""
    delta, alpha, m = 0.4, 0.09, 5
    law = {0.0: 0.3031, 0.01: 0.3, 1.0: 0.3969}
    truth = sum(share * chance for share, chance in law.items())
    assert truth == pytest.approx(0.3999)
    raw_wrong = printed_wrong = 0.0
    for path in itertools.product(law, repeat=m):
        test = AveragedTest(m, delta, alpha)
        while not test.reached and test.trials < m:
            test.update(path[test.trials])
        verdict = test.decide()
        raw = delta_hat_common(path[: test.trials], delta, alpha, n_trials=m)
        printed, false = delta_hat_to_print(raw, delta, verdict), verdict == "unstable"
        chance = math.prod(law[share] for share in path)
        raw_wrong += chance * (false or raw < truth)
        printed_wrong += chance * (false or printed < truth)
    assert raw_wrong == pytest.approx(0.112, abs=5e-4)
    assert printed_wrong <= alpha


def test_the_limit_misses_at_most_alpha() -> None:
    """900 runs at δ* = .15 for three tests' δ; an alarm by chance has probability 1e-6 / 3."""
    rng, truth, alpha, m, runs = np.random.default_rng(8), 0.15, 0.2, 20, 900
    table = rng.binomial(8, truth, (runs, m)) / 8
    for delta in (0.1, 0.2, 0.4):
        missed = [delta_hat_common(row, delta, alpha) < truth for row in table]
        assert np.mean(missed) <= alpha + 5.1 * math.sqrt(alpha * (1 - alpha) / runs)


@pytest.mark.parametrize("zeta", [1.0, 0.3])
def test_all_in_limit_is_where_all_in_reaches_the_coin(zeta) -> None:
    seen = [0.05, 0.2, 0.0, 0.1] * 6
    limit = all_in_delta_hat(seen, 0.1, zeta)
    assert all_in(seen, limit, 0.1) == pytest.approx(zeta, rel=1e-12)


def test_all_in_limit_at_the_ends() -> None:
    assert all_in_delta_hat([], 0.05) == 1
    assert all_in_delta_hat([], 0.05, zeta=0.05) == 0
    assert all_in_delta_hat([0.1, 1.0], 0.05) == 1
    assert all_in_delta_hat([0.1, 0.2], 0.5, zeta=0.1) == 0
    assert all_in_delta_hat([1.0], 0.5, zeta=0.0) == 0


def test_only_known_words_are_verdicts() -> None:
    with pytest.raises(ArgumentError, match="verdict must be one of"):
        delta_hat_to_print(0.1, 0.2, "Stable")
    assert delta_hat_to_print(0.1, 0.2, "inconclusive") == 0.1
