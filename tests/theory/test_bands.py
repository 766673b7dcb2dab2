"""Bands: coverage in rational arithmetic, restricted bands."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from poise.theory import bands


def exact_cover(u: list[float], m: int) -> float:
    """P(V_(j) <= u_j for all j) of m uniforms: N(u_j) >= j, cell by cell."""
    before, so_far = {0: Fraction(1)}, Fraction(0)
    for j, limit in enumerate(map(Fraction, u), start=1):
        share = (limit - so_far) / (1 - so_far) if so_far < 1 else Fraction(0)
        after: dict[int, Fraction] = {}
        for count, mass in before.items():
            rest = m - count
            for more in range(max(j - count, 0), rest + 1):
                step = math.comb(rest, more) * share**more * (1 - share) ** (rest - more)
                after[count + more] = after.get(count + more, Fraction(0)) + mass * step
        before, so_far = after, limit
    return float(sum(before.values()))


def test_the_cover_is_exact_however_small():
    rng = np.random.default_rng(0)
    for m, size in ((1, 1), (2, 2), (6, 6), (7, 3), (12, 12)):
        for shrink in (1.0, 0.1):
            u = np.minimum(np.sort(rng.random(size)) * shrink, 1.0)
            everywhere = np.concatenate([u, np.ones(m - size)])
            crossed, stayed = bands.crossing_probability(everywhere, 1 - everywhere)
            exact = exact_cover(u.tolist(), m)
            assert stayed == pytest.approx(exact, rel=1e-10)
            assert crossed == pytest.approx(1 - exact, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.01, 0.5, 0.97])
def test_bands_fail_with_probability_alpha(alpha):
    for m in (1, 2, 9, 16):
        band = bands.profile_band(m, alpha)
        assert 1 - exact_cover(band[:-1].tolist(), m) == pytest.approx(alpha, rel=1e-8)
        assert band[-1] == 1
    assert bands.profile_band(0, alpha).tolist() == [1]


def test_restricted_bands_hold_and_are_as_long_as_they_can_be():
    for m, alpha, size in ((1, 0.1, 1), (12, 0.1, 1), (12, 0.1, 5), (12, 0.3, 12)):
        band = bands.restricted_band(m, alpha, size)
        assert 1 - exact_cover(band.limits.tolist(), m) == pytest.approx(alpha, rel=1e-9)
    for m, alpha in ((23, 0.1), (8, 0.4)):
        each = [bands.restricted_band(m, alpha, size).limits for size in range(1, m + 1)]
        for size in (0, 1, 5, m - 1, m):
            top = each[size - 1][-1] if size else each[0][0] / 2
            found = bands.restricted_limits(m, alpha, top)
            assert (np.count_nonzero(found < 1), found.size) == (size, m + 1)
            assert not size or found[:size].tolist() == each[size - 1].tolist()
