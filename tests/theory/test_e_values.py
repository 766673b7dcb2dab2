"""Evidence with no number of trials fixed beforehand, several questions, and repeated ones."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import e_values, holm, rejected_by_holm, repeated_looks
from poise.theory.e_values import confidence_sequence, e_bh, mixture, mixture_delta_hat, open_ended

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
    monkeypatch.setattr(e_values, "_TRIALS_AT_ONCE", 7)
    np.testing.assert_allclose(open_ended(S, 0.25, 0.05, low).log_e, found.log_e, rtol=1e-12)
    trials, lower, upper = confidence_sequence(S[:20], 0.05, S[:20] / 2)
    limits = [mixture_delta_hat(S[:t], 0.05) for t in trials]
    assert upper.tolist() == np.minimum.accumulate(limits).tolist()
    assert lower[-1] == max(1 - mixture_delta_hat(1 - S[:t] / 2, 0.05) for t in trials)
    assert mixture(S[:20], limits[-1] * 0.999) < 20 <= mixture(S[:20], limits[-1] * 1.001)


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


def test_e_bh_rejects_the_largest_set_that_supports_itself():
    rng = np.random.default_rng(1)
    for _ in range(200):
        e, alpha = np.exp(rng.normal(2, 2, 5)), 0.2
        k = max((k for k in range(1, 6) if (e >= 5 / (k * alpha)).sum() >= k), default=0)
        assert e_bh(e, alpha) == sorted(np.argsort(-e)[:k].tolist())
    assert (e_bh([100.0, 20.0], 0.1), e_bh([9.0, 20.0], 0.1), e_bh([], 0.1)) == ([0, 1], [1], [])


def test_repeated_looks_by_enumeration():
    sizes, delta, alpha = [2, 5, 7], 0.5, 0.3
    for randomized in (False, True):
        declared = np.zeros(3)
        for path in itertools.product((0, 1), repeat=7):
            waiting = 0.5**7
            for i, size in enumerate(sizes):
                k, a = e_values.critical_value(size, delta, alpha)
                b = sum(path[:size])
                chance = 1.0 if b < k else (a if randomized else a >= 1) if b == k else 0.0
                declared[i:] += waiting * chance
                waiting *= 1 - chance
        found = repeated_looks(sizes, delta, alpha, randomized)
        np.testing.assert_allclose(found, declared, rtol=1e-12)
    assert repeated_looks(range(1, 1001), 0.1, 0.05)[-1] == pytest.approx(0.272, abs=5e-4)
