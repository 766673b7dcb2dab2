"""What changes say before anybody asks a question: shares, limits, rows."""

from __future__ import annotations

import copy
import pickle
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from helpers import trials_of
from poise.data.randomness import Randomness, as_coupling
from poise.data.sample import Sample
from poise.data.split import Split
from poise.errors import ArgumentError, PoiseError
from poise.results.design import Design
from poise.results.question import Question
from poise.results.together import Comparison
from poise.results.trials import Failed, Trials
from poise.theory import profile_band

NAN, INF = np.nan, np.inf
GRID = np.linspace(0, 3, 61)  # 0.05 apart


def test_a_failure_counts_against_stable_and_never_for_unstable():
    one = Trials.from_changes([NAN, INF, 0.0, 2.0], n=5)
    assert (one.n_failures, one.values.tolist()) == (1, [INF, INF, 0, 2])
    assert one.shares(1.0).tolist() == [1, 1, 0, 1]
    assert one.shares(1.0, failures_exceed=False).tolist() == [0, 1, 0, 1]
    assert (one.observed(1.0), one.test(1.0, 0.1).statistic) == (0.5, 3)
    table = trials_of([[[0.0, NAN], [3.0, 0.5]], [[NAN, NAN], [NAN, NAN]]])
    assert table.n_failures == 2
    assert table.shares(1.0).tolist() == [0.5, 1.0]
    assert table.shares(1.0, failures_exceed=False).tolist() == [0.25, 0.0]
    every = Trials.from_changes([NAN] * 60, n=5)
    assert (every.test(1.0, 0.1).verdict, every.delta_upper(1.0)) == ("inconclusive", 1.0)
    assert (every.epsilon_upper(0.1), every.test(1.0, 0.1).epsilon_lower) == (INF, 0.0)


def test_a_limit_is_the_smallest_epsilon_that_passes():
    trials = Trials.from_changes(GRID, n=5)
    upper, lower = trials.epsilon_upper(0.2), trials.test(1.0, 0.2).epsilon_lower
    for epsilon in GRID:  # Proposition 1
        result = trials.test(epsilon, 0.2)
        assert (epsilon >= upper) == (result.verdict == "stable") == (result.delta_upper <= 0.2)
        assert (epsilon < lower) == (result.verdict == "unstable")


def test_limits_without_delta_are_read_by_the_law_of_the_run():
    trials = trials_of(np.random.default_rng(0).exponential(size=(30, 1, 5)))  # 29 · 1.4 > 30
    by_first = Trials.from_changes(trials.changes[:, 0, 0], n=10)
    assert trials.delta == 0.1
    assert trials.delta_upper(2.0) == by_first.delta_upper(2.0)
    averaged = replace(trials, delta=0.2).delta_upper(2.0)
    assert averaged == trials.delta_upper(2.0, delta=0.2) != trials.delta_upper(2.0)


def test_profile_holds_everywhere_and_is_none_without_a_size():
    trials = Trials.from_changes([*GRID, NAN], n=5)
    profile = trials.profile()
    assert profile.epsilon[0] == 0
    assert profile.delta[-1] == profile_band(62, 0.05)[1]  # beyond all changes: the failed one
    assert (np.diff(profile.delta) <= 0).all()
    for epsilon in (0.0, 0.024, 1.0, 2.99, 7.0):
        assert profile.at(epsilon) >= trials.delta_upper(epsilon)
    best = profile.epsilon_for(0.3)
    assert profile.at(best) <= 0.3 < profile.at(best - 1e-9)
    frame = profile.to_frame()
    assert list(frame) == ["epsilon", "observed", "delta"]
    assert len(frame) == len(GRID)
    assert repr(profile).startswith("Profile(61 steps down to P(change > 3) <= ")
    many = trials_of(np.random.default_rng(1).exponential(size=(60, 2, 3)))
    assert many.profile().epsilon_for(0.3) >= many.epsilon_upper(0.3)
    labels = trials_of(np.zeros((40, 1, 1)), distance="label")
    assert labels.profile() is labels.epsilon_upper(0.1) is None
    assert labels.delta_upper() == pytest.approx(1 - 0.05 ** (1 / 40))


def test_mean_limit_bounds_the_mean():
    once, twice = (Trials.from_changes([change] * 100, n=5) for change in (0.2, 0.4))
    assert 0.2 < once.mean_limit(bound=1.0) < 0.3
    assert 2 * once.mean_limit(bound=1.0) == pytest.approx(twice.mean_limit(bound=2.0))
    assert Trials.from_changes([NAN] * 100, n=5).mean_limit(bound=3.0) == 3.0


def test_decisions_are_shares_and_read_as_they_are():
    panel = {"compares": "decisions", "distance": "ranking", "points": 50}
    trials = trials_of(np.full((60, 1, 1), 0.02), **panel)
    result = trials.test(delta=0.1)
    assert (result.verdict, result.test, result.epsilon) == ("stable", "averaged", None)
    assert trials.observed() == pytest.approx(0.02)
    assert result.statistic == pytest.approx(1.2)
    assert result.epsilon_upper is None
    failed = trials_of(np.full((60, 1, 1), NAN), **panel)
    assert (failed.shares().sum(), failed.observed()) == (60, 0)
    with pytest.raises(ArgumentError, match="shares in"):
        trials_of(np.full((60, 1, 1), 1.1), **panel)


def test_changes_from_elsewhere():
    trials = Trials.from_changes(np.ones((4, 2, 3)), n=10)
    assert (trials.n_trials, trials.design.shape, trials.n_fits) == (4, (2, 3), 0)
    assert trials.test(2.0, 0.1).power_bound is None
    for wrong in ([-1.0], ["a"], [[1.0]], np.ones((2, 0, 1)), 3.0, [[1.0], [1.0, 2.0]]):
        with pytest.raises(ArgumentError, match="changes"):
            Trials.from_changes(wrong, n=10)
    with pytest.raises(ArgumentError, match="n must"):
        Trials.from_changes([1.0], n=1)
    for asked, said in (({"epsilon": 1.0}, "delta"), ({"delta": 0.1}, "epsilon is missing")):
        with pytest.raises(ArgumentError, match=said):
            Trials.from_changes([1.0], n=10).test(**asked)


def test_without_a_trial_nothing_is_stable():
    for randomized in (False, True):
        empty = Trials.from_changes([], n=10).test(1.0, 0.5, 0.9, randomized=randomized)
        assert empty.verdict == "inconclusive"
        assert empty.reason == "too few trials: 0 trials, 1 are the least"
        assert (empty.delta_interval, empty.epsilon_upper) == ((0.0, 1.0), INF)
        assert empty.acceptance_probability == 0.9
        assert np.isnan(empty.delta_observed)
        assert empty.summary()
        assert empty.details()


def test_tables_are_checked_copied_and_locked():
    design = Design(algorithm="x", n=10, n_labeled=40, n_unlabeled=5)
    mine = np.ones((4, 1, 1))
    trials = Trials(mine, design)
    mine[0] = 7
    assert trials.changes[0] == 1
    assert np.isnan(trials.errors).all()
    for copied in (trials, pickle.loads(pickle.dumps(trials)), copy.deepcopy(trials)):
        assert copied == trials
        with pytest.raises(ValueError, match="read-only"):
            copied.changes[0] = 2
    for wrong in (np.ones((5, 1, 1)), np.ones((4, 1, 2)), -mine):
        with pytest.raises(ArgumentError, match="changes"):
            Trials(wrong, design)
    with pytest.raises(ArgumentError, match="errors"):
        Trials(mine, design, errors=np.ones(3))
    many = Trials(mine, design, failures=[Failed(0, "error", "a\rb")] * 30)
    assert len(many.failures) == 20
    assert many.failures[0].message == "a\\rb"
    assert trials != many
    assert trials != Trials(2 * trials.changes, design)
    with pytest.raises(TypeError, match=r"say trials\.test"):
        bool(trials)


def test_changes_are_found_again_by_the_labels_of_their_rows():
    frame = pd.DataFrame({"a": range(30)}, index=[f"row {i}" for i in range(30)])
    sample = Sample.of(frame, np.arange(30.0))
    plan = {"n": 8, "removals": 2, "remove": 1}
    split = Split(sample, Randomness(0), as_coupling("shared"), trials=3, n_points=2, **plan)
    design = Design(algorithm="x", n_labeled=30, points=2, **plan)
    changes = np.arange(12.0).reshape(3, 2, 2)
    changes[1, 0, 1] = NAN
    origin = SimpleNamespace(split=split, label_of=lambda row: frame.index[row])
    trials = Trials(changes, design, origin=origin)
    found = trials.to_frame()
    assert len(found) == 12
    assert found.change.isna().sum() == 1
    for row in found.itertuples():
        rows = trials.rows(row.trial)
        assert row.removed_row == rows["removed"][row.removal]
        assert row.test_row == rows["tested"][row.point]
        assert len(rows["trained"]) == 8
        assert set(rows["removed"]) <= set(rows["trained"])
        assert rows["tested"] == [frame.index[i] for i in split.points(row.trial)]
    assert found.removed_row.nunique() == 6
    assert found.test_row.nunique() == 6
    assert list(Trials(changes, design).to_frame()) == ["trial", "removal", "point", "change"]
    for wrong in (3, -1):
        with pytest.raises(ArgumentError, match="k must"):
            trials.rows(wrong)
    with pytest.raises(ArgumentError, match="not known"):
        pickle.loads(pickle.dumps(trials)).rows(0)


def test_frames_without_pandas_say_what_to_install(monkeypatch):
    trials = Trials.from_changes([0.1] * 40, n=10)
    answers = [trials, trials.test(0.2, delta=0.1), trials.profile()]
    answers.append(Comparison({"a": trials}, Question(0.2, 0.1)))
    monkeypatch.setitem(sys.modules, "pandas", None)
    for answer in answers:
        with pytest.raises(PoiseError, match=r"need pandas: pip install 'poise\[data\]'"):
            answer.to_frame()
