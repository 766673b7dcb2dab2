"""Lower and two-sided limits: other libraries' numbers, and coverage by exact enumeration."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from scipy import stats

from poise.errors import ArgumentError
from poise.theory import delta_interval, delta_lower, epsilon_lower
from poise.theory.decision import cut_offs


@pytest.mark.parametrize(("count", "m"), [(0, 9), (1, 9), (9, 9), (3, 60), (500, 1000), (0, 0)])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_they_are_clopper_and_pearsons(count, m, alpha) -> None:
    low, high = delta_interval(count, m, alpha)
    if m == 0:
        assert (low, high, delta_lower(0, 0, alpha)) == (0.0, 1.0, 0.0)
        return
    two_sided = scipy.stats.binomtest(count, m).proportion_ci(1 - alpha, method="exact")
    assert (low, high) == pytest.approx((two_sided.low, two_sided.high), rel=1e-9)
    one_sided = scipy.stats.binomtest(count, m, alternative="greater").proportion_ci(1 - alpha)
    assert delta_lower(count, m, alpha) == pytest.approx(one_sided.low, rel=1e-9)


def test_limits_of_very_many_trials_keep_their_digits() -> None:
    # One exceedance: 1 - (1 - α)^(1/m), computed without cancelling.
    assert delta_lower(1, 10**9, 0.05) == pytest.approx(-np.expm1(np.log1p(-0.05) / 1e9), rel=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 0.3])
@pytest.mark.parametrize("m", [1, 7, 40])
def test_the_interval_covers_whatever_the_truth(m, alpha) -> None:
    """Exact: the printed interval is wrong with probability at most α, at every δ*."""
    counts = np.arange(m + 1)
    low, high = delta_interval(counts, m, alpha)
    worst = 0.0
    # The chance of a miss is largest just beside an end of some interval.
    ends = np.concatenate([low, high])
    for truth in np.concatenate([ends - 1e-9, ends + 1e-9, np.linspace(0, 1, 301)]):
        if 0 <= truth <= 1:
            missed = (truth < low) | (truth > high)
            worst = max(worst, float(stats.binom.pmf(counts, m, truth)[missed].sum()))
    assert worst <= alpha
    assert m == 1 or worst > alpha / 2  # an interval at half the level would be too wide


def test_trials_that_are_not_known_widen_both_ends() -> None:
    low, high = delta_interval(3, 20, 0.05, unknown=5)
    assert low == delta_interval(3, 20, 0.05)[0]
    assert high == delta_interval(8, 20, 0.05)[1]
    with pytest.raises(ArgumentError, match="at most n_trials"):
        delta_interval(18, 20, 0.05, unknown=5)


@pytest.mark.parametrize("delta", [0.0, 0.1, 0.5])
def test_the_lower_quantile_inverts_the_mirror_test(delta) -> None:
    changes = np.random.default_rng(0).permutation(np.arange(40.0))
    alpha = 0.1
    bound = epsilon_lower(changes, delta, alpha)
    unstable = cut_offs(40, delta, alpha)[1]
    for epsilon in np.arange(-0.5, 40, 0.25):
        declared = np.count_nonzero(changes > epsilon) >= unstable
        assert declared == (epsilon < bound)


def test_failed_and_unseen_trials_show_no_change() -> None:
    changes = np.append(np.arange(40.0), [np.inf] * 3)
    known = epsilon_lower(np.append(np.arange(40.0), [0.0] * 3), 0.1, 0.05)
    assert epsilon_lower(changes, 0.1, 0.05, failed=3) == known
    assert epsilon_lower(np.arange(40.0), 0.1, 0.05, unseen=3) == known
    assert epsilon_lower(changes, 0.1, 0.05) > known


def test_the_lower_quantile_is_too_large_with_probability_at_most_alpha() -> None:
    """Exact for Δ uniform on (0, 1): P(the c-th largest exceeds 1 - δ) = P(Bin(m, δ) >= c)."""
    m, delta, alpha = 30, 0.2, 0.1
    unstable = cut_offs(m, delta, alpha)[1]
    assert stats.binom.sf(unstable - 1, m, delta) <= alpha < stats.binom.sf(unstable - 2, m, delta)
    rng = np.random.default_rng(5)
    bounds = [epsilon_lower(rng.uniform(size=m), delta, alpha) for _ in range(4000)]
    wrong = np.mean(np.array(bounds) > 1 - delta)
    exact = stats.binom.sf(unstable - 1, m, delta)
    # 4.9 standard errors on both sides: false alarm 1e-6
    assert abs(wrong - exact) < 4.9 * np.sqrt(exact * (1 - exact) / 4000)
