"""The Binomial test in rational arithmetic: sizes, p-values, limits, failures, stopped runs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import binomial, binomial_law, limits
from poise.theory.binomial import CountRule
from poise.theory.changes import Changes

LEVELS = [0.05, 0.1, 0.125, 0.25, 0.5, 0.6, 0.9, 1e-6]
DELTAS = [0.0, 0.1, 0.2, 0.25, 0.3, 0.5, 0.75, 0.8, 0.9, 1e-9, 0.999]
# exact ties, of which doubles find some on the wrong side: P(Bin(6, 1/2) <= 3) = .65625
TIES = [(1, 0.5, 0.5), (3, 0.5, 0.125), (7, 0.5, 0.5), (3, 0.25, 0.421875), (6, 0.5, 0.65625)]
# in doubles 1 - 0.2 is just below 0.8, so that k* is 1 and a* 3e-16
NEAR_TIES = [(1, 0.2, 0.8), (1, 0.9, 0.1), (1, 0.8, 0.8)]
SMALL = [*TIES, *NEAR_TIES, *itertools.product((0, 1, 2, 5, 11), DELTAS, LEVELS)]


@cache
def law(m: int, p: float) -> list[Fraction]:
    q = Fraction(p)
    return [math.comb(m, k) * q**k * (1 - q) ** (m - k) for k in range(m + 1)]


def near(exact: Fraction, rel: float = 1e-10) -> object:
    return pytest.approx(float(exact), rel=rel, abs=1e-300)


def test_critical_values_are_exact():
    for m, delta, alpha in SMALL:
        pmf, level = law(m, delta), Fraction(alpha)
        k = next(k for k in range(m + 1) if sum(pmf[: k + 1]) >= level)
        a = (level - sum(pmf[:k])) / pmf[k]
        count, tie = binomial.critical_value(m, delta, alpha)
        assert (count, tie) == (k, near(a)), (m, delta, alpha)
        assert 0 < tie <= 1
        c = binomial.critical_count(m, delta, alpha)
        assert c == max(c for c in range(-1, m + 1) if sum(pmf[: c + 1]) <= level)
        c = binomial.critical_count_unstable(m, delta, alpha)
        assert c == min(c for c in range(m + 2) if sum(pmf[c:]) <= level), (m, delta, alpha)


def test_pvalues_powers_and_acceptance_are_exact():
    for m, delta, alpha in itertools.product((0, 1, 6), DELTAS, (0.05, 0.5)):
        pmf = law(m, delta)
        k, a = binomial.critical_value(m, delta, alpha)
        for b, zeta in itertools.product(range(m + 1), (1.0, 0.3, 0.0)):
            exact = sum(pmf[:b], Fraction(0)) + Fraction(zeta) * pmf[b]
            assert binomial.pvalue(b, m, delta, zeta) == near(exact)
            assert binomial.pvalue_unstable(b, m, delta) == near(sum(pmf[b:], Fraction(0)))
            chance = binomial.acceptance_probability(b, m, delta, alpha)
            assert chance == (1 if b < k else a if b == k else 0)
        for truth in (0.0, 0.07, 0.5, 1.0):
            pmf = law(m, truth)
            exact = sum(pmf[:k], Fraction(0)) + Fraction(a) * pmf[k]
            assert binomial.power(m, delta, truth, alpha, randomized=True) == near(exact)
            c = binomial.critical_count(m, delta, alpha)
            exact = sum(pmf[: c + 1], Fraction(0))
            assert binomial.power(m, delta, truth, alpha) == near(exact)


def test_size_is_alpha_and_the_ceiling_is_reached():
    m, delta, alpha = np.meshgrid([1, 37, 10**4, 10**6, 10**9], [1e-9, 0.01, 0.3], [1e-12, 0.05])
    size = binomial.power(m, delta, delta, alpha, randomized=True)
    np.testing.assert_allclose(size, alpha, rtol=1e-9)
    assert (binomial.power(m, delta, delta, alpha) <= alpha * (1 + 1e-9)).all()
    assert binomial.power(58, 0.05, 0.0, 0.05, True) == pytest.approx(0.05 / 0.95**58, rel=1e-12)
    assert binomial.power([58, 59], 0.05, 0.0, 0.05).tolist() == [0, 1]


def mp_tails(k: int, m: int, p: float) -> tuple[mpmath.mpf, mpmath.mpf, mpmath.mpf]:
    """P(Bin <= k), P(Bin = k), P(Bin >= k) at 40 digits, from the atom by ratios."""
    with mpmath.workdps(40):
        q, p = 1 - mpmath.mpf(p), mpmath.mpf(p)
        log_choose = mpmath.loggamma(m + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(m - k + 1)
        atom = mpmath.exp(log_choose + k * mpmath.log(p) + (m - k) * mpmath.log(q))
        down = up = term = mpmath.mpf(1)
        for j in range(k, 0, -1):
            term *= q / p * j / (m - j + 1)
            down += term
            if term < 1e-30 * down:
                break
        term = mpmath.mpf(1)
        for j in range(k, m):
            term *= p / q * (m - j) / (j + 1)
            up += term
            if term < 1e-30 * up:
                break
        return atom * down, atom, atom * up


@pytest.mark.parametrize(
    ("k", "m", "p"),
    [
        (3, 10**9, 1e-9),
        (14, 10**9, 1e-9),
        (40, 10**9, 1e-7),
        (960_000, 10**9, 0.001 - 3e-5),
        (2, 10**9, 1e-12),
        (10, 10**7, 1e-6),
        (4900, 10_000, 0.5),
        (9990, 10_000, 0.999),
        (10**9 - 3, 10**9, 1 - 1e-9),
        (10**9 - 120, 10**9, 1 - 1e-7),
        (299_000, 10**6, 0.3),
        (303_000, 10**6, 0.3),
    ],
)
def test_ten_digits_for_many_trials(k, m, p):
    lower, atom, upper = mp_tails(k, m, p)
    assert abs(binomial_law.pmf(k, m, p) / atom - 1) < 2e-11
    assert abs(binomial.pvalue(k, m, p) / lower - 1) < 1e-11
    assert abs(binomial.pvalue_unstable(k, m, p) / upper - 1) < 1e-10
    assert abs(binomial.pvalue(k, m, p, 0.25) / (lower - 0.75 * atom) - 1) < 1e-10
    alpha = float(lower)
    if 1e-100 < alpha < 0.99:  # the limits turn the tails around
        assert limits.delta_hat(k, m, alpha) == pytest.approx(p, rel=1e-9)
    if 1e-100 < float(upper) < 0.99:
        assert limits.delta_lower(k, m, float(upper)) == pytest.approx(p, rel=1e-8)


def test_limits_at_the_ends():
    assert limits.delta_hat(10, 10, 0.05) == 1
    assert limits.delta_hat(10, 10, 0.3, zeta=0.1) == pytest.approx((0.7 / 0.9) ** 0.1, rel=1e-14)
    assert limits.delta_hat(9, 10, 0.05) == pytest.approx(0.95**0.1, rel=1e-14)
    assert limits.delta_hat(0, 10, 0.05, zeta=0.5) == pytest.approx(1 - 0.1**0.1, rel=1e-14)
    assert limits.delta_hat(0, 10, 0.05, zeta=0.05) == 0
    assert limits.delta_hat([0, 3], [0, 4], 1e-250)[0] == 1
    assert limits.delta_lower([0, 0, 4], [0, 4, 4], 0.1).tolist() == [
        0,
        0,
        pytest.approx(0.1**0.25),
    ]
    assert limits.epsilon_hat([], 0.5, 0.1) == math.inf
    assert limits.epsilon_lower([], 0.5, 0.1) == 0


def test_a_limit_fails_with_probability_alpha_and_no_more():
    for m, alpha in ((3, 0.1), (8, 0.05)):
        upper = limits.delta_hat(np.arange(m + 1), m, alpha)
        lower = limits.delta_lower(np.arange(m + 1), m, alpha)
        truths = np.concatenate([upper + 1e-12, lower - 1e-12, np.linspace(0, 1, 50)])
        for truth in truths[(truths >= 0) & (truths <= 1)]:
            pmf = binomial_law.pmf(np.arange(m + 1), m, truth)
            assert pmf[upper < truth].sum() <= alpha * (1 + 1e-9)
            assert pmf[lower > truth].sum() <= alpha * (1 + 1e-9)
        just_missed = [binomial_law.cdf(b, m, upper[b] + 1e-12) for b in range(m)]
        np.testing.assert_allclose(just_missed, alpha, rtol=1e-9)
        just_missed = [binomial_law.upper_tail(b, m, lower[b] - 1e-12) for b in range(1, m + 1)]
        np.testing.assert_allclose(just_missed, alpha, rtol=1e-9)


# Tables of changes. A trial moves (1, or 2 beyond ε = 1), stays (0, or ε itself), or fails (nan).

EPSILON = 1.0
KINDS = (2.0, 1.0, np.nan)


def outcomes(m: int) -> list[tuple[Changes, int, int]]:
    """All counts of moved and failed trials out of m, with the number of ways for each."""
    found = []
    for moved in range(m + 1):
        for failed in range(m - moved + 1):
            counts = (moved, m - moved - failed, failed)
            column = np.repeat(KINDS, counts)[:, None]
            found.append((Changes(column, m), moved, failed))
    return found


def chance(m: int, moved: int, failed: int, p: float, f: float) -> float:
    ways = math.comb(m, moved) * math.comb(m - moved, failed)
    return ways * p**moved * f**failed * (1 - p - f) ** (m - moved - failed)


@pytest.mark.parametrize(("delta", "alpha"), [(0.2, 0.05), (0.3, 0.1), (0.25, 0.5), (0.5, 0.7)])
def test_verdicts_keep_their_level_with_failures(delta, alpha):
    m = 14
    judged = [
        (moved, failed, binomial.judge(changes, EPSILON, delta, alpha))
        for changes, moved, failed in outcomes(m)
    ]
    for p, f in ((delta, 0), (0, delta), (delta / 2, delta / 2), (delta, 0.3 * (1 - delta))):
        weights = [chance(m, moved, failed, p, f) for moved, failed, _ in judged]
        pairs = list(zip(weights, (each for *_, each in judged), strict=True))
        at_the_edge = f == 0 or p + f == delta
        wrong = sum(w for w, each in pairs if each.verdict == "stable")
        assert wrong <= alpha * (1 + 1e-12)
        accepted = sum(w * each.acceptance_probability for w, each in pairs)
        evidence = sum(w * each.e_value for w, each in pairs)
        if at_the_edge:  # exactly there the test with a coin has its level
            assert accepted == pytest.approx(alpha, rel=1e-12)
            assert evidence == pytest.approx(1, rel=1e-12)
        if p == delta:
            assert sum(w for w, each in pairs if each.verdict == "unstable") <= alpha * (1 + 1e-12)
        for t in (0.01, 0.05, 0.3):
            assert sum(w for w, each in pairs if each.pvalue <= t) <= t + 1e-12
            if p == delta:
                assert sum(w for w, each in pairs if each.pvalue_unstable <= t) <= t + 1e-12


def test_failures_count_against_stable_and_never_for_unstable():
    failed = Changes(np.full((40, 1), np.nan), 40)
    judged = binomial.judge(failed, EPSILON, 0.1, 0.05)
    assert (judged.verdict, judged.pvalue, judged.pvalue_unstable) == ("inconclusive", 1, 1)
    assert (binomial.upper_delta(failed, EPSILON, 0.05), binomial.lower_delta(failed, 1, 0.05)) == (
        1,
        0,
    )
    assert binomial.upper_epsilon(failed, 0.1, 0.05) == math.inf
    assert binomial.lower_epsilon(failed, 0.1, 0.05) == 0


@pytest.mark.parametrize("zeta", [1.0, 0.4])
def test_verdict_pvalue_and_limits_say_the_same(zeta):
    rng = np.random.default_rng(1)
    for m, seen, delta, alpha in itertools.product((1, 7, 40), (1.0, 0.8), (0.1, 0.4), (0.05, 0.3)):
        column = rng.choice([0.0, 0.5, 1.0, 1.5, np.nan], (m, 1), p=[0.5, 0.2, 0.1, 0.1, 0.1])
        changes = Changes(column[: math.ceil(seen * m)], m)
        for epsilon in (0.0, 0.5, 0.7, 1.0, 1.5):
            judged = binomial.judge(changes, epsilon, delta, alpha, zeta)
            stable = judged.verdict == "stable"
            assert stable == (judged.pvalue <= alpha)
            assert stable == (binomial.upper_delta(changes, epsilon, alpha, zeta) <= delta)
            assert stable == (binomial.upper_epsilon(changes, delta, alpha, zeta) <= epsilon)
            unstable = judged.verdict == "unstable"
            assert unstable == (judged.pvalue_unstable <= alpha)
            assert unstable == (binomial.lower_delta(changes, epsilon, alpha) > delta)
            assert unstable == (binomial.lower_epsilon(changes, delta, alpha) > epsilon)
            low, high = binomial.delta_interval(changes, epsilon, alpha, zeta)
            assert low <= binomial.lower_delta(changes, epsilon, alpha)
            assert high >= binomial.upper_delta(changes, epsilon, alpha, zeta)
            assert high == binomial.upper_delta(changes, epsilon, alpha / 2, zeta)


def test_at_an_exact_tie_the_count_decides():
    """P(Bin(3, 1/2) >= 2) = 1/2 and P(Bin <= 0) = 1/8 round to either side."""
    for m, moved, delta, alpha, verdict in (
        (3, 0, 0.5, 0.125, "stable"),
        (3, 2, 0.5, 0.5, "unstable"),
        (2, 0, 0.75, 0.0625, "stable"),
        (1, 1, 0.1, 0.1, "unstable"),
    ):
        changes = Changes(np.repeat([2.0, 0.0], (moved, m - moved))[:, None], m)
        judged = binomial.judge(changes, EPSILON, delta, alpha)
        assert judged.verdict == verdict
        assert min(judged.pvalue, judged.pvalue_unstable) == pytest.approx(alpha, rel=1e-15)
        assert (judged.pvalue <= alpha) == (verdict == "stable")
        assert (judged.pvalue_unstable <= alpha) == (verdict == "unstable")


def test_limits_at_an_exact_tie():
    for m, delta, alpha in TIES:
        k, a = binomial.critical_value(m, delta, alpha)
        assert a == 1
        changes = np.arange(1.0, m + 1)[:, None]  # B(ε) = m - ε
        assert binomial.upper_epsilon(Changes(changes, m), delta, alpha) == m - k
        c = binomial.critical_count_unstable(m, delta, alpha)
        assert binomial.lower_epsilon(Changes(changes, m), delta, alpha) == m - c + 1


def test_a_stopped_run_says_what_no_trial_to_come_can_change():
    m = 5
    for delta, alpha, zeta in ((0.5, 0.3, 1.0), (0.4, 0.2, 0.1), (0.5, 0.7, 1.0)):
        rule = CountRule.of(m, delta, alpha, zeta)
        for moved, failed, stayed in itertools.product(range(m + 1), repeat=3):
            seen = moved + failed + stayed
            if seen > m:
                continue
            rest = range(m - seen + 1)
            full = {
                rule.verdict(moved + i, m, failed + j)
                for i, j in itertools.product(rest, rest)
                if i + j <= m - seen
            }
            said = rule.verdict(moved, seen, failed)
            assert said == (full.pop() if len(full) == 1 else "inconclusive")
            column = np.repeat([2.0, np.nan, 0.5], (moved, failed, stayed))[:, None]
            changes = Changes(column, m)
            assert binomial.judge(changes, EPSILON, delta, alpha, zeta).verdict == said
            infinite = np.concatenate([column, np.full((m - seen, 1), np.inf)])
            nothing = np.concatenate([column, np.zeros((m - seen, 1))])
            worst, best = Changes(infinite, m), Changes(nothing, m)
            for upper, at in ((binomial.upper_delta, EPSILON), (binomial.upper_epsilon, delta)):
                assert upper(changes, at, alpha, zeta) == upper(worst, at, alpha, zeta)
            for lower, at in ((binomial.lower_delta, EPSILON), (binomial.lower_epsilon, delta)):
                assert lower(changes, at, alpha) == lower(best, at, alpha)


def test_evidence_has_mean_one_whenever_a_run_is_stopped():
    m, delta, alpha = 12, 0.2, 0.1
    for seen in (0, 1, 5, 11, 12):
        mean = 0.0
        for b in range(seen + 1):
            changes = Changes(np.repeat([2.0, 0.0], (b, seen - b))[:, None], m)
            judged = binomial.judge(changes, EPSILON, delta, alpha)
            mean += binomial_law.pmf(b, seen, delta) * judged.e_value
        assert mean == pytest.approx(1, rel=1e-12)


def test_no_trials_are_never_stable_whatever_the_coin():
    nothing = Changes(np.empty((0, 1)), 0)
    judged = binomial.judge(nothing, EPSILON, 0.1, 0.05, zeta=1e-9)
    assert (judged.verdict, judged.pvalue, judged.acceptance_probability) == (
        "inconclusive",
        1,
        0.05,
    )
    assert binomial.upper_delta(nothing, EPSILON, 0.05, zeta=1e-9) == 1
    assert binomial.upper_epsilon(nothing, 0.1, 0.05, zeta=1e-9) == math.inf
    assert binomial.cut_offs(0, 0.1, 0.05, zeta=1e-9) == (-1, 1)
    steps, upper = binomial.profile(nothing, 0.05)
    assert (steps.tolist(), upper.tolist()) == ([0], [1])


def test_delta_zero_needs_a_coin_and_one_change_refutes_it():
    clean = Changes(np.zeros((50, 1)), 50)
    assert binomial.judge(clean, 0.0, 0.0, 0.05).verdict == "inconclusive"
    assert binomial.judge(clean, 0.0, 0.0, 0.05, zeta=0.05).verdict == "stable"
    moved = Changes(np.eye(50)[:, :1], 50)
    assert binomial.judge(moved, 0.0, 0.0, 0.05, zeta=0.01).verdict == "unstable"


def test_the_profile_is_the_band_at_each_change():
    column = np.array([0.3, np.nan, 0.1, 0.3, np.inf, 0.0])[:, None]
    steps, upper = binomial.profile(Changes(column, 8), 0.1)  # two trials were not run
    assert steps.tolist() == [0, 0.1, 0.3]
    from poise.theory import profile_band, restricted_limits

    assert upper.tolist() == profile_band(8, 0.1)[[7, 6, 4]].tolist()
    _, tighter = binomial.profile(Changes(column, 8), 0.1, delta_max=0.9)
    assert tighter.tolist() == restricted_limits(8, 0.1, 0.9)[[7, 6, 4]].tolist()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: binomial.critical_value(10, 1.0, 0.05),
            r"delta must be a number in \[0, 1\), got 1.0",
        ),
        (
            lambda: binomial.critical_value(10, 0.1, 0.0),
            r"alpha must be a number in \(0, 1\), got 0.0",
        ),
        (
            lambda: binomial.critical_count(2.5, 0.1, 0.05),
            "n_trials must be a whole number >= 0, got 2.5",
        ),
        (
            lambda: binomial.power(10, 0.1, 1.5, 0.05),
            r"delta_star must be a number in \[0, 1\], got 1.5",
        ),
        (
            lambda: binomial.pvalue([1, 5], [4, 4], 0.1),
            "exceedances must be at most n_trials = 4, got 5",
        ),
        (lambda: binomial.pvalue(1, 10, 0.1, zeta=2), r"zeta must be a number in \[0, 1\], got 2"),
        (lambda: limits.delta_hat(3, 2, 0.1), "exceedances must be at most n_trials = 2, got 3"),
        (lambda: limits.epsilon_hat([0.1, np.nan], 0.1, 0.1), "changes must be .* got nan"),
        (lambda: limits.epsilon_lower([[0.1]], 0.1, 0.1), "changes must be a list"),
    ],
)
def test_arguments_are_named(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
