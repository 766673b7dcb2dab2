"""Evidence with no number of trials fixed beforehand: exact values, and its level at every look."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import sequential
from poise.theory.sequential import (
    confidence_sequence,
    mirror_mixture,
    mixture,
    mixture_delta_hat,
    open_ended,
)

SUPPORT = (0.0, 0.3, 1.0)


def closed_form(b: int, t: int, delta: float) -> float:
    """E_t on b shares of 1 and t - b of 0."""
    with mpmath.workdps(40):
        d = mpmath.mpf(delta)
        integral = mpmath.betainc(b + 1, t - b + 1, 0, d)
        return float(integral / d / (d**b * (1 - d) ** (t - b)))


def test_on_0_and_1_it_is_the_closed_form():
    for b, t, delta in ((0, 1, 0.1), (3, 20, 0.3), (5, 100, 0.1), (40, 60, 0.5), (90, 1000, 0.1)):
        S = np.repeat([1.0, 0.0], (b, t - b))
        assert mixture(S, delta) == pytest.approx(closed_form(b, t, delta), rel=1e-9)
        assert mirror_mixture(S, delta) == pytest.approx(closed_form(t - b, t, 1 - delta), rel=1e-9)
    S = np.repeat([1.0, 0.0], (200, 2800))  # one fixed rule goes on beyond 1,023 trials
    assert math.log(mixture(S, 0.1)) == pytest.approx(
        math.log(closed_form(200, 3000, 0.1)), abs=1e-5
    )


def test_a_step_of_a_polynomial():
    """Two trials: ∫ (1 - δ + c (δ - s)) (1 - δ + c (δ - t)) dc / (1 - δ)²."""
    d, s, t = 0.2, 0.05, 0.4
    a, x, y = 1 - d, d - s, d - t
    assert mixture([s, t], d) == pytest.approx(
        (a * a + a * (x + y) / 2 + x * y / 3) / a**2, rel=1e-13
    )


@pytest.mark.parametrize("delta", [0.15, 0.5])
def test_its_mean_is_one_at_every_time_and_looks_keep_the_level(delta):
    m, alpha = 5, 0.3
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


def test_limits_hold_at_all_times_at_once():
    m, alpha = 6, 0.25
    paths = [np.array(S, dtype=float) for S in itertools.product((0, 1), repeat=m)]
    ends = [confidence_sequence(S, alpha) for S in paths]
    lower, upper = (np.array([each[i][-1] for each in ends]) for i in (1, 2))  # the best so far
    sums = np.array([S.sum() for S in paths])
    for truth in np.linspace(0.02, 0.98, 25):
        chance = truth**sums * (1 - truth) ** (m - sums)
        assert chance[upper < truth].sum() <= alpha
        assert chance[lower > truth].sum() <= alpha
    for trials, low, high in ends:
        assert trials.tolist() == list(range(1, m + 1))
        assert (np.diff(low) >= 0).all()
        assert (np.diff(high) <= 0).all()


def test_one_path_says_what_every_look_says(monkeypatch):
    rng = np.random.default_rng(0)
    S = rng.beta(0.3, 3, 60)
    low = S * (rng.random(60) < 0.9)
    found = open_ended(S, 0.25, 0.05, low)
    for t in (1, 10, 60):
        assert math.exp(found.log_e[t - 1]) == pytest.approx(mixture(S[:t], 0.25), rel=1e-9)
        expected = mirror_mixture(low[:t], 0.25)
        assert math.exp(found.log_e_unstable[t - 1]) == pytest.approx(expected, rel=1e-9)
    first = next(t for t in range(1, 61) if mixture(S[:t], 0.25) >= 20 * (1 - 1e-9))
    assert (found.verdict, found.decided_at, found.contradicted) == ("stable", first, False)
    monkeypatch.setattr(sequential, "_TRIALS_AT_ONCE", 7)
    np.testing.assert_allclose(open_ended(S, 0.25, 0.05, low).log_e, found.log_e, rtol=1e-12)
    trials, lower, upper = confidence_sequence(S, 0.05, low)
    assert upper[-1] == min(mixture_delta_hat(S[:t], 0.05) for t in trials)
    limit = mixture_delta_hat(S, 0.05)
    assert mixture(S, limit * 0.999) < 20 <= mixture(S, limit * 1.001)
    assert lower[-1] == max(1 - mixture_delta_hat(1 - low[:t], 0.05) for t in trials)
    assert confidence_sequence(np.tile(S, 10), 0.05)[0].size == 200


def test_the_first_to_reach_the_level_decides_and_a_contradiction_is_seen():
    S = np.concatenate([np.full(60, 0.0), np.full(60, 0.9)])
    found = open_ended(S, 0.2, 0.05)
    assert (found.verdict, found.contradicted) == ("stable", True)
    assert open_ended(S[:60], 0.2, 0.05).contradicted is False
    assert open_ended(S[::-1], 0.2, 0.05).verdict == "unstable"
    nothing = open_ended([], 0.2, 0.05)
    assert (nothing.verdict, nothing.decided_at, nothing.log_e.size) == ("inconclusive", None, 0)


def test_ends():
    assert mixture([], 0.1) == mirror_mixture([], 0.1) == 1
    assert mixture_delta_hat([], 0.05) == 1
    assert mixture_delta_hat([1.0] * 30, 0.05) == 1
    assert mirror_mixture([0.0, 1e-9], 0.0) == math.inf
    assert mirror_mixture([0.0, 0.0], 0.0) == 1
    assert mixture([0.0] * 9, 0.0) == 1
    assert mixture([0.0] * 9000, 0.9) == math.inf
    zero = open_ended([0.0, 0.1, 0.0], 0.0, 0.05)
    assert (zero.verdict, zero.decided_at) == ("unstable", 2)
    assert all(each.size == 0 for each in confidence_sequence([], 0.05))
    with pytest.raises(ArgumentError, match="S_unstable must hold one share for each in S"):
        open_ended([0.1], 0.1, 0.05, [0.2])
