"""The steps of the plain test's power, and the curves that bound their peaks and troughs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.theory import critical_count
from poise.theory.binomial_law import pmf
from poise.theory.power_curve import PowerSteps


@pytest.mark.parametrize(("delta", "alpha"), [(0.5, 0.5), (0.5, 0.05), (0.1, 0.05), (0.97, 1e-9)])
def test_steps_start_where_the_critical_count_changes(delta, alpha):
    starts = PowerSteps(delta, 0.0, alpha).starts(np.arange(40))
    counts = critical_count(np.arange(starts[-1] + 1), delta, alpha)
    np.testing.assert_array_equal(starts, [np.argmax(counts >= c) for c in range(40)])


@given(st.floats(0.001, 0.98), st.floats(0, 0.9999), st.floats(1e-9, 0.98))
@settings(max_examples=60, deadline=None)
def test_smooth_troughs_rise_and_lie_below_the_true_ones(delta, ratio, alpha):
    """What the search relies on when it says that the requirement holds for good."""
    steps, counts = PowerSteps(delta, ratio * delta, alpha), np.arange(200)
    smooth = steps.smooth_troughs(counts)
    assert (np.diff(smooth) > -1e-12).all()
    assert (smooth <= steps.troughs(counts) + 1e-12).all()


@pytest.mark.parametrize(
    ("delta", "delta_star", "first"),
    [
        (0.5, 0.4999, 10**6),
        (0.5, 0.495, 210_000),
        (0.95, 0.949, 2_100_000),
        (0.1, 0.099, 112_000),
        (0.1, 0.0985, 112_000),
        (0.5, 0.49999, 10**6),
    ],
)
def test_bounds_of_many_steps_enclose_each(delta, delta_star, first):
    steps = PowerSteps(delta, delta_star, 0.05)
    counts = np.arange(first, first + (2000 if first < 10**6 else 20_000))
    peaks, troughs = steps.peaks(counts), steps.troughs(counts)
    above, below = steps.peak_bounds(counts) - peaks, troughs - steps.trough_bounds(counts)
    assert (above >= 0).all()
    assert (below >= 0).all()
    # and they are worth having: mostly closer than a tenth of what one trial changes
    one_trial = delta_star * pmf(counts, steps.starts(counts), delta_star)
    assert np.median(above / one_trial) < 0.1
    assert np.median(below / one_trial) < 0.1
