"""Simultaneous bands: exact small cases, scipy's KS law, and coverage by simulation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from poise.errors import ArgumentError
from poise.theory.bands import BANDS, crossing_probability, local_level, profile_band

SIMULTANEOUS = ("equal-local-levels", "ks", "dkw")


def staying_by_integration(limits: list[Fraction]) -> Fraction:
    """P(V_(j) <= u_j for all j) as m! times the iterated integral, in rational arithmetic."""
    inner = [Fraction(1)]  # a polynomial in the variable one level further out
    for limit in reversed(limits):
        primitive = [Fraction(0)] + [c / (k + 1) for k, c in enumerate(inner)]
        at_limit = sum((c * limit**k for k, c in enumerate(primitive)), Fraction(0))
        inner = [at_limit - primitive[0]] + [-c for c in primitive[1:]]
    return math.factorial(len(limits)) * inner[0]


@given(st.lists(st.fractions(0, 1, max_denominator=1000), min_size=1, max_size=9).map(sorted))
@settings(max_examples=200, deadline=None)
def test_crossing_probability_agrees_with_exact_integration(limits):
    stayed = staying_by_integration(limits)
    found = crossing_probability([float(u) for u in limits])
    assert found[0] == pytest.approx(float(1 - stayed), rel=1e-9, abs=1e-14)
    assert found[1] == pytest.approx(float(stayed), rel=1e-9, abs=1e-30)


@pytest.mark.parametrize("m", [1, 2, 7, 60, 1000, 10_000])
@pytest.mark.parametrize("alpha", [1e-9, 0.05, 0.9])
def test_crossing_probability_reproduces_the_ks_law(m, alpha):
    shift = stats.ksone.isf(alpha, m)
    crossed, stayed = crossing_probability(np.minimum(np.arange(m) / m + shift, 1))
    # relative, also at 1e-9: m = 1 gets its shift rounded next to 1, so 1e-7 there
    assert crossed == pytest.approx(stats.ksone.sf(shift, m), rel=1e-7 if m == 1 else 1e-9)
    assert stayed == pytest.approx(1 - alpha, rel=1e-9)


@pytest.mark.parametrize(
    ("m", "gamma", "at_zero"), [(10, 0.0176, 0.332), (22, 0.0112, 0.185), (50, 0.0076, 0.093)]
)
def test_published_check_values(m, gamma, at_zero):
    assert local_level(m, 0.1) == pytest.approx(gamma, abs=5e-5)
    assert profile_band(m, 0.1)[0] == pytest.approx(at_zero, abs=5e-4)


@pytest.mark.parametrize("alpha", [1e-12, 0.05, 0.5, 0.99])
@pytest.mark.parametrize("m", [1, 2, 3, 8])
def test_local_level_solves_its_equation_exactly(m, alpha):
    gamma = local_level(m, alpha)
    # scipy.stats.beta is a second route to the quantiles; rationals to the probability
    order = np.arange(1, m + 1)
    margins = [Fraction(float(v)) for v in stats.beta.ppf(gamma, m - order + 1, order)]
    crossed = 1 - staying_by_integration([1 - v for v in margins])
    assert float(crossed) == pytest.approx(alpha, rel=1e-8)
    assert alpha / m <= gamma * (1 + 1e-9)
    assert gamma <= alpha * (1 + 1e-9)


@pytest.mark.parametrize("alpha", [1e-12, 0.1])
def test_ten_thousand_trials_are_stable(alpha):
    m = 10_000
    gamma = local_level(m, alpha)
    limits = profile_band(m, alpha)[:-1]
    crossed, stayed = crossing_probability(limits)
    # 1 - u is rounded here, which costs the last few limits and hence some digits
    assert crossed == pytest.approx(alpha, rel=1e-3 if alpha < 1e-9 else 1e-9)
    assert crossed + stayed == pytest.approx(1, abs=1e-9)
    assert alpha / m < gamma < alpha
    assert (np.diff(limits) > 0).all()


def test_crossing_probability_by_monte_carlo():
    m, repetitions, gamma = 200, 40_000, 0.005
    limits = stats.beta.isf(gamma, np.arange(1, m + 1), m - np.arange(m))
    rng = np.random.default_rng(20240817)
    crossed = sum(
        np.count_nonzero((np.sort(rng.random((1000, m)), axis=1) > limits).any(axis=1))
        for _ in range(repetitions // 1000)
    )
    expected, _ = crossing_probability(limits)
    # two-sided 5 sigma: false alarm 6e-7
    sigma = math.sqrt(repetitions * expected * (1 - expected))
    assert abs(crossed - repetitions * expected) < 5 * sigma


def failures(band, changes, instability):
    """Repetitions in which the band misses δ*_ε for some ε.

    Between two changes B is constant while δ*_ε falls, so the worst ε are 0 and
    the changes themselves.
    """
    missed = 0
    for rows in np.array_split(changes, 20):
        epsilons = np.append(rows, np.zeros((len(rows), 1)), axis=1)
        exceedances = (rows[:, :, None] > epsilons[:, None, :]).sum(axis=1)
        missed += (instability(epsilons) > band[exceedances]).any(axis=1).sum()
    return int(missed)


@pytest.mark.parametrize("kind", SIMULTANEOUS)
def test_coverage_over_all_epsilon(kind):
    m, alpha, repetitions = 30, 0.1, 12_000
    changes = np.random.default_rng(7).exponential(size=(repetitions, m))
    missed = failures(profile_band(m, alpha, kind), changes, lambda e: np.exp(-e))
    # 4.9 sigma one-sided, applied on each side: false alarm 1e-6
    slack = 4.9 * math.sqrt(repetitions * alpha * (1 - alpha))
    assert missed < repetitions * alpha + slack
    if kind != "dkw":  # the other two are exact for continuous changes
        assert missed > repetitions * alpha - slack


@pytest.mark.parametrize("kind", SIMULTANEOUS)
def test_coverage_survives_ties_and_atoms_at_zero(kind):
    m, alpha, repetitions = 30, 0.1, 6_000
    changes = np.random.default_rng(8).binomial(3, 0.2, size=(repetitions, m)).astype(float)
    missed = failures(profile_band(m, alpha, kind), changes, stats.binom(3, 0.2).sf)
    # 4.8 sigma one-sided: false alarm 1e-6
    assert missed < repetitions * alpha + 4.8 * math.sqrt(repetitions * alpha * (1 - alpha))


def test_pointwise_limits_are_not_simultaneous():
    m, alpha, repetitions = 30, 0.1, 2_000
    changes = np.random.default_rng(9).exponential(size=(repetitions, m))
    missed = failures(profile_band(m, alpha, "pointwise"), changes, lambda e: np.exp(-e))
    assert missed > 3 * repetitions * alpha


@pytest.mark.parametrize("m", [1, 5, 40])
def test_pointwise_limits_are_clopper_pearson(m):
    band = profile_band(m, 0.05, "pointwise")
    for count in range(m + 1):
        interval = stats.binomtest(count, m, 0.5, alternative="less").proportion_ci(0.95)
        assert band[count] == pytest.approx(interval.high, rel=1e-9)


def test_dkw_and_ks_by_their_formulas():
    np.testing.assert_allclose(
        profile_band(4, 0.5, "dkw"), np.minimum(np.arange(5) / 4 + math.sqrt(math.log(2) / 8), 1)
    )
    # m = 1: the KS statistic is uniform, so its upper 30% quantile is 0.7
    np.testing.assert_allclose(profile_band(1, 0.3, "ks"), [0.7, 1.0])


@given(st.integers(1, 80), st.floats(0.001, 0.5), st.sampled_from(BANDS))
@settings(max_examples=60, deadline=None)
def test_shape_of_every_band(m, alpha, kind):
    band = profile_band(m, alpha, kind)
    assert band.shape == (m + 1,)
    assert (np.diff(band) >= 0).all()
    assert band[0] > 0
    assert band[-1] == 1
    assert (band >= profile_band(m, alpha, "pointwise") * (1 - 1e-9)).all()
    if kind == "dkw":
        assert (band >= profile_band(m, alpha, "ks") - 1e-12).all()


@pytest.mark.parametrize("kind", BANDS)
def test_no_trials_say_nothing(kind):
    assert profile_band(0, 0.1, kind).tolist() == [1.0]


def test_messages():
    with pytest.raises(ArgumentError, match=r"alpha must be at most 0\.5.*got 0\.6.*'ks'"):
        profile_band(10, 0.6, "dkw")
    with pytest.raises(ArgumentError, match="kind must be one of 'equal-local-levels'"):
        profile_band(10, 0.1, "normal")
    with pytest.raises(ArgumentError, match="n_trials must be a whole number >= 1, got 0"):
        local_level(0, 0.1)
    with pytest.raises(ArgumentError, match=r"alpha must be in \(0, 1\), got 1"):
        local_level(5, 1.0)
    with pytest.raises(ArgumentError, match="never falls"):
        crossing_probability([0.5, 0.4])
