"""Dask frames and Ray datasets give the changes of the same rows in memory, bit for bit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.errors import ArgumentError, DataError, TrialError
from poise.protocol import keys_at_ranks
from poise.running.shuffle import dask_partitions, ray_partitions
from poise.running.shuffle.dask_partitions import DaskShuffle
from poise.running.shuffle.partitions_of import partitions_of
from poise.running.shuffle.ray_partitions import RayShuffle

pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),  # of its own settings
]

Elsewhere = Callable[[pd.DataFrame], Any]


def make_rows(count: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(count, 2)), columns=["a", "b"])
    frame["town"] = rng.choice(["Bath", "Ely", "York"], count)
    frame["who"] = rng.integers(0, 120, count)
    frame["w"] = rng.uniform(1, 2, count)
    return frame.assign(y=frame["a"] - 2 * frame["b"] + rng.normal(size=count))


ROWS, MORE = make_rows(500, 1), make_rows(90, 2)
NUMBERS = ["a", "b", "w", "y"]


@pytest.fixture(params=["dask", "ray"])
def elsewhere(request: pytest.FixtureRequest) -> Elsewhere:
    """Return what makes a frame of each engine: partitions of unequal size."""
    if request.param == "dask":
        request.getfixturevalue("dask_client")
        return dask_frame
    request.getfixturevalue("ray_here")
    return ray_dataset


def dask_frame(frame: pd.DataFrame) -> Any:
    import dask.dataframe as dd

    return dd.concat([dd.from_pandas(frame[:50], npartitions=1), dd.from_pandas(frame[50:], 3)])


def ray_dataset(frame: pd.DataFrame) -> Any:
    import ray.data

    return ray.data.from_pandas([frame[:50], frame[50:51], frame[51:]])


def in_memory(frame: Any) -> pd.DataFrame:
    return frame.compute() if hasattr(frame, "compute") else frame.to_pandas()


def tree_of_towns() -> Any:
    encoded = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    return make_pipeline(encoded, DecisionTreeRegressor(max_features=1))


CASES: dict[str, tuple[Any, list[str], dict[str, Any]]] = {
    "shortcut": (Ridge(), NUMBERS, {"removals": "all", "points": 3}),
    "shortcut of neighbours": (KNeighborsRegressor(3), NUMBERS, {"X_unlabeled": MORE}),
    "text": (tree_of_towns(), list(ROWS), {"shuffle": False, "X_unlabeled": MORE, "n": 40}),
    "groups": (
        DecisionTreeRegressor(max_features=1),
        ["a", "b", "who", "w", "y"],
        {"groups": "who", "fit_params": {"sample_weight": "w"}, "coupling": "independent"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_same_changes_as_in_memory(case: str, elsewhere: Elsewhere) -> None:
    algorithm, columns, settings = CASES[case]
    settings = {"n": 8, "random_state": 3, **settings}
    frame = elsewhere(ROWS[columns])
    more = settings.pop("X_unlabeled", None)
    points = None if more is None else elsewhere(more[columns])
    known = None if points is None else in_memory(points)
    found = poise.measure(algorithm, frame, target="y", X_unlabeled=points, **settings)
    memory = in_memory(frame)
    expected = poise.measure(algorithm, memory, target="y", X_unlabeled=known, **settings)
    assert np.array_equal(found.changes, expected.changes)
    assert found.design == expected.design
    assert found.changes.max() > 0


def test_many_shards_take_p2p_or_ray_data(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_partitions, "_FEW_SHARDS", 0)
    monkeypatch.setattr(ray_partitions, "_FEW_SHARDS", 0)
    frame = elsewhere(ROWS[NUMBERS])
    found = poise.measure(Ridge(), frame, target="y", n=8, random_state=3)
    expected = poise.measure(Ridge(), in_memory(frame), target="y", n=8, random_state=3)
    assert np.array_equal(found.changes, expected.changes)


@pytest.mark.parametrize("shards", [1, 3])
def test_shards_share_objects_of_ray(
    shards: int, ray_here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_partitions, "_shards_in_an_object", lambda size: shards)
    frame = ray_dataset(ROWS[NUMBERS])
    found = poise.measure(Ridge(), frame, target="y", n=8, random_state=3)
    expected = poise.measure(Ridge(), in_memory(frame), target="y", n=8, random_state=3)
    assert np.array_equal(found.changes, expected.changes)


def test_rows_are_not_kept_by_the_process_that_asks(
    ray_here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray keeps results below 100 kB there, and 8 pieces of 8 partitions have 60 kB each."""
    import ray.data
    import ray.experimental

    made: list[Any] = []
    shuffle = RayShuffle.__call__

    def noted(self: Any, *asked: Any) -> Any:
        found = shuffle(self, *asked)
        made.extend({ref for (shards,) in found for ref in shards.refs})
        return found

    monkeypatch.setattr(RayShuffle, "__call__", noted)
    monkeypatch.setattr(ray_partitions, "_BYTES_CUT_TOGETHER", 1)
    rows = np.random.default_rng(0).normal(size=(50_000, 10))
    names = [*"abcdefghi", "y"]
    frames = [pd.DataFrame(part, columns=names) for part in np.split(rows, 8)]
    poise.measure(Ridge(), ray.data.from_pandas(frames), target="y", n=100, random_state=0)
    places = ray.experimental.get_object_locations(made).values()
    assert len(made) > 8  # several objects for each partition
    assert all(place["node_ids"] for place in places)
    assert sum(place["object_size"] for place in places) > rows.nbytes


def test_workers_look_at_the_keys_of_many_rows(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys_at_ranks, "_KEYS_IN_A_TASK", 100)
    frame = elsewhere(ROWS[NUMBERS])
    partitions: Any = partitions_of(frame)
    who = list(partitions.spread(_process_and_span, [(0, 2), (2, 5), (5, 9)]))
    assert [span for _, span in who] == [(0, 2), (2, 5), (5, 9)]
    assert os.getpid() not in {process for process, _ in who}
    found = poise.measure(Ridge(), frame, target="y", n=8, random_state=3)
    expected = poise.measure(Ridge(), in_memory(frame), target="y", n=8, random_state=3)
    assert np.array_equal(found.changes, expected.changes)


def _process_and_span(start: int, stop: int) -> tuple[int, tuple[int, int]]:
    return os.getpid(), (start, stop)


@pytest.fixture
def waves(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Note how many pieces each shuffle brings together."""
    moved: list[int] = []
    for kind in (DaskShuffle, RayShuffle):
        shuffle = kind.__call__

        def noted(self: Any, cuts: Any, pieces: int, size: float, shuffle: Any = shuffle) -> Any:
            moved.append(pieces)
            return shuffle(self, cuts, pieces, size)

        monkeypatch.setattr(kind, "__call__", noted)
    return moved


def test_a_run_that_stops_early_does_not_move_all_rows(
    elsewhere: Elsewhere, waves: list[int]
) -> None:
    """A verdict in the first half: the other half of the pieces is not moved."""
    question = {"n": 8, "epsilon": 0.0, "delta": 0.1, "random_state": 3, "test": "binomial"}
    mean, frame = fails_at(np.inf), elsewhere(ROWS[NUMBERS])
    found = poise.stability_test(mean, frame, target="y", **question)
    expected = poise.stability_test(mean, in_memory(frame), target="y", **question)
    assert found.stopped_early
    assert (found.verdict, found.n_trials) == (expected.verdict, expected.n_trials)
    assert waves == [4]  # of 8


def fails_at(row: float) -> Any:
    def fit(X: Any, y: Any, seed: int) -> Any:
        if (X["a"] == row).any():
            raise ValueError("no fit")
        return lambda rows: [float(y.mean())] * len(rows)

    return fit


def of_trial(trial: int) -> float:
    """Return a value that only this trial trains on."""
    order = poise.Randomness(3).order("order of labelled rows", len(ROWS))
    return float(ROWS["a"].iloc[order[8 * trial]])


def test_failures_and_journals(elsewhere: Elsewhere, tmp_path: Path, waves: list[int]) -> None:
    settings = {"target": "y", "n": 8, "random_state": 3}
    algorithm, frame = fails_at(of_trial(30)), elsewhere(ROWS[NUMBERS])
    expected = poise.measure(algorithm, in_memory(frame), on_error="unstable", **settings)
    journal = tmp_path / "trials.jsonl"
    with pytest.raises(TrialError, match="trial 30 failed: ValueError: no fit") as caught:
        poise.measure(algorithm, frame, journal=journal, **settings)
    partial: Any = caught.value.partial
    assert np.array_equal(partial.changes, expected.changes[:30])
    # The journal goes on after trial 30, with the rows of the other trials alone.
    waves.clear()
    found = poise.measure(algorithm, frame, journal=journal, on_error="unstable", **settings)
    assert np.array_equal(found.changes, expected.changes)
    assert found.failures == expected.failures
    assert waves == [8]
    other = elsewhere(ROWS[NUMBERS].assign(a=0.0))
    with pytest.raises(Exception, match="belongs to another run"):
        poise.measure(algorithm, other, journal=journal, **settings)


def test_a_trial_that_kills_its_worker(ray_here: None) -> None:
    doomed = of_trial(17)

    def fit(X: Any, y: Any, seed: int) -> Any:
        if (X["a"] == doomed).any():
            os._exit(1)
        return lambda rows: [float(y.mean())] * len(rows)

    frame = ray_dataset(ROWS[NUMBERS])
    settings = {"target": "y", "n": 8, "random_state": 3, "on_error": "unstable"}
    found = poise.measure(fit, frame, **settings)
    expected = poise.measure(fails_at(doomed), in_memory(frame), **settings)
    assert np.array_equal(found.changes, expected.changes)
    assert "died again with this trial alone" in found.failures[0]


def test_a_fit_beyond_its_time(elsewhere: Elsewhere) -> None:
    late = of_trial(17)

    def fit(X: Any, y: Any, seed: int) -> Any:
        if (X["a"] == late).any():
            time.sleep(600)
        return lambda rows: [float(y.mean())] * len(rows)

    frame = elsewhere(ROWS[NUMBERS])
    settings = {"target": "y", "n": 8, "random_state": 3}
    found = poise.measure(fit, frame, timeout=1.0, on_timeout="unstable", **settings)
    expected = poise.measure(fails_at(late), in_memory(frame), on_error="unstable", **settings)
    assert np.array_equal(found.changes, expected.changes)
    assert "a fit took longer than timeout=1.0 seconds" in found.failures[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"backend": "loky"},
            r"backend must be '.*' for rows on the workers of .* give X\.\w+\(\)",
        ),
        (
            {"target": None},
            r"target must name the column of X .* its columns are 'a', 'b', 'w', 'y'",
        ),
        ({"X_unlabeled": ROWS}, "X_unlabeled must be the same kind of container as X"),
        ({"epsilon": "5% of spread"}, "epsilon must be a number for rows that are on the workers"),
        ({"ledger": "questions.jsonl"}, r"this needs them here; give X\.\w+\(\)"),
    ],
)
def test_what_cannot_be_done_is_refused(
    settings: dict[str, Any], message: str, elsewhere: Elsewhere, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    question = {"target": "y", "n": 8, "epsilon": 1.0, "delta": 0.1, **settings}
    with pytest.raises((ArgumentError, DataError), match=message):
        poise.stability_test(Ridge(), elsewhere(ROWS[NUMBERS]), **question)


def test_rows_that_cannot_be_read_are_no_fault_of_the_algorithm(
    dask_client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A partition that was read for the checks is gone when it is moved."""
    gone = tmp_path / "gone"

    def read(frame: pd.DataFrame) -> pd.DataFrame:
        if gone.exists():
            raise OSError("rows are gone")
        return frame

    shuffle = DaskShuffle.__call__
    monkeypatch.setattr(DaskShuffle, "__call__", lambda *given: gone.touch() or shuffle(*given))
    frame = dask_frame(ROWS[NUMBERS]).map_partitions(read, meta=ROWS[NUMBERS])
    with pytest.raises(DataError, match="rows of X could not be read: rows are gone"):
        poise.measure(fails_at(np.inf), frame, target="y", n=8)


def test_checks_name_the_rows(elsewhere: Elsewhere) -> None:
    frame = ROWS[NUMBERS].copy()
    frame.loc[321, "b"] = np.nan
    with pytest.raises(Exception, match=r"column 'b' of X holds nan in row 321 \(counting from 0"):
        poise.measure(Ridge(), elsewhere(frame), target="y", n=8)


def test_other_questions_say_what_to_give(elsewhere: Elsewhere) -> None:
    with pytest.raises(DataError, match=r"X must be an array.*; give X\.\w+\(\)"):
        poise.check_algorithm(Ridge(), elsewhere(ROWS[NUMBERS]), ROWS["y"], n=8)
