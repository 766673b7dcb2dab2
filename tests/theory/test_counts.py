"""Rows, trials and fits: counted again by hand, in integers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import counts
from poise.theory.binomial import critical_count


def hold(m, n, labeled, unlabeled, points, fresh):
    """Whether rows hold m trials: training rows are labelled, test rows are what is left."""
    left = labeled - m * (n + fresh)
    return left >= 0 and left + unlabeled >= m * points


CASES = [
    case
    for case in product((2, 3, 7), (0, 1, 6, 40, 83), (0, 5, 30), (1, 2, 9), (0, 1, 3))
    if case[4] < case[0]
]


def test_trials_rows_and_sizes_are_what_the_split_allows():
    for n, labeled, unlabeled, points, fresh in CASES:
        variant = {"points": points, "fresh": fresh}
        m = counts.trials(n, labeled, unlabeled, **variant)
        assert hold(m, n, labeled, unlabeled, points, fresh)
        assert not hold(m + 1, n, labeled, unlabeled, points, fresh)
        assert m == math.floor(counts.kappa(n, labeled, unlabeled, **variant))
        fewest = counts.rows_for(m, n, unlabeled, **variant)
        assert fewest <= labeled
        assert m == 0 or not hold(m, n, fewest - 1, unlabeled, points, fresh)
        if m:
            largest = counts.size_for(m, labeled, unlabeled, **variant)
            assert hold(m, largest, labeled, unlabeled, points, fresh)
            assert not hold(m, largest + 1, labeled, unlabeled, points, fresh)


def test_spare_points_cost_no_trial_and_one_more_would():
    for n, labeled, unlabeled, _, fresh in CASES:
        m = counts.trials(n, labeled, unlabeled, fresh=fresh)
        spare = counts.spare_points(n, labeled, unlabeled, fresh)
        assert spare >= 1
        if m:
            assert hold(m, n, labeled, unlabeled, spare, fresh)
            assert not hold(m, n, labeled, unlabeled, spare + 1, fresh)
            capped = counts.spare_points(n, labeled, unlabeled, fresh, max_trials=1)
            assert capped == labeled + unlabeled - n - fresh


def test_replacement_losses_and_groups_follow_the_table():
    """Replacing takes n + g labelled rows; losses need responses; groups are counted alike."""
    fresh = counts.taken(10, remove=1, replace=True) - 10
    for labeled, unlabeled in [(100, 0), (110, 3), (121, 50)]:
        found = counts.trials(10, labeled, unlabeled, fresh=fresh)
        assert found == min(labeled // 11, (labeled + unlabeled) // 12)
        assert counts.trials(10, labeled, 0) == labeled // 11
    assert counts.taken(10, remove=4) == 10
    assert counts.taken(10, remove=4, replace=True) == 14


def test_no_float_counts_a_trial_that_is_not_there():
    """(N + 1) / n rounds up to a whole number in doubles: 3 · 10^17 of them."""
    n, m = 3, 10**17
    assert counts.n_trials(n, 4 * m - 1) == m - 1
    assert counts.n_trials(n, 4 * m) == m
    assert counts.kappa(n, 4 * m - 1) == Fraction(4 * m - 1, 4)
    assert counts.n_trials(2, 2**63 - 1) == (2**63 - 1) // 3


@pytest.mark.parametrize(("n", "labeled", "unlabeled", "points"), [(5, 63, 20, 3), (2, 9, 40, 4)])
def test_no_row_serves_two_trials(n, labeled, unlabeled, points):
    m = counts.trials(n, labeled, unlabeled, points)
    grid = product(range(1, m + 1), range(1, points + 1))
    rows = [counts.test_row(n, m, k, t) for k, t in grid]
    assert len(set(rows)) == m * points
    assert min(rows) == m * n + 1
    assert max(rows) == m * (n + points) <= labeled + unlabeled


def test_clean_trials_are_where_the_test_can_first_accept():
    rng = np.random.default_rng(0)
    settings = [(0.5, 0.25), (0.1, 0.81), (0.2, 0.8), (0.19, 0.81), (0.1, 0.05), (0.9, 0.99)]
    settings += [(float(p), float(a)) for p, a in rng.uniform(0.002, 0.998, (200, 2))]
    for delta, alpha in settings:
        m = counts.clean_trials(delta, alpha)
        assert critical_count(int(m), delta, alpha) >= 0
        assert m == 1 or critical_count(int(m) - 1, delta, alpha) < 0
    known = {0.2: 14, 0.1: 29, 0.05: 59, 0.01: 299}
    assert {delta: counts.clean_trials(delta, 0.05) for delta in known} == known
    assert [counts.clean_trials(delta, 0.1) for delta in (0.1, 0.05, 0.01)] == [22, 45, 230]
    assert counts.clean_trials(1e-9, 1e-12) == math.ceil(math.log(1e-12) / math.log1p(-1e-9))
    assert counts.clean_trials(0.0, 0.5) == counts.trials_for_averaging(0.0, 0.5) == math.inf
    assert counts.clean_trials(1e-300, 0.05) > 1e299


def test_averaging_begins_at_seven_fifths_of_the_clean_trials():
    for delta in np.linspace(0.003, 0.9, 50).tolist():
        least = Fraction(int(counts.clean_trials(delta, 0.05)))
        assert counts.trials_for_averaging(delta, 0.05) == math.ceil(least * Fraction(7, 5))


def test_one_full_fit_serves_all_removals_only_where_that_is_proved():
    each = counts.fits_per_trial
    assert [each(7), each(7, coupling="coupled"), each(7, exchangeable_bags=True)] == [14, 14, 14]
    assert each(7, True) == each(7, coupling="independent") == 8
    assert each(7, coupling="coupled", exchangeable_bags=True) == 8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: counts.n_trials(1, 10), "n must be a whole number >= 2, got 1"),
        (lambda: counts.n_trials(2.5, 10), "n must be a whole number >= 2, got 2.5"),
        (lambda: counts.n_trials(2, -1), "n_labeled must be a whole number >= 0, got -1"),
        (lambda: counts.trials(2, 9, points=0), "points must be a whole number >= 1, got 0"),
        (lambda: counts.trials(2, 10**19), r"n_labeled must be below 2\*\*63"),
        (lambda: counts.taken(3, remove=3), "remove must be below n = 3, got 3"),
        (lambda: counts.test_row(2, 3, 4, 1), "k must be at most m = 3, got 4"),
        (lambda: counts.trials_missing(4, 9, 9, 5), "missing must be at most n = 4, got 5"),
        (lambda: counts.fits_per_trial(2, coupling="none"), "coupling must be 'shared'"),
        (lambda: counts.clean_trials(1.0, 0.5), r"delta must be a number in \[0, 1\), got 1.0"),
    ],
)
def test_refusals_name_the_argument(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
