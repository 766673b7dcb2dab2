"""Bands that are asked only where δ̂ is small."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from poise.errors import ArgumentError
from poise.theory import (
    delta_hat,
    local_level,
    order_cover,
    profile_band,
    restricted_band,
    restricted_limits,
    restricted_size,
)


def cover_by_counting(limits: np.ndarray, m: int) -> float:
    """P(V_(j) ≤ u_j for j ≤ J): the counts below u_1, u_2, … step by Binomial laws."""
    alive, before = {0: 1.0}, 0.0
    for j, limit in enumerate(limits, 1):
        after: dict[int, float] = {}
        for count, chance in alive.items():
            for more in range(m - count + 1):
                if count + more >= j:
                    step = binom.pmf(more, m - count, (limit - before) / (1 - before))
                    after[count + more] = after.get(count + more, 0.0) + chance * step
        alive, before = after, limit
    return math.fsum(alive.values())


@pytest.mark.parametrize(("m", "J"), [(1, 1), (6, 3), (12, 12), (25, 4)])
def test_the_cover_by_counting(m, J) -> None:
    limits = np.sort(np.random.default_rng(m).random(J)) * 0.9
    assert order_cover(limits, m) == pytest.approx(cover_by_counting(limits, m), rel=1e-9)


@pytest.mark.parametrize(("m", "J", "alpha"), [(12, 5, 0.1), (25, 3, 0.3)])
def test_the_band_covers_exactly(m, J, alpha) -> None:
    band = restricted_band(m, alpha, J)
    assert cover_by_counting(band.limits, m) == pytest.approx(1 - alpha, abs=1e-9)


@pytest.mark.parametrize(
    ("m", "full", "first", "last"),
    [(50, 0.1081, 0.0764, 0.1996), (200, 0.0308, 0.0229, 0.154)],
)
def test_known_figures(m, full, first, last) -> None:
    band = restricted_band(m, 0.05, m // 10)
    assert profile_band(m, 0.05)[0] == pytest.approx(full, abs=5e-5)
    assert band.limits[0] == pytest.approx(first, abs=5e-5)
    assert band.limits[-1] == pytest.approx(last, abs=5e-4)


def test_the_ends() -> None:
    assert restricted_band(20, 0.1, 1).limits[0] == pytest.approx(delta_hat(0, 20, 0.1))
    assert restricted_band(20, 0.1, 20).gamma == pytest.approx(local_level(20, 0.1), rel=1e-8)


def test_the_number_of_limits_is_the_largest_that_fits() -> None:
    size = restricted_size(40, 0.1, 0.25)
    assert restricted_band(40, 0.1, size).limits[-1] <= 0.25
    assert restricted_band(40, 0.1, size + 1).limits[-1] > 0.25
    assert restricted_size(10, 0.05, 0.1) == 0
    assert restricted_size(0, 0.05, 0.5) == 0
    assert restricted_size(15, 0.1, 1.0) == 15


def test_limits_by_count() -> None:
    limits, size = restricted_limits(40, 0.1, 0.25), restricted_size(40, 0.1, 0.25)
    assert limits.shape == (41,)
    assert (limits[size:] == 1).all()
    assert (limits[:size] < profile_band(40, 0.1)[:size]).all()
    assert restricted_limits(10, 0.05, 0.1).tolist() == [1.0] * 11


def test_coverage_in_simulation() -> None:
    """Uniform changes, so δ*_ε = 1 − ε: wrong somewhere in at most α of 20,000 runs (1e-6)."""
    rng, m, alpha, runs = np.random.default_rng(0), 30, 0.2, 20_000
    limits = restricted_limits(m, alpha, 0.3)
    smallest = np.sort(rng.random((runs, m)), axis=1)  # δ* just before the j-th largest change
    wrong = (smallest > limits[:m]).any(axis=1).mean()
    error = 4.9 * math.sqrt(alpha * (1 - alpha) / runs)
    assert abs(wrong - alpha) <= error


def test_refusals() -> None:
    with pytest.raises(ArgumentError, match="J must be at most m = 5"):
        restricted_band(5, 0.1, 6)
    with pytest.raises(ArgumentError, match="limits must hold 1 to m = 2"):
        order_cover([0.1, 0.2, 0.3], 2)
