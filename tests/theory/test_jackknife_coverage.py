"""Theorem J against its own linear programme, against residual matrices, and reference values."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from poise import theory
from poise.errors import ArgumentError

CASES = json.loads((Path(__file__).parent / "beyond.json").read_text())["cases"]


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["section"] == "5"],
    ids=lambda case: str(list(case["given"].values())),
)
def test_reference_values(case):
    got = getattr(theory, case["function"])(**case["given"])
    assert got == pytest.approx(float(case["value"]), rel=1e-12)


def test_arrays_broadcast():
    rows = [case for case in CASES if case["function"] == "jackknife_miss"]
    rows = [case for case in rows if not case["given"]["plus"]]
    n, a, delta = ([case["given"][name] for case in rows] for name in ("n", "a", "delta"))
    exact = [float(case["value"]) for case in rows]
    np.testing.assert_allclose(theory.jackknife_miss(n, a, delta), exact, rtol=1e-12)
    assert theory.residual_rank([9, 99], [[0.1], [0.05]]).shape == (2, 2)


@pytest.mark.parametrize("n", [2, 5, 8])
@pytest.mark.parametrize("a", [0.0, 0.1, 0.25, 0.5])
@pytest.mark.parametrize("delta", [0.0, 0.03, 0.1, 0.4, 1.0])
def test_the_bound_is_the_value_of_its_linear_programme(n, a, delta):
    """Maximise P(U <= K + N) over all laws of a rank U and a count N with E N <= nδ."""
    rank, count = (grid.ravel() for grid in np.mgrid[1 : n + 2, 0 : n + 2])
    missed = rank <= math.floor(round(a * (n + 1), 9)) + count
    ranks = [(rank <= t).astype(float) for t in range(1, n + 2)]
    answer = linprog(
        -missed.astype(float),
        A_ub=np.array([*ranks, count.astype(float)]),
        b_ub=[*(t / (n + 1) for t in range(1, n + 2)), n * delta],
        A_eq=np.ones((1, rank.size)),
        b_eq=[1.0],
    )
    assert theory.jackknife_miss(n, a, delta) == pytest.approx(-answer.fun, abs=1e-9)


@given(n=st.integers(2, 10**6), a=st.floats(0, 0.999), delta=st.floats(0, 1))
def test_the_bound_is_at_most_the_simple_one(n, a, delta):
    bound, plus = (theory.jackknife_miss(n, a, delta, plus) for plus in (False, True))
    assert bound <= a + math.sqrt(2 * delta) + 1e-9
    assert plus <= a + 2 * math.sqrt(delta) + 1e-9
    assert plus == theory.jackknife_miss(n, a, min(2 * delta, 1.0)) or delta > 0.5
    assert 0 <= bound <= plus <= 1


def misses(whole, pairs, a, epsilon):
    """Count the points that the jackknife misses, each taken as the new one in turn.

    ``whole[i]`` is the residual of point i if it alone is left out, ``pairs[i, j]`` if j
    (the new point) is left out as well.
    """
    n = len(whole) - 1
    missed = 0
    for new in range(n + 1):
        quantile = theory.residual_quantile(np.delete(pairs[:, new], new), a)
        missed += whole[new] > quantile + epsilon
    return missed


def unstable_share(whole, pairs, epsilon):
    moved = np.abs(pairs - whole[:, None]) > epsilon
    np.fill_diagonal(moved, False)
    return moved.sum() / (len(whole) * (len(whole) - 1))


def test_no_matrix_of_residuals_is_missed_more_often():
    rng = np.random.default_rng(3)
    for _ in range(600):
        n, a = int(rng.integers(2, 14)), float(rng.choice([0.05, 0.1, 0.2, 0.34]))
        whole = rng.exponential(size=n + 1)
        jump = rng.choice([0.0, 1.0], p=[0.8, 0.2], size=(n + 1, n + 1)) * rng.normal(0, 3)
        pairs = np.abs(whole[:, None] + 0.09 * rng.uniform(-1, 1, (n + 1, n + 1)) + jump)
        share = unstable_share(whole, pairs, 0.1)
        bound = theory.jackknife_miss(n, a, share)
        assert misses(whole, pairs, a, 0.1) <= bound * (n + 1) + 1e-9


@pytest.mark.parametrize("full", [0, 1, 2, 4])
def test_the_extreme_counts_are_attained(full):
    """The point of rank K + j is missed once j residuals above it are lowered."""
    n, a = 19, 0.1
    whole = np.arange(n + 1.0)
    allowed = 2  # ⌊0.1 · 20⌋
    pairs = np.tile(whole[:, None], (1, n + 1))
    for j in range(1, full + 1):
        new = n + 1 - allowed - j
        pairs[new + 1 : new + 1 + j, new] = -1.0
    share = unstable_share(whole, pairs, 0.5)
    assert share * n * (n + 1) == pytest.approx(full * (full + 1) / 2)
    assert misses(whole, pairs, a, 0.5) == allowed + full
    assert theory.jackknife_miss(n, a, share) == pytest.approx((allowed + full) / (n + 1))


def test_the_rank_of_the_residual():
    """Decimals mean what is written: 0.9 · 10 is 9, though 0.1 · 10 is only nearly 1 in doubles."""
    assert theory.residual_rank(9, 0.1) == 9
    assert theory.residual_rank(99, 0.29) == 71  # 0.29 · 100 is 28.999999999999996
    assert theory.residual_rank(9, 0.05) == 10
    assert theory.residual_rank(2, 0.0) == 3
    assert theory.residual_rank(2, 0.999999) == 1


def test_residual_quantiles():
    assert theory.residual_quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert theory.residual_quantile([3.0, 1.0, 2.0], 0.25) == 3.0
    assert theory.residual_quantile([3.0, 1.0, 2.0], 0.2) == math.inf
    assert theory.residual_quantile([3.0, math.nan, 2.0], 0.25) == math.inf
    assert theory.residual_quantile([3.0, math.nan, 2.0], 0.5) == 3.0


def test_certified_from_other_rows():
    bound = theory.jackknife_miss(50, 0.1, 0.01)
    assert theory.certified_miss(50, 0.1, 0.01, alpha=0.05) == bound
    assert theory.certified_miss(50, 0.0, 0.0, alpha=0.05) == 0.05
    plus = theory.certified_miss(50, 0.1, 0.01, alpha=0.05, plus=True)
    assert plus == theory.jackknife_miss(50, 0.1, 0.01, plus=True)


def test_certified_given_the_training_rows():
    given_data = theory.certified_miss_given_data
    assert given_data(0.1, 0.02, 0.03, alpha=0.05) == pytest.approx(0.17)
    assert given_data(0.1, 0.02, 0.07, alpha=0.05) == pytest.approx(0.19)
    assert given_data(0.9, 0.2, 0.07, alpha=0.05) == 1.0


def test_the_rule_with_a_refusal():
    rule = theory.rule_miss(50, 0.1, 0.01, alpha=0.05, a_refused=0.05)
    assert rule.stable == theory.jackknife_miss(50, 0.1, 0.01) == rule.worst
    assert rule.unstable == pytest.approx(0.05 + 0.95 * 0.1)
    rule = theory.rule_miss(50, 0.1, 0.0, alpha=0.05, a_refused=0.2)
    assert rule.stable == 0.4
    assert rule.worst == rule.unstable == pytest.approx(0.43)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.jackknife_miss(1, 0.1, 0.1), "n must be a whole number >= 2, got 1"),
        (lambda: theory.jackknife_miss(9, 1.0, 0.1), r"a must be in \[0, 1\), got 1"),
        (lambda: theory.jackknife_miss(9, 0.1, 1.2), r"delta must be in \[0, 1\], got 1.2"),
        (lambda: theory.jackknife_miss(9, 0.1, 0.2, "yes"), "plus must be True or False"),
        (lambda: theory.certified_miss_given_data(0.1, 2, 0.1, 0.05), "gamma must be"),
        (
            lambda: theory.rule_miss(9, 0.1, 0.1, 0.05, a_refused=0.6),
            r"a_refused must be in \[0, 1/2\], got 0.6",
        ),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


@pytest.mark.parametrize("a", [0.05, 0.1, 0.25, 0.5])
def test_ends_of_jackknife_plus_are_order_statistics(a):
    """Against the definition of Barber et al. (2021), in exact fractions of n + 1 = 20."""
    rng = np.random.default_rng(5)
    predictions, residuals = rng.normal(size=(6, 19)), rng.exponential(size=19)
    ends = theory.jackknife_plus_ends(predictions, residuals, a)
    low, high = round(20 * a), 20 - round(20 * a)  # ⌊a(n + 1)⌋ and ⌈(1 - a)(n + 1)⌉
    np.testing.assert_array_equal(ends[:, 0], np.sort(predictions - residuals)[:, low - 1])
    np.testing.assert_array_equal(ends[:, 1], np.sort(predictions + residuals)[:, high - 1])


def test_ends_are_infinite_where_rows_are_too_few_or_fits_failed():
    ends = theory.jackknife_plus_ends(np.zeros((2, 8)), np.ones(8), 0.1)
    assert ends.tolist() == [[-np.inf, np.inf]] * 2
    residuals = [1.0, 2.0, 3.0, np.nan]
    assert theory.jackknife_plus_ends(np.zeros((1, 4)), residuals, 0.4).tolist() == [[-3.0, 3.0]]
    assert theory.jackknife_plus_ends(np.zeros((1, 4)), residuals, 0.2).tolist() == [
        [-np.inf, np.inf]
    ]


@pytest.mark.parametrize("plus", [False, True])
def test_the_delta_for_a_wanted_miss_is_the_largest(plus):
    """Just at it the bound is what was wanted, and just above it the bound is larger."""
    for n, a, miss in [(20, 0.1, 0.2), (100, 0.1, 0.15), (99, 0.1, 0.1), (50, 0.0, 0.3)]:
        delta = theory.jackknife_delta(n, a, miss, plus)
        assert theory.jackknife_miss(n, a, delta, plus) == pytest.approx(miss, abs=1e-12)
        assert theory.jackknife_miss(n, a, delta + 1e-4, plus) > miss
    assert theory.jackknife_delta(100, 0.2, 0.1) == 0.0
