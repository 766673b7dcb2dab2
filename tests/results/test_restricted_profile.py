"""Limits up to a δ that was fixed beforehand: sharper there, and silent elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from poise import Trials
from poise.errors import ArgumentError
from poise.theory import restricted_limits

CHANGES = np.linspace(0.0, 1.0, 60)


def test_the_limits_are_those_of_the_theory() -> None:
    profile = Trials.from_changes(CHANGES, n=5).profile(0.1, delta_max=0.2)
    limits = restricted_limits(60, 0.1, 0.2)
    np.testing.assert_array_equal(profile.delta_hat, limits[profile.exceedances])
    assert profile.simultaneous
    assert profile.band == "equal-local-levels up to 0.2"


def test_it_says_more_below_and_nothing_above() -> None:
    trials = Trials.from_changes(CHANGES, n=5)
    whole, restricted = trials.profile(0.1), trials.profile(0.1, delta_max=0.2)
    said = restricted.delta_hat < 1
    assert 0 < said.sum() < len(said)
    assert (restricted.delta_hat[said] < whole.delta_hat[said]).all()
    assert (restricted.delta_hat[said] <= 0.2).all()


def test_every_epsilon_is_covered_at_once() -> None:
    """δ*_ε = 1 − ε for uniform changes; 2,000 profiles, false alarm below 1e-6."""
    from scipy import stats

    rng, missed = np.random.default_rng(8), 0
    limits = restricted_limits(40, 0.1, 0.3)
    for changes in np.sort(rng.random((2000, 40)), axis=1):
        # The limit at a change holds up to the next one: it is tightest just at the change.
        above = 39 - np.arange(40)
        missed += bool((limits[above] < 1 - changes).any() or limits[40] < 1)
    assert stats.binom.sf(missed - 1, 2000, 0.1) > 1e-7
    assert stats.binom.cdf(missed, 2000, 0.1) > 1e-7  # and not too wide: exact


def test_trials_not_run_count_as_larger_changes() -> None:
    trials = Trials.from_changes(CHANGES, n=5)
    stopped = Trials(CHANGES[:50], trials.design)
    at = stopped.profile(0.1, delta_max=0.5).at(1.0)
    assert at == restricted_limits(60, 0.1, 0.5)[10]


@pytest.mark.parametrize("delta_max", [0.0, 1.5, -1, "small"])
def test_what_is_no_probability_is_refused(delta_max) -> None:
    with pytest.raises(ArgumentError, match="delta_max must be"):
        Trials.from_changes(CHANGES, n=5).profile(delta_max=delta_max)


def test_other_bands_have_no_such_form() -> None:
    with pytest.raises(ArgumentError, match="delta_max needs band='equal-local-levels'"):
        Trials.from_changes(CHANGES, n=5).profile(band="ks", delta_max=0.1)
    several = Trials.from_changes(CHANGES.reshape(20, 1, 3), n=5)
    with pytest.raises(ArgumentError, match="delta_max must be None for trials of several changes"):
        several.profile(delta_max=0.1)
