"""Rows, trials and fits: counted again by hand, in integers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np

from poise.theory import counts
from poise.theory.binomial import critical_count


def hold(m, n, labeled, unlabeled, points, fresh):
    """Whether rows hold m trials: training rows are labelled, test rows are what is left."""
    left = labeled - m * (n + fresh)
    return left >= 0 and left + unlabeled >= m * points


def test_trials_rows_sizes_and_points_are_what_the_split_allows():
    cases = product((2, 3, 7), (0, 1, 6, 40, 83), (0, 5, 30), (1, 2, 9), (0, 1, 3))
    for n, labeled, unlabeled, points, fresh in (case for case in cases if case[4] < case[0]):
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
        m = counts.trials(n, labeled, unlabeled, fresh=fresh)
        spare = counts.spare_points(n, labeled, unlabeled, fresh)
        assert spare >= 1
        assert m == 0 or hold(m, n, labeled, unlabeled, spare, fresh)
        assert m == 0 or not hold(m, n, labeled, unlabeled, spare + 1, fresh)


def test_no_float_counts_a_trial_that_is_not_there():
    """(N + 1) / n rounds up to a whole number in doubles: 3 · 10^17 of them."""
    n, m = 3, 10**17
    assert counts.n_trials(n, 4 * m - 1) == m - 1
    assert counts.n_trials(n, 4 * m) == m
    assert counts.kappa(n, 4 * m - 1) == Fraction(4 * m - 1, 4)
    assert counts.n_trials(2, 2**63 - 1) == (2**63 - 1) // 3


def test_clean_trials_are_where_the_test_can_first_accept():
    rng = np.random.default_rng(0)
    settings = [(0.5, 0.25), (0.1, 0.81), (0.2, 0.8), (0.19, 0.81), (0.1, 0.05), (0.9, 0.99)]
    settings += [(float(p), float(a)) for p, a in rng.uniform(0.002, 0.998, (100, 2))]
    for delta, alpha in settings:
        m = counts.clean_trials(delta, alpha)
        assert critical_count(int(m), delta, alpha) >= 0
        assert m == 1 or critical_count(int(m) - 1, delta, alpha) < 0
        assert counts.trials_for_averaging(delta, alpha) == math.ceil(m * Fraction(7, 5))
    for alpha, known in ((0.05, [14, 29, 59, 299]), (0.1, [11, 22, 45, 230])):
        assert [counts.clean_trials(delta, alpha) for delta in (0.2, 0.1, 0.05, 0.01)] == known
    assert counts.clean_trials(1e-9, 1e-12) == math.ceil(math.log(1e-12) / math.log1p(-1e-9))
    assert counts.clean_trials(0.0, 0.5) == counts.trials_for_averaging(0.0, 0.5) == math.inf
    assert counts.clean_trials(1e-300, 0.05) > 1e299
