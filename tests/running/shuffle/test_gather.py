"""The rows of trials, put together from partitions, are those of the same rows in memory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from poise.data.partitioned.column_roles import named_columns
from poise.data.partitioned.partitioned_sample import PartitionedSample
from poise.data.sample import Sample
from poise.procedures.binomial import MeasureChanges
from poise.protocol.messages import queries_of
from poise.protocol.randomness import Randomness
from poise.running.shuffle.gather import in_this_process
from shared.partitions import FramesHere


def make_rows(count: int, seed: int) -> pd.DataFrame:
    """Return rows of numbers, text and categories, with gaps."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=count), "k": rng.integers(0, 9, count)})
    frame["gap"] = np.where(rng.random(count) < 0.3, np.nan, rng.normal(size=count))
    frame["town"] = rng.choice(["Bath", "Ely", "York"], count)
    frame["kind"] = pd.Categorical(rng.choice(["x", "y", "z"], count))
    frame["who"] = rng.choice([f"p{i}" for i in range(50)], count)
    frame["w"] = rng.uniform(1, 2, count)
    return frame.assign(y=rng.normal(size=count))


ROWS, MORE = make_rows(150, 1), make_rows(40, 2).drop(columns="y")


def partitioned(frame: pd.DataFrame, *cuts: int) -> FramesHere:
    edges = [0, *cuts, len(frame)]
    return FramesHere([frame[a:b] for a, b in pairwise(edges)])


SETUPS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"shuffle": False}, {}),
    ({}, {"unlabeled": True}),
    ({"shuffle": False}, {"unlabeled": True}),
    ({}, {"groups": "who"}),
    ({"shuffle": False}, {"groups": "who", "unlabeled": True}),
    ({"removals": 3, "points": 4}, {"unlabeled": True}),
    ({"removals": 2, "points": "spare"}, {"fit_params": {"sample_weight": "w", "how": "fast"}}),
    ({"remove": 2, "replace": True}, {}),
    ({"remove": 2, "removals": 2, "points": 2}, {"groups": "who"}),
]


@pytest.mark.parametrize(("setup", "data"), SETUPS)
def test_rows_of_trials(setup: dict[str, Any], data: dict[str, Any]) -> None:
    known = {"groups": None, "fit_params": None} | data
    more = known.pop("unlabeled", False)
    columns = {"X": ROWS, "target": "y", "X_unlabeled": MORE if more else None, **known}
    memory = Sample(**named_columns(**columns))
    unlabeled = partitioned(MORE, 7, 7, 30) if more else None
    sample = PartitionedSample(partitioned(ROWS, 0, 13, 90), "y", unlabeled, **known)
    procedure, randomness = MeasureChanges(4, **setup), Randomness(7)
    assert procedure.design(sample, randomness) == procedure.design(memory, randomness)
    plan, reference = (procedure.trials(rows, randomness) for rows in (sample, memory))
    chosen = [0, 1, len(plan) - 1]
    here, trials = in_this_process(sample, plan, chosen)
    for k in chosen:
        for mine, its in zip(queries_of(trials[k]), queries_of(reference[k]), strict=True):
            for one, two in zip(here.training(mine.train), memory.training(its.train), strict=True):
                assert one.equals(two)  # values, types and row numbers
            assert here.points(mine.evaluate).equals(memory.points(its.evaluate))
            if memory.fit_params is not None:
                one, two = here.fit_params.of(mine.train), memory.fit_params.of(its.train)
                assert one["sample_weight"].equals(two["sample_weight"])
                assert one["how"] == two["how"] == "fast"


def with_categories(frame: pd.DataFrame, categories: list[str]) -> pd.DataFrame:
    return frame.assign(kind=frame["kind"].cat.set_categories(categories))


def test_rows_of_all_partitions_have_one_type() -> None:
    first = with_categories(ROWS[:60].astype({"k": float}), ["y", "x", "z"])
    second = with_categories(ROWS[60:], ["z", "x", "y", "v"])
    sample = PartitionedSample(FramesHere([first, second]), "y")
    trials = MeasureChanges(4).trials(sample, Randomness(1))
    here, _ = in_this_process(sample, trials, [0])
    frame = here.X.native
    assert frame["k"].dtype == np.float64
    assert frame["kind"].cat.categories.tolist() == ["y", "x", "z", "v"]


def with_row(frame: pd.DataFrame, row: int, **values: Any) -> pd.DataFrame:
    changed = frame.copy()
    for name, value in values.items():
        changed.loc[row, name] = value
    return changed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: with_row(f, 77, y=np.nan), r"y must not hold missing .* nan in row 77 \(count"),
        (lambda f: with_row(f, 3, y=np.inf), r"y must not hold missing .* inf in row 3 \(count"),
        (lambda f: f.assign(who=f["who"].where(f.index != 9)), "groups must not hold missing"),
        (lambda f: f[:0], "X has no rows"),
    ],
)
def test_unsuitable_rows_are_refused(
    change: Callable[[pd.DataFrame], pd.DataFrame], message: str
) -> None:
    frame = change(ROWS)
    with pytest.raises(Exception, match=message):
        PartitionedSample(FramesHere([frame[:50], frame[50:]]), "y", groups="who")


def test_what_needs_all_rows_is_refused() -> None:
    sample = PartitionedSample(partitioned(ROWS, 20), "y")
    with pytest.raises(Exception, match=r"on the workers of Dask, .* give X.compute\(\)"):
        sample.X  # noqa: B018
    with pytest.raises(Exception, match=r"'sample_weight'\] must be the name of a column"):
        PartitionedSample(partitioned(ROWS, 20), "y", fit_params={"sample_weight": np.ones(150)})
    with pytest.raises(Exception, match=r"X_unlabeled must have the columns of X"):
        PartitionedSample(partitioned(ROWS, 20), "y", partitioned(MORE.drop(columns="a"), 9))
    with pytest.raises(Exception, match=r"X_unlabeled has no rows; leave it out"):
        PartitionedSample(partitioned(ROWS, 20), "y", partitioned(MORE[:0], 0))


def test_the_fingerprint_depends_on_rows_and_not_on_partitions() -> None:
    def digest(frame: pd.DataFrame, *cuts: int, **more: Any) -> str:
        return PartitionedSample(partitioned(frame, *cuts), "y", **more).digest()

    one = digest(ROWS, 20)
    assert one == digest(ROWS, 0, 77, 78)
    swapped = ROWS.iloc[[1, 0, *range(2, 150)]]
    others = [ROWS[:-1], swapped, ROWS.assign(a=ROWS["a"] + 1e-9), ROWS.rename(columns={"a": "b"})]
    digests = {one, digest(ROWS, 20, groups="who"), *(digest(frame, 20) for frame in others)}
    assert len(digests) == 6


@pytest.mark.parametrize(
    "responses",
    [
        np.arange(150) % 7,
        np.arange(150),
        np.arange(150) / 3,
        np.arange(150) % 4 / 3,
        np.array(["spam", "ham", "eggs"])[np.arange(150) % 3],
        np.arange(150) * 1.0,
    ],
)
def test_what_is_known_of_values(responses: Any) -> None:
    """Different responses and points are counted as in memory."""
    frame = pd.DataFrame({"k": np.arange(150) % 5, "j": np.arange(150) // 75, "y": responses})
    sample = PartitionedSample(partitioned(frame, 0, 20, 100), "y")
    memory = Sample(frame[["k", "j"]], frame["y"])
    assert sample.n_classes == memory.n_classes
    assert sample.n_points == memory.n_points == 10
    assert sample.has_labels == memory.has_labels
    found = sample.for_checks.classes[0].tolist()
    fractions = responses.dtype.kind == "f" and (responses % 1).any() and len(set(responses)) > 50
    assert fractions or found == memory.classes[0].tolist()
