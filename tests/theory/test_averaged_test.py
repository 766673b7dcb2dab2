"""The averaged test while it runs: when it stops, what it says, and which arguments it refuses.

Simulations have fixed seeds; each would fail by chance with probability below 1e-6 if its
seed were drawn anew.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import (
    AveragedTest,
    Hedge,
    Mirror,
    acceptance_martingale,
    hedge,
    verdict,
)
from shared.data import zeros_and_ones


def test_it_stops_where_nothing_can_change_any_more() -> None:
    """From the stop on, no shares lead to another verdict than the stop's."""
    rng, stopped_early = np.random.default_rng(0), 0
    for _ in range(300):
        m, delta, alpha = int(rng.integers(5, 40)), float(rng.uniform(0.05, 0.5)), 0.1
        shares = rng.beta(0.4, 0.4 / delta * rng.uniform(0.3, 2), m)
        test = AveragedTest(m, delta, alpha)
        seen = next((k for k, share in enumerate(shares, 1) if test.update(share)), m)
        stopped_early += seen < m
        rest = [np.zeros(m - seen), np.ones(m - seen), rng.random(m - seen), shares[seen:]]
        for tail in rest:
            assert verdict([*shares[:seen], *tail], delta, alpha).verdict == test.verdict
    assert stopped_early > 100


def test_no_stop_while_the_best_shares_could_still_help() -> None:
    test = AveragedTest(30, 0.1, 0.05, scope="stable")
    while not test.update(0.9 if test.trials < 2 else 0.0):
        rest = [0.0] * (30 - test.trials)
        assert verdict([*test.hedge.shares, *rest], 0.1, 0.05).trials_used >= test.trials
    assert test.verdict == "inconclusive"
    assert test.hedge.hopeless


def test_both_at_one_trial_is_stable_and_the_first_decides() -> None:
    assert verdict([0.0] * 60, 0.1, 0.05) == (len(hedge([0.0] * 60, 0.1, 0.05).values), "stable")
    assert verdict([0.9] * 60, 0.1, 0.05).verdict == "unstable"


def test_the_coin_is_compared_once() -> None:
    test = AveragedTest(20, 0.2, 0.05, randomized=True)
    for _ in range(10):
        test.update(0.1)
    assert not test.forced
    assert test.verdict is None
    u = test.hedge.acceptance_probability
    assert 0.05 < u < 1
    assert test.decide(u * 0.999) == "stable"
    assert test.decide(1.0) == "stable"  # what was decided stays
    with pytest.raises(ArgumentError, match="has stopped"):
        test.update(0.0)


def test_the_coin_goes_on_where_the_plain_test_is_settled() -> None:
    plain, coin = AveragedTest(20, 0.1, 0.05), AveragedTest(20, 0.1, 0.05, randomized=True)
    assert plain.scope == "verdict"
    assert plain.hedge.hopeless  # 0.05 < 0.9^20: no shares bring u to 1
    for _ in range(20):
        coin.update(0.0)
    assert coin.forced
    assert coin.verdict is None
    assert coin.hedge.value == pytest.approx(0.05 / 0.9**20)
    assert coin.decide(0.05 / 0.9**20 * 1.001) != "stable"


def test_with_the_coin_unstable_comes_after_stable() -> None:
    tests = [AveragedTest(40, 0.1, 0.05, randomized=True) for _ in range(3)]
    for test in tests:
        while not test.update(0.2):
            pass
    u, against = tests[0].hedge.value, tests[0].mirror.value
    assert against >= 1 > u > 0
    assert tests[0].verdict is None
    assert tests[0].decide(u / 2) == "stable"
    assert tests[1].decide(u * 1.01) == "unstable"
    assert tests[2].decide(1.0) == "unstable"


def test_a_coin_needs_a_test_that_was_made_for_it() -> None:
    with pytest.raises(ArgumentError, match="zeta must be 1 for a test without a coin"):
        AveragedTest(5, 0.1, 0.05).decide(0.3)


def test_failures_count_against_stable_and_not_for_unstable() -> None:
    test = AveragedTest(30, 0.1, 0.05)
    while not test.update(1.0, 0.0):
        pass
    assert test.verdict == "inconclusive"
    assert (test.hedge.value, test.mirror.dead or test.mirror.hopeless) == (0, True)


def test_scope_stable_runs_no_mirror() -> None:
    test = AveragedTest(30, 0.1, 0.05, scope="stable")
    assert test.mirror is None
    while not test.update(1.0):
        pass
    assert test.verdict == "inconclusive"


@pytest.mark.parametrize("zeta", [0.04, 0.06])
def test_without_trials_only_the_coin_can_say_stable(zeta) -> None:
    assert verdict([], 0.1, 0.05) == (0, "inconclusive")
    assert AveragedTest(0, 0.1, 0.05).verdict == "inconclusive"
    coin = AveragedTest(0, 0.1, 0.05, randomized=True)
    assert coin.decide(zeta) == ("stable" if zeta <= 0.05 else "inconclusive")


def test_with_delta_zero_one_positive_share_is_enough() -> None:
    assert verdict([0.0, 0.0, 1e-9, 0.0], 0.0, 0.05) == (3, "unstable")
    assert verdict([0.0] * 50, 0.0, 0.05) == (50, "inconclusive")
    watch = AveragedTest(5, 0.0, 0.05)
    assert not watch.update(0.0)  # a positive share may still come
    process = Mirror(2, 0.0, 0.05)
    process.update(0.5)
    assert (process.acceptance_probability, process.pvalue) == (1.0, 0.0)


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan])
def test_shares_are_shares(share) -> None:
    with pytest.raises(ArgumentError, match="share must be in"):
        Hedge(5, 0.1, 0.05).update(share)
    with pytest.raises(ArgumentError, match="S must be"):
        hedge([0.1, share], 0.1, 0.05)


def test_e_values_and_p_values() -> None:
    process = Hedge(30, 0.2, 0.05)
    for share in (0.0, 0.1, 0.9, 0.0):
        process.update(share)
    assert process.e_value == process.value / 0.05
    assert process.pvalue == 0.05 / max(0.05, *process.values)


@pytest.mark.parametrize("bad", [{"n_trials": 3}, {"delta": 1.0}, {"alpha": 0.0}])
def test_arguments_are_named(bad) -> None:
    name = next(iter(bad))
    with pytest.raises(ArgumentError, match=name):
        hedge([0.1] * 4, **{"delta": 0.1, "alpha": 0.05, **bad})


def test_ten_thousand_trials_agree_with_the_martingale() -> None:
    shares = zeros_and_ones(4, 10_000, 0.09)
    path = hedge(shares, 0.1, 0.05)
    t = np.arange(1, path.trials_used + 1)
    martingale = acceptance_martingale(np.cumsum(shares)[t - 1], t, 10_000, 0.1, 0.05)
    np.testing.assert_allclose(path.values, martingale, rtol=1e-7, atol=1e-9)
    assert path.accepted
