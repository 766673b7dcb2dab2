"""Theorem L for finitely many bags, against numerical minima and against exact laws."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from poise import theory
from poise.errors import ArgumentError
from poise.simulation.worlds.all_bags import AllBags
from poise.theory.bags_by_chernoff import RandomBags


def chernoff(n_bags, eps, mean, share):
    """Minimise E exp(λ(X - ε)) numerically, X the worst difference with this mean."""

    def log_moment(strength):
        up, down = (share + mean) / 2, (share - mean) / 2
        moment = 1 - share + up * np.exp(strength) + down * np.exp(-strength)
        return np.log(moment) - strength * eps

    if mean >= eps:
        return 1.0
    return np.exp(
        n_bags * minimize_scalar(log_moment, bounds=(0, 50), options={"xatol": 1e-10}).fun
    )


def chance(n, b, n_bags, eps, share):
    """Sum the bounds of all n rows, one by one."""
    reaches = theory.bag_reach(n, b, np.arange(1, n + 1))
    still = chernoff(n_bags, eps, 0.0, share)
    return np.mean([min(1, chernoff(n_bags, eps, r, share) + still) for r in reaches])


@pytest.mark.parametrize(
    ("n", "b", "eps", "delta"), [(12, 5, 0.4, 0.3), (20, 4, 0.25, 0.1), (25, 18, 0.6, 0.05)]
)
@pytest.mark.parametrize("coupled", [False, True])
def test_the_number_is_the_smallest_for_which_the_sum_is_small(n, b, eps, delta, coupled):
    bags = theory.bags_needed_chernoff(n, b, 10 * eps, delta, 10.0, coupled)
    share = b / n if coupled else 1.0
    assert chance(n, b, bags, eps, share) <= delta * (1 + 1e-9)
    assert chance(n, b, int(0.9 * bags), eps, share) > delta
    counted = RandomBags(n, b, eps, delta, share)
    assert counted.reached(bags) <= delta < counted.reached(bags - 1)
    # Few rows are few blocks, and the δ that is reached is the sum itself.
    reached = RandomBags(n, b, eps, 0.9, share).reached(7)
    assert reached == pytest.approx(chance(n, b, 7, eps, share), rel=1e-6)


@pytest.mark.parametrize("n", [150, 1001])
def test_blocks_only_round_up(n):
    """All rows one by one need no more bags than blocks of them, and hardly fewer."""
    b, eps, delta = n // 4, 0.12, 0.1
    bags = theory.bags_needed_chernoff(n, b, eps, delta)
    j = np.arange(1, n + 1)
    reaches = (
        theory.bag_reach(n, b, j) if n < 1001 else np.sqrt(b * n / (4 * (n - 1) * (n - b) * j))
    )
    alone = RandomBags(n, b, eps, delta, 1.0)
    sizes = np.ones(n)
    assert alone._chance(bags, sizes, reaches) <= delta
    assert alone._chance(int(0.85 * bags), sizes, reaches) > delta


def laws_of_pairs(bags, fit):
    """P(X = 1) and P(X = -1), row by row, for four ways to draw the two bags of a pair."""
    members = bags.members.astype(bool)
    whole = fit.mean()
    without = np.array([fit[~members[:, i]].mean() for i in range(bags.n)])
    yield "independent", whole * (1 - without), without * (1 - whole)
    yield "alike", np.maximum(whole - without, 0), np.maximum(without - whole, 0)
    together = np.maximum(whole + without - 1, 0)
    yield "unlike", whole - together, without - together
    yield "coupled", *coupled_law(bags, fit)


def coupled_law(bags, fit):
    """If the bag holds the row, another row outside of the bag replaces it."""
    where = {tuple(bag): at for at, bag in enumerate(bags.members.astype(int))}
    up, down = np.zeros(bags.n), np.zeros(bags.n)
    for at, bag in enumerate(bags.members.astype(int)):
        for i in np.flatnonzero(bag):
            for other in np.flatnonzero(bag == 0):
                swapped = bag.copy()
                swapped[[i, other]] = 0, 1
                step = fit[at] - fit[where[tuple(swapped)]]
                weight = 1 / (len(fit) * (bags.n - bags.size))
                up[i] += weight * (step > 0)
                down[i] += weight * (step < 0)
    return up, down


def beyond(up, down, n_bags, eps):
    """P(|mean of n_bags differences| >= ε), exactly, by convolution."""
    law = np.array([1.0])
    for _ in range(n_bags):
        law = np.convolve(law, [down, 1 - up - down, up])
    mean = np.arange(-n_bags, n_bags + 1) / n_bags
    return law[np.abs(mean) >= eps - 1e-12].sum()


@pytest.mark.parametrize(("n", "b", "n_bags", "eps"), [(5, 2, 9, 0.6), (5, 1, 14, 0.4)])
def test_no_base_fit_escapes_the_bound(n, b, n_bags, eps):
    """Every 0/1 base algorithm, every pairing of bags, every row: the exact probability."""
    bags = AllBags(n, b)
    free, coupled = (RandomBags(n, b, eps, 0.9, s).reached(n_bags) for s in (1.0, b / n))
    largest = dict.fromkeys(("independent", "alike", "unlike", "coupled"), 0.0)
    for code in range(0, 2 ** len(bags.members), 3):
        fit = (code >> np.arange(len(bags.members)) & 1).astype(float)
        for name, up, down in laws_of_pairs(bags, fit):
            rows = [beyond(u, d, n_bags, eps) for u, d in zip(up, down, strict=True)]
            largest[name] = max(largest[name], float(np.mean(rows)))
    assert max(largest.values()) <= free < 1
    assert largest["coupled"] <= coupled < free
    # The bound is not idle: other ways to pair the bags do come near it.
    assert largest["unlike"] > 0.1 * free
    assert largest["coupled"] > 0.05 * coupled


def test_what_no_number_of_bags_can_do():
    assert theory.bags_needed_chernoff(100, 39, 0.1, 0.1) == 0  # ten rows, and δ is ten rows
    assert theory.bags_needed_chernoff(100, 37, 0.1, 0.1) > 10**5
    assert theory.bags_needed_chernoff(100, 5, 0.1, 0.0) == 0
    assert theory.bags_needed_chernoff(100, 5, 0.0, 0.1) == 0
    with pytest.raises(ArgumentError, match="b must be at most n - 1 = 9, got 10"):
        theory.bags_needed_chernoff(10, 10, 0.1, 0.1)


def test_changes_as_wide_as_the_range():
    """All M differences must be 1: ((p + d)/2)^M for each row."""
    reached = RandomBags(4, 2, 1.0, 0.9, 1.0).reached(3)
    reaches = theory.bag_reach(4, 2, np.arange(1, 5))
    assert reached == pytest.approx(np.mean(((1 + reaches) / 2) ** 3 + 1 / 8), rel=1e-12)
