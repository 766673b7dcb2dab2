"""The whole rule: rows for the test, rows for the fit, and what happens after a refusal."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import poise
from poise import theory
from poise.errors import ArgumentError, DataError, PoiseWarning
from poise.questions.intervals.certify_and_fit import certify_and_fit

# With so few rows no certificate can be as strong as jackknife+ without one.
pytestmark = pytest.mark.filterwarnings("ignore:with delta = 0.15 Theorem J allows")

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 2))
y = X @ [1.0, 2.0] + rng.normal(size=600)


def ruled(method="jackknife", epsilon=1.5):
    model = poise.JackknifeRegressor(Ridge(), method, 0.8, random_state=3)
    asked = {"epsilon": epsilon, "delta": 0.15, "alpha": 0.05}
    return certify_and_fit(model, X, y, n=20, asked=asked)


def test_rows_of_the_test_are_not_fitted():
    made = ruled()
    assert made.result.design.n_labeled == 580
    residuals, fitted = made.model.residuals_, made.model.estimator_
    train = np.sort(poise.Randomness.from_state(3).generator("fit or test").permutation(600)[:20])
    np.testing.assert_allclose(Ridge().fit(X[train], y[train]).coef_, fitted.coef_)
    assert len(residuals) == 20
    assert made.model.guarantee_.has_certificate
    assert made.rule == theory.rule_miss(20, 0.2, 0.15, 0.05, a_refused=0.2)


def test_after_a_refusal_it_is_jackknife_plus():
    made = ruled(epsilon=0.0)
    assert not made.result.stable
    assert made.model.certificate is None
    assert made.model.guarantee_.miss == pytest.approx(0.4)


def test_jackknife_plus_keeps_2a_either_way():
    assert ruled("plus").rule == ruled("plus", epsilon=0.0).rule == (0.4, 0.4)


@pytest.mark.filterwarnings("default")
def test_a_certificate_that_could_not_help_is_announced_before_the_test():
    """K = 4 of 21 ranks; 2a · 21 - 4 = 4.4 ranks are left: 12 pairs of 420, half for jackknife+."""
    for method, enough in (("jackknife", "0.02857"), ("plus", "0.01428")):
        with pytest.warns(PoiseWarning, match=f"helps only with delta below {enough} and alpha"):
            ruled(method)


def test_an_order_that_matters_is_refused_before_the_test():
    def first(X, y, seed):
        assert len(y) <= 10, "a fit of the test"
        return lambda rows: [float(y[0])] * len(rows)

    model = poise.JackknifeRegressor(first, "jackknife", 0.8, random_state=3)
    with pytest.raises(ArgumentError, match="order of the rows changes its predictions"):
        certify_and_fit(model, X, y, n=20, asked={"epsilon": 9.0, "delta": 0.1, "alpha": 0.05})


def test_the_test_needs_rows_of_its_own():
    model = poise.JackknifeRegressor(Ridge())
    with pytest.raises(DataError, match="n must be below the number of rows, 600, got 600"):
        certify_and_fit(model, X, y, n=600, asked={"epsilon": 1.0, "delta": 0.1, "alpha": 0.05})


def test_with_gamma_the_rows_that_are_fitted_are_tested():
    model = poise.JackknifeRegressor(Ridge(), "jackknife", 0.9, random_state=3)
    asked = {"epsilon": 0.8, "delta": 0.05, "alpha": 0.05, "gamma": 0.04}
    made = certify_and_fit(model, X[:240], y[:240], n=40, asked=asked)
    assert (made.result.notion, made.result.n, made.result.design.n_fresh) == ("jackknife", 40, 200)
    assert made.result.stable
    assert made.model.certificate is made.result
    assert made.model.guarantee_.miss == theory.certified_miss_given_data(0.1, 0.04, 0.05, 0.05)
    assert made.model.guarantee_.widening == 0.8
    assert made.rule == pytest.approx((0.39, 0.39))
    refused = certify_and_fit(model, X[:240], y[:240], n=40, asked={**asked, "epsilon": 0.0})
    assert not refused.result.stable
    assert refused.model.guarantee_.miss == pytest.approx(0.2)
    with pytest.raises(ArgumentError, match="gamma must be None for method='plus'"):
        certify_and_fit(model.set_params(method="plus"), X[:240], y[:240], n=40, asked=asked)


def test_what_gamma_could_help_is_said():
    model = poise.JackknifeRegressor(Ridge(), "jackknife", 0.9, random_state=3)
    asked = {"epsilon": 0.8, "delta": 0.05, "alpha": 0.05, "gamma": 0.1}
    with pytest.warns(PoiseWarning, match=r"gamma \+ max\(delta, alpha\) below 0.1"):
        certify_and_fit(model, X[:240], y[:240], n=40, asked=asked)
