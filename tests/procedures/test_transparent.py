"""The test that reads the coefficients of linear models (Definition 3, Theorem 3)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.linear_model import LinearRegression, PoissonRegressor, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsRegressor

import poise
from poise.errors import AlgorithmError, ArgumentError, DataError
from poise.procedures import TransparentLinearTest
from poise.theory import n_trials

rng = np.random.default_rng(5)
X = rng.uniform(-1, 1, size=(210, 3))
y = X @ [1.0, -2.0, 0.5] + rng.normal(size=210)
question = {"n": 10, "epsilon": 0.3, "delta": 0.3}


def see(test, algorithm=None, X=X, y=y, **options):
    options = {"models": "transparent", "random_state": 0} | options
    return poise.run(test, algorithm or Ridge(), X, y, **options)


def test_at_fresh_rows_it_is_the_binomial_test() -> None:
    result = see(TransparentLinearTest(**question)).result
    direct = poise.stability_test(
        Ridge(), X, y, **question, stop_early=False, fast=False, random_state=0
    )
    assert result.n_trials == direct.n_trials == n_trials(10, 210)
    assert result.statistic == direct.statistic
    assert result.pvalue == direct.pvalue
    assert result.verdict == direct.verdict


def test_the_ball_needs_no_test_points() -> None:
    result = see(TransparentLinearTest(**question, radius=2.0)).result
    assert result.n_trials == 21 > n_trials(10, 210) == 19
    assert result.certifies


def test_the_largest_change_over_the_ball() -> None:
    test = TransparentLinearTest(**question, radius=2.0)
    run = see(test)
    (stage,) = run.transcript.stages
    directions = rng.normal(size=(20_000, 3))
    sphere = 2.0 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    count = 0
    for k in range(21):
        full, reduced = (
            Ridge().fit(X[task.train], y[task.train]) for task in stage.tasks[2 * k : 2 * k + 2]
        )
        found = np.abs(full.predict(sphere) - reduced.predict(sphere)).max()
        w, b = full.coef_ - reduced.coef_, full.intercept_ - reduced.intercept_
        largest = test._change(
            np.append(full.coef_, full.intercept_),
            np.append(reduced.coef_, reduced.intercept_),
            None,
        )
        assert found <= largest <= 1.01 * found
        at = 2.0 * np.sign(b) * w / np.linalg.norm(w)
        assert abs(at @ w + b) == pytest.approx(largest)
        count += largest > 0.3
    assert run.result.statistic == count


def test_the_ball_never_says_unstable() -> None:
    result = see(TransparentLinearTest(10, 1e-6, 0.3, radius=2.0)).result
    assert result.statistic == 21
    assert result.verdict == "inconclusive"
    assert result.pvalue_unstable == 1.0


def test_a_known_law_of_the_features() -> None:
    drawn = []

    def law(generator, size):
        points = generator.uniform(-1, 1, size=(size, 3))
        drawn.append(points)
        return points

    run = see(TransparentLinearTest(**question, feature_law=law))
    (stage,), (points,) = run.transcript.stages, drawn
    count = 0
    for k in range(21):
        full, reduced = (
            Ridge().fit(X[task.train], y[task.train]) for task in stage.tasks[2 * k : 2 * k + 2]
        )
        count += abs(float((full.predict(points[[k]]) - reduced.predict(points[[k]]))[0])) > 0.3
    assert run.result.n_trials == 21
    assert run.result.statistic == count


def test_blocks_share_no_row() -> None:
    (stage,) = see(TransparentLinearTest(**question, radius=2.0)).transcript.stages
    rows = np.concatenate([task.train for task in stage.tasks[::2]])
    assert len(set(rows.tolist())) == len(rows) == 210
    for full, reduced in zip(stage.tasks[::2], stage.tasks[1::2], strict=True):
        np.testing.assert_array_equal(reduced.train, full.train[:-1])
        assert reduced.xi == full.xi


def test_models_must_be_shown() -> None:
    with pytest.raises(ArgumentError, match="models='transparent'"):
        see(TransparentLinearTest(**question), models="black-box")


@pytest.mark.parametrize(
    ("algorithm", "responses", "message"),
    [
        (KNeighborsRegressor(3), y, "must have coef_ and intercept_, got KNeighborsRegressor"),
        (RidgeClassifier(), (y > 0).astype(int), "does not predict what its coefficients say"),
        (PoissonRegressor(), np.exp(y), "PoissonRegressor does not predict what"),
        (LinearRegression(), np.column_stack([y, y]), r"one weight per feature \(3\).* got 6"),
    ],
)
def test_models_that_are_not_linear(algorithm, responses, message: str) -> None:
    with pytest.raises(AlgorithmError, match=message):
        see(TransparentLinearTest(**question), algorithm, y=responses)


def test_failed_fits_are_infinite_changes() -> None:
    class Fragile(Ridge):
        def fit(self, X, y):
            if y[0] > 1.5:
                raise RuntimeError("too large")
            return super().fit(X, y)

    result = see(TransparentLinearTest(10, 1e6, 0.3), Fragile(), on_error="unstable").result
    assert 0 < result.statistic < result.n_trials


@pytest.mark.parametrize("size", [9, 10], ids=["without the row", "with it"])
def test_one_failed_fit_of_a_pair_is_a_failed_trial(size) -> None:
    class Fragile(Ridge):
        def fit(self, X, y):
            if y[0] > 1.5 and len(y) == size:
                raise RuntimeError("too large")
            return super().fit(X, y)

    result = see(TransparentLinearTest(10, 1e6, 0.3), Fragile(), on_error="unstable").result
    assert 0 < result.n_failures == result.statistic < result.n_trials


@pytest.mark.parametrize("convert", [pd.DataFrame, scipy.sparse.csr_array])
def test_frames_and_sparse_matrices(convert) -> None:
    test = TransparentLinearTest(**question, radius=2.0)
    if convert is pd.DataFrame:
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        assert see(test, X=frame).result.statistic == see(test).result.statistic
    else:
        solver = Ridge(solver="sparse_cg", tol=1e-12)
        assert see(test, solver, X=convert(X)).result.n_trials == 21


def test_rows_outside_the_ball_contradict_it() -> None:
    far = X.copy()
    far[17] = [3.0, 0.0, 0.0]
    with pytest.raises(DataError, match=r"radius must bound every row, got 2\.0, but row 17 has"):
        see(TransparentLinearTest(**question, radius=2.0), X=far)
    extra = np.array([[5.0, 0.0, 0.0]])
    with pytest.raises(DataError, match="but row 210 has norm 5"):
        see(TransparentLinearTest(**question, radius=2.0), X_unlabeled=extra)


def test_too_few_rows() -> None:
    result = see(TransparentLinearTest(**question), X=X[:10], y=y[:10]).result
    assert (result.n_trials, result.verdict) == (0, "inconclusive")
    with pytest.raises(ArgumentError, match=r"number of labelled rows \(9\)"):
        see(TransparentLinearTest(**question), X=X[:9], y=y[:9])


@pytest.mark.parametrize(
    "options",
    [{"radius": 0.0}, {"radius": np.inf}, {"radius": 1.0, "feature_law": print}],
)
def test_bad_options(options) -> None:
    with pytest.raises(ArgumentError, match="radius"):
        TransparentLinearTest(**question, **options)
