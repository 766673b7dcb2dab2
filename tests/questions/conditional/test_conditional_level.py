"""The level of the data-conditional tests, given one training set.

A row of the training set counts at every point below its feature: A[D](x) = Σ y_j 1{c_j > x}.
So the share of removals that matter at x is the share of c_j > x, and everything is known.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import poise
from poise.results.conditional_design import ConditionalDesign
from poise.results.conditional_trials import ConditionalTrials

FEATURES = np.array([0.05, 0.1, 0.2, 0.25, 0.4])  # their mean is 0.2


def steps(X, y, seed):
    features, weights = np.asarray(X)[:, 0], np.asarray(y)
    return lambda rows: (weights * (features > np.asarray(rows)[:, :1])).sum(axis=1)


def fresh(rng, count, ones):
    """Uniform features, and responses that are 1 with this probability."""
    return rng.uniform(size=(count, 1)), (rng.uniform(size=count) < ones).astype(float)


# E[S|D] by hand. "add-one": Y' = 1 and X' > X: ones/2. "jackknife": Y' = 1 and X' > c_i:
# ones·(1 − mean c). With γ = 0.3 of 5 rows: the second largest c; Y' = 1 and X' above the
# second smallest c.
AT_THE_NULL = {"deployed": 0.0, "add-one": 0.4, "jackknife": 0.25}
WITH_GAMMA = {"deployed": 0.25, "jackknife": 0.25 * 0.9}
RUNS, ALPHA, M = 120, 0.2, 24


@pytest.mark.parametrize("notion", AT_THE_NULL)
def test_false_verdicts_are_rare_given_the_training_set(notion) -> None:
    """At E[S|D] = δ = 0.2 neither verdict may be said more often than α; 1e-6 for all.

    Given the training set all fresh rows are independent, so one measurement holds many runs.
    """
    rows = 2 * M * RUNS if notion == "add-one" else M * RUNS
    measured = poise.measure_conditional(
        steps,
        FEATURES[:, None],
        np.ones(5),
        *fresh(np.random.default_rng(11), rows, AT_THE_NULL[notion]),
        notion=notion,
        random_state=0,
        progress=False,
    )
    design = replace(measured.design, n_fresh=rows // RUNS)
    by_shares, by_count, power = [], [], []
    for changes in measured.changes.reshape(RUNS, M, -1):
        record = ConditionalTrials(changes, design)
        by_shares.append(poise.theory.verdict(record.shares(0.5), 0.2, ALPHA).verdict)
        power.append(poise.theory.verdict(record.shares(0.5), 0.5, ALPHA).verdict)
        if notion in WITH_GAMMA:
            by_count.append(record.test(0.5, WITH_GAMMA[notion], ALPHA, 0.3).verdict.value)
    limit = binom.isf(1e-7, RUNS, ALPHA)
    for verdicts in (by_shares, by_count):
        assert verdicts.count("stable") <= limit
        assert verdicts.count("unstable") <= limit
    assert power.count("stable") >= 0.9 * RUNS


def test_the_means_are_what_the_level_test_says() -> None:
    """Independent of the library: S by its definition, on many draws; 1e-9 and less."""
    rng = np.random.default_rng(0)
    for notion, ones in AT_THE_NULL.items():
        x, y = fresh(rng, 200_000, ones)
        if notion == "deployed":
            shares = (x < FEATURES).mean(axis=1)
        elif notion == "add-one":
            shares = y * (x[:, 0] > rng.uniform(size=len(x)))
        else:
            shares = y * (x > FEATURES).mean(axis=1)
        assert abs(shares.mean() - 0.2) < 6.5 * shares.std() / np.sqrt(len(x))
        if notion in WITH_GAMMA:
            share = (shares > 0.3).mean()
            assert abs(share - WITH_GAMMA[notion]) < 6.5 * np.sqrt(0.25 / len(x))


def test_the_averaged_level_by_enumeration() -> None:
    """Every sequence of 5 shares in {0, 1/2, 1} of mean 0.4, with its probability."""
    law = {0.0: 0.55, 0.5: 0.1, 1.0: 0.35}
    table = {0.0: [0.1, 0.2], 0.5: [0.2, 0.3], 1.0: [0.5, 0.3]}  # 0.2 is ε: no larger change
    design = ConditionalDesign("x", "deployed", n=2, n_fresh=5)
    delta, alpha = 0.4, 0.35
    said = {"stable": 0.0, "unstable": 0.0, "inconclusive": 0.0}
    for k, sequence in enumerate(itertools.product(law, repeat=5)):
        record = ConditionalTrials(np.array([table[share] for share in sequence]), design)
        np.testing.assert_array_equal(record.shares(0.2), sequence)
        verdict = poise.theory.verdict(record.shares(0.2), delta, alpha).verdict
        if k % 5 == 0:  # the limits that go with it take time
            assert record.test(0.2, delta, alpha).verdict == verdict
        said[verdict] += float(np.prod([law[share] for share in sequence]))
    # More than half of α: no smaller level is used.
    assert alpha / 2 < said["stable"] <= alpha + 1e-9
    assert alpha / 2 < said["unstable"] <= alpha + 1e-9
    assert sum(said.values()) == pytest.approx(1.0)


def test_the_binomial_verdict_for_every_count() -> None:
    """Stable iff P(Bin(m, δ) <= count) <= α, a share equal to γ being tolerated."""
    m, delta, alpha, gamma = 40, 0.2, 0.05, 0.5
    design = ConditionalDesign("x", "jackknife", n=4, n_fresh=m)
    for count in range(0, m + 1, 2):
        changes = np.tile([0.9, 0.9, 0.1, 0.2], (m, 1))  # half of them beyond ε: tolerated
        changes[:count, 2] = 0.9
        result = ConditionalTrials(changes, design).test(0.2, delta, alpha, gamma)
        stable = binom.cdf(count, m, delta) <= alpha
        unstable = binom.sf(count - 1, m, delta) <= alpha
        expected = "stable" if stable else "unstable" if unstable else "inconclusive"
        assert (result.verdict, result.statistic) == (expected, count)
        assert result.pvalue == pytest.approx(binom.cdf(count, m, delta))
        assert result.pvalue_unstable == pytest.approx(binom.sf(count - 1, m, delta))
        assert result.stable == (result.delta_hat <= delta) == (result.epsilon_hat <= 0.2)
        assert (result.e_value == pytest.approx(1 / alpha)) == result.stable or result.e_value < 20
