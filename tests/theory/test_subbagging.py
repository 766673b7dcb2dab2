"""Theorems K and L against enumeration and linear programmes, and reference values."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise import theory
from poise.errors import ArgumentError
from poise.simulation.worlds.all_bags import AllBags

CASES = [
    case
    for case in json.loads((Path(__file__).parent / "beyond.json").read_text())["cases"]
    if "bag" in case["function"]
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: str([*case.values()][1:3]))
def test_reference_values(case):
    got = getattr(theory, case["function"])(**case["given"])
    if isinstance(case["value"], str):
        assert got == pytest.approx(float(case["value"]), rel=1e-12)
    else:
        assert got == case["value"]


def exact_mad(n, b, k):
    """Sum the joint law of the members among k₊ and k₋ rows, in fractions, for every split."""

    def deviation(plus):
        minus, centre = k - plus, Fraction(b * (2 * plus - k), n)
        return sum(
            comb(plus, h) * comb(minus, g) * comb(n - k, b - h - g) * abs(h - g - centre)
            for h in range(min(plus, b) + 1)
            for g in range(min(minus, b - h) + 1)
        )

    return max(deviation(plus) for plus in range(k + 1)) / comb(n, b)


def test_mean_deviations_are_exact_sums():
    for n in range(2, 11):
        for b in range(1, n):
            for k in range(1, n + 1):
                exact = float(exact_mad(n, b, k))
                assert theory.bag_mad(n, b, k) == pytest.approx(exact, rel=1e-13)
    for n, b, k in [(40, 13, 30), (60, 50, 31), (50, 2, 50), (45, 44, 20)]:
        assert theory.bag_mad(n, b, k) == pytest.approx(float(exact_mad(n, b, k)), rel=1e-13)


def test_a_thousand_rows():
    """One row: M_1 = 2p(1 - p). All rows, in bags of half of them: 501 signs one way are worst."""
    assert theory.bag_mad(1000, 300, 1) == pytest.approx(0.42, rel=1e-12)
    law = [comb(501, h) * comb(499, 500 - h) * abs(2 * h - 501) for h in range(501)]
    assert theory.bag_mad(1000, 500, 1000) == pytest.approx(sum(law) / comb(1000, 500), rel=1e-12)


def test_reach_falls_with_the_rows_and_grows_with_the_bag():
    for n in (7, 30, 61):
        b, k = np.arange(1, n), np.arange(1, n + 1)
        table = theory.bag_reach(n, b[:, None], k)
        assert (np.diff(table, axis=1) <= 1e-12).all()
        assert (np.diff(table, axis=0) >= -1e-12).all()


def test_no_linear_programme_exceeds_theorem_l():
    attained = cases = 0
    for n, b in [(4, 1), (4, 2), (4, 3), (5, 2), (6, 2), (6, 3), (6, 5), (7, 3), (7, 4)]:
        bags = AllBags(n, b)
        for k in range(1, n + 1):
            worst = bags.reach(k)
            reach = theory.bag_reach(n, b, k)
            assert worst <= reach + 1e-9
            cases += 1
            attained += worst >= reach - 1e-9
    assert attained >= 0.3 * cases


@pytest.mark.parametrize(("n", "b"), [(5, 2), (6, 3), (7, 2), (8, 5)])
def test_the_sum_of_signed_changes_attains_the_reach(n, b):
    """The base fit 1{Z > EZ} attains W·E(Z - EZ)_+/(1 - p): bag_reach is no looser than that."""
    bags = AllBags(n, b)
    for k in range(1, n + 1):
        best = 0.0
        for plus in range(k + 1):
            signs = bags.signs(plus, k - plus)
            total = bags.members @ signs
            best = max(best, signs @ bags.changes @ (total > b / n * signs.sum() + 1e-12) / k)
        assert theory.bag_reach(n, b, k) == pytest.approx(best, rel=1e-12)


def test_theorem_k_by_random_search():
    rng = np.random.default_rng(5)
    closest = 0.0
    for n, b in [(4, 2), (5, 2), (6, 1), (6, 4), (7, 3)]:
        bags = AllBags(n, b)
        bound = b / (4 * (n - 1) * (1 - b / n))
        fits = rng.uniform(size=(300, len(bags.members)))
        fits = np.vstack([fits, fits > rng.uniform(size=(300, 1)), bags.members.T])
        squares = np.sum((fits @ bags.changes.T) ** 2, axis=1)
        assert squares.max() <= bound * (1 + 1e-12)
        closest = max(closest, squares.max() / bound)
        share = theory.bag_delta(n, b, 0.3) * n
        moved = np.count_nonzero(np.abs(fits @ bags.changes.T) >= 0.3, axis=1)
        assert moved.max() <= share + 1e-9
        assert moved.max() <= theory.bag_count(n, b, 0.3 * (1 - 1e-9))
    assert closest > 0.7


@pytest.mark.parametrize("n", [4, 10])
def test_theorem_k_is_attained_by_bags_of_one_row(n):
    """Half of the rows say 0, half say 1: every removal moves the mean by 1/(2(n - 1))."""
    change = 1 / (2 * (n - 1))
    assert theory.bag_delta(n, 1, change) == pytest.approx(1.0)
    assert theory.bag_delta(n, 1, change * 2) == pytest.approx(0.25)
    assert theory.bag_count(n, 1, change * 0.999) == n
    assert theory.bag_count(n, 1, change) < n
    assert theory.bag_count(n, 1, 1 / n) == 0


def test_theorem_k_is_attained_by_probability_vectors():
    """Each of L rows votes for its own class: V = 1 - 1/L, and equality holds."""
    labels = 5
    bags = AllBags(labels, 1)
    squares = np.sum((bags.changes @ bags.members) ** 2)  # row i's base fit is e_i
    eps = math.sqrt(squares / labels)
    assert theory.bag_delta(labels, 1, eps, theory.probability_width(labels)) == pytest.approx(1.0)


def test_theorem_l_is_never_worse_than_soloff_barber_and_willett():
    """Their Theorem 8 is K; the gain in δ tends to 2/π."""
    rng = np.random.default_rng(8)
    for _ in range(150):
        n = int(rng.integers(3, 120))
        b, eps = int(rng.integers(1, n)), float(rng.uniform(0.01, 0.6))
        assert theory.bag_count(n, b, eps) <= theory.bag_delta(n, b, eps) * n + 1e-9
        delta = float(rng.uniform(0.01, 0.5))
        larger = theory.largest_admissible_bag(n, eps, delta)
        assert larger >= theory.largest_bag(n, eps, delta)
    ratio = theory.bag_count(1000, 500, 0.02) / (1000 * theory.bag_delta(1000, 500, 0.02))
    assert ratio == pytest.approx(2 / math.pi, abs=0.005)


def test_the_largest_bag_by_theorem_l():
    assert theory.largest_admissible_bag(100, 0.1, 0.1) == 39
    assert theory.largest_admissible_bag(200, 0.1, 0.05) == 79
    assert theory.largest_admissible_bag(200, 1.0, 0.05, width=10) == 79
    rng = np.random.default_rng(9)
    for _ in range(60):
        n = int(rng.integers(2, 40))
        eps, delta = round(float(rng.uniform(0, 1)), 2), round(float(rng.uniform(0, 0.6)), 2)
        allowed = math.floor(round(delta * n, 9))
        fits = [b for b in range(1, n) if theory.bag_count(n, b, eps) <= allowed]
        assert theory.largest_admissible_bag(n, eps, delta) == max(fits, default=0)


def test_beyond_a_thousand_rows_theorem_k_decides():
    assert theory.largest_admissible_bag(1001, 0.05, 0.1) == theory.largest_bag(1001, 0.05, 0.1)
    assert theory.largest_admissible_bag(1000, 0.05, 0.1) > theory.largest_bag(1000, 0.05, 0.1)


def test_decimals_mean_what_is_written():
    """t = 4 · 25 · 0.25 · 0.2² is 1, so that half of the 26 rows is exactly admissible."""
    assert theory.largest_bag(26, 0.2, 0.25) == 13
    assert theory.bag_delta(26, 13, 0.2) == pytest.approx(0.25)
    # 0.29 · 100 is 28.999999999999996 in doubles: 29 rows may move.
    assert theory.largest_admissible_bag(100, 0.1, 0.29) == theory.largest_admissible_bag(
        100, 0.1, 0.2901
    )
    # One row moves the average by at most the share of bags that hold it: 0.3, not more.
    assert theory.bag_count(10, 3, 0.3) == 0
    assert theory.largest_admissible_bag(10, 0.3, 0.0) == 3


@settings(max_examples=60)
@given(
    n=st.integers(2, 500),
    share=st.floats(0, 1),
    eps=st.sampled_from([0.05, 0.1, 0.3, 1.0]),
    delta=st.sampled_from([0.01, 0.05, 0.1, 0.3]),
    coupled=st.booleans(),
)
def test_the_number_of_bags_is_the_smallest_by_theorem_k(n, share, eps, delta, coupled):
    b = 1 + int(share * (n - 2))
    bags = theory.bags_needed(n, b, eps, delta, 1.0, coupled)
    if bags == 0:
        assert theory.bag_delta(n, b, eps) >= delta * (1 - 1e-9)
        return
    reached = theory.finite_bag_delta(n, b, bags, eps, 1.0, coupled)
    assert reached <= delta * (1 + 1e-9)
    if bags > 1:
        assert theory.finite_bag_delta(n, b, bags - 1, eps, 1.0, coupled) > delta * (1 - 1e-9)


def test_no_number_of_bags_is_enough_where_theorem_k_is_tight():
    """1/(δε²/W² - p/(4(n - 1)(1 - p))) with a difference of exactly 0, in decimals."""
    assert theory.bags_needed(26, 13, 0.2, 0.25) == 0
    assert theory.bags_needed(26, 12, 0.2, 0.25) > 0
    assert theory.bags_needed(26, 12, 0.2, 0.0) == 0
    assert theory.bags_needed(26, [12, 13], 0.2, 0.25).tolist()[1] == 0


def swaps(bags, row):
    """Pair each bag that holds a row with the bags in which another row replaces it."""
    where = {tuple(np.flatnonzero(bag)): at for at, bag in enumerate(bags.members)}
    for at, bag in enumerate(bags.members):
        if bag[row]:
            others = np.flatnonzero(bag == 0)
            kept = set(np.flatnonzero(bag)) - {row}
            yield at, [where[tuple(sorted(kept | {int(other)}))] for other in others]


def coupled_second_moment(bags, fit, row):
    """Mean square of f_r - f_r′, where r′ is r with the row replaced by one outside of r."""
    squares = [np.mean((fit[at] - fit[to]) ** 2) for at, to in swaps(bags, row)]
    return sum(squares) / len(bags.members)


def test_random_bags_move_predictions_no_more_than_promised():
    """Mean squares of the change over rows, exactly, for independent and for coupled bags."""
    rng = np.random.default_rng(4)
    n, b, n_bags, eps = 6, 2, 7, 2.0
    bags = AllBags(n, b)
    free, coupled = (
        theory.finite_bag_delta(n, b, n_bags, eps, coupled=coupled) * eps**2
        for coupled in (False, True)
    )
    closest = 0.0
    for trial in range(60):
        fit = (rng.uniform(size=len(bags.members)) > rng.uniform()).astype(float)
        fit = bags.members[:, 0] if trial == 0 else fit
        squares = (bags.changes @ fit) ** 2
        without = [fit[bags.members[:, row] == 0].var() for row in range(n)]
        assert np.mean(squares + (fit.var() + without) / n_bags) <= free
        moments = np.array([coupled_second_moment(bags, fit, row) for row in range(n)])
        variances = moments - squares  # the mean of f_r - f_r′ is the change with all bags
        assert max(variances) <= b / n
        assert np.mean(squares + variances / n_bags) <= coupled < free
        closest = max(closest, *(moments / (b / n)))
    assert closest == pytest.approx(1.0)  # row 0 of the first fit: it alone decides


def test_clipping_costs_two_rows():
    assert theory.clipped_delta(50, 0.1) == pytest.approx(0.14)
    assert theory.clipped_delta(4, 0.9) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.bag_delta(10, 10, 0.1), "b must be at most n - 1 = 9, got 10"),
        (lambda: theory.bag_delta(10, 0, 0.1), "b must be a whole number >= 1, got 0"),
        (lambda: theory.bag_mad(10, 3, 11), "k must be at most n, got 11"),
        (lambda: theory.bag_reach(10, 3, 0), "k must be a whole number >= 1"),
        (lambda: theory.bag_count(10, 3, -0.1), "eps must be a finite number >= 0"),
        (lambda: theory.largest_bag(10, 0.1, 0.1, 0), "width must be a finite number above 0"),
        (lambda: theory.probability_width(1), "n_classes must be a whole number >= 2"),
        (lambda: theory.finite_bag_delta(9, 2, 0, 0.1), "n_bags must be a whole number >= 1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
