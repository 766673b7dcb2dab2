from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import ArgumentError
from poise.theory import kappa, n_trials

# The first call imports scipy, and machines differ: no test case is timed.
untimed = settings(deadline=None)

sizes = st.integers(2, 10**6)
rows = st.integers(0, 10**9)


@untimed
@given(sizes, rows, rows)
def test_the_trials_fit_and_one_more_would_not(n, labeled, unlabeled):
    m = n_trials(n, labeled, unlabeled)

    def fits(count):
        return count * n <= labeled and count * (n + 1) <= labeled + unlabeled

    assert fits(m)
    assert not fits(m + 1)


@untimed
@given(sizes, rows, rows)
def test_kappa_rounds_down_to_the_number_of_trials(n, labeled, unlabeled):
    value = kappa(n, labeled, unlabeled)
    assert isinstance(value, Fraction)
    assert math.floor(value) == n_trials(n, labeled, unlabeled)


@untimed
@given(sizes, rows, rows)
def test_more_rows_never_mean_fewer_trials_and_larger_n_never_more(n, labeled, unlabeled):
    value = kappa(n, labeled, unlabeled)
    assert kappa(n, labeled + 1, unlabeled) > value
    assert kappa(n, labeled, unlabeled + 1) >= value
    assert kappa(n + 1, labeled, unlabeled) <= value


def test_a_float_quotient_would_count_a_trial_that_is_not_there():
    labeled = 3 * 10**16 - 1
    assert labeled / 3 == 10**16  # the trap
    assert n_trials(3, labeled, 10**17) == 10**16 - 1


def test_unlabelled_rows_serve_as_test_points():
    assert n_trials(10, 100, 0) == 9
    assert n_trials(10, 100, 9) == 9
    assert n_trials(10, 100, 10) == 10
    assert n_trials(10, 100, 10**6) == 10


def test_arrays_broadcast_and_scalars_stay_scalars():
    got = n_trials([[10], [50]], [100, 200, 0])
    np.testing.assert_array_equal(got, [[9, 18, 0], [1, 3, 0]])
    assert got.dtype == np.int64
    assert type(n_trials(10, 100)) is int
    assert type(n_trials(np.int64(10), 1e2)) is int


@pytest.mark.parametrize("function", [n_trials, kappa])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 10), "n must be .* >= 2.*got 1"),
        ((2.5, 10), "n must be .* >= 2.*got 2.5"),
        ((2, -1), "n_labeled must be a whole number >= 0, got -1"),
        ((2, 10, 0.5), "n_unlabeled must be a whole number >= 0, got 0.5"),
        ((2, float("nan")), "n_labeled must be a number.*got nan"),
        ((True, 10), "n must be .*got True"),
    ],
)
def test_arguments_out_of_range_are_named(function, arguments, message):
    with pytest.raises(ArgumentError, match=message):
        function(*arguments)
