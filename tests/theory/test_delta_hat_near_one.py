"""δ̂ where nearly every trial exceeded, against closed forms that hold there."""

from __future__ import annotations

import math

import numpy as np
import pytest

from poise.theory import delta_hat

TRIALS = [1, 2, 30, 1000, 10**6, 10**9]


@pytest.mark.parametrize("m", TRIALS)
@pytest.mark.parametrize("alpha", [1e-12, 0.05, 0.5, 0.999])
def test_all_but_one(m, alpha) -> None:
    """P(Bin(m, δ) ≤ m − 1) = 1 − δ^m = α gives δ̂ = (1 − α)^(1/m)."""
    if m == 1:
        assert delta_hat(0, 1, alpha) == pytest.approx(1 - alpha, rel=1e-12)
        return
    found = delta_hat(m - 1, m, alpha)
    assert found == pytest.approx((1 - alpha) ** (1 / m), rel=1e-12)
    # What is left below 1 has digits of its own, as far as a double near 1 can hold them.
    left = -math.expm1(math.log1p(-alpha) / m)
    assert 1 - found == pytest.approx(left, rel=1e-8, abs=2e-16)
    assert found < 1 or left < 2e-16


@pytest.mark.parametrize("m", TRIALS)
@pytest.mark.parametrize("alpha", [1e-6, 0.05, 0.5])
def test_all_of_them(m, alpha) -> None:
    """P(Bin < m) + ζδ^m = 1 − (1 − ζ)δ^m = α gives ((1 − α)/(1 − ζ))^(1/m) for ζ ≤ α, else 1."""
    assert delta_hat(m, m, alpha) == 1.0
    assert delta_hat(m, m, alpha, zeta=math.nextafter(alpha, 1)) == 1.0
    for share in (0.0, 0.3, 0.9):
        zeta = share * alpha
        expected = ((1 - alpha) / (1 - zeta)) ** (1 / m)
        assert delta_hat(m, m, alpha, zeta=zeta) == pytest.approx(expected, rel=1e-12)


def test_it_rises_to_one_and_never_beyond() -> None:
    found = delta_hat(np.arange(1001), 1000, 0.05)
    assert (np.diff(found) > 0).all()
    assert found[-1] == 1.0
    assert found[-2] == pytest.approx(0.95 ** (1 / 1000), rel=1e-12)
    assert (delta_hat(np.arange(1001), 1000, 0.05, zeta=0.5) <= found).all()
