"""δ̂ and ε̂ invert the family of tests exactly as Proposition 1 says."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from poise.errors import ArgumentError
from poise.theory import critical_value, delta_hat, epsilon_hat, pvalue

# The first call imports scipy, and machines differ: no test case is timed.
untimed = settings(deadline=None)

RELATIVE = Fraction(1, 10**10)
levels = st.one_of(st.sampled_from([0.01, 0.05, 0.1, 0.25, 0.5, 0.9]), st.floats(1e-12, 0.99))
coins = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(1e-9, 1))
deltas = st.one_of(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9]), st.floats(0, 0.99))
# Few distinct values make ties; infinities are failed trials.
changes_lists = st.lists(
    st.one_of(st.sampled_from([0.0, 0.5, 1.0, 2.0, math.inf]), st.floats(0, 10)), max_size=30
)


def exact_pvalue(b: int, m: int, delta: Fraction, zeta: float) -> Fraction:
    def pmf(k):
        return math.comb(m, k) * delta**k * (1 - delta) ** (m - k)

    return sum(map(pmf, range(b)), Fraction(0)) + Fraction(zeta) * pmf(b)


@untimed
@given(changes_lists, deltas, levels, coins, st.data())
@example([1.0], 0.5, 0.5, 1.0, None)
def test_epsilon_hat_is_at_most_epsilon_iff_the_test_declares_stability(
    changes, delta, alpha, zeta, data
):
    """Proposition 1 (b) and (d); the decision is made in rational arithmetic."""
    somewhere = st.one_of(st.sampled_from([*changes, 0.0]), st.floats(0, 12))
    epsilon = data.draw(somewhere) if data else 1.0
    assume(math.isfinite(epsilon))
    b = sum(change > epsilon for change in changes)
    p = exact_pvalue(b, len(changes), Fraction(delta), zeta)
    # At ζ = 0 an exact tie is settled differently by p <= α and by k*, a*: a null event.
    assume(zeta > 0 or p != Fraction(alpha))
    # a* is rounded to a double, so ζ within rounding of it may fall on either side
    assume(p == Fraction(alpha) or abs(p / Fraction(alpha) - 1) > Fraction(1, 10**9))
    assert (epsilon_hat(changes, delta, alpha, zeta) <= epsilon) == (p <= Fraction(alpha))


@untimed
@given(st.integers(0, 40), levels, coins, st.data())
@example(1, 0.5, 0.25, None)
def test_delta_hat_is_where_the_exact_pvalue_crosses_alpha(m, alpha, zeta, data):
    """Proposition 1 (a) and (c): reject just below δ̂, accept just above it."""
    b = data.draw(st.integers(0, m)) if data else m
    # With ζ all but α, δ̂ is a difference of nearly equal numbers that were rounded before.
    assume(zeta == alpha or abs(zeta - alpha) > 1e-5 * max(zeta, alpha))
    bound = Fraction(delta_hat(b, m, alpha, zeta))
    below, above = bound * (1 - RELATIVE), min(bound * (1 + RELATIVE), Fraction(1))
    if bound > 0:
        assert exact_pvalue(b, m, below, zeta) > Fraction(alpha)
    if bound < 1:
        assert exact_pvalue(b, m, above, zeta) <= Fraction(alpha)


@untimed
@given(changes_lists, deltas, levels, coins, st.floats(0, 12))
def test_both_estimates_tell_the_same_story(changes, delta, alpha, zeta, epsilon):
    b = sum(change > epsilon for change in changes)
    bound = delta_hat(b, len(changes), alpha, zeta)
    assume(abs(bound - delta) > 1e-9)
    assert (bound <= delta) == (epsilon_hat(changes, delta, alpha, zeta) <= epsilon)


@untimed
@given(st.integers(1, 10**9), levels, coins, st.data())
def test_delta_hat_solves_its_equation_for_many_trials(m, alpha, zeta, data):
    b = data.draw(st.one_of(st.integers(0, min(m, 1000)), st.integers(0, m)))
    bound = delta_hat(b, m, alpha, zeta)
    if 1e-9 < bound < 1 - 1e-6:
        assert pvalue(b, m, bound * (1 - 1e-9), zeta) >= alpha * (1 - 1e-9)
        assert pvalue(b, m, bound * (1 + 1e-9), zeta) <= alpha * (1 + 1e-9)


@untimed
@given(st.integers(1, 10**6), levels, coins, st.data())
def test_delta_hat_is_monotone(m, alpha, zeta, data):
    b = data.draw(st.integers(0, m))
    bound, slack = delta_hat(b, m, alpha, zeta), 1 + 1e-11
    assert bound <= delta_hat(b, m, alpha, data.draw(st.floats(zeta, 1))) * slack
    assert delta_hat(b, m, data.draw(st.floats(alpha, 0.999)), zeta) <= bound * slack
    assert delta_hat(b, m + 1, alpha, zeta) <= bound * slack
    if b < m:
        assert bound <= delta_hat(b + 1, m, alpha, zeta) * slack


@untimed
@given(changes_lists, deltas, levels, coins, st.data())
def test_epsilon_hat_is_monotone(changes, delta, alpha, zeta, data):
    bound = epsilon_hat(changes, delta, alpha, zeta)
    assert epsilon_hat(changes, data.draw(st.floats(delta, 0.999)), alpha, zeta) <= bound
    assert epsilon_hat(changes, delta, data.draw(st.floats(alpha, 0.999)), zeta) <= bound
    assert bound <= epsilon_hat(changes, delta, alpha, data.draw(st.floats(zeta, 1)))
    assert epsilon_hat([change / 2 for change in changes], delta, alpha, zeta) <= bound


@pytest.mark.parametrize("m", [1, 5, 22, 60])
@pytest.mark.parametrize("delta_star", [0.01, 0.1, 0.37, 0.9])
@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.5])
def test_coverage_by_enumeration(m, delta_star, alpha):
    """P(δ̂ < δ*) summed over B: at most α for ζ = 1, exactly α averaged over ζ."""
    b = np.arange(m + 1)
    chance = np.array([math.comb(m, k) * delta_star**k * (1 - delta_star) ** (m - k) for k in b])
    assert chance[delta_hat(b, m, alpha) < delta_star].sum() <= alpha * (1 + 1e-12)
    # δ̂ rises with ζ, so for each B it misses δ* for all ζ up to some point: bisect for it.
    low, high = np.zeros(m + 1), np.ones(m + 1)
    for _ in range(50):
        middle = (low + high) / 2
        misses = delta_hat(b, m, alpha, middle) < delta_star
        low, high = np.where(misses, middle, low), np.where(misses, high, middle)
    assert (chance * low).sum() == pytest.approx(alpha, rel=1e-9)


def test_closed_forms_by_hand():
    assert delta_hat(0, 10, 0.05) == pytest.approx(1 - 0.05**0.1, rel=1e-14)
    assert delta_hat(0, 10, 0.05, 0.5) == pytest.approx(1 - 0.1**0.1, rel=1e-14)
    assert delta_hat(0, 10, 0.05, 0.05) == 0.0
    assert delta_hat(10, 10, 0.05) == 1.0
    # 1 - (1 - ζ) δ^m = α
    assert delta_hat(10, 10, 0.5, 0.25) == pytest.approx((0.5 / 0.75) ** 0.1, rel=1e-14)
    # P(Bin(2, δ) <= 1) = 1 - δ² = α
    assert delta_hat(1, 2, 0.19) == pytest.approx(0.9, rel=1e-13)
    assert delta_hat(0, 0, 0.05) == 1.0
    assert delta_hat(0, 0, 0.05, 0.04) == 0.0


def test_epsilon_hat_by_hand():
    changes = [3.0, 1.0, 2.0, math.inf]
    # m = 4, δ = 1/2: the cdf is 1/16, 5/16, 11/16, 15/16, 1
    assert epsilon_hat(changes, 0.5, 0.01) == math.inf
    assert epsilon_hat(changes, 0.5, 1 / 16) == math.inf  # no exceedance allowed, one is infinite
    assert epsilon_hat(changes, 0.5, 5 / 16) == 3.0  # an exact tie: a* = 1 and one is allowed
    assert epsilon_hat(changes, 0.5, 0.3) == math.inf
    assert epsilon_hat(changes, 0.5, 0.3, zeta=0.9) == 3.0  # a* = (0.3 - 1/16) / (4/16) = 0.95
    assert epsilon_hat(changes, 0.5, 0.99, zeta=0.1) == 0.0  # even four are allowed
    assert epsilon_hat([], 0.5, 0.05) == math.inf
    assert epsilon_hat([], 0.5, 0.05, zeta=0.05) == 0.0


def test_scalars_give_python_numbers_and_arrays_broadcast():
    assert type(delta_hat(3, 20, 0.05)) is float
    assert type(epsilon_hat([1.0, 2.0], 0.5, 0.5)) is float
    grid = delta_hat([[0], [3]], 20, [0.05, 0.1, 0.2], 0.5)
    assert grid.shape == (2, 3)
    assert grid[1, 2] == delta_hat(3, 20, 0.2, 0.5)
    curve = epsilon_hat(np.arange(60.0), [0.01, 0.05, 0.5], 0.05)
    count, _ = critical_value(60, 0.5, 0.05)
    assert curve.tolist() == [math.inf, 59.0, 59.0 - (count - 1)]


def test_long_arrays_equal_their_pieces():
    b = np.arange(40_000)
    bound = delta_hat(b, 40_000, 0.05, 0.5)
    for i in (0, 1, 16_383, 16_384, 39_999):
        assert bound[i] == delta_hat(int(b[i]), 40_000, 0.05, 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: delta_hat(3, 2, 0.05), "exceedances must be at most n_trials, got 3 of 2"),
        (lambda: delta_hat(1, 2, 1.0), r"alpha must be in \(0, 1\), got 1.0"),
        (lambda: delta_hat(1, 2, 0.05, -0.1), r"zeta must be in \[0, 1\], got -0.1"),
        (lambda: epsilon_hat([1.0, math.nan], 0.1, 0.05), "changes must not hold nan.*as inf"),
        (lambda: epsilon_hat([1.0, -2.0], 0.1, 0.05), "changes must be at least 0, got -2.0"),
        (lambda: epsilon_hat([[1.0]], 0.1, 0.05), r"one-dimensional, got shape \(1, 1\)"),
        (lambda: epsilon_hat([1.0], 1.0, 0.05), r"delta must be in \[0, 1\), got 1.0"),
        (lambda: epsilon_hat([1.0], 0.1, 0.05, 2.0), r"zeta must be in \[0, 1\], got 2.0"),
    ],
)
def test_arguments_out_of_range_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
