"""The white-box relaxation for linear smoothers: against worst labellings, closed forms, checks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.errors import AlgorithmError, ArgumentError, DataError
from poise.procedures import BinomialTest, LinearSmootherTest, WorstLabellingTest
from poise.simulation.audit import audit
from poise.simulation.worlds import zoo
from poise.theory import power
from shared.algorithms import mean

RNG = np.random.default_rng(8)
X, EXTRA = RNG.normal(size=(40, 1)), RNG.normal(size=(80, 1))
Y = RNG.integers(2, size=40).astype(float)
ENDS = {"low": 0.0, "high": 1.0}
SMOOTHERS = [
    Ridge(), LinearRegression(), KernelRidge(kernel="rbf"), KNeighborsRegressor(2)
]  # fmt: skip


@pytest.mark.parametrize("algorithm", SMOOTHERS, ids=lambda a: type(a).__name__)
@pytest.mark.parametrize("missing", [0, 1, 3, 4])
@pytest.mark.parametrize("epsilon", [0.2, 0.37])
def test_the_supremum_is_attained_by_a_labelling(algorithm, missing: int, epsilon: float) -> None:
    """A convex function of the responses is largest at an end of each: two values tell all."""
    question = {"n": 4, "epsilon": epsilon, "delta": 0.3}
    ours = LinearSmootherTest(**question, **ENDS, missing=missing)
    theirs = WorstLabellingTest(**question, responses=(0.0, 1.0), missing=missing)
    data = {"X_unlabeled": EXTRA[:40], "random_state": 7}
    found = poise.run(ours, algorithm, X[:20], Y[:20], **data).result
    tried = poise.run(theirs, algorithm, X[:20], Y[:20], **data).result
    assert found.n_trials == tried.n_trials
    assert found.statistic == tried.statistic
    assert found.pvalue == tried.pvalue


def test_no_response_is_needed_and_none_is_read() -> None:
    ridge, extra = Ridge(), RNG.normal(size=(60, 1))
    test = LinearSmootherTest(5, 0.6, 0.2, low=-2.0, high=3.0)
    one = poise.run(test, ridge, X[:5], np.full(5, 3.0), X_unlabeled=extra, random_state=0)
    other = poise.run(test, ridge, X[:5], np.full(5, -2.0), X_unlabeled=extra, random_state=0)
    assert one.result.n_trials == other.result.n_trials == 10  # not one, as with 5 responses
    assert one.counts.calls == 10 * (2 * 5 + 3)
    assert poise.replay(one.transcript) == one.result
    assert one.result.pvalue_unstable == 1.0


def test_known_responses_sharpen_it() -> None:
    """With all responses known it is the Binomial test."""
    everything = np.vstack([X, EXTRA])
    y = RNG.random(120)
    test = LinearSmootherTest(4, 0.1, 0.3, **ENDS)
    ours = poise.run(test, Ridge(), everything, y, random_state=3).result
    exact = LinearSmootherTest(4, 0.1, 0.3, **ENDS, missing=0)
    same = poise.run(exact, Ridge(), everything, y, random_state=3).result
    paper = BinomialTest(4, 0.1, 0.3, stop_early=False)
    theirs = poise.run(paper, Ridge(), everything, y, random_state=3).result
    assert same.statistic == theirs.statistic
    assert ours.n_trials == theirs.n_trials == 24
    assert 0 < ours.statistic < 24


def test_the_change_of_the_mean_is_known() -> None:
    """Three of four responses are unknown, in [-2, 3], and one is 0: at most (3 + 4/3) / 4."""
    data = {"X_unlabeled": EXTRA, "random_state": 0}
    for epsilon, count in ((1.0834, 0), (1.0833, 20)):
        test = LinearSmootherTest(4, epsilon, 0.3, low=-2.0, high=3.0)
        result = poise.run(test, mean, X[:20], np.zeros(20), **data).result
        assert (result.statistic, result.n_trials) == (count, 20)


def test_level_and_power_on_coins() -> None:
    """1-NN moves iff the removed row is the nearest: 1/n, not 1/2n. False alarm 1e-6."""
    found = audit(
        LinearSmootherTest(4, 0.5, 0.45, 0.1, **ENDS, randomized=True),
        zoo.nearest_coins(4), n_labeled=4, n_unlabeled=46, replications=110, random_state=1,
        confidence=1 - 2e-6, features="countable", response="countable",
    )  # fmt: skip
    known = 1 / 8  # with probability about 4/40 a response is known; it can only lower the share
    assert found.accepted.low <= power(10, 0.45, known, 0.1, randomized=True)
    assert found.accepted.high >= power(10, 0.45, 1 / 4, 0.1, randomized=True)
    assert found.delta_star == known


def test_what_is_not_linear_is_refused() -> None:
    test = LinearSmootherTest(6, 0.5, 0.3, **ENDS)
    with pytest.raises(AlgorithmError, match="linear in the responses; these responses gave"):
        poise.run(test, DecisionTreeRegressor(max_depth=1), X, Y, X_unlabeled=EXTRA, random_state=0)
    clipped = lambda X, y, seed: lambda rows: np.full(len(rows), min(y.mean(), 0.4))  # noqa: E731
    with pytest.raises(AlgorithmError, match="linear in the responses"):
        poise.run(test, clipped, X, Y, X_unlabeled=EXTRA, random_state=0)
    pair = lambda X, y, seed: lambda rows: np.zeros((len(rows), 2))  # noqa: E731
    with pytest.raises(AlgorithmError, match="predictions must be single numbers"):
        poise.run(test, pair, X, Y, X_unlabeled=EXTRA)


def test_an_affine_algorithm_and_a_failed_fit() -> None:
    shifted = lambda X, y, seed: lambda rows: np.full(len(rows), len(y) + 0.1 * y.sum())  # noqa: E731
    test = LinearSmootherTest(4, 1.05, 0.3, **ENDS)
    result = poise.run(test, shifted, X[:4], Y[:4], X_unlabeled=EXTRA, random_state=0).result
    assert result.statistic >= result.n_trials - 4  # 1 + 0.1 y, y unknown
    wide = LinearSmootherTest(4, 1.1001, 0.3, **ENDS)
    assert poise.run(wide, shifted, X[:4], Y[:4], X_unlabeled=EXTRA).result.statistic == 0

    def picky(X, y, seed):
        if y.sum() == 0:
            raise RuntimeError("no variance")
        return mean(X, y, seed)

    failed = poise.run(test, picky, X[:4], Y[:4], X_unlabeled=EXTRA, on_error="unstable").result
    assert failed.n_failures == failed.n_trials == failed.statistic


@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0), (0.0, np.inf), (np.nan, 1.0)])
def test_a_range_that_is_none(low: float, high: float) -> None:
    with pytest.raises(ArgumentError, match="low and high must be finite numbers, low < high"):
        LinearSmootherTest(4, 0.5, 0.3, low=low, high=high)


def test_bad_data_are_refused() -> None:
    test = LinearSmootherTest(4, 0.5, 0.3, low=0.0, high=0.9)
    with pytest.raises(DataError, match=r"from low = 0 to high = 0.9, but row \d+ has 1"):
        poise.run(test, mean, X, Y, X_unlabeled=EXTRA)
    with pytest.raises(DataError, match="y must hold numbers"):
        poise.run(test, mean, X, np.full(40, "spam"), X_unlabeled=EXTRA)
    with pytest.raises(DataError, match=r"y must have one column, got the shape \(40, 2\)"):
        poise.run(test, mean, X, np.zeros((40, 2)), X_unlabeled=EXTRA)
    with pytest.raises(ArgumentError, match="distance must be 'auto', 'absolute' or 'euclidean'"):
        poise.run(test, mean, X, Y, X_unlabeled=EXTRA, distance="label")
