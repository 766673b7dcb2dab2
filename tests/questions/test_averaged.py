"""Trials of several removals and points, and the averaged test on them, with real fits."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import poise
from poise.errors import ArgumentError, TrialError
from poise.procedures import AveragedTest, BinomialTest, MeasureChanges
from poise.results import AveragedResult
from poise.theory.averaged_design import test_row as row_of_point
from shared.algorithms import order_dependent

Floats = NDArray[np.float64]


def _data(rows: int, columns: int = 2, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, X.sum(axis=1) + rng.normal(size=rows)


_weighted = order_dependent()


def test_the_changes_are_those_of_the_definition() -> None:
    n, m, X, y = 4, 3, *_data(15)
    unlabeled = _data(6, seed=1)[0]
    every = np.concatenate([X, unlabeled])
    trials = poise.measure(
        _weighted, X, y, X_unlabeled=unlabeled, n=n, removals=3, points=3, shuffle=False
    )
    assert trials.n_trials == m
    assert trials.n_fits == trials.design.n_fits == m * 6
    for k in range(1, m + 1):
        rows = list(range((k - 1) * n, k * n))
        points = every[[row_of_point(n, m, k, t) - 1 for t in (1, 2, 3)]]
        for j in (1, 2, 3):
            removed = k * n + 1 - j - 1
            kept = [row for row in rows if row != removed]
            full = _weighted(X[[*kept, removed]], y[[*kept, removed]], 0)(points)
            reduced = _weighted(X[kept], y[kept], 0)(points)
            assert trials.changes[k - 1, j - 1] == pytest.approx(np.abs(full - reduced))


def test_no_row_serves_two_trials_and_spare_points_cost_no_trial() -> None:
    X, y = _data(64)
    procedure = MeasureChanges(n=8, points="spare", removals=2)
    conversation = procedure.ask(poise.Sample(X, y), poise.Randomness(3))
    batch = next(conversation)
    owned = [
        {
            float(X[row, 0])
            for query in (*task.full, *task.reduced)  # type: ignore[union-attr]
            for row in (*np.arange(64)[query.train], *query.evaluate)
        }
        for task in batch.tasks
    ]
    assert len(owned) == poise.theory.n_trials(8, 64) == 7
    assert sum(map(len, owned)) == len(set().union(*owned)) == 7 * 9


def test_one_removal_at_one_point_is_todays_measurement() -> None:
    X, y = _data(200)
    today = poise.measure(Ridge(), X, y, n=10, random_state=0)
    same = poise.measure(Ridge(), X, y, n=10, random_state=0, removals=1, points=1)
    assert same == today
    assert same.changes.shape == (18,)


def test_a_shortcut_gives_the_changes_of_the_fits() -> None:
    X, y = _data(700, 3)
    for algorithm in (Ridge(), KNeighborsRegressor(3)):
        settings: dict[str, Any] = {"n": 12, "points": 5, "random_state": 0}
        fast = poise.measure(algorithm, X, y, **settings)
        fits = poise.measure(algorithm, X, y, **settings, fast=False)
        assert fast.design.path != fits.design.path == "fit by fit"
        assert fast.changes.shape == fits.changes.shape == (41, 1, 5)
        np.testing.assert_allclose(fast.changes, fits.changes, atol=1e-9)


# One full fit for all removals


def test_one_full_fit_only_where_the_order_of_rows_does_not_matter() -> None:
    X, y = _data(60)
    ridge = poise.measure(Ridge(), X, y, n=8, removals="all", random_state=0)
    assert ridge.design.one_full_fit
    assert ridge.n_fits == ridge.n_trials * 9
    own = poise.run(MeasureChanges(n=8, removals="all"), Ridge(), X, y, random_state=0).result
    assert not own.design.one_full_fit
    np.testing.assert_allclose(ridge.changes, own.changes, atol=1e-9)

    forest = RandomForestRegressor(3, random_state=0)
    trials = poise.measure(forest, X, y, n=8, removals=2, random_state=0)
    assert not trials.design.one_full_fit
    assert trials.n_fits == trials.n_trials * 4


def test_a_false_declaration_is_found_out_on_the_first_trial() -> None:
    class LastRow(poise.Algorithm):
        name = "the last response"
        ignores_row_order = True

        def fit(self, X: Any, y: Any, xi: int) -> Any:
            return lambda rows: np.full(len(rows), y[-1])

    X, y = _data(60)
    assert not poise.measure(LastRow(), X, y, n=8, removals=3).design.one_full_fit


def _row_of_xi(X: Any, y: Any, seed: int) -> Any:
    """Predict the label of row ⌊ξ|D|⌋ + 1: symmetric in distribution, δ* = 1/2."""
    label = y[int(random.Random(seed).random() * len(y))]
    return lambda rows: np.full(len(rows), float(label))


def test_one_full_fit_would_certify_the_counterexample_falsely() -> None:
    n = 10

    def mean(trials: int, removals: Any, one_full_fit: bool) -> float:
        X, y = np.zeros((trials * (n + 1), 1)), np.arange(trials * (n + 1.0))
        test = MeasureChanges(n=n, removals=removals, one_full_fit=one_full_fit)
        return float(poise.run(test, _row_of_xi, X, y, random_state=0).result.shares(0.0).mean())

    # The means of shares have a standard error of at most .5/√m: five of them are 1 in a million.
    assert mean(1400, 2, one_full_fit=False) == pytest.approx(1 / 2, abs=0.067)
    assert mean(600, "all", one_full_fit=True) == pytest.approx((n + 1) / (3 * n), abs=0.103)
    assert (n + 1) / (3 * n) < 0.4 < 1 / 2  # a certificate at δ = .4 would be false


# Failures


def _moody(X: Any, y: Any, seed: int) -> Any:
    """Fail on 3 rows that lack the response 7; be no number at points beyond 100."""
    if len(y) == 3 and 7.0 not in y:
        raise ValueError("no seven")
    return lambda rows: np.where(np.asarray(rows)[:, 0] > 100, np.nan, 0.0)


def test_what_failed_counts_against_stable_and_never_for_unstable() -> None:
    X = np.array([[0.0]] * 8 + [[0.0], [0.0], [200.0], [0.0]])
    y = np.array([1.0, 2, 3, 7, 1, 2, 3, 4, 0, 0, 0, 0])
    settings: dict[str, Any] = {"n": 4, "removals": 2, "points": 2, "shuffle": False}
    trials = poise.measure(_moody, X, y, **settings, on_error="unstable")
    nan = np.nan
    np.testing.assert_array_equal(trials.changes, [[[nan, nan], [0, nan]], [[nan, nan]] * 2])
    assert trials.failures == ("ValueError: no seven",) * 2
    assert trials.shares(0.5).tolist() == [0.75, 1.0]
    assert trials.shares(0.5, failures_exceed=False).tolist() == [0.0, 0.0]
    result = trials.test(0.5, 0.5, alpha=0.4)
    assert result.verdict == "inconclusive"
    assert result.n_failures == 2
    with pytest.raises(TrialError, match="no seven") as caught:
        poise.measure(_moody, X, y, **settings)
    assert caught.value.partial.changes.shape == (0, 2, 2)


def test_a_failed_full_fit_fails_its_own_comparisons_only() -> None:
    def fragile(X: Any, y: Any, seed: int) -> Any:
        if len(y) == 4 and y[-1] == 3.0:
            raise ValueError("three is last")
        return lambda rows: np.zeros(len(rows))

    X, y = np.zeros((5, 1)), np.array([1.0, 2, 3, 4, 0])
    settings: dict[str, Any] = {"n": 4, "removals": 3, "shuffle": False, "on_error": "unstable"}
    changes = poise.measure(fragile, X, y, **settings).changes
    np.testing.assert_array_equal(changes, [[[0.0], [np.nan], [0.0]]])


# Records


def test_a_journal_goes_on_and_trials_are_kept_exactly(tmp_path: Path) -> None:
    X, y = _data(150)
    X[::13] = 200.0
    settings: dict[str, Any] = {"n": 6, "removals": 2, "points": 2, "random_state": 5}
    settings |= {"on_error": "unstable"}

    def sometimes(X: Any, y: Any, seed: int) -> Any:
        return lambda rows: np.where(np.asarray(rows)[:, 0] > 100, np.nan, y[-1])

    whole = poise.measure(sometimes, X, y, **settings)
    assert 0 < np.isnan(whole.changes).sum() < whole.changes.size
    path = tmp_path / "run.jsonl"
    poise.measure(sometimes, X, y, **settings, journal=path)
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 1 + whole.n_trials
    assert set(json.loads(lines[1])) >= {"trial", "changes"}
    path.write_bytes(b"".join(lines[:7]))
    assert poise.measure(sometimes, X, y, **settings, journal=path) == whole
    assert path.read_bytes() == b"".join(lines)

    whole.save(tmp_path / "a.trials")
    assert poise.Trials.load(tmp_path / "a.trials") == whole
    assert poise.Trials.from_json(whole.to_json()) == whole
    assert poise.measure(sometimes, X, y, **settings, n_jobs=2, backend="threading") == whole


def test_a_transcript_is_replayed(tmp_path: Path) -> None:
    X, y = _data(90)
    test = AveragedTest(n=6, epsilon=0.5, delta=0.3, removals=2, points=2)
    run = poise.run(test, _weighted, X, y, random_state=0)
    run.transcript.save(tmp_path / "run.npz")
    assert poise.replay(poise.Transcript.load(tmp_path / "run.npz")) == run.result
    assert run.counts.calls == run.result.n_fits


def test_workers_give_the_same_changes() -> None:
    X, y = _data(120)
    settings: dict[str, Any] = {"n": 6, "removals": 2, "points": 2, "random_state": 5}
    alone = poise.measure(_weighted, X, y, **settings)
    assert poise.measure(_weighted, X, y, **settings, n_jobs=2, backend="loky") == alone


# The test


@pytest.mark.parametrize("randomized", [False, True])
def test_stable_iff_delta_hat_is_at_most_delta_iff_epsilon_hat_is_at_most_epsilon(
    randomized: bool,
) -> None:
    rng = np.random.default_rng(2)
    verdicts = set()
    for _ in range(150):
        m, R, T = rng.integers(1, 60), rng.integers(1, 4), rng.integers(1, 5)
        changes = rng.exponential(size=(m, R, T)) * rng.choice([0.2, 1.0, 5.0])
        changes[rng.uniform(size=changes.shape) < 0.01] = np.nan
        shape = (m,) if R * T == 1 else (m, R, T)
        if R * T == 1:
            changes = np.nan_to_num(changes, nan=np.inf)
        seed = int(rng.integers(1000))
        trials = poise.Trials.from_changes(changes.reshape(shape), n=5, random_state=seed)
        epsilon, delta = float(rng.uniform(0, 2)), float(rng.choice([0.05, 0.2, 0.5]))
        result = trials.test(epsilon, delta, 0.1, randomized, test="averaged")
        verdicts.add(result.verdict.value)
        assert result.stable == (result.delta_hat <= delta) == (result.epsilon_hat <= epsilon)
        assert poise.StabilityResult.from_json(result.to_json()) == result
        assert not result.stable or result.printed_delta_hat >= delta
    assert verdicts == {"stable", "unstable", "inconclusive"}


@pytest.mark.parametrize("scale", [0.1, 0.5, 3.0])
@pytest.mark.parametrize("randomized", [False, True])
def test_a_stopped_run_has_the_verdict_of_the_full_run(scale: float, randomized: bool) -> None:
    def noisy(X: Any, y: Any, seed: int) -> Any:
        return lambda rows: scale * len(y) * np.asarray(rows)[:, 0] ** 2

    X, y = _data(1500)
    settings: dict[str, Any] = {"n": 8, "epsilon": 1.0, "delta": 0.3, "random_state": 0}
    settings |= {"test": "averaged", "points": 4, "randomized": randomized}
    stopped = poise.stability_test(noisy, X, y, **settings)
    full = poise.stability_test(noisy, X, y, **settings, stop_early=False)
    assert isinstance(stopped, AveragedResult)
    assert stopped.n_observed < full.n_observed == full.n_trials
    for name in ("verdict", "delta_hat", "epsilon_hat", "trajectory", "e_value", "pvalue"):
        assert getattr(stopped, name) == getattr(full, name)
    only = poise.stability_test(noisy, X, y, **settings, stop_early="stable")
    assert only.stable == full.stable


def test_on_single_changes_it_is_the_binomial_test() -> None:
    rng = np.random.default_rng(3)
    for _ in range(60):
        changes = (rng.uniform(size=rng.integers(20, 80)) < rng.choice([0.0, 0.1, 0.4])) * 1.0
        trials = poise.Trials.from_changes(changes, n=5)
        averaged = trials.test(0.5, 0.2, test="averaged")
        paper = trials.test(0.5, 0.2)
        assert averaged.stable == paper.stable
        last = averaged.acceptance_probability
        assert averaged.n_used < len(changes) or last == pytest.approx(paper.acceptance_probability)


def test_auto_decides_before_the_first_fit_from_rows_and_question_alone() -> None:
    nearest, (X, y) = KNeighborsRegressor(), _data(1000)
    unlabeled = _data(600, seed=1)[0]
    settings: dict[str, Any] = {"n": 10, "epsilon": 1.0, "delta": 0.1, "random_state": 0}
    settings |= {"test": "auto"}
    spare = poise.stability_test(nearest, X, y, X_unlabeled=unlabeled, **settings)
    assert isinstance(spare, AveragedResult)
    assert (spare.removals, spare.points, spare.n_trials) == (1, 6, 100)
    assert "chosen before the first fit" in spare.summary()
    none_spare = poise.stability_test(nearest, X, y, **settings)
    assert none_spare.test == "binomial"
    assert "no spare rows" in none_spare.why
    paper = poise.stability_test(nearest, X, y, **settings | {"test": "binomial"})
    assert replace(none_spare, why="") == paper
    few = poise.stability_test(
        KNeighborsRegressor(), X[:500], y[:500], X_unlabeled=unlabeled, **settings
    )
    assert few.test == "binomial"  # 50 trials, and averaging pays from 59 on
    coin = settings | {"randomized": True}
    few = poise.stability_test(
        KNeighborsRegressor(), X[:500], y[:500], X_unlabeled=unlabeled, **coin
    )
    assert few.test == "averaged"


def test_the_averaged_test_takes_spare_points_of_itself() -> None:
    X, y = _data(500)
    more = _data(500, seed=1)[0]
    result = poise.stability_test(
        Ridge(),
        X,
        y,
        X_unlabeled=more,
        n=10,
        epsilon=1.0,
        delta=0.1,
        test="averaged",
        random_state=0,
    )
    assert isinstance(result, AveragedResult)
    assert (result.n_trials, result.points) == (50, 10)
    assert "A trial answers with a fraction" in result.summary()
    assert "with probability at most 0.1." in result.summary()
    figure = result.plot()
    assert figure.axes[0].get_ylabel() == "value of the bet, on a logarithmic axis"


def test_compare_and_the_curve_average_too() -> None:
    X, y = _data(600)
    more = _data(600, seed=1)[0]
    settings: dict[str, Any] = {"X_unlabeled": more, "points": "spare", "random_state": 0}
    compared = poise.compare([Ridge(), _weighted], X, y, n=8, epsilon=1.0, delta=0.2, **settings)
    assert [row.verdict.value for row in compared.rows] == ["stable", "unstable"]
    assert compared.trials[0].changes.shape == (75, 1, 8)
    assert "on the same 75 trials" in compared.summary()
    compared.plot()
    curve = poise.stability_curve(Ridge(), X, y, n=[6, 12], epsilon=0.5, delta=0.2, **settings)
    assert curve.delta_hat is not None
    assert all(0 < limit < 0.3 for limit in curve.delta_hat)
    assert curve.summary()
    curve.plot()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"removals": 11}, "removals must be a whole number from 1 to n = 10, or 'all', got 11"),
        ({"removals": "some"}, "removals must be a whole number >= 1 or 'all', got 'some'"),
        ({"points": 0}, "points must be"),
        ({"points": "many"}, "points must be a whole number >= 1 or 'spare', got 'many'"),
        ({"removals": 4, "remove": 3}, "removals must be a whole number from 1 to n // remove = 3"),
    ],
)
def test_what_cannot_be_averaged_is_refused(settings: dict[str, Any], message: str) -> None:
    X, y = _data(60)
    with pytest.raises(ArgumentError, match=message):
        poise.measure(Ridge(), X, y, n=10, **settings)


def test_the_binomial_test_takes_single_changes() -> None:
    X, y = _data(60)
    question: dict[str, Any] = {"n": 10, "epsilon": 1.0, "delta": 0.5}
    with pytest.raises(ArgumentError, match="need test='averaged'"):
        poise.stability_test(Ridge(), X, y, **question, points=2, test="binomial")
    with pytest.raises(ArgumentError, match="need test='averaged'"):
        BinomialTest(**question, removals=2)
    trials = poise.measure(Ridge(), X, y, n=10, points=2)
    with pytest.raises(ArgumentError, match="test='binomial' needs one change a trial"):
        trials.test(1.0, 0.5, test="binomial")


def test_an_inconclusive_run_goes_on_to_its_end() -> None:
    """Its limits are the only result: a bet that is lost after a few trials ends nothing."""
    rng = np.random.default_rng(0)
    rows, responses = rng.normal(size=(600, 1)), rng.normal(size=600)

    def often(X, y, seed):
        level = float(y[-1])
        return lambda points: np.where(np.ravel(points) < 0.6, level, 0.0)

    found = {}
    for stop_early in (True, False):
        asked = {"n": 5, "epsilon": 0.0, "delta": 0.7, "test": "averaged", "points": 3}
        found[stop_early] = poise.stability_test(
            often, rows, responses, random_state=0, stop_early=stop_early, **asked
        )
    assert found[True].verdict == "inconclusive"
    assert found[True] == found[False]
    assert found[True].n_used < found[True].n_trials == found[True].n_observed
