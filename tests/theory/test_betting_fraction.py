"""The fraction that is staked on one trial, at the ends of its range and in between."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.theory import (
    binomial_law,
    critical_value,
    fraction,
    mirror_fraction,
)
from poise.theory.critical_values import FAILURES, critical


@settings(max_examples=100, deadline=None)
@given(
    u=st.one_of(st.floats(1e-12, 1.5), st.just(0.0)),
    left=st.integers(1, 3000),
    total=st.floats(0, 100),
    part=st.floats(0, 1),
    delta=st.one_of(st.floats(1e-9, 0.99), st.sampled_from([0.0, 1 - 1e-12])),
)
def test_fractions_are_fractions_alone_or_together(u, left, total, part, delta) -> None:
    for bet in (fraction, mirror_fraction):
        c = bet(u, left, total, total * part, delta)
        assert isinstance(c, float)
        assert 0 <= c <= 1
        together = bet([u, u], left, total, total * part, delta)
        np.testing.assert_allclose(together, c, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("u", [5e-324, 1e-45, 1e-13])
@pytest.mark.parametrize("delta", [2.7e-66, 1e-12])
def test_fractions_stay_fractions_at_the_ends_of_the_number_range(u, delta) -> None:
    for bet in (fraction, mirror_fraction):
        for left in (1, 5, 3000):
            assert 0 <= bet(u, left, 1.0, 0.0, delta) <= 1
            assert all(0 <= c <= 1 for c in bet([u, u], left, 1.0, 0.0, delta))


@pytest.mark.parametrize("delta", [1e-9, 1e-4, 0.02, 0.5, 0.97, 1 - 1e-6])
@pytest.mark.parametrize("left", [2, 40, 5000])
def test_fractions_are_what_an_exceedance_costs_the_binomial_test(delta, left) -> None:
    """With one trial less, the same test costs so much more after an exceedance than without."""
    for u in (1e-9, 1e-4, 0.03, 0.6, 1 - 1e-6):
        if u > (1 - delta) ** left:
            count, tie = critical_value(left, delta, u)
            c = (1 - delta) * cost(count - 1, left - 1, delta, tie) / u
            assert fraction(u, left, 0.0, 0.0, delta) == pytest.approx(c, rel=1e-5, abs=1e-8)
        if u > delta**left:
            one = np.ones(1)
            allowed, tie = critical(FAILURES, left * one, delta * one, u * one)
            c = delta * cost(left - int(allowed[0]) - 1, left - 1, delta, 1 - tie[0]) / u
            assert mirror_fraction(u, left, 0.0, 0.0, delta) == pytest.approx(c, rel=1e-5, abs=1e-8)


def cost(k: int, m: int, p: float, tie: float) -> float:
    """(1 − tie) P(Bin(m, p) = k) + tie P(Bin(m, p) = k + 1)."""
    below, above = (binomial_law.pmf(j, m, p) if 0 <= j <= m else 0.0 for j in (k, k + 1))
    return float((1 - tie) * below + tie * above)


def test_nothing_is_staked_once_the_value_is_one() -> None:
    assert fraction(1.0, 10, 0.0, 0.0, delta=0.1) == 0
