"""Removals and points of every kind of trial: shares have the right mean, trials share no row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import poise
from poise.procedures import MeasureChanges
from poise.protocol.messages import Removals
from shared.algorithms import mean

KINDS: dict[str, tuple[int, dict[str, Any], dict[str, Any]]] = {
    # rows per unit, how trials are formed, and what is averaged
    "rows": (1, {"n": 3}, {"removals": 3, "points": 2}),
    "blocks of rows": (1, {"n": 4, "remove": 2}, {"removals": 2, "points": 2}),
    "replaced rows": (1, {"n": 3, "replace": True}, {"removals": 3, "points": 2}),
    "replaced blocks": (1, {"n": 4, "remove": 2, "replace": True}, {"removals": 2, "points": 2}),
    "groups": (2, {"n": 2}, {"removals": 2, "points": 2}),
    "losses": (1, {"n": 3, "distance": "loss:squared"}, {"removals": 3, "points": 2}),
}


def _moody(X: Any, y: Any, seed: int) -> Any:
    """Depend on the values, the number and the order of the rows, and on the point."""
    level = int(np.dot(2 ** np.arange(len(y)), y)) + len(y) // 2
    return lambda rows: (level // (2 + np.asarray(rows)[:, 0]) % 2).astype(float)


def _every_world(size: int, formed: dict[str, Any], averaged: dict[str, Any]) -> Any:
    """Measure one trial for every way in which its rows can be 0 or 1."""
    fresh = formed.get("remove", 1) if formed.get("replace") else 0
    trained, points = formed["n"] + fresh, averaged.get("points", 1)
    bits = size * trained + points
    worlds = (np.arange(2**bits)[:, None] >> np.arange(bits)) & 1
    blocks = [worlds[:, : size * trained].ravel()]
    for t in range(points):  # the rows of a test group are alike: any of them may be drawn
        blocks.append(worlds[:, size * trained + t].repeat(size))
    rows = np.concatenate(blocks)
    settings = {**formed, **averaged, "shuffle": False, "random_state": 0}
    if size > 1:
        settings["groups"] = np.arange(len(rows)) // size
    trials = poise.measure(_moody, rows[:, None], rows, **settings)
    assert trials.n_trials == len(worlds)
    return trials


@pytest.mark.parametrize("kind", KINDS)
def test_shares_have_the_mean_of_single_changes_exactly(kind: str) -> None:
    size, formed, averaged = KINDS[kind]
    shares = _every_world(size, formed, averaged).shares(0.5)
    single = _every_world(size, formed, {}).shares(0.5)
    assert 0.1 < single.mean() < 0.9
    assert shares.mean() == pytest.approx(single.mean(), rel=1e-12)
    assert len(set(shares.tolist())) > 3  # fractions, not only 0 and 1


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_no_row_serves_two_trials(kind: str, shuffle: bool) -> None:
    size, formed, averaged = KINDS[kind]
    settings = {name: value for name, value in formed.items() if name != "distance"}
    procedure = MeasureChanges(**settings, **averaged, shuffle=shuffle)
    rows, spare = np.arange(60.0)[:, None], 60 + np.arange(20.0)[:, None]
    groups = np.arange(60) // size if size > 1 else None
    sample = poise.Sample(rows, rows[:, 0], X_unlabeled=spare, groups=groups)
    batch = next(procedure.ask(sample, poise.Randomness(1)))
    owned = [_rows_of(task) for task in batch.tasks]
    assert len(owned) > 3
    assert sum(map(len, owned)) == len(set().union(*owned))
    cost = batch.tasks.cost(len(owned))  # type: ignore[union-attr]
    queries = [query for task in batch.tasks for query in (*task.full, *task.reduced)]  # type: ignore[union-attr]
    assert cost.calls == len(queries)
    assert cost.training_rows == sum(len(np.arange(80)[query.train]) for query in queries)


def _rows_of(task: Any) -> set[int]:
    assert isinstance(task, Removals)
    queries = (*task.full, *task.reduced)
    trained = {int(row) for query in queries for row in np.arange(80)[query.train]}
    points = {int(row) for query in queries for row in query.evaluate}  # type: ignore[union-attr]
    assert not trained & points
    assert len(points) == 2
    return trained | points


@pytest.mark.parametrize("kind", KINDS)
def test_the_removed_rows_come_last_and_each_removal_takes_others(kind: str) -> None:
    size, formed, averaged = KINDS[kind]
    settings = {name: value for name, value in formed.items() if name != "distance"}
    rows = np.arange(60.0)[:, None]
    groups = np.arange(60) // size if size > 1 else None
    procedure = MeasureChanges(**settings, **averaged)
    sample = poise.Sample(rows, rows[:, 0], groups=groups)
    task: Any = procedure.trials(sample, poise.Randomness(2))[0]
    removed, kept = [], size * (formed["n"] - formed.get("remove", 1))
    for full, reduced in zip(task.full, task.reduced, strict=True):
        before, after = np.arange(80)[full.train].tolist(), np.arange(80)[reduced.train].tolist()
        assert before[:kept] == after[:kept]
        removed += before[kept:]
        assert not set(after[kept:]) & set(before)
    assert (
        len(set(removed)) == len(removed) == size * formed.get("remove", 1) * averaged["removals"]
    )


def test_the_verdict_on_groups_and_losses_is_that_of_the_averaged_test() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2))
    y = X.sum(axis=1) + rng.normal(size=900)
    asked: dict[str, Any] = {"n": 8, "epsilon": 1.5, "delta": 0.3, "random_state": 0}

    groups = np.arange(900) // 2
    by_group = poise.stability_test(mean, X, y, groups=groups, points=3, removals=2, **asked)
    assert by_group.test == "averaged"
    assert "compares predictions at a row of each of 3 fresh groups" in by_group.summary()
    asked |= {"epsilon": 3.0}
    by_loss = poise.stability_test(mean, X, y, distance="loss:squared", points=3, **asked)
    assert (by_loss.test, by_loss.n_trials) == ("averaged", 900 // 11)
    assert "compares losses at 3 fresh labelled rows" in by_loss.summary()
    assert by_group.stable
    assert by_loss.stable
    replaced = poise.stability_test(mean, X, y, replace=True, removals=2, points=2, **asked)
    assert "with a fresh one in place of each of the last 2 in turn" in replaced.summary()
    blocks = poise.stability_test(mean, X, y, remove=3, removals=2, **asked)
    assert "without 2 blocks of 3 of them in turn" in blocks.summary()
