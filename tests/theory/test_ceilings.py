"""The ceilings, row by row of the paper's theorems, and what must hold for all of them."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from poise.theory.ceilings import ceiling_large_epsilon, power_bound, share_ceiling

FINITE = {"features": "countable", "response": "countable"}


def test_the_numbers_of_the_paper():
    """κ = 22 at δ = α = .1 gives .1 · .9^-22 = 1, and κ = 21 a little less."""
    assert power_bound(2, 44, 100, delta=0.1, alpha=0.1) == 1.0
    assert power_bound(2, 42, 100, delta=0.1, alpha=0.1) == pytest.approx(0.1 * 0.9**-21)
    for known in ({}, FINITE):
        for truth in (0.2, 1.0):  # a coin of probability α is valid, so none is lower
            assert power_bound(10, 95, delta_star=truth, delta=0.1, alpha=0.05, **known) == 0.05
    grid = power_bound([[10], [20]], 95, delta=[0.1, 0.2, 0.3], alpha=0.05)
    assert grid[1].tolist() == [power_bound(20, 95, delta=d, alpha=0.05) for d in (0.1, 0.2, 0.3)]
    assert share_ceiling(22, 0.1, 0.0, 0.1) == pytest.approx(
        power_bound(5, 110, 22, delta=0.1, alpha=0.1)
    )
    with np.errstate(all="raise"):
        power_bound(2, 10**15, delta=0.99, delta_star=[0.0, 1e-300], alpha=1e-12)
        assert ceiling_large_epsilon(3, 50, 2e-209, 8e-210, 0.05) >= 0.05


@pytest.mark.parametrize("truth", [0.01, 0.06, 0.0999])
def test_a_readable_model_and_features_with_atoms(truth):
    """The trap at x* springs in training only: P(Δ > ε) = 1 − x^n + x^(n+1) δ* must exceed δ."""
    known = {"response": "countable", "models": "transparent", "delta": 0.1, "alpha": 0.05}
    got = power_bound(10, 20, 5, delta_star=truth, **known)
    with mpmath.workdps(40):
        x = mpmath.findroot(lambda y: y**10 * (1 - y * truth) - mpmath.mpf("0.9"), 0.99)
        assert got == pytest.approx(float(min(1, 0.05 * x**-25)), rel=1e-10)
    bound = power_bound(10, 20, 5, delta_star=truth, features="continuous", **known)
    assert bound == pytest.approx(0.05 * ((1 - truth) / 0.9) ** 2.5, rel=1e-12)
    assert bound < got


def test_budgets_by_hand():
    asked = {**FINITE, "delta": 0.1, "alpha": 0.05}
    label, point = 0.05 * 0.9**-10, 0.05 * 0.9 ** -(1005 / 101)
    budget = {"train_budget": 1000, "eval_budget": 500}
    y, x = {"n_response_values": 10**5}, {"n_feature_values": 10**5}
    for sizes_, bound in [
        ({**y, **budget}, label + 0.01),
        ({**x, **budget}, point + 0.015),
        ({**x, **y, **budget}, min(label + 0.01, point + 0.015)),
        ({"n_response_values": 2, "train_budget": 1000}, 1.0),
        ({"n_response_values": math.inf, "train_budget": 10**9}, label),
        ({**x, **y}, 1.0),  # without a budget a test can try them all
        ({**x, "train_budget": 1000}, 1.0),
        # A model that can be read needs no evaluation, so only training rows are paid for.
        ({**x, "train_budget": 1000, "models": "transparent"}, 0.05 * 0.9**-10.05 + 0.01),
    ]:
        assert power_bound(100, 1000, 5, **asked, **sizes_) == pytest.approx(bound, rel=1e-12)
    border = {**asked, **y, "train_budget": 1000}
    assert power_bound(100, 1000, 5, **border, delta_star=0.1) == pytest.approx(0.06)
    assert power_bound(100, 1000, 5, **border, delta_star=0.11) == 0.05
