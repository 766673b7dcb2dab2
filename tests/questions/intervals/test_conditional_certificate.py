"""Intervals that rest on a certificate about their own training set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone
from sklearn.linear_model import Ridge

import poise
from poise.errors import ArgumentError, PoiseWarning
from poise.questions.conditional.conditional_measurement import shared_term
from poise.results.verdict import Outcome
from shared.algorithms import mean
from shared.data import linear_rows

X, Y = linear_rows(140, [1.0, 2.0])
ASKED = {"notion": "jackknife", "epsilon": 0.3, "delta": 0.1, "random_state": 0}


def certified(**more):
    return poise.conditional_test(Ridge(), X[:40], Y[:40], X[40:], Y[40:], **(ASKED | more))


@pytest.fixture(scope="module")
def certificate():
    return certified(gamma=0.1)


def fit(certificate, rows=40, method="jackknife", estimator=Ridge()):  # noqa: B008
    model = poise.JackknifeRegressor(estimator, method, certificate=certificate)
    return model.fit(X[:rows], Y[:rows])


def test_the_promise_is_the_sum_and_intervals_are_widened_by_epsilon(certificate) -> None:
    model = fit(certificate)
    assert model.guarantee_.miss == pytest.approx(0.1 + 0.1 + max(0.1, 0.05))
    assert model.guarantee_.has_certificate
    assert "This training set is certified" in model.guarantee_.sentence
    half = np.sort(model.residuals_)[int(np.ceil(0.9 * 41)) - 1] + 0.3
    predictions, ends = model.predict_interval(X[40:])
    np.testing.assert_allclose(ends[:, 1] - predictions, half)
    assert clone(model).certificate == certificate


def test_all_fits_have_the_seed_of_the_certificate() -> None:
    seeds = []

    def noisy(X, y, seed):
        seeds.append(seed)
        level = float(np.mean(y))
        return lambda rows: np.full(len(rows), level)

    result = poise.conditional_test(
        noisy, X[:6], Y[:6], X[40:], Y[40:], **ASKED | {"epsilon": 9.0}, gamma=0.1
    )
    assert result.stable
    seeds.clear()
    fit(result, rows=6, estimator=noisy)
    assert set(seeds) == {result.design.training_seed}
    assert result.design.training_seed == shared_term(result.design.seed) >> 33


def test_other_certificates_are_refused(certificate) -> None:
    others = {
        "must have the verdict 'stable'": replace(certificate, verdict=Outcome.INCONCLUSIVE),
        "needs a tolerated share": certified(),
        "must be of notion='jackknife'": certified(notion="add-one", gamma=0.1),
        "measures changes by label": replace(
            certificate, design=replace(certificate.design, distance="label")
        ),
    }
    for message, other in others.items():
        with pytest.raises(ArgumentError, match=message):
            fit(other)
    with pytest.raises(ArgumentError, match="about other training rows"):
        fit(certificate, rows=39)
    with pytest.raises(ArgumentError, match="is for method='jackknife'"):
        fit(certificate, method="plus")
    with pytest.raises(ArgumentError, match=r"is about Ridge\(\), and the estimator"):
        fit(certificate, estimator=Ridge(2.0))
    with pytest.warns(PoiseWarning, match="the certificate has a warning"):
        fit(replace(certificate, warnings=("12 rows occur twice",)))


def test_certified_and_missed_is_rare() -> None:
    """At a = 0.25, γ = 0, δ = α = 0.1: at most 0.35; a false alarm once in a million."""
    rng, missed, stable, runs = np.random.default_rng(0), 0, 0, 40
    for seed in range(runs):
        y = rng.normal(size=8 + 24 + 1)
        rows = rng.normal(size=(33, 1))
        asked = {"epsilon": 0.5, "delta": 0.1, "alpha": 0.1, "gamma": 0.0, "random_state": seed}
        result = poise.conditional_test(
            mean, rows[:8], y[:8], rows[8:32], y[8:32], notion="jackknife", **asked
        )
        if result.stable:
            stable += 1
            model = poise.JackknifeRegressor(mean, "jackknife", 0.75, certificate=result)
            _, ends = model.fit(rows[:8], y[:8]).predict_interval(rows[32:])
            missed += not ends[0, 0] <= y[32] <= ends[0, 1]
    assert stable > runs / 2
    assert missed <= binom.isf(1e-6, runs, 0.35)
