"""The ceilings of spec and paper, row by row, and what must hold for all of them."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.errors import ArgumentError
from poise.theory import exponent, kappa, n_trials, power, power_bound

# The first call imports scipy, and machines differ: no test case is timed.
untimed = settings(deadline=None)

sizes = st.integers(2, 1000)
rows = st.integers(0, 20_000)
deltas = st.floats(0, 0.99)
levels = st.floats(1e-12, 0.99)
SPACES = ["continuous", "countable", "unknown-support"]
MODELS = ["black-box", "transparent", "constrained", "linear"]
knowledge = st.fixed_dictionaries(
    {
        "features": st.sampled_from(SPACES),
        "response": st.sampled_from(SPACES),
        "models": st.sampled_from(MODELS),
    }
)


def by_formula(e: Fraction, delta: float, delta_star: float, alpha: float) -> float:
    with mpmath.workdps(40):
        ratio = (1 - mpmath.mpf(delta_star)) / (1 - mpmath.mpf(delta))
        return float(min(1, alpha * ratio ** (mpmath.mpf(e.numerator) / e.denominator)))


LABELED, ALL = Fraction(1000, 100), Fraction(1005, 101)


@pytest.mark.parametrize(
    ("known", "e"),
    [
        ({}, min(LABELED, ALL)),
        ({"features": "unknown-support", "response": "unknown-support"}, min(LABELED, ALL)),
        ({"features": "countable"}, LABELED),
        ({"models": "transparent"}, LABELED),
        ({"models": "constrained"}, LABELED),
        ({"models": "linear"}, LABELED),
        ({"features": "countable", "models": "transparent"}, LABELED),
        ({"response": "countable"}, ALL),
        (
            {"features": "continuous", "response": "countable", "models": "transparent"},
            Fraction(1005, 100),
        ),
        ({"features": "continuous", "response": "continuous"}, min(LABELED, ALL)),
        ({"features": "countable", "response": "countable"}, None),
        ({"features": "countable", "response": "countable", "models": "transparent"}, None),
    ],
)
def test_exponent_for_each_state_of_knowledge(known, e):
    assert exponent(100, 1000, 5, **known) == e
    bound = power_bound(100, 1000, 5, delta=0.1, delta_star=0.03, alpha=0.05, **known)
    assert bound == pytest.approx(1.0 if e is None else by_formula(e, 0.1, 0.03, 0.05), rel=1e-12)


def atoms_may_spoil_it(known) -> bool:
    """Whether x* may be the test point of a model that can be read, with nothing to change."""
    hidden = known["models"] == "black-box" or known["response"] != "countable"
    return not hidden and known["features"] == "unknown-support"


@untimed
@given(sizes, rows, rows, deltas, levels, st.floats(0, 1), knowledge)
def test_ceiling_equals_the_formula_at_40_digits(n, labeled, unlabeled, delta, alpha, share, known):
    truth = 0.0 if atoms_may_spoil_it(known) else share * delta
    e = exponent(n, labeled, unlabeled, **known)
    got = power_bound(n, labeled, unlabeled, delta=delta, delta_star=truth, alpha=alpha, **known)
    assert got == pytest.approx(1.0 if e is None else by_formula(e, delta, truth, alpha), rel=1e-10)


@pytest.mark.parametrize("truth", [0.01, 0.06, 0.0999])
def test_a_readable_model_and_features_with_atoms(truth) -> None:
    """The trap at x* springs in training only: P(Δ > ε) = 1 − x^n + x^(n+1) δ* must exceed δ."""
    n, everything, delta, alpha = 10, 25, 0.1, 0.05
    known = {"response": "countable", "models": "transparent"}
    settings = {"delta": delta, "delta_star": truth, "alpha": alpha, **known}
    got = power_bound(n, 20, 5, **settings)
    with mpmath.workdps(40):
        x = mpmath.findroot(lambda y: y**n * (1 - y * truth) - (1 - delta), 0.99)
        assert got == pytest.approx(float(min(1, alpha * x**-everything)), rel=1e-10)
    continuous = power_bound(n, 20, 5, **settings, features="continuous")
    assert continuous == pytest.approx(by_formula(Fraction(25, 10), delta, truth, alpha), rel=1e-12)
    assert continuous < got
    assert power_bound(n, 20, 5, **settings | {"delta_star": 0.0}) == pytest.approx(
        by_formula(Fraction(25, 10), delta, 0.0, alpha), rel=1e-12
    )


@untimed
@given(sizes, rows, rows, deltas, levels, st.floats(0, 1), knowledge)
def test_the_binomial_test_never_exceeds_any_ceiling(
    n, labeled, unlabeled, delta, alpha, truth, known
):
    m = n_trials(n, labeled, unlabeled)
    ceiling = power_bound(
        n, labeled, unlabeled, delta=delta, delta_star=truth, alpha=alpha, **known
    )
    assert power(m, delta, truth, alpha, True) <= ceiling * (1 + 1e-9)


@untimed
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


@untimed
@given(sizes, rows, rows)
def test_exponent_in_general_is_kappa(n, labeled, unlabeled):
    assert exponent(n, labeled, unlabeled) == kappa(n, labeled, unlabeled)


@pytest.mark.parametrize("known", [{}, {"features": "countable", "response": "countable"}])
@pytest.mark.parametrize("delta_star", [0.2, 0.9, 1.0])
def test_an_unstable_triple_is_limited_by_validity(known, delta_star):
    """Tossing a coin declares stability with probability α, so no lower ceiling is true."""
    assert power_bound(10, 95, delta=0.1, delta_star=delta_star, alpha=0.05, **known) == 0.05


FINITE = {"features": "countable", "response": "countable", "delta": 0.1, "alpha": 0.05}


def test_budgets_by_hand():
    label = 0.05 * 0.9**-10
    point = 0.05 * 0.9 ** -(1005 / 101)
    budget = {"train_budget": 1000, "eval_budget": 500}
    got = power_bound(100, 1000, 5, **FINITE, n_response_values=10**5, **budget)
    assert got == pytest.approx(label + 0.01, rel=1e-12)
    got = power_bound(100, 1000, 5, **FINITE, n_feature_values=10**5, **budget)
    assert got == pytest.approx(point + 0.015, rel=1e-12)
    both = {"n_feature_values": 10**5, "n_response_values": 10**5}
    got = power_bound(100, 1000, 5, **FINITE, **both, **budget)
    assert got == pytest.approx(min(label + 0.01, point + 0.015), rel=1e-12)


def test_budgets_at_their_limits():
    small = {"n_response_values": 2, "train_budget": 1000}
    assert power_bound(100, 1000, 5, **FINITE, **small) == 1.0
    endless = {"n_response_values": math.inf, "train_budget": 10**9}
    got = power_bound(100, 1000, 5, **FINITE, **endless)
    assert got == pytest.approx(0.05 * 0.9**-10, rel=1e-12)
    # A model that can be read needs no evaluation, so only training rows are paid for.
    readable = {"n_feature_values": 10**5, "train_budget": 1000, "models": "transparent"}
    got = power_bound(100, 1000, 5, **FINITE, **readable)
    assert got == pytest.approx(0.05 * 0.9**-10.05 + 0.01, rel=1e-12)


def test_the_leak_counts_at_the_border_of_stability_and_not_beyond():
    finite = {**FINITE, "n_response_values": 10**5, "train_budget": 1000}
    assert power_bound(100, 1000, 5, **finite, delta_star=0.1) == pytest.approx(0.06, rel=1e-12)
    assert power_bound(100, 1000, 5, **finite, delta_star=0.11) == 0.05


def test_scalars_give_python_numbers_and_arrays_broadcast():
    assert type(power_bound(10, 95, delta=0.1, alpha=0.05)) is float
    grid = power_bound([[10], [20]], 95, delta=[0.1, 0.2, 0.3], alpha=0.05)
    assert grid.shape == (2, 3)
    assert grid[1, 2] == power_bound(20, 95, delta=0.3, alpha=0.05)
    known = {"features": "countable", "response": "countable"}
    assert power_bound([[10], [20]], 95, delta=[0.1, 0.2], alpha=0.05, **known).tolist() == [
        [1.0, 1.0],
        [1.0, 1.0],
    ]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"models": "glass"}, "models must be one of 'black-box', .*got 'glass'"),
        ({"features": "finite"}, "features must be one of .*got 'finite'"),
        ({"response": "finite"}, "response must be one of .*got 'finite'"),
        ({"delta": 1.0}, r"delta must be in \[0, 1\), got 1.0"),
        ({"delta_star": -0.1}, r"delta_star must be in \[0, 1\], got -0.1"),
        ({"n": 1}, "n must be a whole number >= 2, got 1"),
        ({"n_response_values": 9}, "n_response_values needs response='countable'"),
        (
            {"response": "countable", "n_response_values": 9},
            "train_budget must be given, got None",
        ),
        (
            {"features": "countable", "n_feature_values": 9, "train_budget": 5},
            "eval_budget must be given, got None",
        ),
        (
            {"response": "countable", "n_response_values": 0, "train_budget": 5},
            "n_response_values must be at least 1, got 0",
        ),
        (
            {"response": "countable", "n_response_values": 9, "train_budget": -5},
            "train_budget must be a whole number >= 0, got -5",
        ),
    ],
)
def test_arguments_out_of_range_are_named(changed, message):
    arguments = {"n": 10, "n_labeled": 95, "delta": 0.1, "alpha": 0.05, **changed}
    with pytest.raises(ArgumentError, match=message):
        power_bound(**arguments)
