"""Evidence with no number of trials fixed beforehand, several questions, and repeated ones."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import anytime, holm, rejected_by_holm
from poise.theory.anytime import mixture, mixture_delta_hat, open_ended
from poise.theory.changes import Changes

SUPPORT = (0.0, 0.3, 1.0)


@pytest.mark.parametrize("delta", [0.15, 0.5])
def test_its_mean_is_one_at_every_time_and_looks_keep_the_level(delta):
    m, alpha = 4, 0.3
    for middle in (0.0, 0.2, 0.45):
        law = [1 - (delta - 0.3 * middle) - middle, middle, delta - 0.3 * middle]
        means, wrong = np.zeros((2, m)), np.zeros(2)
        for places in itertools.product(range(3), repeat=m):
            chance = math.prod(law[place] for place in places)
            found = open_ended([SUPPORT[place] for place in places], delta, alpha)
            means += chance * np.exp([found.log_e, found.log_e_unstable])
            wrong += chance * np.array([found.verdict == "stable", found.verdict == "unstable"])
        np.testing.assert_allclose(means, 1, rtol=1e-11)
        assert (wrong <= alpha).all()


def test_one_path_says_what_every_look_says(monkeypatch):
    rng = np.random.default_rng(0)
    S = rng.beta(0.3, 3, 60)
    low = S * (rng.random(60) < 0.9)
    found = open_ended(S, 0.25, 0.05, low)
    looks = [mixture(S[:t], 0.25) for t in range(1, 61)]
    np.testing.assert_allclose(np.exp(found.log_e), looks, rtol=1e-9)
    alone = open_ended(low, 0.25, 0.05).log_e_unstable
    np.testing.assert_allclose(found.log_e_unstable, alone, rtol=1e-12)
    first = next(t for t in range(1, 61) if looks[t - 1] >= 20 * (1 - 1e-9))
    assert (found.verdict, found.decided_at, found.contradicted) == ("stable", first, False)
    monkeypatch.setattr(anytime, "_TRIALS_AT_ONCE", 7)
    np.testing.assert_allclose(open_ended(S, 0.25, 0.05, low).log_e, found.log_e, rtol=1e-12)
    limit = mixture_delta_hat(S[:20], 0.05)
    assert mixture(S[:20], limit * 0.999) < 20 <= mixture(S[:20], limit * 1.001)


def test_the_first_to_reach_the_level_decides_and_a_contradiction_is_seen():
    S = np.concatenate([np.full(60, 0.0), np.full(60, 0.9)])
    found = open_ended(S, 0.2, 0.05)
    assert (found.verdict, found.contradicted) == ("stable", True)
    assert open_ended(S[:60], 0.2, 0.05).contradicted is False
    assert open_ended(S[::-1], 0.2, 0.05).verdict == "unstable"
    t, d = 3000, 0.01  # one fixed rule goes on beyond 1,023 trials
    exact = -t * math.log1p(-d) - math.log((t + 1) * d)
    assert math.log(mixture([0.0] * t, d)) == pytest.approx(exact, abs=1e-6)
    nothing = open_ended([], 0.2, 0.05)
    assert (nothing.verdict, nothing.decided_at, nothing.log_e.size) == ("inconclusive", None, 0)
    assert (
        mixture([], 0.1) == mixture_delta_hat([], 0.05) == mixture_delta_hat([1.0] * 9, 0.05) == 1
    )
    zero = open_ended([0.0, 0.1, 0.0], 0.0, 0.05)
    assert (zero.verdict, zero.decided_at, zero.log_e_unstable[0]) == ("unstable", 2, 0)
    with pytest.raises(ArgumentError, match="S_unstable must hold one share for each in S"):
        open_ended([0.1], 0.1, 0.05, [0.2])


def tables():
    rng = np.random.default_rng(3)
    for (m, width), scale in itertools.product(((0, 1), (9, 1), (40, 1), (40, 6)), (0.2, 0.8)):
        values = np.round(rng.gamma(0.5, scale, (m, width)), 2)
        values[rng.random((m, width)) < 0.03] = np.nan
        yield Changes(values, m)


def test_p_values_and_limits_are_the_best_of_all_looks():
    verdicts = set()
    for seen, alpha in itertools.product(tables(), (0.05, 0.4)):
        S, low = seen.shares(0.5), seen.shares(0.5, failures_exceed=False)
        for delta in (0.0, 0.2, 0.6):
            process = open_ended(S, delta, alpha, low)
            judged = anytime.judge(seen, 0.5, delta, alpha)
            verdicts.add(judged.verdict)
            for p, log_e in (
                (judged.pvalue, process.log_e),
                (judged.pvalue_unstable, process.log_e_unstable),
            ):
                assert p == pytest.approx(math.exp(-log_e.max(initial=0)), rel=1e-8)
                assert (p <= alpha) == (log_e.max(initial=0) >= math.log((1 - 1e-9) / alpha))
            if len(S):
                assert judged.e_value == pytest.approx(math.exp(process.log_e[-1]))
        looks = range(len(S) + 1)
        upper = min(mixture_delta_hat(S[:t], alpha) for t in looks)
        lower = max(1 - mixture_delta_hat(1 - low[:t], alpha) for t in looks)
        assert anytime.upper_delta(seen, 0.5, alpha) == pytest.approx(upper, abs=1e-9)
        assert anytime.lower_delta(seen, 0.5, alpha) == pytest.approx(lower, abs=1e-9)
    assert verdicts == {"stable", "unstable", "inconclusive"}


def test_limits_of_epsilon_are_where_the_verdicts_change():
    for seen, (delta, alpha) in itertools.product(tables(), ((0.2, 0.05), (0.5, 0.4))):
        known = np.where(np.isnan(seen.values), 0, seen.values)
        steps = np.unique(np.append(known, 0.0))
        asked = [anytime.judge(seen, e, delta, alpha) for e in steps]
        stable = [e for e, each in zip(steps, asked, strict=True) if each.pvalue <= alpha]
        kept = [e for e, each in zip(steps, asked, strict=True) if each.pvalue_unstable > alpha]
        assert anytime.upper_epsilon(seen, delta, alpha) == min(stable, default=math.inf)
        assert anytime.lower_epsilon(seen, delta, alpha) == min(kept, default=math.inf)
        ends, limits = anytime.profile(seen, alpha)
        for level in {*limits.tolist()} - {1.0}:
            first = min(e for e, d in zip(ends, limits, strict=True) if d <= level)
            assert first == anytime.upper_epsilon(seen, level, alpha / 8)


def test_the_fewest_clean_trials():
    for delta, alpha in itertools.product((0.01, 0.1, 0.5, 0.9), (0.01, 0.05, 0.5)):
        t = int(anytime.clean_trials(delta, alpha))
        assert open_ended(np.zeros(2 * t), delta, alpha).decided_at == t
    assert (anytime.clean_trials(0.1, 0.05), anytime.clean_trials(0.0, 0.05)) == (43, math.inf)


def test_holm_is_the_closure_of_bonferroni():
    rng = np.random.default_rng(0)
    for alpha, scale in itertools.product((0.05, 0.3), (1.0, 0.05)):
        for _ in range(40):
            p = np.round(rng.random(4) * scale, 3)
            groups = [set(c) for r in range(1, 5) for c in itertools.combinations(range(4), r)]
            failed = [g for g in groups if min(p[i] for i in g) > alpha / len(g)]
            expected = [i for i in range(4) if not any(i in g for g in failed)]
            assert rejected_by_holm(p, alpha) == expected
            assert [i for i in range(4) if holm(p)[i] <= alpha] == expected
    for size in range(1, 50):  # size * (0.05 / size) may be a rounding above 0.05
        assert rejected_by_holm([0.05 / size, *[1.0] * (size - 1)], 0.05) == [0]
        assert rejected_by_holm([0.0501 / size, *[1.0] * (size - 1)], 0.05) == []
