"""Arguments of fit follow the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.data.fit_params import FitParams
from poise.errors import AlgorithmError, ArgumentError, DataError
from shared.data import linear_rows
from shared.paper_loop import changes_by_hand

rng = np.random.default_rng(1)
X, y = linear_rows(410, [1.0, 0.0, 0.0], rng)
weights = rng.exponential(size=410)


@pytest.mark.parametrize("estimator", [Ridge(), DecisionTreeRegressor(max_features=2)], ids=repr)
def test_weights_are_sliced_with_the_rows(estimator) -> None:
    settings = {"n": 40, "shuffle": False, "random_state": 0}
    got = poise.measure(estimator, X, y, fit_params={"sample_weight": weights}, **settings)
    expected = changes_by_hand(estimator, X, y, n=40, kind="number", weights=weights)
    assert got.changes.tolist() == pytest.approx(expected, rel=1e-9)
    assert got.changes.tolist() != poise.measure(estimator, X, y, **settings).changes.tolist()


def test_rows_and_weights_stay_together_when_shuffled() -> None:
    """The response itself as a weight: the mean becomes Σy²/Σy, whatever the order."""
    response = np.abs(y) + 0.1
    ones = np.ones((410, 1))
    seen = []

    class Spy(LinearRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(bool(np.array_equal(y, sample_weight)))
            return super().fit(X, y, sample_weight)

    for kind in (np.asarray, list, pd.Series):
        params = {"sample_weight": kind(response)}
        poise.measure(Spy(), ones, response, n=40, fit_params=params, random_state=0, check=False)
    assert all(seen)
    assert len(seen) == 3 * 2 * 10


def test_no_shortcut_ignores_the_weights() -> None:
    # 8 rows a trial: enough trials for the exact shortcut that Ridge has without weights.
    plain = poise.measure(Ridge(), X, y, n=8, random_state=0)
    weighted = poise.measure(
        Ridge(), X, y, n=8, fit_params={"sample_weight": weights}, random_state=0
    )
    assert plain.design.path != "fit by fit"
    assert weighted.design.path == "fit by fit"
    assert not np.allclose(plain.changes, weighted.changes)
    ones = {"sample_weight": np.ones(410)}
    same = poise.measure(Ridge(), X, y, n=8, fit_params=ones, random_state=0)
    np.testing.assert_allclose(same.changes, plain.changes, atol=1e-9)


def test_arguments_reach_the_parts_of_a_pipeline_and_a_search() -> None:
    settings = {"n": 40, "random_state": 0}
    pipeline = make_pipeline(StandardScaler(), Ridge())
    routed = {"ridge__sample_weight": weights}
    got = poise.measure(pipeline, X, y, fit_params=routed, **settings).changes
    assert (got != poise.measure(pipeline, X, y, **settings, fast=False).changes).any()
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=2)
    poise.measure(search, X, y, fit_params={"sample_weight": weights}, **settings)


def test_functions_take_them_too() -> None:
    def mean(X, y, seed, sample_weight=None, power=1):
        level = np.average(y, weights=sample_weight**power)
        return lambda rows: [level]

    params = {"sample_weight": weights, "power": 2}
    trials = poise.measure(mean, X, y, n=40, fit_params=params, shuffle=False)
    levels = [np.average(y[:stop], weights=weights[:stop] ** 2) for stop in (40, 39)]
    assert trials.changes[0] == pytest.approx(abs(levels[0] - levels[1]), rel=1e-9)


def test_what_has_one_value_per_row() -> None:
    params = FitParams(
        {"w": [1, 2, 3], "names": ["a", "b"], "text": "abc", "zero": np.array(1.0), "d": {1: 2}}, 3
    )
    assert sorted(params.per_row) == ["w"]
    assert sorted(params.constant) == ["d", "names", "text", "zero"]
    assert params.of(np.array([2, 0]))["w"] == [3, 1]


@pytest.mark.parametrize(
    ("algorithm", "params", "error", "message"),
    [
        (KNeighborsRegressor(), {"sample_weight": weights}, AlgorithmError, "sample_weight"),
        (Ridge(), {"weight": weights}, AlgorithmError, r"fit_params must be .*'weight'"),
        (lambda A, b, s: None, {"w": 1}, AlgorithmError, "fit_params must be arguments of"),
        (Ridge(), weights, ArgumentError, "fit_params must be a dict"),
    ],
)
def test_refused_before_the_first_fit(algorithm, params, error, message) -> None:
    with pytest.raises(error, match=message):
        poise.measure(algorithm, X, y, n=40, fit_params=params)


def test_an_algorithm_of_its_own_says_whether_it_takes_them() -> None:
    class Mean(poise.Algorithm):
        name = "mean"

        def fit(self, X, y, xi):
            return lambda rows: [y.mean()]

    with pytest.raises(AlgorithmError, match="mean takes no fit_params, got sample_weight"):
        poise.measure(Mean(), X, y, n=40, fit_params={"sample_weight": weights})


def test_a_bad_weight_is_found_in_any_trial() -> None:
    """Checks are skipped after a first good trial, but never for weights."""
    bad = weights.copy()
    bad[200] = np.nan
    with pytest.raises(poise.errors.TrialError, match="NaN"):
        poise.measure(
            LogisticRegression(), X, y > 0, n=40, fit_params={"sample_weight": bad}, shuffle=False
        )


def test_worker_processes_slice_them_as_well() -> None:
    settings = {"n": 40, "fit_params": {"sample_weight": weights}, "random_state": 0}
    one = poise.measure(Ridge(), X, y, **settings)
    two = poise.measure(Ridge(), X, y, n_jobs=2, timeout=60, **settings)
    assert one.changes.tolist() == two.changes.tolist()


def test_weights_of_other_rows_are_refused_before_the_first_fit() -> None:
    for name in ("sample_weight", "ridge__sample_weight"):
        with pytest.raises(DataError, match=rf"fit_params\['{name}'\] must hold one value per lab"):
            poise.measure(Ridge(), X, y, n=40, fit_params={name: np.ones(len(y) - 1)})


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_metadata_are_routed_in_workers_too(backend) -> None:
    """Workers would know nothing of the configuration of the thread that asks."""
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            Ridge().set_fit_request(sample_weight=True),
        )
        settings = {"n": 40, "fit_params": {"sample_weight": weights}, "random_state": 0}
        here = poise.measure(model, X, y, **settings)
        there = poise.measure(model, X, y, **settings, n_jobs=2, backend=backend)
    assert here.changes.tolist() == there.changes.tolist()
    assert not sklearn.get_config()["enable_metadata_routing"]
