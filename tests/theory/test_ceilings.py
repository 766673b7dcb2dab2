"""The ceilings, row by row of the paper's theorems, and what must hold for all of them."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poise.errors import ArgumentError
from poise.theory.binomial import power
from poise.theory.ceilings import ceiling_large_epsilon, exponent, power_bound, which_ceiling
from poise.theory.counts import kappa, n_trials

SPACES = ["uncountable", "continuous", "countable", "unknown-support"]
MODELS = ["black-box", "transparent", "constrained", "linear"]
LABELED, ALL = Fraction(1000, 100), Fraction(1005, 101)
FINITE = {"features": "countable", "response": "countable"}

sizes, rows = st.integers(2, 1000), st.integers(0, 20_000)
deltas, levels = st.floats(0, 0.99), st.floats(1e-12, 0.99)
knowledge = st.fixed_dictionaries(
    {
        "features": st.sampled_from(SPACES),
        "response": st.sampled_from(SPACES),
        "models": st.sampled_from(MODELS),
    }
)


def by_formula(e, delta, delta_star, alpha):
    with mpmath.workdps(40):
        ratio = (1 - mpmath.mpf(delta_star)) / (1 - mpmath.mpf(delta))
        return float(min(1, alpha * ratio ** (mpmath.mpf(e.numerator) / e.denominator)))


@pytest.mark.parametrize(
    ("known", "e"),
    [
        ({}, min(LABELED, ALL)),
        ({"features": "unknown-support", "response": "unknown-support"}, min(LABELED, ALL)),
        ({"features": "countable"}, LABELED),
        ({"models": "transparent"}, LABELED),
        ({"models": "constrained"}, LABELED),
        ({"models": "linear", "features": "countable"}, LABELED),
        ({"response": "countable"}, ALL),
        (
            {"features": "continuous", "response": "countable", "models": "linear"},
            Fraction(1005, 100),
        ),
        (FINITE, None),
        ({**FINITE, "models": "transparent"}, None),
    ],
)
def test_exponent_for_each_state_of_knowledge(known, e):
    assert exponent(100, 1000, 5, **known) == e
    bound = power_bound(100, 1000, 5, delta=0.1, delta_star=0.03, alpha=0.05, **known)
    assert bound == pytest.approx(1.0 if e is None else by_formula(e, 0.1, 0.03, 0.05), rel=1e-12)


def atoms_may_spoil_it(known):
    """Whether x* may be the test point of a model that can be read, with nothing to change."""
    hidden = known["models"] == "black-box" or known["response"] != "countable"
    return not hidden and known["features"] in ("unknown-support", "uncountable")


@given(sizes, rows, rows, deltas, levels, st.floats(0, 1), knowledge)
def test_ceiling_equals_the_formula_at_40_digits(n, labeled, unlabeled, delta, alpha, share, known):
    truth = 0.0 if atoms_may_spoil_it(known) else share * delta
    e = exponent(n, labeled, unlabeled, **known)
    got = power_bound(n, labeled, unlabeled, delta=delta, delta_star=truth, alpha=alpha, **known)
    assert got == pytest.approx(1.0 if e is None else by_formula(e, delta, truth, alpha), rel=1e-10)


@given(sizes, rows, rows, deltas, levels, st.floats(0, 1), knowledge)
def test_the_binomial_test_never_exceeds_any_ceiling(
    n, labeled, unlabeled, delta, alpha, truth, known
):
    asked = {"delta": delta, "delta_star": truth, "alpha": alpha}
    ceiling = power_bound(n, labeled, unlabeled, **asked, **known)
    m = n_trials(n, labeled, unlabeled)
    assert power(m, delta, truth, alpha, randomized=True) <= ceiling * (1 + 1e-9)
    assert exponent(n, labeled, unlabeled) == kappa(n, labeled, unlabeled)


@given(sizes, rows, rows, deltas, levels, st.data())
def test_ceiling_is_monotone(n, labeled, unlabeled, delta, alpha, data):
    truth = data.draw(st.floats(0, delta))

    def bound(n=n, labeled=labeled, unlabeled=unlabeled, delta=delta, truth=truth, alpha=alpha):
        return power_bound(n, labeled, unlabeled, delta=delta, delta_star=truth, alpha=alpha)

    here, slack = bound(), 1 + 1e-12
    assert alpha <= here * slack
    assert here <= bound(labeled=labeled + data.draw(rows)) * slack
    assert here <= bound(unlabeled=unlabeled + data.draw(rows)) * slack
    assert bound(n=n + data.draw(sizes)) <= here * slack
    assert here <= bound(delta=data.draw(st.floats(delta, 0.999))) * slack
    assert bound(truth=data.draw(st.floats(truth, 1))) <= here * slack
    assert here <= bound(alpha=data.draw(st.floats(alpha, 0.999))) * slack


def test_the_numbers_of_the_paper():
    """κ = 22 and 30 at δ = δ* + .1 = α = .1 give .1 · .9^-22 = 1 and .6511 for a little less."""
    assert power_bound(2, 44, 100, delta=0.1, alpha=0.1) == 1.0
    assert power_bound(2, 42, 100, delta=0.1, alpha=0.1) == pytest.approx(0.1 * 0.9**-21)
    unstable = {"delta": 0.1, "alpha": 0.05}
    for known in ({}, FINITE):
        for truth in (0.2, 0.9, 1.0):  # a coin of probability α is valid, so none is lower
            assert power_bound(10, 95, delta_star=truth, **unstable, **known) == 0.05


@pytest.mark.parametrize("truth", [0.01, 0.06, 0.0999])
def test_a_readable_model_and_features_with_atoms(truth):
    """The trap at x* springs in training only: P(Δ > ε) = 1 − x^n + x^(n+1) δ* must exceed δ."""
    known = {"response": "countable", "models": "transparent", "delta": 0.1, "alpha": 0.05}
    got = power_bound(10, 20, 5, delta_star=truth, **known)
    with mpmath.workdps(40):
        x = mpmath.findroot(lambda y: y**10 * (1 - y * truth) - mpmath.mpf("0.9"), 0.99)
        assert got == pytest.approx(float(min(1, 0.05 * x**-25)), rel=1e-10)
    smaller = power_bound(10, 20, 5, delta_star=truth, features="continuous", **known)
    assert smaller == pytest.approx(by_formula(Fraction(25, 10), 0.1, truth, 0.05), rel=1e-12)
    assert smaller < got


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
        # A model that can be read needs no evaluation, so only training rows are paid for.
        ({**x, "train_budget": 1000, "models": "transparent"}, 0.05 * 0.9**-10.05 + 0.01),
    ]:
        assert power_bound(100, 1000, 5, **asked, **sizes_) == pytest.approx(bound, rel=1e-12)
    border = {**asked, **y, "train_budget": 1000}
    assert power_bound(100, 1000, 5, **border, delta_star=0.1) == pytest.approx(0.06)
    assert power_bound(100, 1000, 5, **border, delta_star=0.11) == 0.05


def test_scalars_give_python_numbers_and_arrays_broadcast():
    assert type(power_bound(10, 95, delta=0.1, alpha=0.05)) is float
    grid = power_bound([[10], [20]], 95, delta=[0.1, 0.2, 0.3], alpha=0.05)
    assert grid.shape == (2, 3)
    assert grid[1, 2] == power_bound(20, 95, delta=0.3, alpha=0.05)


def test_theorem_h_says_which_ceiling_holds():
    """(i) below half of what outputs can move, (ii) below all of it, (iii) no change is larger."""
    cases = {
        ("interval", 0.5, 2.0, 2): "unchanged",
        ("interval", 1.0, 2.0, 2): "large-epsilon",
        ("interval", 2.0, 2.0, 2): "always-stable",
        ("probabilities", 0.6, 1.0, 3): "unchanged",
        ("probabilities", 0.6, 1.0, 2): "large-epsilon",
        ("probabilities", 1.0, 1.0, 9): "always-stable",
        ("labels", 0.5, 1.0, 3): "unchanged",
        ("labels", 0.0, 1.0, 2): "large-epsilon",
        ("labels", 1.0, 1.0, 3): "always-stable",
    }
    for (outputs, epsilon, width, classes), part in cases.items():
        assert which_ceiling(epsilon, outputs, width=width, n_classes=classes) == part


@given(st.integers(2, 200), rows, deltas, levels, st.floats(0, 1))
def test_the_root_of_theorem_h(n, labeled, delta, alpha, share):
    truth = share * delta
    got = ceiling_large_epsilon(n, labeled, delta, truth, alpha)
    assert alpha * (1 - 1e-12) <= got <= 1
    # A weaker ceiling than Theorem 2's, and the same trap with n − 1 rows where δ* is 0.
    assert got >= power_bound(n, labeled, 10**9, delta=delta, delta_star=truth, alpha=alpha) - 1e-9
    clean = ceiling_large_epsilon(n, labeled, delta, 0.0, alpha)
    assert clean == pytest.approx(by_formula(Fraction(labeled, n - 1), delta, 0.0, alpha), rel=1e-9)
    if alpha < got < 1 and labeled:
        log_x = (math.log(alpha) - math.log(got)) / labeled
        assert (n - 1) * log_x + math.log1p(-truth * math.exp(log_x)) == pytest.approx(
            math.log1p(-delta), abs=1e-9 * n
        )


def test_theorem_h_at_its_ends():
    assert ceiling_large_epsilon(10, 50, 0.9, 0.9, 0.05) == pytest.approx(0.05)  # x = 1
    assert ceiling_large_epsilon(10, 50, 0.1, 0.3, 0.05) == 0.05
    assert ceiling_large_epsilon(10, 50, 0.0, 0.0, 0.05) == pytest.approx(0.05)
    for n, delta, truth in [(10, 0.1, 1e-300), (24, 0.546875, 5e-255), (3, 2e-209, 8e-210)]:
        assert ceiling_large_epsilon(n, 50, delta, truth, 0.05) >= 0.05
    with np.errstate(all="raise"):
        power_bound(2, 10**15, delta=0.99, delta_star=[0.0, 1e-300], alpha=1e-12)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"models": "glass"}, "models must be 'black-box', .*got 'glass'"),
        ({"features": "finite"}, "features must be .*got 'finite'"),
        ({"delta_star": -0.1}, r"delta_star must be a number in \[0, 1\], got -0.1"),
        ({"n_response_values": 9}, "n_response_values needs response='countable'"),
        ({"response": "countable", "n_response_values": 9}, "train_budget must be given"),
        (
            {"features": "countable", "n_feature_values": 9, "train_budget": 5},
            "eval_budget must be given",
        ),
        (
            {"response": "countable", "n_response_values": 0, "train_budget": 5},
            "n_response_values must be at least 1, got 0",
        ),
    ],
)
def test_arguments_out_of_range_are_named(changed, message):
    with pytest.raises(ArgumentError, match=message):
        power_bound(**{"n": 10, "n_labeled": 95, "delta": 0.1, "alpha": 0.05, **changed})
