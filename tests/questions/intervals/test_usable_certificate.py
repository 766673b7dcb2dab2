"""Which certificates carry an interval: exactly those of the notion that is run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.errors import ArgumentError, PoiseWarning

rng = np.random.default_rng(0)
X = rng.normal(size=(800, 2))
y = X @ [1.0, 2.0] + rng.normal(size=800)
ROWS, RESPONSES = X[:20], y[:20]
QUESTION = {"n": 20, "epsilon": 1.5, "delta": 0.2, "random_state": 0}


class Unfit(Ridge):
    """A ridge that must not be fitted: refusals come before the first fit."""

    def fit(self, X, y):
        raise AssertionError("fitted")


def result_of(**changes):
    return poise.stability_test(Ridge(), X[20:], y[20:], **{**QUESTION, **changes})


def renamed(result, estimator):
    name = poise.as_algorithm(estimator).name
    return replace(result, design=replace(result.design, algorithm=name))


STABLE = result_of()


def test_a_verdict_about_this_algorithm_and_size_from_other_rows_is_used():
    model = poise.JackknifeRegressor(Ridge(), "jackknife", certificate=STABLE)
    assert model.fit(ROWS, RESPONSES).guarantee_.has_certificate
    again = poise.StabilityResult.from_json(STABLE.to_json())
    assert again.tested_rows is None
    assert model.set_params(certificate=again).fit(ROWS, RESPONSES).guarantee_.has_certificate


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"coupling": "independent"}, "is for independent random terms"),
        ({"distance": "label", "epsilon": 0.5}, "must have the verdict 'stable'"),
        ({"remove": 2}, "removes 2 rows, and Theorem J removes one"),
        ({"replace": True}, "replaces rows"),
        ({"distance": poise.LossChange("absolute")}, "is about losses"),
        ({"epsilon": 0.0}, "must have the verdict 'stable', got 'unstable'"),
        ({"delta": 0.01}, "must have the verdict 'stable', got 'inconclusive'"),
        ({"n": 19}, "is about 19 training rows, and there are 20"),
    ],
)
@pytest.mark.filterwarnings("ignore::poise.errors.PowerWarning")
def test_another_notion_is_refused(changes, message):
    result = renamed(result_of(**changes), Unfit())
    with pytest.raises(ArgumentError, match=message):
        poise.JackknifeRegressor(Unfit(), certificate=result).fit(ROWS, RESPONSES)


def test_groups_are_refused():
    result = result_of(groups=np.arange(780), fast=False)
    assert result.stable
    with pytest.raises(ArgumentError, match="is about groups of rows"):
        poise.JackknifeRegressor(Ridge(), certificate=result).fit(ROWS, RESPONSES)


@pytest.mark.parametrize("distance", ["label", "total_variation", "my_distance"])
def test_another_distance_is_refused(distance):
    result = replace(STABLE, design=replace(STABLE.design, distance=distance))
    with pytest.raises(ArgumentError, match=f"measures changes by {distance}"):
        poise.JackknifeRegressor(Ridge(), certificate=result).fit(ROWS, RESPONSES)


def test_another_algorithm_is_refused():
    for other in (Ridge(alpha=2.0), KNeighborsRegressor(5)):
        with pytest.raises(ArgumentError, match=r"is about Ridge\(\), and the estimator is"):
            poise.JackknifeRegressor(other, certificate=STABLE).fit(ROWS, RESPONSES)


def test_what_is_no_result_is_refused():
    from poise.results.certificate import Certificate

    for other in (STABLE.to_json(), Certificate.from_result(STABLE), True):
        with pytest.raises(ArgumentError, match="certificate must be the StabilityResult"):
            poise.JackknifeRegressor(Ridge(), certificate=other).fit(ROWS, RESPONSES)


def test_rows_that_were_tested_are_refused():
    rows, responses = ROWS.copy(), RESPONSES.copy()
    rows[7], responses[7] = X[500], y[500]
    model = poise.JackknifeRegressor(Ridge(), "jackknife", certificate=STABLE)
    with pytest.raises(ArgumentError, match=r"obtained from 1 row of X \(row 7, counting"):
        model.fit(rows, responses)
    with pytest.raises(ArgumentError, match="obtained from 20 rows of X"):
        model.fit(X[100:120], y[100:120])


def test_equal_rows_are_no_copies_where_values_are_few():
    few, answers = np.round(X), np.round(y)
    result = poise.stability_test(Ridge(), few[20:], answers[20:], **QUESTION)
    assert result.stable
    model = poise.JackknifeRegressor(Ridge(), "jackknife", certificate=result)
    assert 0 < len(result.tested_rows.find(few[:20], answers[:20])) < 20
    assert model.fit(few[:20], answers[:20]).guarantee_.has_certificate


def test_weights_in_the_test_are_refused():
    weighted = result_of(fit_params={"sample_weight": np.ones(780)})
    with pytest.raises(ArgumentError, match="is about fits with sample_weight"):
        poise.JackknifeRegressor(Ridge(), certificate=weighted).fit(ROWS, RESPONSES)


def test_an_order_that_matters_is_refused():
    """A forest with one seed draws other rows when they come in another order."""
    for estimator in (
        RandomForestRegressor(n_estimators=2),
        poise.stabilize(DecisionTreeRegressor(), n=20, epsilon=0.9, delta=0.9, n_bags=3),
    ):
        result = renamed(STABLE, estimator)
        with pytest.raises(ArgumentError, match=r"order of the rows.*jackknife\+ without"):
            poise.JackknifeRegressor(estimator, certificate=result).fit(ROWS, RESPONSES)


def test_warnings_of_the_test_are_passed_on():
    doubtful = replace(STABLE, warnings=("the first trial came out differently",))
    with pytest.warns(PoiseWarning, match="has a warning: the first trial came out differently"):
        poise.JackknifeRegressor(Ridge(), certificate=doubtful).fit(ROWS, RESPONSES)
