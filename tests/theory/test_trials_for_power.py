"""Numbers of trials that meet a requirement, against the power of their neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from poise.theory import power
from poise.theory.trials_for_power import PlainPower, RandomizedPower


@pytest.mark.parametrize(
    ("delta", "delta_star", "alpha", "wanted"),
    [
        (0.1, 0.05, 0.05, 0.9),
        (0.01, 0.0099, 0.05, 0.9),  # 860,000 trials
        (0.5, 0.499, 0.05, 0.9),  # steps closer than the rounding of their starts
        (1e-6, 5e-7, 1e-6, 0.99),
        (1e-8, 9e-9, 1e-12, 0.5),  # 7e10 trials
    ],
)
def test_large_answers_are_locally_exact(delta, delta_star, alpha, wanted):
    """Too large for brute force, but its neighbourhood is not."""
    curve = PlainPower(delta, delta_star, alpha, wanted)
    first, dip, steady = curve.first, curve.next_missed(curve.first), curve.steady

    def plain(m):
        return power(m, delta, delta_star, alpha, randomized=False)

    assert plain(first) >= wanted > plain(first - 1)
    assert (plain(np.maximum(first - np.arange(1, 400), 0)) < wanted).all()
    assert plain(dip - 1) >= wanted > plain(dip)
    assert plain(steady) >= wanted > plain(steady - 1)
    assert (plain(steady + np.arange(400)) >= wanted).all()
    jumps = np.unique(np.geomspace(1, 10, 100) * steady).astype(np.int64)
    assert (plain(jumps) >= wanted).all()
    assert curve.next_met(dip) > dip
    ramp = RandomizedPower(delta, delta_star, alpha, wanted)
    randomised = power(ramp.first - np.arange(2), delta, delta_star, alpha, True)
    assert randomised[0] >= wanted > randomised[1]
    assert ramp.first <= first


@pytest.mark.parametrize(
    ("delta", "delta_star", "wanted"), [(0.1, 0.05, 0.5), (0.3, 0.1, 0.9), (0.5, 0.45, 0.3)]
)
def test_the_next_number_of_trials_that_meets_or_misses_from_anywhere(delta, delta_star, wanted):
    curve = PlainPower(delta, delta_star, 0.05, wanted)
    count = curve.steady + 3
    met = power(np.arange(count), delta, delta_star, 0.05, randomized=False) >= wanted
    for m in range(count):
        later = np.flatnonzero(~met[m:])
        assert curve.next_met(m) == m + int(met[m:].argmax())
        assert curve.next_missed(m) == (m + int(later[0]) if later.size else None)
