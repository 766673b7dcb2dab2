"""The change that a trial exceeds in at most a tolerated share of its changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import ArgumentError
from poise.theory.tolerated_share import least_trials, tolerated_change

CHANGES = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, np.inf, np.nan]), min_size=1, max_size=9)


@given(CHANGES, st.sampled_from([0.0, 0.1, 0.2, 0.29, 1 / 3, 0.5, 0.7, 0.99]), st.booleans())
def test_it_exceeds_epsilon_iff_the_share_exceeds_gamma(changes, gamma, failures) -> None:
    from fractions import Fraction

    tolerated = Fraction(str(gamma)) if gamma != 1 / 3 else Fraction(1, 3)
    for epsilon in (0.0, 0.1, 0.15, 0.2, 0.3):
        larger = sum(np.isnan(c) if np.isnan(c) and failures else c > epsilon for c in changes)
        found = tolerated_change([changes], gamma, failures_exceed=failures)[0]
        assert (found > epsilon) == (Fraction(int(larger), len(changes)) > tolerated)


def test_decimals_mean_what_they_say() -> None:
    changes = np.arange(100.0)[None]
    assert tolerated_change(changes, 0.29)[0] == 70.0  # 0.29 * 100 is 28.99… in doubles
    assert tolerated_change(changes, 0.0)[0] == 99.0


@pytest.mark.parametrize("changes", [[0.1, 0.2], np.empty((3, 0))])
def test_other_shapes_are_refused(changes) -> None:
    with pytest.raises(ArgumentError, match="must have shape"):
        tolerated_change(changes, 0.1)


@pytest.mark.parametrize("delta", [0.01, 0.05, 0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1, 0.5, 0.25])
def test_least_trials(delta, alpha) -> None:
    m = least_trials(delta, alpha)
    assert (1 - delta) ** m <= alpha * (1 + 1e-9)
    assert m == 1 or (1 - delta) ** (m - 1) > alpha * (1 - 1e-9)
