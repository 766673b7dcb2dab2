"""Groups are kept and removed as a whole, and no two trials share one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

import poise
from poise.data.groups import Groups
from poise.errors import ArgumentError, DataError, PowerWarning
from poise.procedures.split_of_groups import RemovedUnits, UnitSplit
from poise.procedures.split_of_rows import TrialSizes
from poise.protocol.budget import cost
from poise.protocol.randomness import Randomness, Shared
from shared.algorithms import Spy

rng = np.random.default_rng(0)
patients = rng.permutation(np.repeat(np.arange(120), rng.integers(1, 6, 120)))
X = np.column_stack([np.arange(len(patients)), rng.normal(size=len(patients))]).astype(float)
y = rng.normal(size=len(patients))


def watched(**settings):
    spy = Spy()
    settings = {"n": 7, "groups": patients, "random_state": 0} | settings
    trials = poise.measure(spy, X, y, check=False, **settings)
    return spy.trials(), trials


def groups_of(rows) -> list[int]:
    """Group labels in order, each once; fails if a group is interrupted."""
    labels = [int(patients[row]) for row in rows]
    order = list(dict.fromkeys(labels))
    assert labels == [label for group in order for label in labels if label == group]
    return order


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_trial_is_made_of_whole_groups(shuffle) -> None:
    seen, trials = watched(shuffle=shuffle)
    assert trials.n_trials == 120 // 8 == len(seen)
    for full, reduced, point in seen:
        order = groups_of(full)
        assert len(order) == 7
        assert reduced == full[: len(reduced)], "the rest stays as it was"
        assert groups_of(reduced) == order[:-1], "the last group goes as a whole"
        assert sorted(full) == sorted(np.flatnonzero(np.isin(patients, order)))
        assert patients[point] not in order


def test_no_group_is_shared_by_two_trials() -> None:
    seen, _ = watched()
    used = [set(groups_of(full)) | {int(patients[point])} for full, _, point in seen]
    assert sum(len(groups) for groups in used) == len(set().union(*used)) == 15 * 8


def test_without_shuffling_groups_come_in_order_of_appearance() -> None:
    seen, _ = watched(shuffle=False)
    order = list(dict.fromkeys(patients.tolist()))
    assert [group for full, _, _ in seen for group in groups_of(full)] == order[: 15 * 7]
    assert [int(patients[point]) for _, _, point in seen] == order[15 * 7 : 15 * 8]


def test_the_seed_decides_the_order_and_the_test_rows() -> None:
    assert watched()[0] == watched()[0]
    assert watched()[0] != watched(random_state=1)[0]


def test_an_unlabelled_row_is_a_unit_of_its_own() -> None:
    spare = np.column_stack([np.arange(900, 1000), np.zeros(100)]).astype(float)
    seen, trials = watched(X_unlabeled=spare)
    assert trials.n_trials == 120 // 7
    assert trials.kappa == Fraction(120, 7)
    points = [point for _, _, point in seen]
    leftover = 120 - 7 * 17
    assert sum(point < 900 for point in points) == leftover == 1
    assert len(set(points)) == 17


def test_changes_equal_a_loop_by_hand() -> None:
    settings = {"n": 7, "groups": patients, "random_state": 3, "shuffle": False}
    got = poise.measure(Ridge(), X[:, 1:], y, **settings)
    order = list(dict.fromkeys(patients.tolist()))
    points = [point for _, _, point in watched(shuffle=False, random_state=3)[0]]
    for k, point in enumerate(points):
        predictions = []
        for stop in (7 * k + 7, 7 * k + 6):
            rows = [r for g in order[7 * k : stop] for r in np.flatnonzero(patients == g)]
            predictions.append(Ridge().fit(X[rows, 1:], y[rows]).predict(X[[point], 1:])[0])
        assert got.changes[k] == pytest.approx(abs(predictions[0] - predictions[1]), rel=1e-12)


def test_every_row_of_a_test_group_is_as_likely_as_the_others() -> None:
    """1,000 draws among 4 rows: each count is Binomial(1000, 1/4), sd 13.7; 6 sd are 82."""
    groups = Groups(np.repeat(np.arange(3000), 4), 12000)
    sizes, removed = TrialSizes(2, 1000, 12000, 0), RemovedUnits(groups=groups)
    split = UnitSplit(sizes, Randomness(1), Shared(), shuffle=False, removed=removed)
    counts = np.bincount([split.test_row(k) % 4 for k in range(1000)], minlength=4)
    assert (abs(counts - 250) < 82).all()


def test_a_layout_puts_groups_in_the_order_asked_for() -> None:
    groups = Groups(["a", "b", "a", "c", "b"], 5)
    layout = groups.layout(np.array([2, 0, 1]))  # c, a, b
    assert layout.rows.tolist() == [3, 0, 2, 1, 4]
    assert layout.starts.tolist() == [0, 1, 3, 5]


def test_groups_of_one_row_are_rows() -> None:
    plain = poise.measure(Ridge(), X, y, n=10, shuffle=False, fast=False, random_state=0)
    single = poise.measure(
        Ridge(), X, y, n=10, shuffle=False, groups=np.arange(len(y)), random_state=0
    )
    assert plain.changes.tolist() == single.changes.tolist()
    assert plain.design.n_trials == single.design.n_trials


@pytest.mark.parametrize("kind", [list, pd.Series, np.asarray])
def test_labels_may_be_anything(kind) -> None:
    names = [f"patient {p}" for p in patients]
    assert watched(groups=kind(names))[0] == watched()[0]


def test_two_workers_see_the_same_groups() -> None:
    def weighted(A, b, seed):  # every row and its place matter, and workers import nothing
        level = float(np.arange(1, len(b) + 1) @ (A[:, 0] + b)) / len(b)
        return lambda rows: level * rows[:, 1]

    settings = {"n": 7, "groups": patients, "random_state": 0}
    one = poise.measure(weighted, X, y, **settings)
    two = poise.measure(weighted, X, y, n_jobs=2, **settings)
    assert one.changes.tolist() == two.changes.tolist()
    assert len(set(one.changes)) == one.n_trials


def test_the_result_says_what_was_counted() -> None:
    result = poise.stability_test(
        Ridge(), X, y, n=4, epsilon=5.0, delta=0.2, groups=patients, random_state=0
    )
    text = result.summary()
    assert result.n_trials == 24
    assert "trains on 4 groups and again without the last of them" in text
    assert "at a row of a fresh group" in text
    assert "removing a group moves a prediction" in text
    assert "stable under the removal of a group at n = 4 groups" in text
    assert "counted in groups, of which there are 120" in text
    assert result.power_bound == 1.0  # 120 groups are worth 24 trials of 4 groups and a point
    assert result.design.unit == "group"
    assert poise.StabilityResult.from_json(result.to_json()) == result


def test_a_hopeless_question_is_told_in_groups() -> None:
    with pytest.warns(PowerWarning, match=r"You need 232 groups at this n \(now 120\)"):
        poise.stability_test(Spy(), X, y, n=7, epsilon=1.0, delta=0.1, groups=patients)


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        (patients[:-1], DataError, "groups must hold one label per labelled row, got shape"),
        (np.column_stack([patients, patients]), DataError, "groups must hold one label"),
        ([None, *patients[1:]], DataError, r"missing labels, got None in row 0"),
        (np.where(patients == 3, np.nan, patients), DataError, "missing labels, got nan in row"),
    ],
)
def test_bad_labels(labels, error, message) -> None:
    with pytest.raises(error, match=message):
        poise.measure(Ridge(), X, y, n=7, groups=labels)


def test_more_groups_asked_for_than_there_are() -> None:
    with pytest.raises(ArgumentError, match=r"n must be at most the number of groups \(120\), got"):
        poise.measure(Ridge(), X, y, n=121, groups=patients)


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 4), min_size=4, max_size=30),
    n=st.integers(2, 5),
    remove=st.integers(1, 4),
    replace=st.booleans(),
    n_unlabeled=st.integers(0, 10),
    shuffle=st.booleans(),
)
def test_units_are_used_once(sizes, n, remove, replace, n_unlabeled, shuffle) -> None:
    remove = min(remove, n if replace else n - 1)
    labels = np.random.default_rng(1).permutation(np.repeat(np.arange(len(sizes)), sizes))
    design = poise.Design(
        "", n, len(labels), n_unlabeled, remove=remove, replace=replace, n_groups=len(sizes)
    )
    sizes = TrialSizes(n, design.n_trials, len(labels), n_unlabeled)
    removed = RemovedUnits(remove, replace, Groups(labels, len(labels)))
    split = UnitSplit(sizes, Randomness(0), Shared(), shuffle, removed)
    used: list[int] = []
    for trial in split:
        full, reduced = trial.full.train, trial.reduced.train
        used += np.unique(labels[np.union1d(full, reduced)]).tolist()
        point = int(trial.full.evaluate[0])
        used.append(int(labels[point]) if point < len(labels) else point + len(sizes))
        assert len(np.unique(labels[full])) == n
        assert len(np.unique(labels[reduced])) == (n if replace else n - remove)
    assert len(used) == len(set(used)) == len(split) * (design.training_units + 1)
    assert split.cost(len(split)) == cost(list(split), len(split))
