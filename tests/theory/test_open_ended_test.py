"""The open-ended verdict: two processes, the first to reach 1/α, and looks at any time."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from poise.errors import ArgumentError
from poise.theory import (
    OpenEndedTest,
    limits_over_time,
    mirror_mixture,
    mixture,
    mixture_delta_hat,
    open_ended_verdict,
)


def _by_quadrature(shares: list[float], delta: float) -> float:
    return float(
        quad(lambda c: math.prod((c * s + (1 - c) * delta) / delta for s in shares), 0, 1)[0]
    )


@pytest.mark.parametrize("delta", [0.05, 0.3, 0.8])
def test_the_mirror_is_its_integral(delta: float) -> None:
    shares = np.random.default_rng(3).beta(0.5, 2, 25).tolist()
    assert mirror_mixture(shares, delta) == pytest.approx(_by_quadrature(shares, delta), rel=1e-9)


def test_both_processes_have_mean_one_at_the_null() -> None:
    law, delta = {0.0: 0.6, 0.4: 0.25, 1.0: 0.15}, 0.25
    mean = other = 0.0
    for path in itertools.product(law, repeat=5):
        chance = math.prod(law[share] for share in path)
        test = open_ended_verdict(path, delta, 0.1)
        mean += chance * test.e_value
        other += chance * test.e_value_unstable
    assert mean == pytest.approx(1, rel=1e-12)
    assert other == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_skipped_looks_lose_no_verdict(seed: int) -> None:
    """The verdict is that of looking after every trial, though most looks are skipped."""
    rng = np.random.default_rng(seed)
    delta, alpha = float(rng.choice([0.02, 0.1, 0.4])), float(rng.choice([0.01, 0.05, 0.3]))
    shares = (rng.beta(0.3, rng.choice([0.5, 3, 12]), 160) * 20).round() / 20
    stable = [mixture(shares[:t], delta) * alpha >= 1 for t in range(1, 161)]
    unstable = [mirror_mixture(shares[:t], delta) * alpha >= 1 for t in range(1, 161)]
    first = {"stable": _first(stable), "unstable": _first(unstable)}
    test = open_ended_verdict(shares, delta, alpha)
    assert test.decided_at == (None if min(first.values()) == 999 else min(first.values()))
    if test.decided_at is not None:
        assert first[test.verdict] == test.decided_at
    assert test.contradicted == (max(first.values()) < 999)


def _first(reached: list[bool]) -> int:
    return reached.index(True) + 1 if True in reached else 999


@pytest.mark.parametrize("law", ["coin", "fractions"])
def test_looking_after_every_trial_keeps_the_level(law: str) -> None:
    """4000 runs of 400 trials at δ* = δ, looked at after each; false alarm below 1e-6."""
    rng, runs, delta, alpha = np.random.default_rng(8), 4000, 0.1, 0.1
    if law == "coin":
        shares = (rng.random((runs, 400)) < delta).astype(float)
    else:
        shares = rng.choice([0.0, 0.1, 0.5], p=[0.6, 0.25, 0.15], size=(runs, 400))
        assert np.dot([0.0, 0.1, 0.5], [0.6, 0.25, 0.15]) == pytest.approx(delta)
    for paths, level in ((shares, delta), (1 - shares, 1 - delta)):
        false = (_best_evidence(paths, level) >= 1 / alpha).mean()
        # five standard errors of the largest allowed rate
        assert false <= alpha + 5 * math.sqrt(alpha * (1 - alpha) / runs)
        assert false >= alpha / 4  # not a process that never decides


def _best_evidence(shares: np.ndarray, delta: float) -> np.ndarray:
    """The largest E_t over time, for many runs: on a grid of c, by cumulative products."""
    x, weights = np.polynomial.legendre.leggauss(24)
    total = np.zeros_like(shares)
    for c, weight in zip((x + 1) / 2, weights / 2, strict=True):
        total += weight * np.cumprod(1 + c / (1 - delta) * (delta - shares), axis=1)
    return total.max(axis=1)


def test_failures_count_against_stable_and_never_for_unstable() -> None:
    failed = open_ended_verdict([1.0] * 50, 0.1, 0.05, S_unstable=[0.0] * 50)
    assert failed.verdict == "inconclusive"
    assert failed.e_value == pytest.approx(1 / 51)
    assert failed.e_value_unstable == pytest.approx(1 / 51)


def test_a_share_of_unstable_is_not_larger() -> None:
    test = OpenEndedTest(0.1, 0.05)
    with pytest.raises(ArgumentError, match=r"share_unstable must be at most share = 0.2, got 0.3"):
        test.update(0.2, 0.3)
    with pytest.raises(
        ArgumentError, match=r"S_unstable must hold as many shares as S \(2\), got 1"
    ):
        open_ended_verdict([0.1, 0.2], 0.1, 0.05, S_unstable=[0.1])


def test_delta_zero() -> None:
    quiet = open_ended_verdict([0.0] * 9, 0.0, 0.05)
    assert (quiet.verdict, quiet.e_value) == ("inconclusive", pytest.approx(1.0))
    moved = open_ended_verdict([0.0, 0.0, 0.1, 0.0], 0.0, 0.05)
    assert (moved.verdict, moved.decided_at, moved.e_value_unstable) == ("unstable", 3, math.inf)
    assert open_ended_verdict([0.1], 1e-18, 0.05).verdict == "inconclusive"


def test_a_verdict_stays_and_a_contradiction_is_noticed() -> None:
    test = open_ended_verdict([0.0] * 60 + [1.0] * 60, 0.1, 0.05)
    assert (test.verdict, test.contradicted) == ("stable", True)
    assert test.e_value < 1


def test_limits_are_those_of_the_mixture() -> None:
    shares = (np.random.default_rng(5).beta(0.4, 5, 70) * 20).round() / 20
    others = np.maximum(shares - 0.05, 0)
    limits = limits_over_time(shares, 0.05, S_unstable=others)
    upper = [mixture_delta_hat(shares[:t], 0.05) for t in range(71)]
    lower = [1 - mixture_delta_hat(1 - others[:t], 0.05) for t in range(71)]
    assert limits.trials.tolist() == list(range(71))
    assert limits.upper == pytest.approx(np.minimum.accumulate(upper), rel=1e-8)
    assert limits.lower == pytest.approx(np.maximum.accumulate(lower), abs=1e-8)


def test_verdict_and_limits_agree() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        shares = rng.choice([0.0, 0.2, 1.0], p=rng.dirichlet([4, 1, 0.3]), size=120)
        test, limits = open_ended_verdict(shares, 0.1, 0.05), limits_over_time(shares, 0.05)
        assert (test.verdict == "stable" or test.contradicted) == (limits.upper[-1] <= 0.1 + 1e-9)
        assert (test.verdict == "unstable" or test.contradicted) == (limits.lower[-1] >= 0.1 - 1e-9)


def test_long_records_have_500_moments() -> None:
    limits = limits_over_time([0.0] * 1203, 0.05)
    assert len(limits.trials) <= 502
    assert limits.trials[-1] == 1203
    assert limits.upper[-1] == pytest.approx(mixture_delta_hat([0.0] * 1203, 0.05), rel=1e-9)
