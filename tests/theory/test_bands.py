"""Bands: coverage in rational arithmetic, known figures, ties, restricted bands."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from poise.errors import ArgumentError
from poise.theory import bands, limits


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
            exact = exact_cover(u.tolist(), m)
            assert bands.order_cover(u, m) == pytest.approx(exact, rel=1e-10)
            everywhere = np.concatenate([u, np.ones(m - size)])
            crossed, stayed = bands.crossing_probability(everywhere, 1 - everywhere)
            assert crossed + stayed == pytest.approx(1, rel=1e-12)
            assert crossed == pytest.approx(1 - exact, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.5, 0.97])
def test_bands_fail_with_probability_alpha(alpha):
    for m in (1, 2, 9, 20):
        for kind in ("equal-local-levels", "ks"):
            band = bands.profile_band(m, alpha, kind)
            assert 1 - exact_cover(band[:-1].tolist(), m) == pytest.approx(alpha, rel=1e-8)
            assert band[-1] == 1
            assert (np.diff(band) >= 0).all()
        if alpha <= 0.5:
            assert 1 - exact_cover(bands.profile_band(m, alpha, "dkw")[:-1].tolist(), m) <= alpha
        pointwise = bands.profile_band(m, alpha, "pointwise")
        expected = limits.delta_hat(np.arange(m + 1), m, alpha)
        np.testing.assert_allclose(pointwise, expected, rtol=1e-12)


def test_known_figures():
    for m, gamma, at_0 in ((10, 0.0176, 0.332), (22, 0.0112, 0.185), (50, 0.0076, 0.093)):
        assert bands.local_level(m, 0.1) == pytest.approx(gamma, abs=5e-5)
        assert bands.profile_band(m, 0.1)[0] == pytest.approx(at_0, abs=5e-4)
    for m, full, at_0, last in ((50, 0.1081, 0.0764, 0.1996), (200, 0.0308, 0.0229, 0.154)):
        assert bands.profile_band(m, 0.05)[0] == pytest.approx(full, abs=5e-5)
        band = bands.restricted_band(m, 0.05, m // 10)
        assert band.limits[[0, -1]] == pytest.approx([at_0, last], abs=5e-4)
    assert bands.profile_band(0, 0.1).tolist() == [1]


@pytest.mark.parametrize("kind", ["equal-local-levels", "ks", "dkw"])
def test_a_band_holds_everywhere_also_with_ties(kind):
    m, alpha = 6, 0.2
    band = bands.profile_band(m, alpha, kind)
    for law in ([0.2, 0.3, 0.5], [0.85, 0.1, 0.05], [0.02, 0.9, 0.08], [0.5, 0.0, 0.5]):
        tails = 1 - np.cumsum(law)[:-1]  # P(Δ > 0), P(Δ > 1) for changes 0, 1, 2
        missed = 0.0
        for changes in itertools.product(range(3), repeat=m):
            exceeding = [sum(change > e for change in changes) for e in (0, 1)]
            if (band[exceeding] < tails).any():
                missed += math.prod(law[change] for change in changes)
        assert missed <= alpha


def test_restricted_bands_hold_and_are_as_long_as_they_can_be():
    for m, alpha, size in ((1, 0.1, 1), (12, 0.1, 1), (12, 0.1, 5), (12, 0.3, 12), (30, 0.05, 6)):
        band = bands.restricted_band(m, alpha, size)
        assert 1 - exact_cover(band.limits.tolist(), m) == pytest.approx(alpha, rel=1e-9)
    for m, alpha in ((23, 0.1), (8, 0.4)):
        each = [bands.restricted_band(m, alpha, size).limits for size in range(1, m + 1)]
        for size in range(0, m + 1, 3):
            top = each[size - 1][-1] if size else each[0][0] / 2
            found = bands.restricted_limits(m, alpha, top)
            assert np.count_nonzero(found < 1) == size
            assert found.size == m + 1
            assert not size or found[:size].tolist() == each[size - 1].tolist()


def test_wrong_arguments_are_named():
    for call, message in (
        (lambda: bands.profile_band(10, 0.6, "dkw"), "alpha must be at most 0.5 .* kind='ks'"),
        (lambda: bands.profile_band(10, 0.1, "exact"), "kind must be 'equal-local-levels'"),
        (lambda: bands.restricted_band(5, 0.1, 6), "J must be at most m = 5, got 6"),
        (lambda: bands.order_cover([0.5, 0.4], 2), "limits must be .* never fall"),
        (lambda: bands.restricted_limits(5, 0.1, 2), "delta_max must be a number"),
    ):
        with pytest.raises(ArgumentError, match=message):
            call()
