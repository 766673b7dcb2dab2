"""A formula in a run: chosen, compared with fits once, and left where it is in doubt."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import poise
from poise.engine import oracle
from poise.errors import AlgorithmError, PoiseWarning, TrialError
from poise.shortcuts import family_of
from poise.shortcuts.linear import Linear
from poise.shortcuts.neighbours import Neighbours

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4))
Y = X[:, 0] + RNG.normal(size=400)
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [-0.7, 0.7])]


@pytest.fixture
def fits(monkeypatch):
    """How many models are fitted."""
    count = []
    for kind in (Ridge, KNeighborsRegressor, KNeighborsClassifier, RidgeClassifier):

        def fit(self, X, y, sample_weight=None, kind=kind, original=kind.fit):
            count.append(kind)
            return original(self, X, y) if sample_weight is None else original(self, X, y, 1)

        monkeypatch.setattr(kind, "fit", fit)
    return count


def both_ways(estimator, y=Y, rows=X, **settings):
    """Changes by formula and by fits, of as many removals."""
    fast = poise.measure(estimator, rows, y, **settings)
    shape = {"removals_per_trial": fast.design.removals, "points_per_trial": fast.design.points}
    return fast, poise.measure(estimator, rows, y, fast=False, **{**settings, **shape})


def test_changes_and_errors_are_those_of_fits():
    for estimator, y in (
        (Ridge(0.5), Y),
        (LinearRegression(), Y),
        (KNeighborsRegressor(3), np.rint(9 * Y).astype(int)),
        (make_pipeline(StandardScaler(), KNeighborsRegressor(3)), Y),
        (RidgeClassifier(), LABELS),
        (KNeighborsClassifier(3), LABELS),
    ):
        more = {"X_unlabeled": RNG.normal(size=(90, 4))}
        one = {"removals_per_trial": 1}
        for rows, settings in (
            (X, {"n": 12, "max_trials": 9}),
            (X, {"n": 12, "max_trials": 9, "shuffle": False, "points_per_trial": 3, **one}),
            (X, {"n": 60, **one, **more}),
            (X, {"n": 66, "points_per_trial": 1, **more}),
            (np.asfortranarray(X), {"n": 20, "removals_per_trial": 4, "max_trials": 5}),
        ):
            fast, slow = both_ways(estimator, y, rows, **settings)
            assert np.allclose(fast.changes, slow.changes, rtol=0, atol=1e-9)
            assert np.array_equal(fast.changes == 0, slow.changes == 0)
            assert np.allclose(fast.errors, slow.errors, rtol=0, atol=1e-9, equal_nan=True)
    frame = pd.DataFrame(X, columns=list("abcd"))
    fast, again = (poise.measure(Ridge(), rows, Y, n=12) for rows in (frame, X))
    assert np.array_equal(fast.changes, again.changes)


def test_all_removals_are_taken_where_they_are_free(fits):
    assert poise.measure(Ridge(), X, Y, n=12).design.removals == 12
    assert len(fits) == 3  # all rows, without the last, without the first
    scaled = make_pipeline(StandardScaler(), Ridge())
    for settings, removals in (
        ({"fast": False}, 1),
        ({"removals_per_trial": 2}, 2),
        ({"remove": 2}, 1),
        ({"replace": True}, 1),
        ({"position": "uniform"}, 1),
        ({"groups": np.arange(400) // 2}, 1),
        ({"sample_weight": np.ones(400)}, 1),
    ):
        assert poise.measure(Ridge(), X, Y, n=12, **settings).design.removals == removals
    assert poise.measure(scaled, X, Y, n=12).design.removals == 1  # each is a scaler's fit
    assert poise.measure(Ridge(), X.astype("f4"), Y, n=12).design.removals == 1
    many = np.arange(2_100_000.0)[:, None] % 997
    large = poise.measure(Ridge(), many, many[:, 0] % 7, n=1000, max_trials=2050)
    assert large.design.removals == 1  # of 2,050,000 rows


def test_workers_change_nothing_and_a_run_stops_within_a_block():
    asked = {"n": 12, "epsilon": 9, "delta": 0.2}
    result, early = (
        poise.stability_test(KNeighborsRegressor(3), X, Y, **asked, **more)
        for more in ({"n_jobs": 2}, {"stop_early": True})
    )
    seen = early.n_observed
    assert seen < result.n_observed
    assert np.array_equal(early.trials.changes, result.trials.changes[:seen])
    assert early.verdict == result.verdict


@pytest.mark.filterwarnings("ignore:overflow")
def test_only_what_is_doubtful_is_fitted_and_told_by_its_number_if_it_fails(fits):
    rows = X.copy()
    rows[12 * 7] = rows[12 * 7 + 1]  # two neighbours that are equally far
    settings = {"n": 12, "shuffle": False, "removals_per_trial": 1}
    trials = poise.measure(KNeighborsRegressor(1), rows, Y, **settings)
    doubted = len(fits) - 3
    assert 0 <= doubted <= 4
    rows[12 * 3, 0] = 1e200  # squares of it are infinite
    fits.clear()
    again, slow = both_ways(KNeighborsRegressor(1), rows=rows, **settings)
    assert len(fits) - 3 == doubted + 2 + slow.n_fits + 1  # the look makes one more
    same = np.arange(trials.n_trials) != 3
    assert np.array_equal(trials.changes[same], again.changes[same])
    assert np.allclose(again.changes, slow.changes, rtol=0, atol=1e-9)
    rows[12 * 3] = 1e200
    with pytest.raises(TrialError, match="trial 3 failed") as told:
        poise.measure(Ridge(), rows, Y, **settings)
    assert len(told.value.partial.changes) == 3
    kept = poise.measure(Ridge(), rows, Y, on_error="record", **settings)
    assert np.isnan(kept.changes).all(axis=(1, 2)).nonzero()[0].tolist() == [3]
    assert [each.trial for each in kept.failures] == [3]


@pytest.mark.parametrize("stop_early", [False, True])
def test_a_formula_that_differs_from_fits_is_given_up_with_a_warning(monkeypatch, stop_early):
    right = Linear.cells

    def wrong(self, *given):  # a millionth too large, everywhere
        cells = right(self, *given)
        return cells._replace(full=cells.full * (1 + 1e-6), reduced=cells.reduced * (1 + 1e-6))

    monkeypatch.setattr(Linear, "cells", wrong)
    asked = {"n": 12, "epsilon": 1, "delta": 0.2, "stop_early": stop_early}
    with pytest.warns(PoiseWarning, match="not used: it gives .* and a fit predicts"):
        result = poise.stability_test(Ridge(), X, Y, **asked)
    slow = poise.stability_test(Ridge(), X, Y, fast=False, **asked)
    assert np.array_equal(result.trials.changes, slow.trials.changes)
    assert (result.design.given_up, result.design.removals) == (("removals",), 12)


def test_a_formula_that_is_not_sure_of_the_first_trial_is_given_up(monkeypatch):
    tied, settings = np.sign(X), {"n": 20, "check": False}
    slow = poise.measure(KNeighborsRegressor(3), tied, Y, fast=False, **settings)
    for removals, first in ((None, "trial. Models are fitted, and only the last"), (1, "trials.")):
        more = {"removals_per_trial": removals, **settings}
        with pytest.warns(PoiseWarning, match=f"a tie, may decide the first {first}"):
            trials = poise.measure(KNeighborsRegressor(3), tied, Y, **more)
        assert np.array_equal(trials.changes, slow.changes)
    right = Neighbours.__init__  # or votes with one neighbour too few
    monkeypatch.setattr(Neighbours, "__init__", lambda self, k, *more: right(self, k - 1, *more))
    with pytest.warns(PoiseWarning, match="only the last row of each trial is removed"):
        poise.measure(KNeighborsClassifier(5), X, LABELS, n=50)


def test_what_is_no_number_is_named_before_a_trial_is_fitted(tmp_path):
    rows, y = RNG.normal(size=(3000, 4)), RNG.normal(size=3000)
    rows[2500, 1] = np.nan
    for estimator, X, settings in (
        *((each, rows, {}) for each in (Ridge(), KNeighborsRegressor(3))),
        (Ridge(), rows, {"groups": np.arange(3000) // 2}),  # no formula
        (KNeighborsRegressor(3), np.sign(rows), {}),  # it is given up
    ):
        with pytest.raises(AlgorithmError, match="column 1 of X holds nan in row 2500"):
            poise.measure(estimator, X, y, n=12, **settings)
    for ask, more in (
        (poise.measure, {"journal": tmp_path / "run.jsonl"}),
        (poise.stability_test, {"epsilon": "5% of sd", "delta": 0.1}),  # sets rows aside
        (poise.check, {}),
        (poise.stability_curve, {"n": [12], "delta": 0.1, "max_trials": 9}),
    ):
        with pytest.raises(AlgorithmError, match="column 1 of X holds nan in row 2500"):
            ask(Ridge(), rows, y, **{"n": 12, **more})
    assert not list(tmp_path.iterdir())
    unused = poise.measure(Ridge(), rows, y, n=12, shuffle=False, max_trials=9)
    assert np.isfinite(unused.changes).all()


def test_fits_that_cost_more_than_all_the_rest_are_told_once(monkeypatch):
    monkeypatch.setattr(oracle, "_PATIENCE", 0.0)
    rows = np.where(np.arange(400)[:, None] < 300, X, np.rint(X))
    with pytest.warns(PoiseWarning) as told:
        poise.measure(KNeighborsRegressor(3), rows, Y, n=12, shuffle=False)
    assert ["cannot be computed by a formula" in str(each.message) for each in told] == [True]


# by exact type and parameters, and by nothing else

KNOWN = (
    *(Ridge(), LinearRegression(), RidgeClassifier()),
    *(KNeighborsRegressor(), KNeighborsClassifier()),
)


def found(estimator, classes=None):
    """The family for twenty rows of three columns."""
    named = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    few = 3 if type(named).__name__.endswith("Classifier") else 0
    return family_of(estimator, 20, 3, few if classes is None else classes)


@pytest.mark.parametrize("estimator", KNOWN)
def test_known_estimators_have_one_alone_and_behind_a_scaler(estimator):
    kind, scaler = type(estimator), StandardScaler()
    classes = found(estimator).classes
    assert found(make_pipeline(scaler, estimator)) is not None
    assert found(estimator, classes=0 if classes else 3) is None

    def namesake(kind):  # in a module that is called the same
        return type(kind.__name__, (kind,), {"__module__": kind.__module__})

    for other in (
        namesake(kind)(),
        make_pipeline(scaler, namesake(kind)()),
        make_pipeline(namesake(StandardScaler)(), estimator),
        make_pipeline(MinMaxScaler(), estimator),
        make_pipeline(StandardScaler(with_mean=False), estimator),
        make_pipeline(scaler, scaler, estimator),
        make_pipeline(scaler, make_pipeline(scaler, estimator)),
        make_pipeline(scaler, estimator, memory="folder"),
        namesake(Pipeline)([("a", scaler), ("b", estimator)]),
    ):
        assert found(other, classes) is None


@pytest.mark.parametrize(
    "estimator",
    [
        *(Lasso(), RidgeCV(), RandomForestRegressor()),
        *(Ridge(alpha) for alpha in ([1.0], np.array(1.0), -1.0, np.inf, np.nan, "1", None)),
        *(Ridge(fit_intercept="no"), Ridge(positive=True)),
        *(Ridge(solver=name) for name in ("svd", "lsqr", "sparse_cg", "sag", "saga", "qr")),
        *(RidgeClassifier(class_weight="balanced"), RidgeClassifier(class_weight={0: 2.0})),
        *(LinearRegression(positive=True), LinearRegression(fit_intercept=None)),
        *(KNeighborsRegressor(k) for k in (0, 20, 2.0)),
        *(KNeighborsRegressor(p=p) for p in (1, 0.5, np.inf, None)),
        *(KNeighborsRegressor(weights=w) for w in ("distance", "none", lambda d: d)),
        *(KNeighborsRegressor(metric=m) for m in ("cosine", "precomputed", lambda a, b: 0.0)),
        KNeighborsRegressor(metric_params={"w": np.ones(3)}),
        *(KNeighborsRegressor(algorithm="guess"), KNeighborsRegressor(leaf_size=0)),
        *(make_pipeline(StandardScaler(), "passthrough"), make_pipeline(Ridge()), None, Ridge),
    ],
)
def test_other_parameters_have_none(estimator):
    assert found(estimator) is None


def test_parameters_that_change_no_number_keep_it():
    for estimator in (
        *(Ridge(np.float64(2)), Ridge(3), Ridge(fit_intercept=np.False_)),
        Ridge(solver="cholesky", tol=1.0, max_iter=1, random_state=0, copy_X=False),
        *(LinearRegression(n_jobs=2), KNeighborsRegressor(np.int64(2), n_jobs=-1, weights=None)),
        *(KNeighborsRegressor(metric="l2", p=1), KNeighborsRegressor(19, algorithm="brute")),
    ):
        assert found(estimator) is not None
    interpolates = [family_of(LinearRegression(), n, 3) is None for n in (4, 5, 6, 7)]
    assert interpolates == [True, True, False, False]  # it is left to fits
