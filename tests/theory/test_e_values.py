"""Several tests at once, repeated looks, and votes over random splits."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise import theory
from poise.errors import ArgumentError
from poise.theory import e_values
from poise.theory.e_values import (
    average_e_values,
    e_bh,
    holm_e_values,
    in_fixed_order,
    multiply_e_values,
    stable_on_all,
)

evidence = st.lists(st.floats(0, 1000), max_size=12)


@given(values=evidence, alpha=st.sampled_from([0.01, 0.05, 0.2]))
def test_e_bh_by_its_definition(values, alpha) -> None:
    ordered, number = sorted(values, reverse=True), len(values)
    enough = [k for k in range(1, number + 1) if ordered[k - 1] * k * alpha >= number * (1 - 1e-9)]
    rejected = e_bh(values, alpha)
    assert len(rejected) == max(enough, default=0)
    assert sorted((values[i] for i in rejected), reverse=True) == ordered[: len(rejected)]


@given(pvalues=st.lists(st.floats(0, 1), max_size=12), alpha=st.sampled_from([0.01, 0.05, 0.2]))
def test_holm_by_its_definition(pvalues, alpha) -> None:
    rejected: list[int] = []
    for rank, i in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        if pvalues[i] * (len(pvalues) - rank) * (1 - 1e-9) > alpha:
            break
        rejected.append(i)
    assert e_values.rejected_by_holm(pvalues, alpha) == sorted(rejected)


def test_the_two_holms() -> None:
    """One answers which are rejected, the other gives the adjusted p-values."""
    pvalues = [0.01, 0.04, 0.03]
    assert theory.holm(pvalues).tolist() == [0.03, 0.06, 0.06]
    assert e_values.rejected_by_holm(pvalues, 0.05) == [0]


def test_a_hedge_aimed_at_alpha_is_of_no_use_to_holm() -> None:
    assert holm_e_values([20.0, 20.0], 0.05) == []
    assert e_bh([20.0, 20.0], 0.05) == [0, 1]
    assert e_bh([20.0, 19.0], 0.05) == []
    assert holm_e_values([40.0, 20.0, 0.0], 0.05) == []
    assert holm_e_values([60.0, 40.0, 0.5], 0.05) == [0, 1]


def test_rounding_is_forgiven() -> None:
    assert e_bh([1 / 0.05 * (1 - 1e-12)], 0.05) == [0]
    assert e_values.rejected_by_holm([0.05 * (1 + 1e-12)], 0.05) == [0]
    assert e_bh([1 / 0.05 * (1 - 1e-6)], 0.05) == []


def test_combining() -> None:
    assert multiply_e_values([]) == 1
    assert multiply_e_values([0.0, math.inf]) == 0
    assert average_e_values([1.0, 5.0]) == 3
    assert not stable_on_all([], 0.05)
    assert not stable_on_all([100.0, 19.9], 0.05)
    with pytest.raises(ArgumentError, match="at least one e-value"):
        average_e_values([])
    for combine in (multiply_e_values, average_e_values):
        with pytest.raises(ArgumentError, match="list of e-values"):
            combine([1.0, -1.0])
        with pytest.raises(ArgumentError, match="list of e-values"):
            combine([math.nan])


def test_a_product_of_disjoint_hedges_is_fair() -> None:
    law, delta, alpha = {0.0: 0.6, 0.4: 0.25, 1.0: 0.15}, 0.25, 0.1
    ends = [
        (theory.hedge(path, delta, alpha).value / alpha, math.prod(law[s] for s in path))
        for path in itertools.product(law, repeat=3)
    ]
    mean = math.fsum(multiply_e_values([a, b]) * p * q for a, p in ends for b, q in ends)
    assert mean == pytest.approx(1, rel=1e-12)


def test_in_fixed_order_stops_at_the_first_failure() -> None:
    assert in_fixed_order([], 0.05) == []
    assert in_fixed_order([0.2, 0.001], 0.05) == []
    assert in_fixed_order([0.05, 0.05, 0.051], 0.05) == [0, 1]


def test_repeated_looks_with_a_fresh_coin() -> None:
    looks = theory.repeated_looks([46 * 2**i for i in range(6)], 0.1, 0.05, randomized=True)
    assert looks[-1] == pytest.approx(0.183, abs=5e-4)


def test_looking_after_every_trial() -> None:
    assert theory.repeated_looks(range(1, 1001), 0.1, 0.05)[-1] == pytest.approx(0.272, abs=5e-4)


@pytest.mark.parametrize("randomized", [False, True])
def test_one_look_has_the_tests_level(randomized) -> None:
    level = theory.power(46, 0.1, 0.1, 0.05, randomized=randomized)
    assert theory.repeated_looks([46], 0.1, 0.05, randomized) == pytest.approx([level])
    assert theory.repeated_looks([], 0.1, 0.05) == []


def test_repeated_looks_by_enumeration() -> None:
    """Ten trials, looks after 4 and 10, against all 1024 paths."""
    wrong, cuts = 0.0, {m: theory.critical_count(m, 0.3, 0.3) for m in (4, 10)}
    for path in itertools.product([0, 1], repeat=10):
        if any(sum(path[:m]) <= cut for m, cut in cuts.items()):
            wrong += 0.3 ** sum(path) * 0.7 ** (10 - sum(path))
    assert theory.repeated_looks([4, 10], 0.3, 0.3)[-1] == pytest.approx(wrong, rel=1e-12)


def test_sizes_increase() -> None:
    with pytest.raises(ArgumentError, match="sizes must increase"):
        theory.repeated_looks([46, 46], 0.1, 0.05)


def test_a_vote_is_valid_however_splits_depend_on_each_other() -> None:
    """By Markov: the worst case is that all of them accept together, with probability λ."""
    assert theory.vote([1, 1, 0, 0], 0.025, 0.05)
    assert not theory.vote([1, 1, 0, 0, 0], 0.025, 0.05)
    assert not theory.vote(np.array([0.49, 0.49]), 0.025, 0.05)
    with pytest.raises(ArgumentError, match="at least one"):
        theory.vote([], 0.025, 0.05)
