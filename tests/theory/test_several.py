"""Several questions at once, and one question asked several times."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import e_values
from poise.theory.e_values import e_bh, holm, rejected_by_holm, repeated_looks


def test_holm_is_the_closure_of_bonferroni():
    rng = np.random.default_rng(0)
    for alpha, scale in itertools.product((0.05, 0.3), (1.0, 0.05)):
        for _ in range(40):
            p = np.round(rng.random(4) * scale, 3)
            groups = [set(c) for r in range(1, 5) for c in itertools.combinations(range(4), r)]
            failed = [g for g in groups if min(p[i] for i in g) > alpha / len(g)]
            expected = [i for i in range(4) if not any(i in g for g in failed)]
            assert rejected_by_holm(p, alpha) == expected
            assert [i for i in range(4) if holm(p)[i] <= alpha] == expected


def test_a_pvalue_exactly_at_its_share_of_the_level_is_rejected():
    for size in range(1, 50):  # size * (0.05 / size) may be a rounding above 0.05
        assert rejected_by_holm([0.05 / size, *[1.0] * (size - 1)], 0.05) == [0]
        assert rejected_by_holm([0.0501 / size, *[1.0] * (size - 1)], 0.05) == []


def test_e_bh_rejects_the_largest_set_that_supports_itself():
    rng = np.random.default_rng(1)
    for _ in range(200):
        e, alpha = np.exp(rng.normal(2, 2, 5)), 0.2
        sizes = [k for k in range(1, 6) if (e >= 5 / (k * alpha)).sum() >= k]
        k = max(sizes, default=0)
        assert e_bh(e, alpha) == sorted(np.argsort(-e)[:k].tolist())
    assert e_bh([100.0, 20.0], 0.1) == [0, 1]
    assert e_bh([9.0, 20.0], 0.1) == [1]
    assert e_bh([], 0.1) == []


def test_products_and_averages():
    assert e_values.multiply_e_values([4.0, 6.0]) == 24
    assert e_values.multiply_e_values([0.0, np.inf]) == 0
    assert e_values.multiply_e_values([]) == 1
    assert e_values.average_e_values([4.0, 6.0]) == 5
    for call in (
        lambda: e_values.average_e_values([]),
        lambda: e_values.multiply_e_values([-1.0]),
        lambda: e_bh([np.nan], 0.1),
        lambda: holm([1.2]),
    ):
        with pytest.raises(ArgumentError, match=r"values must (be|hold)"):
            call()


def test_repeated_looks_by_enumeration():
    sizes, delta, alpha = [3, 6, 9], 0.5, 0.3
    for randomized in (False, True):
        declared = np.zeros(3)
        for path in itertools.product((0, 1), repeat=9):
            waiting = 0.5**9
            for i, size in enumerate(sizes):
                k, a = e_values.critical_value(size, delta, alpha)
                b = sum(path[:size])
                chance = 1.0 if b < k else (a if randomized else a >= 1) if b == k else 0.0
                declared[i:] += waiting * chance
                waiting *= 1 - chance
        found = repeated_looks(sizes, delta, alpha, randomized)
        np.testing.assert_allclose(found, declared, rtol=1e-12)


def test_looking_again_loses_the_level():
    plain = repeated_looks([46 * 2**i for i in range(6)], 0.1, 0.05)
    assert [round(each, 4) for each in plain] == [0.048, 0.0723, 0.0934, 0.1208, 0.139, 0.1648]
    assert repeated_looks(range(1, 1001), 0.1, 0.05)[-1] == pytest.approx(0.272, abs=5e-4)
    assert repeated_looks([46 * 2**i for i in range(6)], 0.1, 0.05, True)[-1] == pytest.approx(
        0.183, abs=5e-4
    )
    assert repeated_looks([], 0.1, 0.05) == []
    with pytest.raises(ArgumentError, match="sizes must increase"):
        repeated_looks([5, 5], 0.1, 0.05)
