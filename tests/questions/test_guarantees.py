"""Level and power by simulation, on algorithms whose truth is known in closed form.

Each check compares a Binomial count with its exact law at a tail of 1e-7, so the
whole file raises a false alarm with probability below 1e-6; seeds are fixed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyRegressor
from sklearn.neighbors import KNeighborsRegressor

import poise

FALSE_ALARM = 1e-7
REPLICATIONS = 2000


class Mean(poise.Algorithm):
    """The mean predictor: Δ = |Y_n − Ȳ_{n−1}|/n, so δ*_ε is a Gaussian tail."""

    name = "mean"

    def fit(self, X, y, xi):
        return lambda rows: np.array([y.mean()])


def mean_delta_star(epsilon, n: int):
    return 2 * stats.norm.sf(epsilon * n / math.sqrt(1 + 1 / (n - 1)))


def plausible(count: int, total: int, probability: float) -> bool:
    """Whether a Binomial count lies within its exact two-sided 1e-7 limits."""
    low = stats.binom.cdf(count, total, probability)
    high = stats.binom.sf(count - 1, total, probability)
    return min(low, high) > FALSE_ALARM / 2


def simulate(algorithm, n: int, trials: int, replications: int, seed: int) -> np.ndarray:
    """Changes of many independent data sets, one row each."""
    rng = np.random.default_rng(seed)
    rows = replications * trials * (n + 1)
    X, y = rng.normal(size=(rows, 1)), rng.normal(size=rows)
    return poise.measure(algorithm, X, y, n=n, random_state=seed).changes.reshape(
        replications, trials
    )


def coins(replications: int) -> np.ndarray:
    return 1 - np.random.default_rng(99).random(replications)


def verdicts(changes, epsilon, delta, alpha, randomized) -> list[poise.StabilityResult]:
    m, results = changes.shape[1], []
    for row, coin in zip(changes, coins(len(changes)).tolist(), strict=True):
        design = poise.Design("x", 5, 5 * m, m, zeta=coin)
        results.append(poise.Trials(row, design).test(epsilon, delta, alpha, randomized))
    return results


class Judged(NamedTuple):
    """What results say, one element for each of many data sets."""

    stable: np.ndarray
    pvalue: np.ndarray
    delta_hat: np.ndarray
    epsilon_hat: np.ndarray


def judged(changes, epsilon, delta, alpha, randomized=True) -> Judged:
    """All verdicts at once by the functions of theory; the first hundred are those of results.

    A result calls the same functions with one number each, in a thousand times the time.
    """
    m, counts = changes.shape[1], (changes > epsilon).sum(axis=1)
    coin = coins(len(changes)) if randomized else np.ones(len(changes))
    pvalue = poise.theory.pvalue(counts, m, delta, coin)
    critical, tie = poise.theory.critical_value(m, delta, alpha)
    ends = np.full((len(changes), 1), np.inf), np.zeros((len(changes), 1))
    steps = np.hstack([ends[0], -np.sort(-changes), ends[1]])  # the largest change comes first
    epsilon_hat = np.where(coin <= tie, steps[:, critical + 1], steps[:, critical])
    delta_hat = poise.theory.delta_hat(counts, m, alpha, coin)
    found = Judged(pvalue <= alpha, pvalue, delta_hat, epsilon_hat)
    results = verdicts(changes[:100], epsilon, delta, alpha, randomized)
    for field in Judged._fields:
        said = [getattr(result, field) for result in results]
        assert said == getattr(found, field)[:100].tolist()
    return found


def plain_verdicts(changes, epsilon, delta, alpha) -> list[poise.StabilityResult]:
    """The plain test decides by the number of larger changes alone: one result per number."""
    counts = (changes > epsilon).sum(axis=1)
    first = {int(count): changes[np.argmax(counts == count)] for count in np.unique(counts)}
    said = {c: verdicts(row[None], epsilon, delta, alpha, False)[0] for c, row in first.items()}
    return [said[int(count)] for count in counts]


@pytest.fixture(scope="module")
def neighbours() -> np.ndarray:
    return simulate(KNeighborsRegressor(1), n=5, trials=20, replications=REPLICATIONS, seed=1)


@pytest.fixture(scope="module")
def means() -> np.ndarray:
    return simulate(DummyRegressor(), n=4, trials=25, replications=REPLICATIONS, seed=2)


def test_changes_are_binomial_with_the_known_rate(neighbours, means) -> None:
    assert plausible(int((neighbours > 0).sum()), neighbours.size, 1 / 5)
    counts = np.bincount((neighbours > 0).sum(axis=1), minlength=21)
    for k in range(8):
        assert plausible(int(counts[k]), REPLICATIONS, stats.binom.pmf(k, 20, 0.2))
    for epsilon in (0.1, 0.3, 0.6):
        truth = mean_delta_star(epsilon, 4)
        assert plausible(int((means > epsilon).sum()), means.size, truth)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_size_is_exactly_alpha_at_the_boundary(neighbours, alpha) -> None:
    """δ* = δ = 1/5: the randomised test declares stable with probability exactly α.

    Kills α halved (0.025 against 0.05), `<` for `≤` in the count, and a tie never accepted.
    """
    found = judged(neighbours, 0.0, 0.2, alpha)
    assert plausible(int(found.stable.sum()), REPLICATIONS, alpha)
    for level in (0.02, 0.1, 0.5, 0.9):
        assert plausible(int((found.pvalue <= level).sum()), REPLICATIONS, level)


def test_level_beyond_the_boundary_and_plain_test_is_conservative(neighbours) -> None:
    plain = plain_verdicts(neighbours, 0.0, 0.2, 0.05)
    exact = stats.binom.cdf(0, 20, 0.2)  # c = 0: P(Bin <= 1) = .069 > .05
    assert plausible(sum(r.stable for r in plain), REPLICATIONS, exact)
    beyond = int(judged(neighbours, 0.0, 0.15, 0.05).stable.sum())
    assert stats.binom.cdf(beyond - 1, REPLICATIONS, 0.05) < 1 - FALSE_ALARM
    unstable = stats.binom.sf(7, 20, 0.2)  # smallest u with P(Bin(20, .2) >= u) <= .05 is 8
    assert plausible(sum(r.verdict == "unstable" for r in plain), REPLICATIONS, unstable)


def test_power_is_what_theory_says(means) -> None:
    epsilon, delta, alpha = 0.55, 0.2, 0.1
    truth = mean_delta_star(epsilon, 4)
    plain = [result.stable for result in plain_verdicts(means, epsilon, delta, alpha)]
    for randomized, stable in (
        (True, judged(means, epsilon, delta, alpha).stable),
        (False, plain),
    ):
        expected = poise.theory.power(25, delta, truth, alpha, randomized=randomized)
        assert plausible(int(np.sum(stable)), REPLICATIONS, expected)
        assert 0.2 < expected < 0.99


@pytest.mark.parametrize("randomized", [False, True])
def test_estimates_cover(means, randomized) -> None:
    epsilon, delta, alpha = 0.3, 0.2, 0.1
    truth_delta = mean_delta_star(epsilon, 4)
    truth_epsilon = stats.norm.isf(delta / 2) * math.sqrt(1 + 1 / 3) / 4
    found = judged(means, epsilon, delta, alpha, randomized)
    missed_delta = int((found.delta_hat < truth_delta).sum())
    missed_epsilon = int((found.epsilon_hat < truth_epsilon).sum())
    for missed in (missed_delta, missed_epsilon):
        assert stats.binom.sf(missed - 1, REPLICATIONS, alpha) > FALSE_ALARM
        if randomized:  # exact up to the jumps of the Binomial
            assert stats.binom.cdf(missed, REPLICATIONS, alpha) > FALSE_ALARM


@pytest.mark.parametrize("band", ["equal-local-levels", "ks", "dkw"])
def test_profiles_cover_every_epsilon_at_once(means, band) -> None:
    alpha, missed = 0.1, 0
    for row in means[:1000]:
        trials = poise.Trials.from_changes(row, n=4)
        profile = trials.profile(alpha, band)
        missed += bool((profile.delta_hat < mean_delta_star(profile.epsilon, 4)).any())
    assert stats.binom.sf(missed - 1, 1000, alpha) > FALSE_ALARM
    if band != "dkw":  # the other two are exact, so they must not be much too wide either
        assert stats.binom.cdf(missed, 1000, alpha) > FALSE_ALARM


def test_three_way_verdict_errs_at_most_alpha_either_way(means) -> None:
    epsilon = 0.4
    truth = mean_delta_star(epsilon, 4)
    wrong = sum(r.stable for r in plain_verdicts(means, epsilon, truth - 1e-9, 0.1))
    assert stats.binom.sf(wrong - 1, REPLICATIONS, 0.1) > FALSE_ALARM
    wrong = sum(r.verdict == "unstable" for r in plain_verdicts(means, epsilon, truth, 0.1))
    assert stats.binom.sf(wrong - 1, REPLICATIONS, 0.1) > FALSE_ALARM


def test_stopping_early_never_changes_a_verdict() -> None:
    rng = np.random.default_rng(5)
    n, trials = 4, 30
    stopped = 0
    for replication in range(60):
        rows = trials * (n + 1)
        X, y = rng.normal(size=(rows, 1)), rng.normal(size=rows)
        kwargs = {
            "n": n,
            "epsilon": float(rng.choice([0.05, 0.2, 0.3, 0.4, 0.9])),
            "delta": float(rng.choice([0.1, 0.3, 0.5])),
            "alpha": 0.1,
            "random_state": replication,
            "randomized": bool(rng.integers(2)),
        }
        full = poise.stability_test(Mean(), X, y, **kwargs, stop_early=False)
        early = poise.stability_test(Mean(), X, y, **kwargs)
        soonest = poise.stability_test(Mean(), X, y, **kwargs, stop_early="stable")
        assert early.verdict == full.verdict
        assert soonest.stable == full.stable
        assert soonest.n_observed <= early.n_observed <= trials
        assert early.n_fits == 2 * early.n_observed
        assert early.pvalue >= full.pvalue - 1e-15
        assert early.pvalue_unstable >= full.pvalue_unstable - 1e-15
        assert early.delta_hat >= full.delta_hat - 1e-15
        assert early.epsilon_hat >= full.epsilon_hat
        assert not early.stable or early.delta_hat <= early.delta
        stopped += early.stopped_early
    assert stopped > 20
