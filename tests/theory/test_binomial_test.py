"""The Binomial test against exact rational arithmetic, and its laws as properties."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import poise
from poise.errors import ArgumentError
from poise.theory import (
    acceptance_probability,
    binomial_law,
    critical_count,
    critical_count_unstable,
    critical_value,
    power,
    power_bound,
    pvalue,
    pvalue_unstable,
)
from shared.processes import printed

# The first call imports scipy, and machines differ: no test case is timed.
untimed = settings(deadline=None)

REL = 1e-10

few_trials = st.integers(0, 40)
# Round numbers make ties between the level and the cdf, exact and nearly exact.
round_numbers = st.sampled_from([0.1, 0.2, 0.25, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.99])
dyadic = st.builds(lambda a, b: (a % (2**b - 1) + 1) / 2**b, st.integers(0), st.integers(2, 12))
deltas = st.one_of(st.just(0.0), round_numbers, dyadic, st.floats(1e-9, 0.999))
levels = st.one_of(round_numbers, dyadic, st.floats(1e-12, 0.999))
coins = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))
many_trials = st.integers(0, 10**6)


def exact_pmf(m: int, p: float) -> list[Fraction]:
    p = Fraction(p)
    return [math.comb(m, k) * p**k * (1 - p) ** (m - k) for k in range(m + 1)]


def exact_critical_value(m: int, delta: float, alpha: float) -> tuple[int, Fraction]:
    below = Fraction(0)
    for k, atom in enumerate(exact_pmf(m, delta)):
        if below + atom >= Fraction(alpha):
            return k, (Fraction(alpha) - below) / atom
        below += atom
    raise AssertionError("the cdf reaches 1")


@untimed
@given(few_trials, deltas, levels)
@example(1, 0.5, 0.5)
@example(1, 0.2, 0.8)  # in doubles 1 - 0.2 is just below 0.8, so k* is 1 and a* is 3e-16
@example(1, 0.9, 0.1)
@example(3, 0.5, 0.125)
def test_critical_value_is_exact(m, delta, alpha):
    count, tie = critical_value(m, delta, alpha)
    exact_count, exact_tie = exact_critical_value(m, delta, alpha)
    assert count == exact_count
    assert tie == pytest.approx(float(exact_tie), rel=REL)
    assert 0 < tie <= 1


@untimed
@given(few_trials, deltas, levels)
@example(1, 0.5, 0.5)
@example(7, 0.5, 0.5)
def test_critical_count_is_the_largest_with_size_at_most_alpha(m, delta, alpha):
    c = critical_count(m, delta, alpha)
    pmf = exact_pmf(m, delta)
    assert sum(pmf[: c + 1]) <= Fraction(alpha)
    assert sum(pmf[: c + 2]) > Fraction(alpha)


@untimed
@given(few_trials, deltas, levels)
@example(1, 0.5, 0.5)
@example(7, 0.5, 0.5)
@example(10, 0.0, 0.05)
@example(2, 0.25, 0.0625)
@example(2, 0.75, 0.5625)
@example(1, 0.8, 0.8)
def test_mirror_count_is_the_smallest_with_size_at_most_alpha(m, delta, alpha):
    c = critical_count_unstable(m, delta, alpha)
    pmf = exact_pmf(m, delta)
    assert 0 < c <= m + 1
    assert sum(pmf[c:]) <= Fraction(alpha)
    assert sum(pmf[c - 1 :]) > Fraction(alpha)


@untimed
@given(few_trials, deltas, coins, st.data())
def test_pvalues_are_exact(m, delta, zeta, data):
    b = data.draw(st.integers(0, m))
    pmf = exact_pmf(m, delta)
    p = sum(pmf[:b], Fraction(0)) + Fraction(zeta) * pmf[b]
    assert pvalue(b, m, delta, zeta) == pytest.approx(float(p), rel=REL, abs=1e-300)
    mirror = float(sum(pmf[b:], Fraction(0)))
    assert pvalue_unstable(b, m, delta) == pytest.approx(mirror, rel=REL, abs=1e-300)


@untimed
@given(few_trials, deltas, levels, st.floats(0, 1))
@example(1, 0.5, 0.5, 0.25)
@example(2, 0.75, 0.0625, 0.25)
def test_power_is_exact(m, delta, alpha, delta_star):
    count, tie = exact_critical_value(m, delta, alpha)
    pmf = exact_pmf(m, delta_star)
    exact = float(sum(pmf[:count], Fraction(0)) + tie * pmf[count])
    assert power(m, delta, delta_star, alpha, True) == pytest.approx(exact, rel=REL, abs=1e-300)
    plain = count if tie == 1 else count - 1
    exact = float(sum(pmf[: plain + 1], Fraction(0)))
    got = power(m, delta, delta_star, alpha, randomized=False)
    assert got == pytest.approx(exact, rel=REL, abs=1e-300)


@untimed
@given(many_trials, deltas, levels)
def test_size_of_the_randomised_test_is_exactly_alpha(m, delta, alpha):
    assert power(m, delta, delta, alpha, True) == pytest.approx(alpha, rel=1e-9)
    assert power(m, delta, delta, alpha, randomized=False) <= alpha * (1 + 1e-9)


@untimed
@given(many_trials, deltas, levels, st.floats(0, 1))
def test_theorem_1_closed_form_in_its_regime(m, delta, alpha, delta_star):
    in_regime = m == 0 or (1 - delta) ** m >= alpha
    truth = delta_star if in_regime else 0.0
    ratio = math.log1p(-truth) - math.log1p(-delta) if truth < 1 else -math.inf
    closed = min(1.0, alpha * math.exp(min(m * ratio, 700.0))) if m else alpha
    assert power(m, delta, truth, alpha, True) == pytest.approx(closed, rel=1e-9, abs=1e-300)


@untimed
@given(st.integers(2, 50), st.integers(0, 300), deltas, levels, st.floats(0, 1))
def test_the_test_reaches_the_ceiling_of_theorem_2_when_kappa_is_an_integer(
    n, kappa, delta, alpha, share
):
    in_regime = (1 - delta) ** kappa >= alpha
    truth = share * delta if in_regime else 0.0
    ceiling = power_bound(n, kappa * n, kappa, delta=delta, delta_star=truth, alpha=alpha)
    assert power(kappa, delta, truth, alpha, True) == pytest.approx(ceiling, rel=1e-9)


@untimed
@given(many_trials, deltas, levels, st.data())
def test_the_pvalue_decides_like_the_critical_value(m, delta, alpha, data):
    count, tie = critical_value(m, delta, alpha)
    near = st.integers(max(count - 2, 0), min(count + 2, m))
    b = data.draw(st.one_of(near, st.integers(0, m)))
    chance = acceptance_probability(b, m, delta, alpha)
    assert chance == (1.0 if b < count else tie if b == count else 0.0)
    for zeta in (0.5 * chance, min(1.0, 1.5 * chance + 1e-6)):
        p = pvalue(b, m, delta, zeta)
        assume(abs(p - alpha) > 1e-9 * alpha)
        assert (p <= alpha) == (b < count or (b == count and zeta <= tie))


@untimed
@given(many_trials, deltas, coins, st.data())
def test_pvalue_rises_with_exceedances_and_zeta_and_falls_with_delta(m, delta, zeta, data):
    b = data.draw(st.integers(0, m))
    larger = data.draw(st.floats(delta, 0.9999))
    p = pvalue(b, m, delta, zeta)
    slack = 1 + 1e-12
    assert pvalue(b, m, larger, zeta) <= p * slack
    assert p <= pvalue(b, m, delta, data.draw(st.floats(zeta, 1))) * slack
    assert p <= pvalue(min(b + 1, m), m, delta, 0.0 if b < m else zeta) * slack
    assert pvalue_unstable(b, m, delta) <= pvalue_unstable(b, m, larger) * slack


@untimed
@given(st.integers(0, 5000), deltas, levels, st.data())
def test_power_is_monotone(m, delta, alpha, data):
    truth = data.draw(st.floats(0, delta))
    value = power(m, delta, truth, alpha, True)
    slack = 1 + 1e-9
    assert power(m, delta, data.draw(st.floats(truth, 1)), alpha, True) <= value * slack
    assert value <= power(m, delta, truth, data.draw(st.floats(alpha, 0.9999)), True) * slack
    assert value <= power(m, data.draw(st.floats(delta, 0.9999)), truth, alpha, True) * slack
    assert value <= power(m + data.draw(st.integers(1, 100)), delta, truth, alpha, True) * slack
    assert value >= power(m, delta, truth, alpha, randomized=False) / slack


def test_plain_power_falls_at_most_steps_and_jumps_at_some():
    values = power(np.arange(100, 160), 0.1, 0.05, 0.05, randomized=False)
    steps = np.diff(values)
    assert (steps < 0).sum() > (steps > 0).sum() > 0


def test_no_data_leave_a_coin():
    assert critical_value(0, 0.3, 0.05) == (0, 0.05)
    assert critical_count(0, 0.3, 0.05) == -1
    assert critical_count_unstable(0, 0.3, 0.05) == 1
    assert power(0, 0.3, 0.9, 0.05, True) == 0.05
    assert power(0, 0.3, 0.0, 0.05, randomized=False) == 0.0
    assert pvalue(0, 0, 0.3) == 1.0
    assert pvalue_unstable(0, 0, 0.3) == 1.0


def test_delta_zero_leaves_a_coin_too():
    assert critical_value(50, 0.0, 0.05) == (0, 0.05)
    assert pvalue(0, 50, 0.0, 0.3) == 0.3
    assert pvalue([1, 50], 50, 0.0, 0.0).tolist() == [1.0, 1.0]
    assert pvalue_unstable([0, 1], 50, 0.0).tolist() == [1.0, 0.0]


def test_power_plan_and_stability_test_mean_the_plain_test_unless_told_otherwise() -> None:
    functions = (power, poise.plan, poise.stability_test)
    defaults = {inspect.signature(each).parameters["randomized"].default for each in functions}
    assert defaults == {False}
    for m, delta, truth, alpha in ((10, 0.1, 0.0, 0.05), (100, 0.1, 0.05, 0.05)):
        assert power(m, delta, truth, alpha) == power(m, delta, truth, alpha, randomized=False)
    assert power(10, 0.1, 0.0, 0.05) < power(10, 0.1, 0.0, 0.05, randomized=True)


def test_enough_trials_certify_perfect_stability_for_sure():
    # 1 - 0.05^(1/59) < 0.05 < 1 - 0.05^(1/58)
    assert power(59, 0.05, 0.0, 0.05, randomized=False) == 1.0
    assert power(58, 0.05, 0.0, 0.05, randomized=False) == 0.0
    assert power(58, 0.05, 0.0, 0.05, True) == pytest.approx(0.05 / 0.95**58, rel=1e-12)


def test_scalars_give_python_numbers_and_arrays_broadcast():
    count, tie = critical_value(20, 0.5, 0.01)
    assert (type(count), type(tie)) == (int, float)
    assert type(critical_count(20, 0.5, 0.01)) is int
    assert type(critical_count_unstable(20, 0.5, 0.01)) is int
    assert type(pvalue(np.int64(3), 20, np.float64(0.5))) is float
    assert type(pvalue_unstable(3, 20, 0.5)) is float
    assert type(acceptance_probability(3, 20, 0.5, 0.01)) is float
    assert type(power(20, 0.5, 0.1, 0.01)) is float
    grid = power([[10], [20]], 0.5, [0.0, 0.1, 0.2], 0.01)
    assert grid.shape == (2, 3)
    assert grid[1, 2] == power(20, 0.5, 0.2, 0.01)
    assert critical_value(np.empty((0, 2)), 0.5, 0.1)[1].shape == (0, 2)


def test_long_arrays_equal_their_pieces():
    m = np.arange(40_000)
    count, tie = critical_value(m, 0.3, 0.05)
    for i in (0, 1, 16_383, 16_384, 39_999):
        assert (count[i], tie[i]) == critical_value(int(m[i]), 0.3, 0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: critical_value(10, 1.0, 0.05), r"delta must be in \[0, 1\), got 1.0"),
        (lambda: critical_value(10, 0.1, 0.0), r"alpha must be in \(0, 1\), got 0.0"),
        (lambda: critical_value(-1, 0.1, 0.05), "n_trials must be a whole number >= 0, got -1"),
        (lambda: critical_count(2.5, 0.1, 0.05), "n_trials must be a whole number >= 0, got 2.5"),
        (lambda: power(10, 0.1, 1.5, 0.05), r"delta_star must be in \[0, 1\], got 1.5"),
        (lambda: pvalue(11, 10, 0.1), "exceedances must be at most n_trials, got 11 of 10"),
        (lambda: pvalue([1, 5], [4, 4], 0.1), "exceedances must be at most .*got 5 of 4"),
        (lambda: pvalue(-1, 10, 0.1), "exceedances must be a whole number >= 0, got -1"),
        (lambda: pvalue(1, 10, 0.1, zeta=2), r"zeta must be in \[0, 1\], got 2"),
        (lambda: pvalue(1, 10, "0.1"), "delta must be a number"),
        (lambda: pvalue_unstable(3, 2, 0.1), "exceedances must be at most n_trials"),
        (lambda: acceptance_probability(3, 2, 0.1, 0.05), "exceedances must be at most n_trials"),
    ],
)
def test_arguments_out_of_range_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def reference_tails(k: int, m: int, p: float) -> tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]:
    """P(Bin <= k), P(Bin = k), P(Bin >= k) at 40 digits: pmf by log-gamma, then ratios."""
    with mpmath.workdps(40):
        q, p = 1 - mpmath.mpf(p), mpmath.mpf(p)
        log_choose = mpmath.loggamma(m + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(m - k + 1)
        atom = mpmath.exp(log_choose + k * mpmath.log(p) + (m - k) * mpmath.log(q))
        down, term, j = mpmath.mpf(1), mpmath.mpf(1), k
        while j > 0 and term > 1e-30 * down:
            term *= q / p * j / (m - j + 1)
            down, j = down + term, j - 1
        up, term, j = mpmath.mpf(1), mpmath.mpf(1), k
        while j < m and term > 1e-30 * up:
            term *= p / q * (m - j) / (j + 1)
            up, j = up + term, j + 1
        return atom * down, atom, atom * up


@pytest.mark.parametrize(
    ("k", "m", "p"),
    [
        (3, 10**9, 1e-9),
        (14, 10**9, 1e-9),
        (40, 10**9, 1e-7),
        (960_000, 10**9, 0.001 - 3e-5),
        (2, 10**9, 1e-12),
        (3, 10**7, 1e-6),
        (10, 10**7, 1e-6),
        (4900, 10_000, 0.5),
        (9990, 10_000, 0.999),
        (99_850, 10**5, 0.999),
        (10**9 - 3, 10**9, 1 - 1e-9),
        (10**9 - 120, 10**9, 1 - 1e-7),
        (299_000, 10**6, 0.3),
        (303_000, 10**6, 0.3),
    ],
)
def test_law_holds_ten_digits_for_many_trials(k, m, p):
    lower, atom, upper = reference_tails(k, m, p)
    assert float(abs(binomial_law.pmf(k, m, p) / atom - 1)) < 2e-11
    assert float(abs(pvalue(k, m, p) / lower - 1)) < 1e-11
    assert float(abs(pvalue_unstable(k, m, p) / upper - 1)) < 1e-10
    assert float(abs(pvalue(k, m, p, 0.25) / (lower - 0.75 * atom) - 1)) < 1e-10


def test_importing_the_theory_imports_no_scipy():
    printed("import sys, poise.theory; sys.exit('scipy' in sys.modules)")
