"""Exhaustive search of finite spaces (sections 4.2 and 5.1) against brute force."""

from __future__ import annotations

import dataclasses
from itertools import product

import numpy as np
import pytest

import poise
from poise.errors import AlgorithmError, ArgumentError, BudgetError, DataError
from poise.procedures import ExhaustiveTest
from poise.simulation.audit import audit
from poise.simulation.worlds import EmpiricalRows, World
from poise.theory import power_bound
from shared.algorithms import majority, mean, same_point

X = np.array([[0.0], [1.0], [1.0], [0.0]])
y = np.array([0.0, 1.0, 0.0, 1.0])
space = {"support_X": [[0.0], [1.0], [0.0], [1.0]], "support_y": [0.0, 0.0, 1.0, 1.0]}
coins = space | {"deterministic": True}


def brute_force(algorithm, n: int) -> float:
    """The largest change over all ordered training sets, removed rows and points."""
    rows = list(zip(space["support_X"], space["support_y"], strict=True))
    worst = 0.0
    for chosen in product(rows, repeat=n):
        xs, ys = np.array([x for x, _ in chosen]), np.array([label for _, label in chosen])
        points = np.array([[0.0], [1.0]])
        full = algorithm(xs, ys, 0)(points)
        reduced = algorithm(xs[:-1], ys[:-1], 0)(points)
        worst = max(worst, float(np.abs(full - reduced).max()))
    return worst


@pytest.mark.parametrize("algorithm", [mean, same_point])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_worst_change_is_found(algorithm, n: int) -> None:
    test = ExhaustiveTest(n, 0.1, 0.1, **coins)
    result = poise.run(test, algorithm, X, y).result
    assert result.details["worst_change"] == pytest.approx(brute_force(algorithm, n), abs=1e-12)


def test_the_worst_rows_are_reported_with_the_removed_one_last() -> None:
    result = poise.run(ExhaustiveTest(3, 0.1, 0.1, **coins), same_point, X, y).result
    *rest, removed = result.details["worst_rows"]
    xs, ys = np.array(coins["support_X"]), np.array(coins["support_y"])
    points = np.array([[0.0], [1.0]])
    full, reduced = ([*rest, removed], rest)
    change = np.abs(
        same_point(xs[full], ys[full], 0)(points) - same_point(xs[rest], ys[rest], 0)(points)
    )
    assert change.max() == result.details["worst_change"]
    assert reduced == rest


def test_stable_with_certainty_beyond_the_ceiling() -> None:
    """The mean of n coins moves by at most 1/n; with n rows no black-box test could know."""
    test = ExhaustiveTest(4, 0.25, 0.1, **coins)
    run = poise.run(test, mean, X, y)
    assert power_bound(4, 4, delta=0.1, alpha=0.05) < 0.06
    assert run.verdict == "stable"
    assert run.result.certifies
    assert run.result.details["decided_by"] == "exhaustive search"
    assert run.result.pvalue == 0.0
    assert run.counts.calls == test.n_fits == (35 + 64) + (20 + 64)


def test_just_below_the_worst_change_the_binomial_test_decides() -> None:
    test = ExhaustiveTest(4, 0.2499, 0.1, **coins)
    many = np.tile(X, (60, 1)), np.tile(y, 60)
    run = poise.run(test, mean, *many, random_state=1)
    direct = poise.stability_test(mean, *many, n=4, epsilon=0.2499, delta=0.1, random_state=1)
    assert run.result.details["decided_by"] == "Binomial test"
    assert run.verdict == direct.verdict
    assert run.result.pvalue == direct.pvalue
    assert run.result.certifies


def test_a_rare_row_cannot_hide() -> None:
    """Where the bootstrap sees nothing (no such row in the sample), the search does."""

    def trap(X, y, seed):
        level = 5.0 if len(y) == 4 and 9.0 in y else 0.0
        return lambda rows: np.full(len(rows), level)

    support = {"support_X": [[0.0], [1.0], [0.0]], "support_y": [0.0, 0.0, 9.0]}
    support |= {"deterministic": True}
    zeros = np.zeros((30, 1)), np.zeros(30)
    bootstrap = poise.procedures.BootstrapTest(4, 1.0, 0.1, resamples=100)
    assert poise.run(bootstrap, trap, *zeros, random_state=0).verdict == "stable"
    run = poise.run(ExhaustiveTest(4, 1.0, 0.1, **support), trap, *zeros, random_state=0)
    assert run.result.details["worst_change"] == 5.0
    assert run.verdict == "inconclusive"  # six trials cannot certify delta = 0.1


def noisy(X, y, seed):
    return lambda rows: np.full(len(rows), float(seed % 1000))


def test_an_algorithm_that_uses_its_random_term_is_not_deterministic() -> None:
    with pytest.raises(AlgorithmError, match="two terms gave different predictions on the rows"):
        poise.run(ExhaustiveTest(3, 1.0, 0.1, **coins), noisy, X, y, random_state=0)
    run = poise.run(ExhaustiveTest(3, 1e4, 0.1, **space), noisy, X, y, random_state=0)
    assert run.result.details["worst_change"] == 0.0  # the same term with and without the row


def test_words_are_compared_exactly_under_two_terms() -> None:
    def words(X, y, seed):
        return lambda rows: np.full(len(rows), "odd" if seed % 2 else "even")

    with pytest.raises(AlgorithmError, match="deterministic=True declares"):
        poise.run(ExhaustiveTest(3, 1.0, 0.1, **coins), words, X, y, random_state=0)


def sometimes(probability):
    """Moves every prediction with this probability when a row is removed."""

    def fit(X, y, seed):
        level = float(len(y) == 2 and seed / 2**31 < probability)
        return lambda rows: np.full(len(rows), level)

    return fit


@pytest.mark.parametrize("tossed_at", [2, 1])
def test_a_rare_coin_is_no_deterministic_algorithm_in_the_smallest_space(tossed_at: int) -> None:
    """Three sets of two rows and two of one: each is fitted until the coin must have shown.

    A coin that falls on the other side once in five times passes with probability
    0.8^64 = 6e-7, so thirty runs fail by chance with probability 2e-5 (and the seeds are
    fixed). Under two terms per set it would pass 9 runs of 30, or 14.
    """

    def tossed(X, y, seed):
        level = float(len(y) == tossed_at and seed / 2**31 < 0.2)
        return lambda rows: np.full(len(rows), level)

    support = {"support_X": [[0.0], [1.0]], "support_y": [0.0, 0.0], "deterministic": True}
    test = ExhaustiveTest(2, 1.5, 0.1, **support)
    assert test.n_fits == (3 + 64) + (2 + 64)
    for seed in range(30):
        with pytest.raises(AlgorithmError, match="deterministic=True declares"):
            poise.run(test, tossed, [[0.0]] * 4, [0.0] * 4, random_state=seed)


def test_every_set_of_a_large_space_is_fitted_twice() -> None:
    """A coin that is always tossed, on one set of 84 alone, is found: no set is left out."""
    support = {"support_X": [[float(k)] for k in range(7)], "support_y": [0.0] * 7}
    test = ExhaustiveTest(3, 1.5, 0.1, **support, deterministic=True)
    assert test.n_fits == 2 * 84 + (28 + 64)
    for rows in ((0.0, 0.0, 0.0), (2.0, 3.0, 6.0), (6.0, 6.0, 6.0)):

        def fit(X, y, seed, rows=rows):
            level = seed / 2**31 if tuple(X[:, 0]) == rows else 0.0
            return lambda points: np.full(len(points), level)

        with pytest.raises(AlgorithmError, match="deterministic=True declares"):
            poise.run(test, fit, [[0.0]] * 4, [0.0] * 4, random_state=0)


def test_a_randomised_algorithm_is_searched_under_enough_terms() -> None:
    test = ExhaustiveTest(2, 0.5, 0.2, 0.05, **space)
    assert test.n_terms == 17  # 0.8^16 = 0.0281 > 0.025 >= 0.8^17 = 0.0225
    assert test.n_fits == 17 * 2 * 10
    run = poise.run(test, sometimes(0.0), X, y, random_state=0)
    assert run.verdict == "stable"
    assert not run.result.certain
    assert run.result.pvalue == pytest.approx(2 * 0.8**17)
    assert run.counts.calls == test.n_fits
    assert "at level 0.05" in run.result.summary()
    moved = poise.run(test, sometimes(1.0), X, y, random_state=0)
    assert moved.result.details["decided_by"] == "Binomial test"
    assert moved.result.details["n_terms"] == 1  # the search ends where something moved
    assert moved.result.alpha == 0.05


def test_the_level_holds_for_randomised_algorithms() -> None:
    """Just beyond delta it is declared stable by chance: 0.8^7 = .2097, of at most .25.

    With 7 // 2 terms it would be .512. A true level is refuted with probability 1e-8.
    """
    world = World(sometimes(0.2 + 1e-9), EmpiricalRows(X, y), n=2)
    test = ExhaustiveTest(2, 0.5, 0.2, 0.5, **space)
    found = audit(
        test, world, n_labeled=4, replications=200, delta_star=0.2 + 1e-9, random_state=0,
        features="countable", response="countable", confidence=1 - 2e-8,
    )  # fmt: skip
    assert not found.accepted.excludes(0.8**7)
    assert 0.05 < found.accepted.low < found.accepted.high < 0.512


def test_the_binomial_test_gets_the_other_half_of_the_level() -> None:
    many = np.tile(X, (9, 1)), np.tile(y, 9)  # 12 trials: 0.8^12 = .069, between alpha/2 and alpha
    test = ExhaustiveTest(2, 0.5, 0.2, 0.1, **space)
    result = poise.run(test, mean, *many, random_state=2).result
    direct = poise.stability_test(mean, *many, n=2, epsilon=0.5, delta=0.2, alpha=0.1)
    assert (result.verdict, result.details["decided_by"]) == ("stable", "exhaustive search")
    assert direct.verdict == "stable"

    def unstable_once(X, y, seed):
        level = float(len(y) == 2 and len(set(y)) == 1 and len(set(X[:, 0])) == 2)
        return lambda rows: np.full(len(rows), level if len(y) == 2 else 0.0)

    found = poise.run(test, unstable_once, np.zeros((36, 1)), np.zeros(36), random_state=0).result
    assert (found.statistic, found.n_trials, found.verdict) == (0, 12, "inconclusive")
    halved = poise.stability_test(
        unstable_once, np.zeros((36, 1)), np.zeros(36), n=2, epsilon=0.5, delta=0.2, alpha=0.1
    )
    assert halved.verdict == "stable"


def test_the_order_of_rows_is_part_of_the_search() -> None:
    """An algorithm that looks at its last row only: every order of every set is likely to come."""

    def last(X, y, seed):
        level = float(y[-1])
        return lambda rows: np.full(len(rows), level)

    result = poise.run(ExhaustiveTest(3, 0.5, 0.2, **space), last, X, y, random_state=0).result
    assert result.details["worst_change"] == 1.0


def test_delta_zero_needs_a_deterministic_algorithm() -> None:
    with pytest.raises(ArgumentError, match="delta must be > 0 for an algorithm that may be rand"):
        ExhaustiveTest(2, 0.5, 0.0, **space)
    run = poise.run(ExhaustiveTest(4, 0.25, 0.0, **coins), mean, X, y)
    assert run.verdict == "stable"
    with pytest.raises(ArgumentError, match="deterministic must be True or False, got 'yes'"):
        ExhaustiveTest(2, 0.5, 0.1, **space, deterministic="yes")


def test_failed_fits_are_infinite_changes() -> None:
    def picky(X, y, seed):
        if len(y) == 3 and y.min() == y.max():
            raise RuntimeError("no variance")
        return mean(X, y, seed)

    test = ExhaustiveTest(3, 10.0, 0.1, **coins)
    result = poise.run(test, picky, X, y, on_error="unstable").result
    assert result.details["worst_change"] == np.inf


def test_classes_and_words() -> None:
    support = {"support_X": [[0], [0]], "support_y": ["no", "yes"], "deterministic": True}
    run = poise.run(ExhaustiveTest(3, 0.5, 0.1, **support), majority, [[0], [0]] * 2, ["no"] * 4)
    assert run.result.details["worst_change"] == 1.0


def test_the_cost_is_known_and_limited_before_the_first_fit() -> None:
    fits = []

    def spy(X, y, seed):
        fits.append(len(y))
        return mean(X, y, seed)

    test = ExhaustiveTest(20, 0.25, 0.1, **coins, max_fits=1000)
    assert test.n_fits == 2 * (1771 + 1540)  # C(23, 20) and C(22, 19)
    with pytest.raises(BudgetError, match="needs 6,622 fits, more than max_fits = 1,000"):
        poise.run(test, spy, X, y)
    with pytest.raises(BudgetError, match="budget grants 50"):
        poise.run(ExhaustiveTest(4, 0.25, 0.1, **coins), spy, X, y, budget=poise.Budget(calls=50))
    assert fits == []


def test_the_limit_on_fits_is_a_number_of_fits_that_may_be_reached() -> None:
    test = ExhaustiveTest(4, 0.25, 0.1, **coins)
    allowed = dataclasses.replace(test, max_fits=test.n_fits)
    assert poise.run(allowed, mean, X, y).result.details["n_fits"] == test.n_fits
    with pytest.raises(BudgetError, match="Raise max_fits, or ask about a smaller n"):
        poise.run(dataclasses.replace(test, max_fits=test.n_fits - 1), mean, X, y)
    for wrong in (0, -3, 1.5, "many"):
        with pytest.raises(ArgumentError, match="max_fits must be"):
            ExhaustiveTest(4, 0.25, 0.1, **coins, max_fits=wrong)


def test_data_must_lie_in_the_support() -> None:
    test = ExhaustiveTest(2, 0.25, 0.1, **coins)
    with pytest.raises(DataError, match=r"row 2 of the data, \(\(1.0,\), 0.5\), is not in the"):
        poise.run(test, mean, X, [0.0, 1.0, 0.5, 1.0])
    with pytest.raises(DataError, match=r"X_unlabeled holds \(3.0,\)"):
        poise.run(test, mean, X, y, X_unlabeled=np.array([[3.0]]))


def test_a_support_without_repetitions() -> None:
    twice = {name: values * 2 for name, values in space.items()}
    assert ExhaustiveTest(4, 0.25, 0.1, **twice) == ExhaustiveTest(4, 0.25, 0.1, **space)
    with pytest.raises(ArgumentError, match="equal length, at least 1, got 1 and 2"):
        ExhaustiveTest(2, 0.25, 0.1, support_X=[[0.0]], support_y=[0.0, 1.0])
    with pytest.raises(ArgumentError, match="equal length, at least 1, got 0 and 0"):
        ExhaustiveTest(2, 0.25, 0.1, support_X=[], support_y=[])
