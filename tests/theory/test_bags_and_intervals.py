"""Theorems J to M against linear programmes, enumeration of base fits, and random pairs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from poise.errors import ArgumentError
from poise.theory import bagging, inflated, jackknife, random_bags

# Theorem J: jackknife intervals.


@pytest.mark.parametrize("n", [2, 5, 8])
def test_theorem_j_is_the_value_of_its_linear_programme(n):
    """Maximise P(U ≤ K + N) over all laws of a rank U and a count N with E N ≤ nδ."""
    rank, count = (grid.ravel() for grid in np.mgrid[1 : n + 2, 0 : n + 2])
    ranks = [(rank <= t).astype(float) for t in range(1, n + 2)]
    for a in (0.0, 0.1, 0.25, 0.5):
        missed = rank <= math.floor(round(a * (n + 1), 9)) + count
        for delta in (0.0, 0.03, 0.1, 0.4, 1.0):
            answer = linprog(
                -missed.astype(float),
                A_ub=np.array([*ranks, count.astype(float)]),
                b_ub=[*(t / (n + 1) for t in range(1, n + 2)), n * delta],
                A_eq=np.ones((1, rank.size)),
                b_eq=[1.0],
            )
            assert jackknife.jackknife_miss(n, a, delta) == pytest.approx(-answer.fun, abs=1e-9)


def test_the_bound_of_theorem_j_and_its_inverse():
    rng = np.random.default_rng(0)
    n = rng.integers(2, 10**6, 300)
    a, delta = rng.uniform(0, 0.999, 300), rng.uniform(0, 1, 300) ** 4
    bound, plus = (jackknife.jackknife_miss(n, a, delta, p) for p in (False, True))
    assert (bound <= a + np.sqrt(2 * delta) + 1e-9).all()
    assert (plus <= a + 2 * np.sqrt(delta) + 1e-9).all()
    assert (plus == jackknife.jackknife_miss(n, a, np.minimum(2 * delta, 1)))[delta <= 0.5].all()
    for rows, level, miss in [(104, 0.2, 0.336), (30, 0.1, 0.35), (9, 0.05, 0.7)]:
        for widened in (False, True):
            found = jackknife.jackknife_delta(rows, level, miss, widened)
            assert jackknife.jackknife_miss(rows, level, found, widened) == pytest.approx(miss)
    assert jackknife.jackknife_delta(10, 0.2, 0.1) == 0.0
    assert jackknife.jackknife_delta(10, 0.0, 1.0) <= 1.0


def misses(whole, pairs, a, epsilon):
    """Count the points that the jackknife misses, each taken as the new one in turn.

    ``whole[i]`` is the residual of point i if it alone is left out, ``pairs[i, j]`` if j (the new
    point) is left out as well.
    """
    quantiles = [
        jackknife.residual_quantile(np.delete(pairs[:, new], new), a) for new in range(len(whole))
    ]
    return int(np.sum(whole > np.array(quantiles) + epsilon))


def unstable_share(whole, pairs, epsilon):
    moved = np.abs(pairs - whole[:, None]) > epsilon
    np.fill_diagonal(moved, False)
    return moved.sum() / (len(whole) * (len(whole) - 1))


def test_no_matrix_of_residuals_is_missed_more_often():
    rng = np.random.default_rng(3)
    for _ in range(400):
        n, a = int(rng.integers(2, 14)), float(rng.choice([0.05, 0.1, 0.2, 0.34]))
        whole = rng.exponential(size=n + 1)
        jump = rng.choice([0.0, 1.0], p=[0.8, 0.2], size=(n + 1, n + 1)) * rng.normal(0, 3)
        pairs = np.abs(whole[:, None] + 0.09 * rng.uniform(-1, 1, (n + 1, n + 1)) + jump)
        bound = jackknife.jackknife_miss(n, a, unstable_share(whole, pairs, 0.1))
        assert misses(whole, pairs, a, 0.1) <= bound * (n + 1) + 1e-9


@pytest.mark.parametrize("full", [0, 1, 2, 4])
def test_the_extreme_counts_of_theorem_j_are_attained(full):
    """The point of rank K + j is missed once j residuals above it are lowered; K = ⌊.1 · 20⌋."""
    n, whole = 19, np.arange(20.0)
    pairs = np.tile(whole[:, None], (1, n + 1))
    for j in range(1, full + 1):
        new = n + 1 - 2 - j
        pairs[new + 1 : new + 1 + j, new] = -1.0
    share = unstable_share(whole, pairs, 0.5)
    assert share * n * (n + 1) == pytest.approx(full * (full + 1) / 2)
    assert misses(whole, pairs, 0.1, 0.5) == 2 + full
    assert jackknife.jackknife_miss(n, 0.1, share) == pytest.approx((2 + full) / (n + 1))


def test_ranks_of_residuals_mean_the_decimals_as_written():
    """.29 · 100 is 28.999…96 in doubles, and nobody means 28."""
    for n, a, rank in [(99, 0.29, 71), (9, 0.1, 9), (9, 1 - 0.9, 9), (4, 0.2, 4), (2, 0.999, 1)]:
        values = np.random.default_rng(n).permutation(n) + 1.0
        assert jackknife.residual_quantile(values, a) == rank
    assert jackknife.residual_quantile([3.0, 1.0, 2.0], 0.2) == math.inf  # too few rows
    assert jackknife.residual_quantile([3.0, math.nan, 2.0], 0.25) == math.inf  # a failed fit
    assert jackknife.residual_quantile([3.0, math.nan, 2.0], 0.5) == 3.0


def test_jackknife_plus_ends_by_sorting():
    rng = np.random.default_rng(1)
    for n, a in [(9, 0.1), (20, 0.29), (2, 0.4), (11, 0.5)]:
        table, reach = rng.normal(size=(5, n)), rng.exponential(size=n)
        k = math.floor(Fraction(str(a)) * (n + 1))
        lower = np.sort(table - reach, axis=1)[:, k - 1]
        upper = np.sort(table + reach, axis=1)[:, n - k]
        ends = jackknife.jackknife_plus_ends(table, reach, a)
        np.testing.assert_array_equal(ends, np.stack([lower, upper], axis=1))
    assert np.isinf(jackknife.jackknife_plus_ends(np.zeros((2, 3)), [1.0, 2.0, 3.0], 0.1)).all()


def test_certificates_and_intervals_together():
    bound = jackknife.jackknife_miss(50, 0.1, 0.01)
    assert jackknife.certified_miss(50, 0.1, 0.01, alpha=0.05) == bound
    assert jackknife.certified_miss(50, 0.0, 0.0, alpha=0.05) == 0.05
    given = jackknife.certified_miss_given_data
    assert given(0.1, 0.02, 0.03, alpha=0.05) == pytest.approx(0.17)
    assert given(0.1, 0.02, 0.07, alpha=0.05) == pytest.approx(0.19)
    assert given(0.9, 0.2, 0.07, alpha=0.05) == 1.0
    rule = jackknife.rule_miss(50, 0.1, 0.01, alpha=0.05, a_refused=0.05)
    assert rule == (bound, pytest.approx(0.05 + 0.95 * 0.1))
    assert jackknife.rule_miss(50, 0.1, 0.0, alpha=0.05, a_refused=0.2)[0] == 0.4


# Theorems K and L: all bags of b of n rows, for n so small that every base fit can be tried.


class AllBags:
    """``members`` has one row a bag; ``changes`` turns predictions of the bags into d_i."""

    def __init__(self, n, b):
        self.n, self.b = n, b
        self.members = np.zeros((comb(n, b), n))
        for row, bag in enumerate(combinations(range(n), b)):
            self.members[row, list(bag)] = 1
        outside = 1 - self.members
        self.changes = (1 / len(self.members) - outside / outside.sum(axis=0)).T

    def signs(self, k):
        for plus in range(k + 1):
            yield np.repeat([1.0, -1.0, 0.0], [plus, k - plus, self.n - k])

    def hardest(self, signs):
        """Find the largest t such that some base fit in [0, 1] moves every signed row by t."""
        moved, size = np.flatnonzero(signs), len(self.members)
        answer = linprog(
            np.append(np.zeros(size), -1.0),
            A_ub=np.column_stack([-signs[moved, None] * self.changes[moved], np.ones(len(moved))]),
            b_ub=np.zeros(len(moved)),
            bounds=[(0, 1)] * size + [(None, None)],
        )
        return answer.x[-1]


def exact_mad(n, b, k):
    """Sum the joint law of the members among k₊ and k₋ rows, in fractions, for every split."""

    def deviation(plus):
        minus, centre = k - plus, Fraction(b * (2 * plus - k), n)
        return sum(
            comb(plus, h) * comb(minus, g) * comb(n - k, b - h - g) * abs(h - g - centre)
            for h in range(min(plus, b) + 1)
            for g in range(min(minus, b - h) + 1)
        )

    return float(max(deviation(plus) for plus in range(k + 1)) / comb(n, b))


def test_mean_deviations_are_exact_sums():
    cases = [(n, b, k) for n in range(2, 9) for b in range(1, n) for k in range(1, n + 1)]
    for n, b, k in [*cases, (40, 13, 30), (60, 50, 31), (50, 2, 50), (45, 44, 20)]:
        assert bagging.bag_mad(n, b, k) == pytest.approx(exact_mad(n, b, k), rel=1e-13)
    # All rows, in bags of half of them: 501 signs one way are worst.
    law = [comb(501, h) * comb(499, 500 - h) * abs(2 * h - 501) for h in range(501)]
    exact = sum(law) / comb(1000, 500)
    assert bagging.bag_mad(1000, 500, 1000) == pytest.approx(exact, rel=1e-12)


def test_no_linear_programme_exceeds_theorem_l():
    attained = cases = 0
    for n, b in [(4, 1), (4, 2), (4, 3), (5, 2), (6, 2), (6, 3), (6, 5), (7, 3)]:
        bags = AllBags(n, b)
        for k in range(1, n + 1):
            worst = max(bags.hardest(signs) for signs in bags.signs(k))
            reach = bagging.bag_reach(n, b, k)
            assert worst <= reach + 1e-9
            cases, attained = cases + 1, attained + (worst >= reach - 1e-9)
    assert attained >= 0.3 * cases


@pytest.mark.parametrize(("n", "b"), [(5, 2), (6, 3), (8, 5)])
def test_the_sum_of_signed_changes_attains_the_reach(n, b):
    """The base fit 1{Z > EZ} attains W·E(Z − EZ)₊/(1 − p): bag_reach is no looser than that."""
    bags = AllBags(n, b)
    for k in range(1, n + 1):
        best = 0.0
        for signs in bags.signs(k):
            fit = bags.members @ signs > b / n * signs.sum() + 1e-12
            best = max(best, signs @ bags.changes @ fit / k)
        assert bagging.bag_reach(n, b, k) == pytest.approx(best, rel=1e-12)


def test_no_base_fit_escapes_theorem_k():
    rng, closest = np.random.default_rng(5), 0.0
    for n, b in [(4, 2), (5, 2), (6, 1), (6, 4), (7, 3)]:
        bags = AllBags(n, b)
        fits = rng.uniform(size=(300, len(bags.members)))
        fits = np.vstack([fits, fits > rng.uniform(size=(300, 1)), bags.members.T])
        changes = np.abs(fits @ bags.changes.T)
        bound, squares = b / (4 * (n - 1) * (1 - b / n)), np.sum(changes**2, axis=1)
        closest = max(closest, squares.max() / bound)
        assert squares.max() <= bound * (1 + 1e-12)
        assert np.sum(changes >= 0.3, axis=1).max() <= bagging.bag_delta(n, b, 0.3) * n + 1e-9
        assert np.sum(changes >= 0.3, axis=1).max() <= bagging.bag_count(n, b, 0.3 * (1 - 1e-9))
    assert closest > 0.7
    # Half of the rows say 0, half say 1: every removal moves the mean by 1/(2(n − 1)).
    assert bagging.bag_delta(10, 1, 1 / 18) == pytest.approx(1.0)
    assert bagging.bag_count(10, 1, 0.999 / 18) == 10 > bagging.bag_count(10, 1, 1 / 18)


def test_largest_bags_by_trying_every_size():
    for n, eps, delta, width in [(30, 0.1, 0.2, 1.0), (47, 2.0, 0.05, 10.0), (61, 0.05, 0.3, 1.0)]:
        sizes = np.arange(1, n)
        by_l = sizes[bagging.bag_count(n, sizes, eps, width) <= math.floor(delta * n + 1e-9)]
        assert bagging.largest_admissible_bag(n, eps, delta, width) == by_l.max(initial=0)
        by_k = sizes[bagging.bag_delta(n, sizes, eps, width) <= delta * (1 + 1e-12)]
        assert bagging.largest_bag(n, eps, delta, width) == by_k.max(initial=0) <= by_l.max()
    ratio = bagging.bag_count(1000, 500, 0.02) / (1000 * bagging.bag_delta(1000, 500, 0.02))
    assert ratio == pytest.approx(2 / math.pi, abs=0.005)


def test_bag_sizes_mean_the_decimals_as_written():
    """δn of .29 · 100 rows is 29, and a tenth of the width is one in any units."""
    b = bagging.largest_admissible_bag(100, 0.05, 0.29)
    assert bagging.bag_count(100, b, 0.05) == 29 < bagging.bag_count(100, b + 1, 0.05)
    for scale in (0.1, 0.3, 7.0, 1e9):
        assert bagging.largest_bag(101, 0.1 * scale, 0.25, scale) == 50  # t = 4·100·.25·.01 = 1
        assert random_bags.bags_needed(5, 2, 0.1 * scale, 0.1, scale) == 0
    spare = Fraction(1, 16) - Fraction(1, 64)  # δε² − p/(4(n − 1)(1 − p))
    assert random_bags.bags_needed(5, 1, 0.5, 0.25) == math.ceil(1 / spare)


# Random bags: every 0/1 base algorithm, every pairing of the bags, exact laws.


def laws_of_pairs(bags, fit):
    """P(X = 1) and P(X = −1), row by row, for four ways to draw the two bags of a pair."""
    members, whole = bags.members.astype(bool), fit.mean()
    without = np.array([fit[~members[:, i]].mean() for i in range(bags.n)])
    yield "independent", whole * (1 - without), without * (1 - whole)
    yield "alike", np.maximum(whole - without, 0), np.maximum(without - whole, 0)
    together = np.maximum(whole + without - 1, 0)
    yield "unlike", whole - together, without - together
    # Coupled: if the bag holds the row, another row outside of the bag replaces it.
    where = {tuple(bag): at for at, bag in enumerate(bags.members.astype(int))}
    up, down = np.zeros(bags.n), np.zeros(bags.n)
    for at, bag in enumerate(bags.members.astype(int)):
        for i in np.flatnonzero(bag):
            for other in np.flatnonzero(bag == 0):
                swapped = bag.copy()
                swapped[[i, other]] = 0, 1
                step = fit[at] - fit[where[tuple(swapped)]]
                weight = 1 / (len(fit) * (bags.n - bags.b))
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
    bags = AllBags(n, b)
    free, coupled = (
        random_bags.delta_of_bags(n, b, n_bags, eps, coupled=paired) for paired in (False, True)
    )
    largest = dict.fromkeys(("independent", "alike", "unlike", "coupled"), 0.0)
    for code in range(0, 2 ** len(bags.members), 5):
        fit = (code >> np.arange(len(bags.members)) & 1).astype(float)
        for name, up, down in laws_of_pairs(bags, fit):
            rows = [beyond(u, d, n_bags, eps) for u, d in zip(up, down, strict=True)]
            largest[name] = max(largest[name], float(np.mean(rows)))
    assert max(largest.values()) <= free < 1
    assert largest["coupled"] <= coupled < free
    # The bounds are not idle: some pairings come near them.
    assert largest["unlike"] > 0.1 * free
    assert largest["coupled"] > 0.05 * coupled


QUESTIONS = [
    {"n": 60, "epsilon": 5.0, "delta": 0.05, "width": 20.0},
    {"n": 90, "epsilon": 0.4, "delta": 0.1, "n_classes": 3},
    {"n": 90, "epsilon": 0.4, "delta": 0.1, "n_classes": 2},
    {"n": 60, "epsilon": 0.2, "delta": 0.1, "coupled": True},
    {"n": 1100, "epsilon": 0.12, "delta": 0.1},
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_choice_of_bags_is_enough_and_no_larger_than_said(question):
    choice = random_bags.choose_bags(**question)
    asked = {"n_classes": question.get("n_classes"), "coupled": choice.coupled}
    reached = random_bags.delta_of_bags(*choice[:3], choice.epsilon, choice.width, **asked)
    assert reached <= choice.delta * (1 + 1e-9)
    fewer = random_bags.delta_of_bags(
        *choice[:2], int(0.8 * choice.n_bags), choice.epsilon, choice.width, **asked
    )
    assert fewer > choice.delta
    fixed = random_bags.choose_bags(**question, bag_size=choice.bag_size)
    assert fixed == choice
    most = random_bags.choose_bags(**question, n_bags=choice.n_bags)
    assert most.bag_size >= choice.bag_size
    assert choice.bag_size < choice.largest_bag or choice.theorem == "K"
    free = {**question, "coupled": False}
    fewest = random_bags.choose_bags(**free, bag_size=1).n_bags
    within = [b for b in range(1, min(question["n"], 60)) if needed(free, b) <= 4 * fewest]
    assert question["n"] > 60 or choice.bag_size == max(within)


def needed(question, b):
    try:
        return random_bags.choose_bags(**question, bag_size=b).n_bags
    except ArgumentError:
        return math.inf


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"n": 20, "epsilon": 0.01},
            r"no bags make .* epsilon above 0\.0\d+, or n of at least \d+",
        ),
        ({"bag_size": 60}, "no bags of 60 rows make .* or bags of at most 3[0-9] rows"),
        ({"n_bags": 10}, r"n_bags must be at least \d+ .*bags of 1 row, got 10"),
        ({"bag_size": 100}, "bag_size must be at most n - 1"),
        ({"delta": 0.0}, r"delta must be a number in \(0, 1\), got 0"),
    ],
)
def test_impossible_bags_say_what_would_be_possible(changed, message):
    with pytest.raises(ArgumentError, match=message):
        random_bags.choose_bags(**{"n": 100, "epsilon": 0.1, "delta": 0.1, **changed})


def test_what_a_refusal_names_is_possible():
    asked = {"n": 20, "epsilon": 0.01, "delta": 0.05}
    with pytest.raises(ArgumentError) as refused:
        random_bags.choose_bags(**asked)
    words = str(refused.value).replace(",", "").split()
    epsilon, n = float(words[words.index("above") + 1]), int(words[-1])
    assert random_bags.choose_bags(**asked | {"epsilon": epsilon * 1.001}).n_bags
    assert random_bags.choose_bags(**asked | {"n": n}).n_bags


# Theorem M: inflated sets.


def test_the_distance_is_that_of_a_general_optimiser():
    rng = np.random.default_rng(0)
    for _ in range(30):
        size = int(rng.integers(2, 6))
        w, eps, i = rng.uniform(0, 1, size), float(rng.uniform(0.05, 1.5)), int(rng.integers(size))
        wins = np.eye(size)[i] - np.delete(np.eye(size), i, axis=0)
        start = w.copy()
        start[i] = w.max() + eps
        found = minimize(
            lambda v, w=w: np.sum((v - w) ** 2),
            start,
            jac=lambda v, w=w: 2 * (v - w),
            constraints={"type": "ineq", "fun": lambda v, s=wins, e=eps: s @ v - e / math.sqrt(2)},
            options={"ftol": 1e-14, "maxiter": 400},
        )
        distance = inflated.distance_to_winner(w, i, eps)
        assert distance == pytest.approx(math.sqrt(found.fun), abs=1e-5)


@pytest.mark.parametrize("labels", [2, 3, 5, 8])
def test_neighbours_share_as_many_labels_as_promised(labels):
    """Deterministic, so one violation in 40,000 pairs would refute Theorem M."""
    rng = np.random.default_rng(labels)
    for eps in (0.2, 0.7):
        w = rng.uniform(0, 1, (5000, labels)) * rng.choice([0.1, 0.5, 1.0, 2.0], (5000, 1))
        step = rng.normal(size=w.shape)
        # Half of the steps lower the leaders and lift the followers: that swaps most labels.
        step[:2500] = np.median(w[:2500], axis=1, keepdims=True) - w[:2500]
        step[:2500] += 0.3 * rng.normal(size=(2500, labels)) * np.abs(step[:2500])
        step /= np.linalg.norm(step, axis=1, keepdims=True)
        near, far = w + 0.9999 * eps * step, w + 1.02 * eps * step
        for k in range(1, labels + 1):
            shared = inflated.inflated_mask(w, k, eps) & inflated.inflated_mask(near, k, eps)
            assert shared.sum(axis=1).min() >= k
        if labels == 2:  # sets are no larger than they must be
            apart = inflated.inflated_mask(w, 1, eps) & inflated.inflated_mask(far, 1, eps)
            assert not apart.any(axis=1).all()


def test_membership_is_monotone_ties_go_by_position_and_shapes_stay():
    scores = np.random.default_rng(2).dirichlet(np.ones(5), size=500)
    mask, wider = (inflated.inflated_mask(scores, 1, eps) for eps in (0.1, 0.2))
    assert mask[np.arange(500), scores.argmax(axis=1)].all()
    assert (np.where(mask, scores, 2).min(axis=1) > np.where(mask, -1, scores).max(axis=1)).all()
    assert (wider >= mask).all()
    assert wider.sum() > mask.sum()
    gap = 0.4 / math.sqrt(2)  # of two labels the loser is in if it trails by less than ε/√2
    assert inflated.inflated_top([0.0, gap * 0.999], 1, 0.4) == [0, 1]
    assert inflated.inflated_top([0.0, gap * 1.001], 1, 0.4) == [1]
    assert inflated.inflated_top([0.5, 0.5, 0.0], 2, 0.001) == [0, 1]
    assert inflated.inflated_top([0.2, 0.9, 0.9, 0.9], 2, 0.001) == [1, 2, 3]
    cube = np.random.default_rng(0).uniform(size=(3, 2, 4))
    mask = inflated.inflated_mask(cube, 2, 0.3)
    assert np.flatnonzero(mask[2, 1]).tolist() == inflated.inflated_top(cube[2, 1], 2, 0.3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jackknife.jackknife_miss(1, 0.1, 0.1), "n must be a whole number >= 2, got 1"),
        (lambda: jackknife.jackknife_miss(9, 1.0, 0.1), r"a must be a number in \[0, 1\), got 1"),
        (lambda: jackknife.rule_miss(9, 0.1, 0.1, 0.1, a_refused=0.6), r"a_refused must .*0\.6"),
        (lambda: jackknife.jackknife_plus_ends([[1.0]], [1.0, 2.0], 0.5), "predictions must have"),
        (lambda: bagging.bag_delta(9, 9, 0.1), "b must be at most n - 1"),
        (lambda: bagging.bag_mad(9, 3, 10), "k must be at most n, got 10"),
        (lambda: bagging.bag_count(9, 3, 0.1, 0.0), "width must be a finite number > 0, got 0"),
        (lambda: inflated.inflated_top([0.1, 0.2], 3, 0.1), "k must be at most .* 2, got 3"),
        (lambda: inflated.inflated_top([0.1, 0.2], 1, 0.0), "eps must be a finite number > 0"),
        (lambda: inflated.inflated_top([0.1, math.nan], 1, 0.1), "w must hold finite scores"),
        (lambda: inflated.inflated_top([[0.1, 0.2]], 1, 0.1), "one score per label"),
        (lambda: inflated.distance_to_winner([0.1], 2, 0.1), "i must be a position in w"),
    ],
)
def test_refusals_name_the_argument(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_no_floating_point_error_reaches_users_who_raise_them():
    with np.errstate(all="raise"):
        bagging.bag_count(1000, [1, 500, 999], 1e-9)
        bagging.bag_delta(1000, 999, [0.0, 1e-200, 1e200])
        bagging.largest_bag(1000, [1e-200, 1e200], 0.1)
        random_bags.choose_bags(400, epsilon=0.2, delta=0.1)
        random_bags.delta_of_bags(40, 20, 10**9, 0.3)
        random_bags.delta_of_bags(40, 20, 10, 1e200)
        inflated.inflated_mask([[1e-200, 0.0], [1.0, 2.0]], 1, 0.3)
        jackknife.jackknife_miss(10**6, 0.1, [0.0, 1e-300, 1.0])
