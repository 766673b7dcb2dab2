"""Curtailment: exhaustive on small tests, exact expectations, the acceptance martingale."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from poise.errors import ArgumentError
from poise.theory.decision import DecisionRule, cut_offs
from poise.theory.early_stopping import (
    Curtailment,
    acceptance_martingale,
    expected_fraction,
    expected_trials,
    forced_after,
    is_forced,
)

SCOPES = ("verdict", "stable")


def full_verdict(count, stable_at_most, unstable_at_least):
    if count <= stable_at_most:
        return "stable"
    return "unstable" if count >= unstable_at_least else "inconclusive"


def outcomes(exceedances, trials, m, low, high, scope):
    """Every outcome that some continuation of the trials leads to."""
    verdicts = {full_verdict(exceedances + more, low, high) for more in range(m - trials + 1)}
    return verdicts if scope == "verdict" else {verdict == "stable" for verdict in verdicts}


def all_cut_offs(m):
    return [(low, high) for low in range(-1, m + 1) for high in range(low + 1, m + 2)]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("m", [0, 1, 2, 5])
def test_every_sequence_stops_exactly_when_nothing_can_change(m, scope):
    for (low, high), sequence in itertools.product(
        all_cut_offs(m), itertools.product([False, True], repeat=m)
    ):
        watch = Curtailment(m, low, high, scope)
        open_at = [len(outcomes(sum(sequence[:t]), t, m, low, high, scope)) > 1 for t in range(m)]
        stop = open_at.index(False) if False in open_at else m
        for t, exceeds in enumerate(sequence):
            assert watch.forced == (not open_at[t])
            assert (watch.verdict is None) == open_at[t]
            if watch.forced:
                break
            watch.update(exceeds)
        assert watch.trials == stop
        full = full_verdict(sum(sequence), low, high)
        assert (watch.verdict == full) if scope == "verdict" else True
        assert (watch.verdict == "stable") == (full == "stable")
        assert stop == forced_after(
            sequence, n_trials=m, stable_at_most=low, unstable_at_least=high, scope=scope
        )


@pytest.mark.parametrize("scope", SCOPES)
def test_forced_states_of_larger_tests(scope):
    m = 12
    for low, high in all_cut_offs(m):
        for b, t in itertools.combinations_with_replacement(range(m + 1), 2):
            found = is_forced(
                b, t, n_trials=m, stable_at_most=low, unstable_at_least=high, scope=scope
            )
            assert found == (len(outcomes(b, t, m, low, high, scope)) == 1)


def test_an_open_outcome_is_not_reported():
    assert forced_after([False], n_trials=9, stable_at_most=2, unstable_at_least=5) is None
    assert forced_after([], n_trials=9, stable_at_most=9, unstable_at_least=10) == 0


@given(
    st.integers(0, 60),
    st.just(0.0) | st.floats(1e-9, 0.99),
    st.floats(0.001, 0.999),
    st.floats(0, 1),
)
@settings(max_examples=200, deadline=None)
def test_cut_offs_follow_the_definitions(m, delta, alpha, zeta):
    low, high = cut_offs(m, delta, alpha, zeta)
    law = stats.binom(m, delta)
    counts = np.arange(m + 1)
    randomized_p = law.cdf(counts) - (1 - zeta) * law.pmf(counts)
    mirror_p = law.sf(counts - 1)
    for b in range(m + 1):
        if abs(randomized_p[b] - alpha) > 1e-9:
            assert (b <= low) == (randomized_p[b] <= alpha)
        if abs(mirror_p[b] - alpha) > 1e-9 and b > low:
            assert (b >= high) == (mirror_p[b] <= alpha)
    assert -1 <= low < high <= m + 1


def test_plain_cut_offs_of_known_tests():
    assert cut_offs(100, delta=0.1, alpha=0.05) == (4, 16)
    assert cut_offs(0, delta=0.1, alpha=0.05) == (-1, 1)
    assert cut_offs(10, delta=0.0, alpha=0.05) == (-1, 1)
    assert cut_offs(10, delta=0.0, alpha=0.05, zeta=0.05) == (0, 1)
    watch = Curtailment.of_test(100, delta=0.1, alpha=0.05, scope="stable")
    assert (watch.rule, watch.scope) == (DecisionRule(100, 4, 16), "stable")


def enumerated_trials(m, low, high, p, scope):
    """E T by walking through all states, in rational arithmetic."""
    reach, total = {0: Fraction(1)}, Fraction(0)
    for t in range(m):
        following = {}
        for b, mass in reach.items():
            if len(outcomes(b, t, m, low, high, scope)) == 1:
                continue
            total += mass
            following[b] = following.get(b, 0) + mass * (1 - p)
            following[b + 1] = following.get(b + 1, 0) + mass * p
        reach = following
    return total


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(1)])
def test_expected_trials_by_enumeration(p, scope):
    m = 9
    for low, high in all_cut_offs(m):
        expected = enumerated_trials(m, low, high, p, scope)
        found = expected_trials(m, low, high, float(p), scope)
        assert found == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("delta_star", "scope", "fraction"),
    [
        (0.5, "verdict", 0.32),
        (0.9, "verdict", 0.18),
        (0.5, "stable", 0.10),
        (0.9, "stable", 0.06),
        (0.2, "stable", 0.25),
    ],
)
def test_published_fractions(delta_star, scope, fraction):
    found = expected_fraction(100, delta=0.1, delta_star=delta_star, alpha=0.05, scope=scope)
    assert found == pytest.approx(fraction, abs=0.005)


@pytest.mark.parametrize(
    ("m", "fractions"),
    [
        (100, (0.95, 0.88, 0.57, 0.29, 0.12, 0.06)),
        (1000, (0.92, 0.96, 0.85, 0.43, 0.17, 0.09)),
    ],
)
def test_measured_fractions_of_the_randomised_test(m, fractions):
    """Simulated elsewhere, delta = 0.1, alpha = 0.05, with ζ tossed before the first trial."""
    law = stats.binom(m, 0.1)
    critical = int(law.ppf(0.05))
    tie = (0.05 - law.cdf(critical - 1)) / law.pmf(critical)
    for delta_star, fraction in zip((0, 0.05, 0.1, 0.2, 0.5, 0.9), fractions, strict=True):
        won, lost = (
            expected_trials(m, count, m + 1, delta_star, "stable") / m
            for count in (critical, critical - 1)
        )
        assert tie * won + (1 - tie) * lost == pytest.approx(fraction, abs=0.006)


@pytest.mark.parametrize(
    ("m", "delta", "alpha"), [(1, 0.3, 0.2), (7, 0.2, 0.05), (30, 0.1, 0.05), (25, 0.5, 0.9)]
)
def test_acceptance_martingale(m, delta, alpha):
    t = np.repeat(np.arange(m), np.arange(1, m + 1))
    b = np.concatenate([np.arange(k + 1) for k in range(m)])
    now = acceptance_martingale(b, t, m, delta, alpha)
    spared = acceptance_martingale(b, t + 1, m, delta, alpha)
    hit = acceptance_martingale(b + 1, t + 1, m, delta, alpha)
    np.testing.assert_allclose(delta * hit + (1 - delta) * spared, now, rtol=1e-9, atol=1e-14)
    for worse in (delta + 0.05, delta + 0.3):
        assert (worse * hit + (1 - worse) * spared <= now + 1e-14).all()
    assert acceptance_martingale(0, 0, m, delta, alpha) == pytest.approx(alpha, rel=1e-9)


def test_acceptance_martingale_at_its_end_and_at_a_forced_verdict():
    m, delta, alpha = 20, 0.5, 0.01  # k* = 5, a* = 0.2767
    final = acceptance_martingale(np.arange(m + 1), m, m, delta, alpha)
    below = sum(comb(m, k) for k in range(5)) / 2**m
    tie = (alpha - below) / (comb(m, 5) / 2**m)
    np.testing.assert_allclose(final, [1] * 5 + [tie] + [0] * 15, rtol=1e-9)
    assert acceptance_martingale(6, 6, m, delta, alpha) == 0
    assert acceptance_martingale(0, 16, m, delta, alpha) == 1


def test_no_test_is_forced_wrongly_by_more_than_it_should():
    """Curtailed and full tests declare "stable" together, so the level is the full one's."""
    rng = np.random.default_rng(3)
    m, delta, alpha, repetitions = 60, 0.2, 0.1, 2_000
    early = full = 0
    for row in rng.random((repetitions, m)) < delta:
        watch = Curtailment.of_test(m, delta, alpha, zeta=rng.random())
        while not watch.forced:
            watch.update(row[watch.trials])
        early += watch.verdict == "stable"
        full += np.count_nonzero(row) <= watch.rule.stable_at_most
    assert early == full
    # randomised: exactly alpha at delta* = delta; 5 sigma two-sided, false alarm 6e-7
    assert abs(early - repetitions * alpha) < 5 * np.sqrt(repetitions * alpha * (1 - alpha))


def test_messages():
    with pytest.raises(ArgumentError, match=r"cut-offs must satisfy .* got 3 and 3 for 5 trials"):
        Curtailment(5, 3, 3)
    with pytest.raises(ArgumentError, match="got 2 and 7 for 5 trials"):
        Curtailment(5, 2, 7)
    with pytest.raises(ArgumentError, match="scope must be one of 'verdict', 'stable'"):
        Curtailment(5, 2, 4, scope="both")  # type: ignore[arg-type]
    watch = Curtailment(1, 0, 1)
    watch.update(True)
    with pytest.raises(ArgumentError, match="all 1 trials were given already"):
        watch.update(True)
    with pytest.raises(ArgumentError, match="exceedances must be at most trials, got 3 of 2"):
        acceptance_martingale(3, 2, 9, 0.1, 0.05)
    with pytest.raises(ArgumentError, match="trials must be at most n_trials = 9, got 10"):
        acceptance_martingale(1, [2, 10], 9, 0.1, 0.05)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("worth", [0.1, 0.5])
def test_expected_trials_of_a_run_that_stops_only_where_it_pays(scope, worth):
    """By walking through all states: an inconclusive run goes on, and so do the last few trials."""
    m, p = 9, Fraction(1, 3)
    for low, high in all_cut_offs(m):
        reach, total = {0: Fraction(1)}, Fraction(0)
        for t in range(m):
            following = {}
            for b, mass in reach.items():
                possible = outcomes(b, t, m, low, high, scope)
                decided = len(possible) == 1 and possible != {"inconclusive"}
                if decided and m - t >= worth * m:
                    continue
                total += mass
                following[b] = following.get(b, 0) + mass * (1 - p)
                following[b + 1] = following.get(b + 1, 0) + mass * p
            reach = following
        found = expected_trials(m, low, high, float(p), scope, worth_saving=worth)
        assert found == pytest.approx(float(total), abs=1e-12)
