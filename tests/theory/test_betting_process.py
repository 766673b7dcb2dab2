"""The bets on shares keep their level, and are the Binomial test where shares are 0 or 1.

Simulations have fixed seeds; each would fail by chance with probability below 1e-6 if its
seed were drawn anew.
"""

from __future__ import annotations

import copy
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import ArgumentError
from poise.theory import (
    Hedge,
    Mirror,
    acceptance_martingale,
    all_in,
    critical_share,
    cut_offs,
    hedge,
    mirror,
    rao_blackwell,
    share_ceiling,
    verdict,
)
from poise.theory import power as binomial_power
from poise.theory.critical_values import FAILURES, critical
from poise.theory.many_hedges import hedge_side_by_side
from shared.data import zeros_and_ones

levels = st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.3])
deltas = st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8])


# --- on 0/1 shares ------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), m=st.integers(0, 150), delta=deltas, alpha=levels)
def test_on_zeros_and_ones_the_hedge_is_the_acceptance_martingale(seed, m, delta, alpha) -> None:
    shares = zeros_and_ones(seed, m, delta * np.random.default_rng(seed).random() * 2)
    path = hedge(shares, delta, alpha)
    t = np.arange(1, path.trials_used + 1)
    martingale = acceptance_martingale(np.cumsum(shares)[t - 1], t, m, delta, alpha)
    np.testing.assert_allclose(path.values, martingale, rtol=1e-8, atol=1e-8)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), m=st.integers(1, 150), delta=deltas, alpha=levels)
def test_on_zeros_and_ones_the_mirror_is_the_randomised_mirror_test(seed, m, delta, alpha) -> None:
    shares = zeros_and_ones(seed, m, delta)
    path = mirror(shares, delta, alpha)
    one = np.ones(1)
    allowed, tie = critical(FAILURES, m * one, delta * one, alpha * one)
    without = m - shares.sum()
    final = 1.0 if without < allowed else float(tie[0]) if without == allowed else 0.0
    if path.trials_used == m:
        assert path.value == pytest.approx(final, abs=1e-7)
    else:
        assert path.value == pytest.approx(float(path.accepted), abs=1e-8)
        assert path.accepted == (final == 1)


@settings(max_examples=300, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    m=st.integers(0, 120),
    delta=deltas,
    alpha=levels,
    ratio=st.floats(0, 4),
)
def test_on_zeros_and_ones_the_plain_verdict_is_the_binomial_tests(seed, m, delta, alpha, ratio):
    shares = zeros_and_ones(seed, m, min(delta * ratio, 1))
    stable_at_most, unstable_at_least = cut_offs(m, delta, alpha)
    count = shares.sum()
    expected = (
        "stable"
        if count <= stable_at_most
        else "unstable"
        if count >= unstable_at_least
        else "inconclusive"
    )
    assert verdict(shares, delta, alpha).verdict == expected


# --- level --------------------------------------------------------------------------------


def outcomes(process: Hedge, law: dict[float, float], chance: float = 1.0):
    """Every end of a process whose shares have a law, with its probability."""
    if process.accepted or process.dead or process.trials == process.n_trials:
        yield process.value, chance
        return
    for share, probability in law.items():
        after = copy.deepcopy(process)
        after.update(share)
        yield from outcomes(after, law, chance * probability)


def three_point_law(middle: float, delta: float, weight: float) -> dict[float, float]:
    """Mean δ on {0, middle, 1}: ``weight`` says how much of the mean the middle brings."""
    at_middle = min(weight * delta / middle, (1 - delta) / (1 - middle) if middle < 1 else 1)
    at_one = delta - at_middle * middle
    return {0.0: 1 - at_middle - at_one, middle: at_middle, 1.0: at_one}


LAWS = [
    (delta, alpha, three_point_law(middle, delta, weight))
    for (delta, alpha), middle, weight in itertools.product(
        [(0.1, 0.3), (0.3, 0.1), (0.3, 0.45), (0.5, 0.05)], [0.07, 0.36, 0.8], [0.3, 0.8]
    )
]


@pytest.mark.parametrize("process", [Hedge, Mirror])
@pytest.mark.parametrize(("delta", "alpha", "law"), LAWS)
def test_the_level_is_exact_by_enumeration(process, delta, alpha, law) -> None:
    assert math.isclose(sum(s * p for s, p in law.items()), delta)
    ends = list(outcomes(process(5, delta, alpha), law))
    assert math.fsum(p for _, p in ends) == pytest.approx(1)
    # a fair bet: the mean of the value, stopped at 1, is α; so P(value ≥ 1) ≤ α
    assert math.fsum(u * p for u, p in ends) == pytest.approx(alpha, rel=1e-12)
    assert math.fsum(p for u, p in ends if u >= 1 - 1e-9) <= alpha * (1 + 1e-9)


RUNS = 6000
# Eight laws, two bounds each: 1e-6 / 16 a bound is five and a half standard deviations.
DEVIATIONS = 5.5

MEAN_LAWS = {
    "zeros and ones": lambda rng, size, mean: (rng.random(size) < mean).astype(float),
    "constant": lambda rng, size, mean: np.full(size, mean),
    "twentieths": lambda rng, size, mean: rng.binomial(20, mean, size) / 20,
    "beta, spread": lambda rng, size, mean: rng.beta(0.2 * mean, 0.2 * (1 - mean), size),
    "beta, narrow": lambda rng, size, mean: rng.beta(30 * mean, 30 * (1 - mean), size),
    "whole failures": lambda rng, size, mean: np.where(
        rng.random(size) < mean / 2, 1.0, (mean / 2) / (1 - mean / 2)
    ),
    "two scales": lambda rng, size, mean: np.where(
        rng.random(size) < 0.5, 0.0, rng.beta(2 * mean, 1 - 2 * mean, size)
    ),
    "nearly one": lambda rng, size, mean: (rng.random(size) < mean / 0.9) * 0.9,
}


@pytest.mark.parametrize("name", MEAN_LAWS)
@pytest.mark.parametrize(("delta", "alpha", "m"), [(0.1, 0.1, 60), (0.3, 0.2, 25)])
def test_the_level_holds_in_simulation(name, delta, alpha, m) -> None:
    rng = np.random.default_rng([20260801, list(MEAN_LAWS).index(name), m])
    runs = hedge_side_by_side(MEAN_LAWS[name](rng, (RUNS, m), delta), delta, alpha)
    chance = np.minimum(runs.values, 1.0)
    error = DEVIATIONS * math.sqrt(alpha * (1 - alpha) / RUNS)
    assert runs.accepted.mean() <= alpha + error
    assert chance.mean() <= alpha + error
    if name == "zeros and ones":  # the Binomial test: exactly α with the coin
        assert abs(chance.mean() - alpha) <= error


def test_the_mirrors_level_holds_in_simulation() -> None:
    rng, delta, alpha, runs = np.random.default_rng(5), 0.2, 0.2, 800
    for draw in MEAN_LAWS.values():
        accepted = [mirror(draw(rng, 20, delta), delta, alpha).accepted for _ in range(runs)]
        assert np.mean(accepted) <= alpha + DEVIATIONS * math.sqrt(alpha * (1 - alpha) / runs)


def test_side_by_side_is_one_after_the_other() -> None:
    rng = np.random.default_rng(3)
    for m in (1, 7, 40):
        table = rng.beta(0.3, 2, (60, m))
        table[:20] = table[:20] > 0.3
        delta = rng.uniform(0, 0.6, 60)
        runs = hedge_side_by_side(table, delta, 0.1)
        paths = [hedge(row, p, 0.1) for row, p in zip(table, delta, strict=True)]
        assert runs.accepted.tolist() == [path.accepted for path in paths]
        np.testing.assert_allclose(runs.values, [p.value for p in paths], rtol=1e-9, atol=1e-12)


# --- power --------------------------------------------------------------------------------


def test_constant_shares_need_a_third_of_the_trials() -> None:
    path = hedge([0.05] * 300, delta=0.1, alpha=0.05)
    assert path.accepted
    assert path.trials_used / 300 == pytest.approx(0.33, abs=0.01)  # measured: .33


def test_power_on_fractions_is_far_above_the_binomial_tests() -> None:
    rng = np.random.default_rng(1)
    shares = rng.beta(0.05 / 0.177, 0.95 / 0.177, (1000, 100))  # E S² / E S = .2, as for a tree
    share_of_runs = hedge_side_by_side(shares, 0.1, 0.05).accepted.mean()
    assert share_of_runs > 0.9 > 2 * binomial_power(100, 0.1, 0.05, 0.05, randomized=False)


@pytest.mark.parametrize(("m", "delta", "alpha"), [(3, 0.2, 0.4), (5, 0.1, 0.05)])
def test_all_in_attains_the_ceiling_where_u_cannot_pass_one(m, delta, alpha) -> None:
    law = three_point_law(0.25, 0.05, 0.6)
    mean = math.fsum(
        min(1.0, all_in(list(path), delta, alpha)) * math.prod(law[s] for s in path)
        for path in itertools.product(law, repeat=m)
    )
    assert alpha <= (1 - delta) ** m
    assert mean == pytest.approx(share_ceiling(m, delta, 0.05, alpha), rel=1e-12)


def test_the_ceiling_for_unstable_laws_is_the_level() -> None:
    assert share_ceiling(100, 0.1, 0.1, 0.05) == share_ceiling(100, 0.1, 0.7, 0.05) == 0.05
    assert share_ceiling(1000, 0.1, 0.0, 0.05) == 1


@settings(max_examples=60, deadline=None)
@given(m=st.integers(1, 300), delta=st.floats(0.01, 0.9), alpha=levels)
def test_a_constant_share_is_accepted_up_to_the_critical_one(m, delta, alpha) -> None:
    limit = critical_share(m, delta, alpha)
    if limit > 1e-6:
        assert all_in([limit * (1 - 1e-6)] * m, delta, alpha) >= 1
    if limit > -1:
        assert all_in([max(limit * (1 + 1e-6), limit + 1e-6, 0)] * m, delta, alpha) < 1


def test_rao_blackwell_has_the_binomial_tests_power() -> None:
    m, delta, alpha, law = 6, 0.4, 0.2, three_point_law(0.36, 0.25, 0.7)
    mean = math.fsum(
        rao_blackwell(list(path), delta, alpha) * math.prod(law[s] for s in path)
        for path in itertools.product(law, repeat=m)
    )
    assert mean == pytest.approx(binomial_power(m, delta, 0.25, alpha, randomized=True), rel=1e-12)


# --- a longer horizon -----------------------------------------------------------------------


def test_a_process_ends_and_may_be_extended() -> None:
    process = Hedge(2, 0.5, 0.05)
    process.update(0.5)
    process.update(0.5)
    with pytest.raises(ArgumentError, match="all 2 trials"):
        process.update(0.5)
    process.extend(10)
    while not process.update(0.0):
        pass
    assert process.trials <= 12
    with pytest.raises(ArgumentError, match="has stopped"):
        process.update(0.0)


def test_extending_keeps_the_level() -> None:
    """A second horizon, chosen after the first was used up, is still a fair bet."""
    law, delta, alpha, total = three_point_law(0.4, 0.3, 0.6), 0.3, 0.2, 0.0
    for u_and_rest in itertools.product(law, repeat=5):
        process, chance = Hedge(3, delta, alpha), 1.0
        for share in u_and_rest:
            if process.accepted:
                chance *= law[share]
                continue
            if process.trials == process.n_trials:
                process.extend(2)
            process.update(share)
            chance *= law[share]
        total += chance * process.value
    assert total == pytest.approx(alpha, rel=1e-12)
