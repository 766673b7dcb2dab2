"""Files that workers of a real cluster read: the changes of the same rows in memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from sklearn.linear_model import Ridge

import poise
from poise.cli import main
from poise.data.files.file_parts import FilePart, file_parts
from poise.data.files.unread_rows import FileTable
from poise.errors import ArgumentError, DataError
from poise.running.shuffle.cut_partition import CutPartition, unpacked
from poise.running.shuffle.file_partitions import file_partitions
from poise.running.shuffle.key_edges import KeyEdges
from poise.running.shuffle.row_places import GroupPlaces, NumberPlaces

pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),  # of its own settings
]

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(RNG.normal(size=(330, 2)), columns=["a", "b"]).assign(
    town=RNG.choice(["Ely", "York"], 330), w=RNG.uniform(1, 2, 330), y=RNG.normal(size=330)
)


@pytest.fixture(params=["dask", "ray"])
def engine(request: pytest.FixtureRequest) -> str:
    request.getfixturevalue("dask_client" if request.param == "dask" else "ray_here")
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Rows in three files, in a folder of which the workers know nothing but its full name."""
    monkeypatch.chdir(tmp_path)
    for number, (first, last) in enumerate([(0, 30), (30, 200), (200, 330)]):
        Path(f"rows/part={number}").mkdir(parents=True)
        place = f"rows/part={number}/rows.parquet"
        ROWS[first:last].to_parquet(place, row_group_size=70)
    Path("more/part=1").mkdir(parents=True)
    ROWS[:40].assign(a=RNG.normal(size=40)).to_parquet("more/part=1/rows.parquet")
    return tmp_path


@pytest.fixture
def nothing_is_read_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: FilePart) -> None:
        raise AssertionError(f"{self} is read by the driver")

    monkeypatch.setattr(FilePart, "read", refuse)


def last_row(X: Any, y: Any, seed: int) -> Any:
    """Depend on names, on text and on the numbers of rows."""
    level = float(y.iloc[-1]) + float(X["a"].iloc[0]) + X.index[0] + 10.0 * X["part"].iloc[-1]
    return lambda rows: [level + (rows["town"].iloc[0] == "Ely")]


def test_the_same_changes_as_of_rows_that_are_here(engine: str, folder: Path) -> None:
    asked: dict[str, Any] = {"target": "y", "n": 8, "random_state": 3}
    asked["X_unlabeled"] = "more/*/*.parquet"
    here = poise.measure(last_row, "rows", **asked)
    there = poise.measure(last_row, "rows", **asked, backend=engine)
    assert here.changes.tobytes() == there.changes.tobytes()
    assert here.design == there.design
    assert here.changes.max() > 0


def test_parts_without_rows_of_a_piece_are_not_read(folder: Path) -> None:
    """Numbers of rows say which piece they belong to, except where groups do."""
    files = FileTable.of("rows")
    assert files is not None
    parts = file_parts(files.place, ["town"])
    edges = KeyEdges.of(NumberPlaces(), [np.array([[35, 40]])], 330)
    types = dict(ROWS[["a", "b", "w", "y"]].dtypes)
    cut = CutPartition(NumberPlaces(), edges, types, labeled=True)
    (folder / "rows/part=0/rows.parquet").unlink()
    assert [list(cut(part, part.first)) for part in parts] == [[], [0], []]
    (content,) = cut(parts[1], 30).values()
    pd.testing.assert_frame_equal(unpacked(content).frame, ROWS[["a", "b", "w", "y"]][35:40])
    groups = replace(cut, places=GroupPlaces("part", [0, 1, 2]))
    with pytest.raises(DataError, match="cannot find"):
        groups(parts[0], 0)


def run(command: str) -> Result:
    return CliRunner().invoke(main, command.split(), prog_name="poise")


COMMAND = (
    "--target y --drop town --weights w --algorithm sklearn.linear_model:Ridge --n 8 --seed 3 "
    "--epsilon 1 --delta 0.2 --json"
)


@pytest.mark.usefixtures("nothing_is_read_here")
def test_the_command_line_leaves_the_rows_to_the_workers(
    engine: str, folder: Path, dask_client: Any
) -> None:
    where = f" --address {dask_client.scheduler.address}" if engine == "dask" else ""
    done = run(f"test rows/*/*.parquet {COMMAND} --save t.trials --backend {engine}{where}")
    assert done.exit_code == 0, done.output
    frame = ROWS.assign(part=np.repeat(np.arange(3, dtype="i4"), [30, 170, 130]))
    expected = poise.measure(
        Ridge(), frame.drop(columns="town"), target="y", fit_params={"sample_weight": "w"},
        n=8, random_state=3,
    )  # fmt: skip
    assert poise.Trials.load("t.trials").changes.tobytes() == expected.changes.tobytes()
    assert json.loads(done.stdout)["run"]["digests"] == {}


def test_a_message_of_a_worker_names_the_file_and_the_row(engine: str, folder: Path) -> None:
    part = ROWS[200:].copy()
    part.loc[[321], "b"] = np.nan
    part.to_parquet("rows/part=2/rows.parquet")
    done = run(f"test rows {COMMAND} --backend {engine}")
    assert done.exit_code == 2
    assert "in row 121 of rows/part=2/rows.parquet (counting from 0)" in done.stderr


def test_what_cannot_be_read_by_workers_is_refused(engine: str, folder: Path) -> None:
    asked: dict[str, Any] = {"target": "y", "n": 8, "backend": engine}
    with pytest.raises(DataError, match=r"X_unlabeled must be the same kind.*which names files"):
        poise.measure(Ridge(), "rows", X_unlabeled=ROWS, **asked)
    with pytest.raises(ArgumentError, match=r"target must be .*column of X, got 'yy'"):
        poise.measure(Ridge(), "rows", **(asked | {"target": "yy"}))
    with pytest.raises(ArgumentError, match=r"or name their column in the files: target='y'\?"):
        poise.measure(Ridge(), "rows", n=8)
    files = FileTable.of("rows")
    assert files is not None
    with pytest.raises(DataError, match=r"rows has no column 'towns'; did you mean 'town'\?"):
        poise.measure(Ridge(), FileTable(files.place, ("towns",)), **asked)
    parts = file_partitions(files, engine, None)
    (folder / "rows/part=1/rows.parquet").unlink()
    with pytest.raises(Exception, match=r"a worker cannot find .*/rows/part=1/rows\.parquet"):
        parts.map(_rows)


def _rows(partition: Any, first: int) -> int:
    return len(partition)
