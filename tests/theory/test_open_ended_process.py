"""Evidence without a horizon: the mixture, its confidence sequence, and the portfolio."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import ArgumentError
from poise.theory import (
    OpenEnded,
    Portfolio,
    confidence_sequence,
    e_value,
    log_e_value,
    mixture,
    mixture_delta_hat,
    portfolio,
)


@settings(max_examples=60, deadline=None)
@given(
    seen=st.lists(st.booleans(), max_size=150),
    delta=st.sampled_from([0.01, 0.1, 0.3, 0.7]),
)
def test_on_zeros_and_ones_the_mixture_is_the_e_value(seen, delta) -> None:
    exact = e_value(sum(seen), len(seen), delta)
    assert mixture(np.array(seen, dtype=float), delta) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("trials", [199, 201, 3000, 100_000])
@pytest.mark.parametrize("rate", [0.0, 0.003, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("delta", [0.02, 0.4])
def test_many_trials_agree_with_the_e_value(trials, rate, delta) -> None:
    ones = round(rate * trials)
    evidence = OpenEnded()
    evidence._counts.update({s: n for s, n in ((0.0, trials - ones), (1.0, ones)) if n})
    exact = log_e_value(ones, trials, delta)
    assert evidence.log_e_value(delta) == pytest.approx(exact, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize(("trials", "delta"), [(40, 20), (150, 3), (400, 10)])
def test_fractions_agree_with_the_integral_in_whole_numbers(trials, delta) -> None:
    """Shares and δ in hundredths: the polynomial in c has integer coefficients."""
    shares = (100 * np.random.default_rng(trials).beta(0.4, 5, trials)).round().astype(int)
    coefficients = [1]
    for share in shares.tolist():
        low, slope = 100 - delta, delta - share  # 100 (1 − c S − (1 − c) δ) = low + slope c
        shifted = [0, *(slope * a for a in coefficients)]
        coefficients = [low * a + b for a, b in zip([*coefficients, 0], shifted, strict=True)]
    common = math.lcm(*range(1, trials + 2))
    integral = sum(a * (common // (k + 1)) for k, a in enumerate(coefficients))
    exact = integral / (common * (100 - delta) ** trials)
    assert mixture(shares / 100, delta / 100) == pytest.approx(exact, rel=1e-11)


def test_the_mean_is_one_at_the_null_and_the_portfolio_is_fair() -> None:
    law, delta, alpha = {0.0: 0.6, 0.4: 0.25, 1.0: 0.15}, 0.25, 0.1
    mean = total = 0.0
    for path in itertools.product(law, repeat=4):
        chance = math.prod(law[share] for share in path)
        mean += chance * mixture(path, delta)
        total += chance * portfolio(path, delta, alpha).value  # stopped where it reaches 1
    assert mean == pytest.approx(1, rel=1e-12)
    assert total == pytest.approx(alpha, rel=1e-12)


def test_it_never_falls_in_delta() -> None:
    shares = np.random.default_rng(2).beta(0.4, 3, 80)
    path = [mixture(shares, delta) for delta in np.linspace(0, 0.99, 60)]
    assert (np.diff(path) > 0).all()


@pytest.mark.parametrize(("ones", "trials"), [(0, 60), (7, 60), (30, 400)])
def test_the_confidence_sequence_on_zeros_and_ones(ones, trials) -> None:
    shares = [1.0] * ones + [0.0] * (trials - ones)
    exact = confidence_sequence(ones, trials, 0.05)
    assert mixture_delta_hat(shares, 0.05) == pytest.approx(exact, rel=1e-8)


def test_the_limit_is_where_the_evidence_suffices() -> None:
    shares = np.random.default_rng(3).beta(0.3, 4, 90)
    limit = mixture_delta_hat(shares, 0.05)
    assert mixture(shares, limit) == pytest.approx(20, rel=1e-8)


def test_the_ends() -> None:
    assert mixture([], 0.1) == 1
    assert mixture_delta_hat([], 0.05) == mixture_delta_hat([1.0] * 9, 0.05) == 1
    assert mixture([1.0] * 9, 0.3) == pytest.approx(0.1)
    assert mixture([0.5] * 2, 0.0) == pytest.approx((1 - 0.125) / 1.5)  # ∫ (1 − c/2)² dc
    assert mixture([0.0] * 100_000, 0.5) == math.inf


@pytest.mark.parametrize("law", ["zeros and ones", "fractions"])
def test_the_confidence_sequence_holds_at_all_times_together(law) -> None:
    """600 runs of 40 looks, δ* = .3: an alarm by chance has probability below 1e-6 / 2."""
    rng, truth, alpha, runs = np.random.default_rng(4), 0.3, 0.2, 600
    wrong = 0
    for _ in range(runs):
        shares = (
            rng.random(40) < truth if law == "zeros and ones" else rng.binomial(3, truth, 40) / 3
        )
        evidence = OpenEnded()
        for share in shares.astype(float):
            evidence.update(share)
            if evidence.e_value(truth) >= 1 / alpha:
                wrong += 1
                break
    assert 0 < wrong <= runs * alpha + 5 * math.sqrt(runs * alpha * (1 - alpha))


def test_the_portfolio_survives_a_failed_horizon() -> None:
    both = Portfolio(30, delta=0.1, alpha=0.05)
    for share in [1.0] * 12 + [0.0] * 18:
        both.update(share)
    assert both.hedge.dead
    assert not both.accepted
    while not both.update(0.0):
        pass
    assert both.trials > 100
    assert both.e_value == pytest.approx(both.value / 0.05)


def test_the_portfolio_is_four_fifths_hedge_and_one_fifth_mixture() -> None:
    shares = [0.0, 0.3, 0.0, 0.1]
    both = portfolio(shares, 0.2, 0.1, n_trials=30)
    assert both.hedge.alpha == pytest.approx(0.08)
    assert both.value == pytest.approx(both.hedge.value + 0.02 * mixture(shares, 0.2))
    assert portfolio([], 0.2, 0.1).value == 0.1


def test_shares_are_shares() -> None:
    with pytest.raises(ArgumentError, match="share must be in"):
        OpenEnded().update(1.2)
