"""Intervals by jackknife and jackknife+: the numbers, the promises, and how they fit in."""

from __future__ import annotations

import pickle
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

import poise
from poise import theory
from poise.errors import ArgumentError, DataError, PoiseWarning, RecordError
from shared.data import three_columns


def certificate(estimator, n=40, epsilon=0.5, delta=0.005, alpha=0.05):
    """Return a verdict "stable" without the thousands of trials that it takes."""
    name = poise.as_algorithm(estimator).name
    trials = poise.Trials.from_changes([0.0] * 700, n=n)
    result = trials.test(epsilon=epsilon, delta=delta, alpha=alpha)
    assert result.stable
    return replace(result, design=replace(result.design, algorithm=name))


def by_hand(estimator, X, y, points):
    """Return full predictions, leave-one-out residuals and predictions, straight from the words."""
    models = [clone(estimator).fit(np.delete(X, i, axis=0), np.delete(y, i)) for i in range(len(y))]
    residuals = np.array([abs(y[i] - m.predict(X[i : i + 1])[0]) for i, m in enumerate(models)])
    return (
        clone(estimator).fit(X, y).predict(points),
        residuals,
        np.stack([m.predict(points) for m in models], axis=1),
    )


@pytest.mark.filterwarnings("ignore")  # the checks warn on purpose
def test_scikit_learn_accepts_it():
    results = check_estimator(poise.JackknifeRegressor(Ridge()), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}


@pytest.mark.parametrize("base", [Ridge(), DecisionTreeRegressor(max_depth=2, random_state=3)])
@pytest.mark.parametrize("level", [0.8, 0.9])
def test_jackknife_plus_is_its_definition(base, level):
    X, y = three_columns()
    points = three_columns(15, seed=1)[0]
    full, residuals, each = by_hand(base, X, y, points)
    low, high = np.sort(each - residuals), np.sort(each + residuals)
    rank = round(level * 41 + 0.4999999)  # ⌈(1 - a)(n + 1)⌉
    model = poise.JackknifeRegressor(base, level=level).fit(X, y)
    predictions, intervals = model.predict_interval(points)
    np.testing.assert_allclose(predictions, full)
    np.testing.assert_allclose(model.predict(points), full)
    np.testing.assert_allclose(model.residuals_, residuals)
    np.testing.assert_allclose(intervals[:, 0], low[:, 41 - rank - 1])
    np.testing.assert_allclose(intervals[:, 1], high[:, rank - 1])
    assert model.guarantee_.miss == pytest.approx(2 * (1 - level))
    assert "no certificate" in model.guarantee_.sentence


def test_a_certificate_widens_by_epsilon_or_twice_epsilon():
    X, y = three_columns()
    points = three_columns(15, seed=1)[0]
    full, residuals, each = by_hand(Ridge(), X, y, points)
    known = certificate(Ridge())
    plain = poise.JackknifeRegressor(Ridge(), "jackknife", 0.8, known).fit(X, y)
    half = np.sort(residuals)[32] + 0.5  # ⌈0.8 · 41⌉ = 33
    np.testing.assert_allclose(
        plain.predict_interval(points)[1], np.stack([full - half, full + half], axis=1)
    )
    assert plain.guarantee_.miss == theory.certified_miss(40, 0.2, 0.005, 0.05)
    plus = poise.JackknifeRegressor(Ridge(), "plus", 0.8, known).fit(X, y)
    ends = theory.jackknife_plus_ends(each, residuals, 0.2) + np.array([-1.0, 1.0])
    np.testing.assert_allclose(plus.predict_interval(points)[1], ends)
    assert plus.guarantee_.miss == theory.certified_miss(40, 0.2, 0.005, 0.05, plus=True)
    assert plus.guarantee_.coverage == 1 - plus.guarantee_.miss
    for part in ("certified on other rows at error level 0.05", "widened by 1 on both sides"):
        assert part in plus.guarantee_.sentence


def test_a_certificate_that_promises_less_than_none_is_not_used():
    X, y = three_columns()
    weak = certificate(Ridge(), delta=0.1)
    free = poise.JackknifeRegressor(Ridge(), "plus", 0.9).fit(X, y)
    plus = poise.JackknifeRegressor(Ridge(), "plus", 0.9, weak).fit(X, y)
    assert np.array_equal(plus.predict_interval(X)[1], free.predict_interval(X)[1])
    assert (plus.guarantee_.miss, plus.guarantee_.has_certificate) == (0.2, False)
    assert "The certificate is not used: with delta = 0.1" in plus.guarantee_.sentence
    # The jackknife has nothing else to offer.
    plain = poise.JackknifeRegressor(Ridge(), "jackknife", 0.9, weak).fit(X, y)
    assert plain.guarantee_.miss == theory.certified_miss(40, 0.1, 0.1, 0.05) > 0.2


def test_the_jackknife_without_a_certificate_is_jackknife_plus_and_says_so():
    X, y = three_columns()
    with pytest.warns(PoiseWarning, match=r"promises nothing without a certificate.*jackknife\+"):
        asked = poise.JackknifeRegressor(Ridge(), "jackknife").fit(X, y)
    plus = poise.JackknifeRegressor(Ridge(), "plus").fit(X, y)
    assert asked.guarantee_ == plus.guarantee_
    assert np.array_equal(asked.predict_interval(X)[1], plus.predict_interval(X)[1])


def test_too_few_rows_for_the_level_give_infinite_intervals():
    X, y = three_columns(8)
    for level, finite in ((0.88, True), (0.9, False)):  # ⌈0.88 · 9⌉ = 8, ⌈0.9 · 9⌉ = 9
        ends = poise.JackknifeRegressor(Ridge(), level=level).fit(X, y).predict_interval(X)[1]
        assert np.isfinite(ends).all() == finite


def test_closed_form_workers_and_pickles_change_nothing():
    X, y = three_columns(60)
    formula = poise.JackknifeRegressor(Ridge()).fit(X, y)
    fits = poise.JackknifeRegressor(Ridge(), fast=False).fit(X, y)
    assert (formula.path_, fits.path_) == ("closed form of ridge", "fit by fit")
    expected = fits.predict_interval(X)[1]
    np.testing.assert_allclose(formula.predict_interval(X)[1], expected, rtol=1e-9)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        two = poise.JackknifeRegressor(Ridge(), fast=False).fit(X, y)
    assert np.array_equal(two.predict_interval(X)[1], expected)
    assert np.array_equal(pickle.loads(pickle.dumps(fits)).predict_interval(X)[1], expected)


def test_points_are_taken_in_blocks(monkeypatch):
    from poise.questions.intervals import jackknife_regressor

    X, y = three_columns()
    model = poise.JackknifeRegressor(KNeighborsRegressor(2)).fit(X, y)
    whole = model.predict_interval(X)[1]
    monkeypatch.setattr(jackknife_regressor, "_NUMBERS_AT_ONCE", 7 * 40)
    assert np.array_equal(model.predict_interval(X)[1], whole)


def test_random_states_are_shared_with_a_certificate_and_fresh_without():
    seeds = []

    def noted(X, y, seed):
        seeds.append(seed)
        return lambda rows: [float(np.mean(y))] * len(rows)

    X, y = three_columns(12)
    poise.JackknifeRegressor(noted, random_state=0).fit(X, y)
    assert len(set(seeds)) == len(seeds) == 13
    first = list(seeds)
    poise.JackknifeRegressor(noted, random_state=0).fit(X, y)
    assert seeds[13:] == first
    seeds.clear()
    shared = poise.JackknifeRegressor(noted, "jackknife", 0.8, certificate(noted, n=12))
    shared.fit(X, y)
    fits = seeds[-13:]
    assert len(set(fits)) == 1


def test_rows_stay_in_the_container_they_came_in():
    X, y = three_columns()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    base = make_pipeline(StandardScaler(), Ridge())
    model = poise.JackknifeRegressor(base).fit(frame, pd.Series(y))
    assert list(model.feature_names_in_) == list(model.estimator_.feature_names_in_)
    expected = poise.JackknifeRegressor(base).fit(X, y).predict_interval(X)[1]
    np.testing.assert_allclose(model.predict_interval(frame)[1], expected)
    rows = sparse.csr_array(X)
    ridge = poise.JackknifeRegressor(Ridge()).fit(rows, y)
    expected = poise.JackknifeRegressor(Ridge()).fit(X, y).predict_interval(X)[1]
    # Sparse and dense ridge use different solvers.
    np.testing.assert_allclose(ridge.predict_interval(rows)[1], expected, rtol=1e-2, atol=1e-2)


def test_it_is_a_regressor_among_others():
    X, y = three_columns()
    model = poise.JackknifeRegressor(Ridge())
    assert is_regressor(model)
    assert cross_val_score(model, X, y, cv=3).shape == (3,)


def test_a_forest_gets_jackknife_plus():
    X, y = three_columns(12)
    forest = RandomForestRegressor(n_estimators=3)
    model = poise.JackknifeRegressor(forest, random_state=0).fit(X, y)
    again = poise.JackknifeRegressor(forest, random_state=0).fit(X, y)
    assert np.array_equal(model.predict_interval(X)[1], again.predict_interval(X)[1])


class FailsWithoutRowSeven(KNeighborsRegressor):
    def fit(self, X, y):
        if 7.0 not in y:
            raise ValueError("seven is gone")
        return super().fit(X, y)


def test_a_fit_that_fails_says_which_row_was_left_out():
    X, y = three_columns(12)[0], np.arange(12.0)
    with pytest.raises(ValueError, match="seven is gone") as caught:
        poise.JackknifeRegressor(FailsWithoutRowSeven(2)).fit(X, y)
    assert "without one row (row 7" in caught.value.__notes__[0]


FITS = {"left": 10**9}  # not in the class: its constants are its code, and a journal knows them


class Counted(KNeighborsRegressor):
    """Fails after so many fits: like a machine that is switched off."""

    def fit(self, X, y):
        FITS["left"] -= 1
        if FITS["left"] < 0:
            raise ValueError("switched off")
        return super().fit(X, y)


def test_a_run_cut_short_goes_on_from_its_journal(tmp_path, monkeypatch):
    X, y = three_columns()
    path = tmp_path / "residuals.jsonl"
    known = certificate(Counted(2))
    model = poise.JackknifeRegressor(Counted(2), "jackknife", 0.8, known, journal=path)
    plain = poise.JackknifeRegressor(Counted(2), "jackknife", 0.8, known).fit(X, y)
    monkeypatch.setitem(FITS, "left", 20)
    with pytest.raises(ValueError, match="switched off"):
        model.fit(X, y)
    lines = path.read_text().splitlines()
    assert len(lines) == 1 + 20 - 4  # header; three fits look at symmetry, one is of all rows
    monkeypatch.setitem(FITS, "left", 28)
    model.fit(X, y)
    assert FITS["left"] == 0
    assert np.array_equal(model.residuals_, plain.residuals_)
    monkeypatch.setitem(FITS, "left", 100)
    with pytest.raises(RecordError, match="belongs to another run"):
        clone(model).fit(X, y + 1)


def test_jackknife_plus_goes_on_from_its_journal_and_its_models(tmp_path, monkeypatch):
    X, y = three_columns()
    path = tmp_path / "plus.jsonl"
    plain = poise.JackknifeRegressor(Counted(2), random_state=0).fit(X, y)
    model = poise.JackknifeRegressor(Counted(2), random_state=0, journal=path)
    monkeypatch.setitem(FITS, "left", 38)  # the fit of all rows, one batch of 32, five more
    with pytest.raises(ValueError, match="switched off"):
        model.fit(X, y)
    assert len(path.read_text().splitlines()) == 1 + 32
    (tmp_path / "plus.jsonl.models" / "7.pkl").write_bytes(b"cut short")
    monkeypatch.setitem(FITS, "left", 1 + 8 + 1)
    model.fit(X, y)
    assert FITS["left"] == 0
    expected = plain.predict_interval(X)[1]
    assert np.array_equal(model.predict_interval(X)[1], expected)
    monkeypatch.setitem(FITS, "left", 1)  # everything is known but the model of all rows
    assert np.array_equal(clone(model).fit(X, y).predict_interval(X)[1], expected)


def test_residuals_under_other_random_terms_are_no_continuation(tmp_path):
    X, y = three_columns()
    settings = {"random_state": 0, "journal": tmp_path / "residuals.jsonl"}
    poise.JackknifeRegressor(Counted(2), **settings).fit(X, y)  # a term for each fit
    shared = poise.JackknifeRegressor(Counted(2), "jackknife", 0.8, certificate(Counted(2)))
    with pytest.raises(RecordError, match="coupling: independent in the journal, shared now"):
        shared.set_params(**settings).fit(X, y)


def test_models_that_cannot_be_written_are_refused(tmp_path):
    X, y = three_columns(12)
    model = poise.JackknifeRegressor(lambda X, y, seed: lambda rows: [0.0] * len(rows))
    with pytest.raises(ArgumentError, match="journal must be None for this algorithm"):
        model.set_params(journal=tmp_path / "run.jsonl").fit(X, y)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "minmax"}, "method must be one of 'plus', 'jackknife', got 'minmax'"),
        ({"level": 1.0}, r"level must be in \(0, 1\)"),
        ({"level": 90}, r"level must be in \(0, 1\)"),
    ],
)
def test_wrong_arguments(changes, message):
    with pytest.raises(ArgumentError, match=message):
        poise.JackknifeRegressor(**{"estimator": Ridge(), **changes}).fit(*three_columns())


def test_two_rows_are_enough_and_one_is_not() -> None:
    """Without either row the mean is the other response: both residuals are their distance."""
    model = poise.JackknifeRegressor(DummyRegressor(), level=0.5).fit([[0.0], [1.0]], [1.0, 4.0])
    np.testing.assert_allclose(model.residuals_, [3.0, 3.0])
    with pytest.raises(DataError, match="at least 2 rows to leave one out, got n_samples = 1"):
        poise.JackknifeRegressor(DummyRegressor(), level=0.5).fit([[0.0]], [1.0])
