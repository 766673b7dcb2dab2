"""The Binomial test in rational arithmetic: sizes, p-values, limits, failures, stopped runs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest

from poise.theory import (
    anytime,
    averaged,
    binomial,
    limits,
    profile_band,
    restricted_limits,
)
from poise.theory.binomial import CountRule
from poise.theory.changes import Changes

LEVELS = [0.05, 0.1, 0.125, 0.25, 0.5, 0.6, 0.9, 1e-6]
DELTAS = [0.0, 0.1, 0.2, 0.25, 0.3, 0.5, 0.75, 0.8, 0.9, 1e-9, 0.999]
# exact ties, of which doubles find some on the wrong side: P(Bin(6, 1/2) <= 3) = .65625
TIES = [(1, 0.5, 0.5), (3, 0.5, 0.125), (7, 0.5, 0.5), (3, 0.25, 0.421875), (6, 0.5, 0.65625)]
# in doubles 1 - 0.2 is just below 0.8, so that k* is 1 and a* 3e-16
NEAR_TIES = [(1, 0.2, 0.8), (1, 0.9, 0.1), (1, 0.8, 0.8)]
SMALL = [*TIES, *NEAR_TIES, *itertools.product((0, 1, 2, 5, 9), DELTAS, LEVELS)]


@cache
def law(m: int, p: float) -> list[Fraction]:
    q = Fraction(p)
    return [math.comb(m, k) * q**k * (1 - q) ** (m - k) for k in range(m + 1)]


def near(exact: Fraction) -> object:
    return pytest.approx(float(exact), rel=1e-10, abs=1e-300)


def test_critical_values_power_and_tails_are_exact():
    for m, delta, alpha in SMALL:
        pmf, level = law(m, delta), Fraction(alpha)
        k = next(k for k in range(m + 1) if sum(pmf[: k + 1]) >= level)
        a = (level - sum(pmf[:k])) / pmf[k]
        count, tie = binomial.critical_value(m, delta, alpha)
        assert (count, tie) == (k, near(a)), (m, delta, alpha)
        assert 0 < tie <= 1
        c = binomial.critical_count(m, delta, alpha)
        assert c == max(c for c in range(-1, m + 1) if sum(pmf[: c + 1]) <= level)
        assert binomial.power(m, delta, 0.07, alpha) == near(sum(law(m, 0.07)[: c + 1]))
        c = binomial.critical_count_unstable(m, delta, alpha)
        assert c == min(c for c in range(m + 2) if sum(pmf[c:]) <= level), (m, delta, alpha)
        counts = range(m + 1)
        accepted = binomial.acceptance_probability(counts, m, delta, alpha)
        assert accepted.tolist() == [1.0] * k + [tie] + [0.0] * (m - k)
        tails = binomial.pvalue_unstable(counts, m, delta).tolist()
        assert tails == [near(sum(pmf[b:])) for b in counts]
    for _ in range(2):  # what is remembered cannot be changed by who has asked
        count, tie = binomial.critical_value([1], 0.5, 0.25)
        assert (count.tolist(), tie.tolist()) == ([0], [0.5])
        count[:], tie[:] = 9, 9.0


def test_ten_digits_for_many_trials():
    large = [(3, 10**9, 1e-9), (14, 10**9, 1e-9), (40, 10**9, 1e-7), (2, 10**9, 1e-12)]
    large += [(10, 10**7, 1e-6), (2100, 10_000, 0.2), (9990, 10_000, 0.999), (150, 10**5, 0.001)]
    large += [(10**9 - 3, 10**9, 1 - 1e-9), (10**9 - 120, 10**9, 1 - 1e-7)]
    for k, m, p in large:
        with mpmath.workdps(40):
            upper = mpmath.betainc(k, m - k + 1, 0, p, regularized=True)
        assert abs(binomial.pvalue_unstable(k, m, p) / upper - 1) < 1e-10
        lower = binomial.pvalue(k, m, p)
        if 1e-100 < lower < 0.99:  # the limits turn the tails around
            assert limits.delta_hat(k, m, lower) == pytest.approx(p, rel=1e-9)
        if 1e-100 < float(upper) < 0.99:
            assert limits.delta_lower(k, m, float(upper)) == pytest.approx(p, rel=1e-8)


def test_limits_at_the_ends():
    for b, zeta, exact in (
        *((10, 1.0, 1.0), (10, 0.01, (0.95 / 0.99) ** 0.1), (9, 1.0, 0.95**0.1)),
        *((0, 0.5, 1 - 0.1**0.1), (0, 0.05, 0.0)),
    ):
        assert limits.delta_hat(b, 10, 0.05, zeta) == pytest.approx(exact, rel=1e-14)
    assert limits.delta_hat([0, 3], [0, 4], 1e-250)[0] == 1
    lower = limits.delta_lower([0, 0, 4], [0, 4, 4], 0.1)
    assert lower.tolist() == [0, 0, pytest.approx(0.1**0.25)]
    assert (limits.epsilon_hat([], 0.5, 0.1), limits.epsilon_lower([], 0.5, 0.1)) == (math.inf, 0)


# Tables of changes. A trial moves (2, beyond ε = 1), stays (ε itself), or fails (nan).

EPSILON = 1.0


def of_kinds(moved: int, stayed: int, failed: int, m: int) -> Changes:
    return Changes(np.repeat([2.0, EPSILON, np.nan], (moved, stayed, failed))[:, None], m)


@pytest.mark.parametrize(("delta", "alpha"), [(0.2, 0.05), (0.3, 0.1), (0.25, 0.5), (0.5, 0.7)])
def test_verdicts_keep_their_level_with_failures(delta, alpha):
    m = 12
    counts = [(i, j) for i in range(m + 1) for j in range(m - i + 1)]
    judged = {
        (i, j): binomial.judge(of_kinds(i, m - i - j, j, m), EPSILON, delta, alpha)
        for i, j in counts
    }
    for p, f in ((delta, 0), (0, delta), (delta / 2, delta / 2), (delta, 0.3 * (1 - delta))):
        weights = {
            (i, j): math.comb(m, i) * math.comb(m - i, j) * p**i * f**j * (1 - p - f) ** (m - i - j)
            for i, j in counts
        }
        pairs = [(weights[each], judged[each]) for each in counts]
        assert sum(w for w, each in pairs if each.verdict == "stable") <= alpha * (1 + 1e-12)
        if f == 0 or p + f == delta:  # exactly there the test with a coin has its level
            accepted = sum(w * each.acceptance_probability for w, each in pairs)
            assert accepted == pytest.approx(alpha, rel=1e-12)
            assert sum(w * each.e_value for w, each in pairs) == pytest.approx(1, rel=1e-12)
        if p == delta:
            assert sum(w for w, each in pairs if each.verdict == "unstable") <= alpha * (1 + 1e-12)
        for t in (0.01, 0.05, 0.3):
            assert sum(w for w, each in pairs if each.pvalue <= t) <= t + 1e-12
            if p == delta:
                assert sum(w for w, each in pairs if each.pvalue_unstable <= t) <= t + 1e-12


@pytest.mark.parametrize("zeta", [1.0, 0.4])
def test_verdict_pvalue_and_limits_say_the_same(zeta):
    rng = np.random.default_rng(1)
    for m, seen, delta, alpha in itertools.product((1, 7, 40), (1.0, 0.8), (0.1, 0.4), (0.05, 0.3)):
        column = rng.choice([0.0, 0.5, 1.0, 1.5, np.nan], (m, 1), p=[0.5, 0.2, 0.1, 0.1, 0.1])
        changes = Changes(column[: math.ceil(seen * m)], m)
        for epsilon in (0.0, 0.5, 0.7, 1.5):
            judged = binomial.judge(changes, epsilon, delta, alpha, zeta)
            stable = judged.verdict == "stable"
            assert stable == (judged.pvalue <= alpha)
            worst, first = m - np.sum(changes.values <= epsilon), changes.failures_largest[:, 0]
            assert stable == (limits.delta_hat(worst, m, alpha, zeta) <= delta)
            largest = limits.epsilon_hat(first, delta, alpha, zeta, unseen=m - len(first))
            assert stable == (largest <= epsilon)
            unstable = judged.verdict == "unstable"
            assert unstable == (judged.pvalue_unstable <= alpha)
            assert unstable == (binomial.lower_delta(changes, epsilon, alpha) > delta)
            assert unstable == (binomial.lower_epsilon(changes, delta, alpha) > epsilon)


def test_at_an_exact_tie_the_count_decides():
    """P(Bin(3, 1/2) >= 2) = 1/2 and P(Bin <= 0) = 1/8 round to either side."""
    for m, moved, delta, alpha, verdict in (
        (3, 0, 0.5, 0.125, "stable"),
        (3, 2, 0.5, 0.5, "unstable"),
        (2, 0, 0.75, 0.0625, "stable"),
        (1, 1, 0.1, 0.1, "unstable"),
    ):
        judged = binomial.judge(of_kinds(moved, m - moved, 0, m), EPSILON, delta, alpha)
        assert judged.verdict == verdict
        assert (judged.pvalue <= alpha) == (verdict == "stable")
        assert (judged.pvalue_unstable <= alpha) == (verdict == "unstable")
    for m, delta, alpha in TIES:
        k, a = binomial.critical_value(m, delta, alpha)
        assert a == 1
        changes = Changes(np.arange(1.0, m + 1)[:, None], m)  # B(ε) = m - ε
        assert binomial.upper_epsilon(changes, delta, alpha) == m - k
        c = binomial.critical_count_unstable(m, delta, alpha)
        assert binomial.lower_epsilon(changes, delta, alpha) == m - c + 1


def test_a_stopped_run_says_what_no_trial_to_come_can_change():
    """Its evidence has mean 1 at δ* = δ, wherever it stops."""
    m = 4
    for delta, alpha, zeta in ((0.5, 0.3, 1.0), (0.4, 0.2, 0.1), (0.5, 0.7, 1.0)):
        rule, means = CountRule.of(m, delta, alpha, zeta), np.zeros(m + 1)
        counts = (c for c in itertools.product(range(m + 1), repeat=3) if sum(c) <= m)
        for moved, failed, stayed in counts:
            seen = moved + failed + stayed
            parts = itertools.product(range(m - seen + 1), repeat=2)
            to_come = [(i, j) for i, j in parts if i + j <= m - seen]
            full = {rule.verdict(moved + i, m, failed + j) for i, j in to_come}
            said = rule.verdict(moved, seen, failed)
            assert said == (full.pop() if len(full) == 1 else "inconclusive")
            changes = of_kinds(moved, stayed, failed, m)
            judged = binomial.judge(changes, EPSILON, delta, alpha, zeta)
            assert judged.verdict == said
            means[seen] += (not failed) * float(law(seen, delta)[moved]) * judged.e_value
            rest = np.ones((m - seen, 1))
            infinite = Changes(np.vstack([changes.values, np.inf * rest]), m)
            zeros = Changes(np.vstack([changes.values, 0 * rest]), m)
            for upper, at in ((binomial.upper_delta, EPSILON), (binomial.upper_epsilon, delta)):
                assert upper(changes, at, alpha) == upper(infinite, at, alpha)
            for lower, at in ((binomial.lower_delta, EPSILON), (binomial.lower_epsilon, delta)):
                assert lower(changes, at, alpha) == lower(zeros, at, alpha)
        np.testing.assert_allclose(means, 1, rtol=1e-12)


def test_the_profile_is_the_band_at_each_change():
    nothing = binomial.profile(Changes(np.empty((0, 1)), 0), 0.05)
    assert [each.tolist() for each in nothing] == [[0], [1]]
    column = np.array([0.3, np.nan, 0.1, 0.3, np.inf, 0.0])[:, None]
    steps, upper = binomial.profile(Changes(column, 8), 0.1)  # two trials were not run
    assert steps.tolist() == [0, 0.1, 0.3]
    assert upper.tolist() == profile_band(8, 0.1)[[7, 6, 4]].tolist()
    _, tighter = binomial.profile(Changes(column, 8), 0.1, delta_max=0.9)
    assert tighter.tolist() == restricted_limits(8, 0.1, 0.9)[[7, 6, 4]].tolist()


@pytest.mark.parametrize("law", [binomial, averaged, anytime])
def test_no_trials_and_trials_that_all_fail_in_every_law(law):
    """A failure counts against "stable", and never for "unstable"; a coin alone says nothing."""
    for rows, m, value, verdict in (
        *((0, m, np.nan, "inconclusive") for m in (0, 20)),
        (50, 50, np.nan, "inconclusive"),
        (50, 50, np.inf, "unstable"),
    ):
        changes, infinite = Changes(np.full((rows, 1), value), m), verdict == "unstable"
        judged = law.judge(changes, EPSILON, 0.1, 0.05, zeta=1e-9 if not rows else 1.0)
        assert (judged.verdict, judged.pvalue) == (verdict, 1)
        assert (judged.pvalue_unstable == 1) != infinite
        assert law.upper_delta(changes, EPSILON, 0.05) == 1
        assert (law.lower_delta(changes, EPSILON, 0.05) > 0.8) == infinite
        assert law.upper_epsilon(changes, 0.1, 0.05) == math.inf
        assert law.lower_epsilon(changes, 0.1, 0.05) == (math.inf if infinite else 0)
