"""Numbers that are too small for a float are 0, also for whoever runs NumPy with errors raised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

import poise
from poise import theory

MANY = np.array([1, 50, 10**6])
GOAL = {"n": 200, "epsilon": 0.1, "delta": 0.1}

CALLS: dict[str, Callable[[], Any]] = {
    "power": lambda: theory.power(MANY, 0.1, np.array([0.0, 0.05, 0.0999]), 0.05),
    "pvalue": lambda: theory.pvalue(np.array([0, 5, 10**5]), 10**6, 0.1),
    "pvalue_unstable": lambda: theory.pvalue_unstable(np.array([0, 5, 10**6]), 10**6, 0.1),
    "critical_value": lambda: theory.critical_value(MANY, 0.1, 1e-12),
    "power_bound": lambda: theory.power_bound(
        10, 10**6, delta=0.5, delta_star=1e-300, alpha=1e-300
    ),
    "delta_hat": lambda: theory.delta_hat(np.array([0, 10**5]), 10**6, 1e-9),
    "delta_interval": lambda: theory.delta_interval(np.array([0, 10**5]), 10**6, 1e-9),
    "e_value": lambda: theory.e_value(np.array([0, 1000]), np.array([10**5, 1000]), 0.1),
    "confidence_sequence": lambda: theory.confidence_sequence([0, 10], [10**5, 100], 0.05),
    "holm": lambda: theory.holm([1e-320, 0.0, 1e-310]),
    "e_bh": lambda: theory.e_bh([5e-324, 100.0], 0.05),
    "holm_e_values": lambda: theory.holm_e_values([1e308, 0.0, 1.0], 0.05),
    "multiply_e_values": lambda: theory.multiply_e_values([1e-200, 1e-200, 5.0]),
    "too large a product": lambda: theory.multiply_e_values([1e200, 1e200]),
    "alpha_investing": lambda: theory.alpha_investing(np.ones(200), 1e-300),
    "profile_band": lambda: theory.profile_band(300, 0.05),
    "repeated_looks": lambda: theory.repeated_looks([100, 5000], 0.1, 0.05),
    "rao_blackwell": lambda: theory.rao_blackwell([0.5] * 3000, 0.1, 0.05),
    "all_in": lambda: theory.all_in([0.999] * 300, 0.1, 0.05),
    "bag_mad": lambda: theory.bag_mad(400, 100, 300),
    "bags_needed_chernoff": lambda: theory.choose_bags(**GOAL),
    "plan": lambda: poise.plan(n=100, delta=0.1, alpha=0.05, power=0.9).n_labeled,
}


@pytest.fixture
def errors_are_raised() -> Iterator[None]:
    with np.errstate(all="raise"):
        yield


@pytest.mark.parametrize("name", CALLS)
def test_the_value_is_the_same(name) -> None:
    with np.errstate(all="ignore"):
        expected = CALLS[name]()
    with np.errstate(all="raise"):
        found = CALLS[name]()
    np.testing.assert_equal(_plain(found), _plain(expected))


def _plain(value: Any) -> Any:
    return value if isinstance(value, (list, tuple, float, int, np.ndarray)) else repr(value)


def test_far_shares_of_the_open_ended_process(errors_are_raised) -> None:
    evidence = theory.OpenEnded()
    for share in [0.5] * 200 + [0.0] * 5:
        evidence.update(share)
    assert np.isfinite(evidence.log_e_value(0.02))


def test_an_algorithm_is_made_stable(errors_are_raised) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.uniform(-1, 1, size=40)
    asked = {"n": 40, "epsilon": 1.0, "delta": 0.2, "bounds": (-1, 1)}
    made = poise.stabilize(DecisionTreeRegressor(max_depth=1), **asked).fit(X, y)
    assert np.isfinite(made.predict(X[:3])).all()
    assert np.geterr() == dict.fromkeys(np.geterr(), "raise")
