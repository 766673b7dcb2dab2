"""Counting finds what sorting finds, in numbers of every size."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.theory import epsilon_hat, order_statistics

numbers = st.one_of(
    st.floats(0, math.inf), st.sampled_from([0.0, 5e-324, 1.0, 1.7976931348623157e308, math.inf])
)


@given(values=st.lists(numbers, max_size=40), rank=st.integers(-3, 45))
def test_counting_equals_sorting(values, rank) -> None:
    ordered = [math.inf, *sorted(values, reverse=True), 0.0]
    expected = ordered[min(max(rank, 0), len(values) + 1)]
    assert order_statistics._by_counting(np.array(values, dtype=float), rank) == expected
    assert order_statistics.largest(np.array(values, dtype=float), np.array(rank)) == expected


def test_many_are_counted_and_keep_the_shape_of_the_ranks() -> None:
    values = np.random.default_rng(0).exponential(size=70_001).round(4)  # some are equal
    ordered = np.sort(values)[::-1]
    ranks = np.array([[1, 2, 700], [35_000, 70_000, 70_001]])
    assert order_statistics.largest(values, ranks).tolist() == ordered[ranks - 1].tolist()


@given(
    changes=st.lists(numbers, max_size=20),
    unseen=st.integers(0, 9),
    delta=st.floats(0, 0.9),
    alpha=st.floats(0.01, 0.9),
    zeta=st.floats(0, 1),
)
def test_a_trial_that_was_not_run_is_an_infinite_change(changes, unseen, delta, alpha, zeta):
    told = epsilon_hat([*changes, *[math.inf] * unseen], delta, alpha, zeta)
    assert epsilon_hat(changes, delta, alpha, zeta, unseen=unseen) == told


@pytest.mark.parametrize("unseen", [-1, 0.5])
def test_unseen_trials_are_a_number_of_them(unseen) -> None:
    with pytest.raises(ValueError, match="unseen must be"):
        epsilon_hat([1.0], 0.5, 0.05, unseen=unseen)
