"""Intervals by jackknife and jackknife+: the numbers, the promises, what is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import poise
from poise import theory
from poise.errors import ArgumentError, PoiseWarning

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 3))
y = X @ [1.0, -2.0, 0.5] + RNG.normal(size=40)
POINTS = RNG.normal(size=(15, 3))


def certificate(delta=0.005, **changed):
    """A verdict "stable" about Ridge(), without the thousands of trials that it takes."""
    trials = poise.Trials.from_changes([0.0] * 700, n=40)
    known = {"algorithm": "Ridge()", "order_free": True, **changed}
    return replace(trials, design=replace(trials.design, **known)).test(0.5, delta)


def by_hand(estimator):
    models = [clone(estimator).fit(np.delete(X, i, axis=0), np.delete(y, i)) for i in range(40)]
    residuals = np.array([abs(y[i] - m.predict(X[i : i + 1])[0]) for i, m in enumerate(models)])
    each = np.stack([m.predict(POINTS) for m in models], axis=1)
    return clone(estimator).fit(X, y).predict(POINTS), residuals, each


@pytest.mark.filterwarnings("ignore")  # the checks warn on purpose
def test_scikit_learn_accepts_it():
    results = check_estimator(poise.JackknifeRegressor(Ridge()), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}


@pytest.mark.parametrize(("level", "rank", "n_jobs"), [(0.8, 33, 1), (0.9, 37, 2)])  # ⌈41 level⌉
def test_jackknife_plus_is_its_definition(level, rank, n_jobs):
    full, residuals, each = by_hand(Ridge())
    low, high = np.sort(each - residuals), np.sort(each + residuals)
    model = poise.JackknifeRegressor(Ridge(), confidence_level=level, n_jobs=n_jobs).fit(X, y)
    predictions, intervals = model.predict_interval(POINTS)
    np.testing.assert_allclose(predictions, full)
    np.testing.assert_allclose(model.predict(POINTS), full)
    np.testing.assert_allclose(model.residuals_, residuals)
    np.testing.assert_allclose(intervals, np.stack([low[:, 41 - rank - 1], high[:, rank - 1]], 1))
    assert model.guarantee_.miss == pytest.approx(2 * (1 - level))


def test_certified_stability_widens_by_epsilon_or_twice_epsilon():
    full, residuals, each = by_hand(Ridge())
    known = certificate()
    plain = poise.JackknifeRegressor(Ridge(), "jackknife", 0.8, known).fit(X, y)
    half = np.sort(residuals)[32] + 0.5
    wanted = np.stack([full - half, full + half], axis=1)
    np.testing.assert_allclose(plain.predict_interval(POINTS)[1], wanted)
    assert plain.guarantee_.miss == theory.certified_miss(40, 0.2, 0.005, 0.05)
    plus = poise.JackknifeRegressor(Ridge(), "plus", 0.8, known).fit(X, y)
    ends = theory.jackknife_plus_ends(each, residuals, 0.2) + np.array([-1.0, 1.0])
    np.testing.assert_allclose(plus.predict_interval(POINTS)[1], ends)
    assert plus.guarantee_.coverage == 1 - theory.certified_miss(40, 0.2, 0.005, 0.05, plus=True)
    assert "widened by 1 on both sides" in str(plus.guarantee_)


def test_a_certificate_that_promises_less_is_not_used():
    model = poise.JackknifeRegressor(Ridge(), "plus", 0.9, certificate(delta=0.2)).fit(X, y)
    assert model.guarantee_.widening == 0
    assert model.guarantee_.miss == pytest.approx(0.2)
    assert "not used" in str(model.guarantee_)


def test_the_jackknife_without_a_certificate_is_jackknife_plus():
    with pytest.warns(PoiseWarning, match=r"jackknife\+ is used"):
        model = poise.JackknifeRegressor(Ridge(), "jackknife").fit(X, y)
    plus = poise.JackknifeRegressor(Ridge()).fit(X, y)
    np.testing.assert_array_equal(model.predict_interval(X)[1], plus.predict_interval(X)[1])


MANY = 28_700  # labelled rows, as many as these designs take for 700 trials
REFUSED = {
    'verdict is "inconclusive"': certificate(delta=0.001),
    "notion is without, not new": certificate(notion="without", n_labeled=0),
    "unit is group": certificate(n_groups=28_000, n_groups_unlabeled=700),
    "replace is True": certificate(replace=True, n_labeled=MANY),
    "compares is losses": certificate(compares="losses", n_labeled=MANY),
    "coupling is independent, not shared": certificate(coupling="independent"),
    "distance is total_variation": certificate(distance="total_variation"),
    "algorithm is Ridge(alpha=2.0), not Ridge()": certificate(algorithm="Ridge(alpha=2.0)"),
    "n is 41, not 40": certificate(n=41, n_labeled=MANY),
    "order of rows": certificate(order_free=False),
    "must be a Result": 0.05,
}


@pytest.mark.parametrize("what", REFUSED)
def test_certificates_of_something_else_are_refused(what):
    with pytest.raises(ArgumentError, match=re.escape(what)):
        poise.JackknifeRegressor(Ridge(), stability=REFUSED[what]).fit(X, y)


ROWS = RNG.normal(size=(3000, 3))
RESPONSES = ROWS @ [1.0, -2.0, 0.5] + RNG.normal(size=3000)
ASKED = {"n": 40, "epsilon": 2.0, "delta": 0.1, "fast": False}


@pytest.mark.parametrize(
    ("one", "two"), [([1.0], [2.0]), (np.ones(200), 2 * np.ones(200)), (Ridge(1.0), Ridge(2.0))]
)
def test_rows_and_code_of_the_certificate_are_looked_at(one, two):
    def scaled(factor):
        class Scaled(Ridge):
            def predict(self, X):
                by = factor.alpha if isinstance(factor, Ridge) else factor[-1]
                return by * super().predict(X)

        return Scaled()

    known = poise.stability_test(scaled(one), ROWS, RESPONSES, **ASKED)
    poise.JackknifeRegressor(scaled(one), stability=known).fit(X, y)
    with pytest.raises(ArgumentError, match="other code"):
        poise.JackknifeRegressor(scaled(two), stability=known).fit(X, y)
    with pytest.raises(ArgumentError, match="rows of X"):
        poise.JackknifeRegressor(scaled(one), stability=known).fit(ROWS[:40], RESPONSES[:40])


class Seeded(RegressorMixin, BaseEstimator):
    """Predicts the seed of its fit, and a feature."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.said_ = (self.random_state or 0) / 2**31
        return self

    def predict(self, X):
        return self.said_ + X[:, 0]


def test_fits_share_their_seed_where_a_certificate_is_about_one():
    known = poise.stability_test(Seeded(), ROWS, RESPONSES, **ASKED)
    for method, certificate in (("jackknife", known), ("plus", None)):
        model = poise.JackknifeRegressor(Seeded(), method, stability=certificate).fit(X, y)
        shared = np.allclose(model.residuals_, abs(y - model.predict(X)))
        assert shared == (certificate is not None)


def with_arguments(rows, **named):
    return rows


def test_what_a_certificate_says_of_its_fits_is_looked_at(tmp_path):
    def refuses(base, known, words):
        with pytest.raises(ArgumentError, match=words):
            poise.JackknifeRegressor(base, stability=known).fit(X, y)

    after = poise.measure(Ridge(), ROWS, RESPONSES, n=40).test(2.0, 0.1)
    refuses(Ridge(), after, "asked after the fits")
    known = poise.stability_test(Ridge(), ROWS, RESPONSES, sample_weight=np.ones(3000), **ASKED)
    refuses(Ridge(), known, "fits with further arguments")
    named = {f"argument_{k}": k for k in range(200)}  # more than its description shows
    one, two = (
        make_pipeline(FunctionTransformer(with_arguments, kw_args=each), Ridge())
        for each in (named, named | {"argument_99": 0})
    )
    refuses(two, poise.stability_test(one, ROWS, RESPONSES, **ASKED), "other parameters")

    few = RNG.integers(0, 2, size=(3000, 4)).astype(float)  # rows are equal by chance
    known = poise.stability_test(Ridge(), few[:, :3], few[:, 3], **ASKED)
    poise.JackknifeRegressor(Ridge(), stability=known).fit(few[:40, :3], few[:40, 3])
    known = poise.stability_test(Ridge(), ROWS, RESPONSES, **ASKED)
    known.save(tmp_path / "known.json")
    for each, unseen in ((known, False), (poise.load(tmp_path / "known.json"), True)):
        model = poise.JackknifeRegressor(Ridge(), "jackknife", stability=each).fit(X, y)
        assert ("cannot be seen" in str(model.guarantee_)) == unseen
