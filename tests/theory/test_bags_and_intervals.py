"""Theorems J to M against linear programmes, enumeration of base fits, and random pairs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import bagging, jackknife, random_bags
from poise.theory.random_bags import choose_bags

# Theorem J: jackknife intervals.


def test_what_a_certificate_costs():
    bound = jackknife.jackknife_miss(50, 0.1, 0.01)
    assert jackknife.certified_miss(50, 0.1, 0.01, alpha=0.05) == bound
    assert jackknife.certified_miss(50, 0.0, 0.0, alpha=0.05) == 0.05


def test_ranks_of_residuals_mean_the_decimals_as_written():
    """.29 · 100 is 28.999…96 in doubles, and nobody means 28."""
    for n, a, rank in [(99, 0.29, 71), (9, 0.1, 9), (9, 1 - 0.9, 9), (4, 0.2, 4), (2, 0.999, 1)]:
        values = np.random.default_rng(n).permutation(n) + 1.0
        assert jackknife.residual_quantile(values, a) == rank
    assert jackknife.residual_quantile([3.0, 1.0, 2.0], 0.2) == math.inf  # too few rows
    assert jackknife.residual_quantile([3.0, math.nan, 2.0], 0.25) == math.inf  # a failed fit
    assert jackknife.residual_quantile([3.0, math.nan, 2.0], 0.5) == 3.0
    table, reach = np.random.default_rng(1).normal(size=(2, 5, 20))
    ends = jackknife.jackknife_plus_ends(table, np.abs(reach[0]), 0.29)  # ⌊.29 · 21⌋ = 6
    lower, upper = (np.sort(table + side * np.abs(reach[0]), axis=1) for side in (-1, 1))
    assert ends.tolist() == np.stack([lower[:, 5], upper[:, 14]], axis=1).tolist()


# Theorems K and L: all bags of b of n rows, and random ones.


def test_bag_sizes_mean_the_decimals_as_written():
    """A tenth of the width is one in any units."""
    for scale in (0.1, 0.3, 7.0, 1e9):
        assert bagging.largest_bag(101, 0.1 * scale, 0.25, scale) == 50  # t = 4·100·.25·.01 = 1
        assert random_bags.bags_needed(5, 2, 0.1 * scale, 0.1, scale) == 0
    # Half of the rows say 0, half say 1: every removal moves the mean by 1/(2(n − 1)).
    assert bagging.bag_count(10, 1, 0.999 / 18) == 10 > bagging.bag_count(10, 1, 1 / 18)
    spare = Fraction(1, 16) - Fraction(1, 64)  # δε² − p/(4(n − 1)(1 − p))
    assert random_bags.bags_needed(5, 1, 0.5, 0.25) == math.ceil(1 / spare)


def laws_of_pairs(bags, fit):
    """P(X = 1) and P(X = −1) of a 0/1 fit, row by row, for four ways to draw a pair of bags."""
    (size, n), whole = bags.shape, fit.mean()
    without = np.array([fit[bags[:, i] == 0].mean() for i in range(n)])
    yield "independent", whole * (1 - without), without * (1 - whole)
    yield "alike", np.maximum(whole - without, 0), np.maximum(without - whole, 0)
    together = np.maximum(whole + without - 1, 0)
    yield "unlike", whole - together, without - together
    # Coupled: if the bag holds the row, another row outside of the bag replaces it.
    where = {tuple(bag): at for at, bag in enumerate(bags)}
    up, down = np.zeros(n), np.zeros(n)
    for at, bag in enumerate(bags):
        for i, other in product(np.flatnonzero(bag), np.flatnonzero(bag == 0)):
            swapped = bag.copy()
            swapped[[i, other]] = 0, 1
            step, weight = fit[at] - fit[where[tuple(swapped)]], 1 / (size * (n - bag.sum()))
            up[i], down[i] = up[i] + weight * (step > 0), down[i] + weight * (step < 0)
    yield "coupled", up, down


def beyond(up, down, n_bags, eps):
    """P(|mean of n_bags differences| ≥ ε), exactly, by convolution."""
    law = np.array([1.0])
    for _ in range(n_bags):
        law = np.convolve(law, [down, 1 - up - down, up])
    mean = np.arange(-n_bags, n_bags + 1) / n_bags
    return law[np.abs(mean) >= eps - 1e-12].sum()


@pytest.mark.parametrize(("n", "b", "n_bags", "eps"), [(5, 2, 9, 0.6), (5, 1, 14, 0.4)])
def test_no_base_fit_escapes_the_bound_for_random_bags(n, b, n_bags, eps):
    bags = np.array([np.isin(range(n), bag).astype(int) for bag in combinations(range(n), b)])
    blocks = random_bags._blocks(n, b, 0.1)
    free, coupled = (random_bags._chance(n, n_bags, eps, share, *blocks) for share in (1, b / n))
    largest = dict.fromkeys(("independent", "alike", "unlike", "coupled"), 0.0)
    for code in range(0, 2 ** len(bags), 5):
        fit = (code >> np.arange(len(bags)) & 1).astype(float)
        for name, up, down in laws_of_pairs(bags, fit):
            rows = [beyond(u, d, n_bags, eps) for u, d in zip(up, down, strict=True)]
            largest[name] = max(largest[name], float(np.mean(rows)))
    assert max(largest.values()) <= free < 1
    assert largest["coupled"] <= coupled < free
    # The bounds are not idle: some pairings come near them.
    assert largest["unlike"] > 0.1 * free
    assert largest["coupled"] > 0.05 * coupled


@pytest.mark.parametrize(
    "question",
    [
        {"n": 60, "epsilon": 5.0, "delta": 0.05, "width": 20.0},
        {"n": 60, "epsilon": 0.5, "delta": 0.1, "n_classes": 3},
        {"n": 50, "epsilon": 0.2, "delta": 0.1, "coupled": True},
        {"n": 1100, "epsilon": 0.12, "delta": 0.1},
    ],
)
def test_every_choice_of_bags_is_enough_and_no_larger_than_said(question):
    choice = choose_bags(**question)
    assert choose_bags(**question, bag_size=choice.bag_size) == choice
    most = choose_bags(**question, n_bags=choice.n_bags)
    assert most.bag_size >= choice.bag_size
    with pytest.raises(ArgumentError, match="n_bags must be at least"):
        choose_bags(**question, bag_size=choice.bag_size, n_bags=choice.n_bags - 1)
    if choice.theorem == "L":
        share = choice.bag_size / choice.n if choice.coupled else 1.0
        relative, blocks = choice.epsilon / choice.width, random_bags._blocks(*choice[:2], 0.1)
        for fewer, enough in ((0, True), (choice.n_bags // 5, False)):
            n_bags = choice.n_bags - fewer
            reached = random_bags._chance(choice.n, n_bags, relative, share, *blocks)
            assert (reached <= choice.delta * (1 + 1e-9)) == enough
    free = {**question, "coupled": False}
    fewest = choose_bags(**free, bag_size=1).n_bags
    sizes = (choice.bag_size, choice.bag_size + 1) if choice.n < 100 else ()
    within = [choose_bags(**free, bag_size=b).n_bags <= 4 * fewest for b in sizes]
    assert within == [True, False][: len(sizes)]


def test_impossible_bags_say_what_would_be_possible():
    asked = {"n": 100, "epsilon": 0.1, "delta": 0.1}
    for changed, message in (
        ({"bag_size": 60}, "no bags of 60 rows make .* above 0.1[0-9]*, or bags of fewer rows"),
        ({"n_bags": 10}, r"n_bags must be at least \d+ for bags of 1 row, got 10"),
        ({"delta": 0.0}, r"delta must be a number in \(0, 1\), got 0"),
    ):
        with pytest.raises(ArgumentError, match=message):
            choose_bags(**asked | changed)
    asked = {"n": 20, "epsilon": 0.01, "delta": 0.05}
    with pytest.raises(ArgumentError, match="or more rows") as refused:
        choose_bags(**asked)
    epsilon = float(str(refused.value).split("above ")[1].split(",")[0])
    assert choose_bags(**asked | {"epsilon": epsilon * 1.001}).n_bags


# Theorem M: inflated sets.


def test_ties_go_by_position_and_shapes_stay():
    gap = 0.4 / math.sqrt(2)  # of two labels the loser is in if it trails by less than ε/√2
    assert bagging.inflated_top([0.0, gap * 0.999], 1, 0.4) == [0, 1]
    assert bagging.inflated_top([0.0, gap * 1.001], 1, 0.4) == [1]
    assert bagging.inflated_top([0.2, 0.9, 0.9, 0.9], 2, 0.001) == [1, 2, 3]
    cube = np.random.default_rng(0).uniform(size=(3, 2, 4))
    mask = bagging.inflated_mask(cube, 2, 0.3)
    assert np.flatnonzero(mask[2, 1]).tolist() == bagging.inflated_top(cube[2, 1], 2, 0.3)
