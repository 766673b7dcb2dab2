"""Files that stay on disk: what a trial sees is what it would see of the file in memory."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeRegressor

import poise
from poise.data.files.read_table import as_numbers, read_features, read_table
from poise.data.on_disk import StoredTable, stored_array
from poise.data.sample import Sample
from poise.errors import DataError, RecordError
from shared.processes import python
from shared.table_files import read_labels

N = 3000


def _columns() -> pa.Table:
    """One column of each kind whose type in memory could depend on which rows are looked at."""
    rng = np.random.default_rng(0)
    gap = rng.random(N) < 0.002  # so few that most selections have none

    def with_gaps(values):
        return [None if g else v for g, v in zip(gap, values, strict=True)]

    whole = rng.integers(-9, 9, N)
    frame = pd.DataFrame(
        {
            "float": rng.normal(size=N),
            "single": rng.normal(size=N).astype("f4"),
            "byte": rng.integers(0, 200, N).astype("u1"),
            "whole": whole,
            "nullable": pd.array(with_gaps(whole.tolist()), dtype="Int64"),
            "truth": rng.random(N) < 0.5,
            "town": rng.choice(["Rome", "Żnin", ""], N),
            "grade": pd.Categorical(rng.choice(["a", "b"], N), ["c", "b", "a"], ordered=True),
            "time": pd.date_range("2020-01-01", periods=N, freq="h"),
            "y": rng.normal(size=N),
        }
    )
    gappy = {
        "float gaps": pa.array(with_gaps(rng.normal(size=N))),
        "whole gaps": pa.array(with_gaps(whole.tolist()), pa.int32()),
        "truth gaps": pa.array(with_gaps((rng.random(N) < 0.5).tolist())),
        "town gaps": pa.array(with_gaps(rng.choice(["x", "y"], N).tolist())),
        "day gaps": pa.array(with_gaps(whole.tolist()), pa.int32()).cast(pa.date32()),
    }
    table = pa.Table.from_pandas(frame)
    for name, column in gappy.items():
        table = table.append_column(name, column)
    return table


TABLE = _columns()
NUMBERS = ["float", "single", "byte", "whole", "float gaps", "whole gaps"]
KINDS = {
    "parquet": lambda path: pa.parquet.write_table(TABLE, path, row_group_size=700),
    "compressed.feather": lambda path: pa.feather.write_feather(TABLE, str(path), chunksize=600),
    "plain.feather": lambda path: pa.feather.write_feather(
        TABLE, str(path), compression="uncompressed", chunksize=600
    ),
    "polars.feather": lambda path: pl.from_arrow(TABLE).write_ipc(path),
    "polars.parquet": lambda path: pl.from_arrow(TABLE).write_parquet(path, row_group_size=500),
}


@pytest.fixture(params=KINDS)
def file(request, tmp_path) -> Path:
    path = tmp_path / f"rows.{request.param}"
    KINDS[request.param](path)
    return path


def in_memory(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_feather(path)


SELECTIONS = [
    np.random.default_rng(1).integers(0, N, 400),
    np.array([N - 1, 0, 0, 1]),
    np.arange(700, 705),
    np.array([], dtype=np.int64),
    slice(0, N),
    slice(650, 1950),
]


@pytest.mark.parametrize("rows", SELECTIONS, ids=["many", "few", "near", "none", "all", "range"])
def test_rows_are_those_of_the_file_in_memory(file, rows) -> None:
    whole = in_memory(file)
    names = [*whole.columns][::-1]
    table = StoredTable(file, names)
    taken = table.take(rows)
    pd.testing.assert_frame_equal(taken, whole[names].iloc[rows])
    assert len(table) == N
    assert table.columns() == tuple(names)


def test_what_is_taken_is_a_fresh_copy(file) -> None:
    for names in (["float"], ["float", "y", "town"]):
        table = StoredTable(file, names)
        for rows in (slice(0, 9), np.arange(9)):
            frame = table.take(rows)
            frame.iloc[:, 0] = 7.0
        assert not (table.take(slice(0, N))["float"] == 7.0).any()


def test_categories_of_every_part_of_a_file(tmp_path) -> None:
    """Parts of a Parquet file know only their own categories."""
    parts = [["b", "a", "b"], ["c", "a"], ["d", None, "b"]]
    chunks = [pa.array(part).dictionary_encode() for part in parts]
    table = pa.table({"town": pa.chunked_array(chunks), "size": pa.chunked_array([range(8)])})
    pa.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=3)
    whole = pd.read_parquet(tmp_path / "a.parquet")
    stored = StoredTable(tmp_path / "a.parquet", ["town", "size"])
    for rows in (np.array([5, 0, 3, 6]), slice(0, 8), np.array([7])):
        pd.testing.assert_frame_equal(stored.take(rows), whole.iloc[rows])


@pytest.mark.parametrize("names", [["float", "whole"], ["float", "y"]], ids=["mixed", "alike"])
def test_a_copy_lives_as_long_as_its_table(names, tmp_path, temporary) -> None:
    path = tmp_path / "rows.parquet"
    KINDS["parquet"](path)
    table = StoredTable(path, names)
    assert len(list(temporary.iterdir())) == 1
    array = stored_array(table)
    assert len(list(temporary.iterdir())) == (2 if "whole" in names else 1), "rows are rows already"
    del table
    assert len(list(temporary.iterdir())) == 1
    view = np.asarray(array)[5:]
    del array
    assert np.isfinite(view).all()
    del view
    assert list(temporary.iterdir()) == []


def test_a_copy_that_cannot_be_finished_is_removed(tmp_path, temporary, monkeypatch) -> None:
    path = tmp_path / "rows.parquet"
    KINDS["parquet"](path)

    def full(*anything):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("poise.data.on_disk.row_copy.write_array", full)
    with pytest.raises(DataError, match=r"cannot be kept in .*No space left.*set TMPDIR"):
        StoredTable(path, ["float"])

    def interrupted(*anything):
        raise KeyboardInterrupt

    monkeypatch.setattr("poise.data.on_disk.row_copy.write_array", interrupted)
    with pytest.raises(KeyboardInterrupt):
        StoredTable(path, ["float"])
    assert list(temporary.iterdir()) == []


def test_an_error_that_ends_the_process_leaves_nothing(tmp_path, temporary) -> None:
    path = tmp_path / "rows.parquet"
    KINDS["parquet"](path)
    script = f"""
import os, poise
from poise.data.files.read_table import as_numbers, read_features
X, y = poise.read_table({str(path)!r}, target="y", on_disk=True)
A = as_numbers(read_features({str(path)!r}, ["float", "whole"], on_disk=True))
print(len(os.listdir({str(temporary)!r})))
poise.measure(lambda X, y, seed: 1 / 0, A, y, n=100)
"""
    done = python("-c", script, env=os.environ | {"TMPDIR": str(temporary)})
    assert "ZeroDivisionError" in done.stderr
    assert done.stdout.strip() == "2"
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("names", [NUMBERS, ["single", "byte"], ["whole", "byte"], ["whole gaps"]])
def test_numbers_become_the_array_they_would_be_in_memory(file, names) -> None:
    array = as_numbers(read_features(file, names, on_disk=True))
    expected = as_numbers(read_features(file, names))
    assert isinstance(array, np.memmap)
    assert not array.flags.writeable
    assert array.dtype == expected.dtype
    assert array.flags.c_contiguous
    assert expected.flags.c_contiguous
    np.testing.assert_array_equal(array, expected)


def test_what_is_no_number_stays_a_table(file) -> None:
    table = read_features(file, ["float", "truth"], on_disk=True)
    assert as_numbers(table) is table


USED = ["float", "town", "grade", "whole gaps"]


class NamedLevel(poise.Algorithm):
    """Looks at names, types and values of what it is given."""

    name = "named level"

    def fit(self, X, y, xi):
        assert list(X.columns) == USED
        assert [str(kind) for kind in X.dtypes] == ["float64", "str", "category", "float64"]
        assert len(X["grade"].cat.categories) == 3
        levels = X.assign(y=np.asarray(y)).groupby("town")["y"].mean()
        base = float(np.nanmean(X["whole gaps"])) + len(X)
        return lambda rows: [base + levels.get(rows["town"].iloc[0], 0.0) * rows.index[0]]


@pytest.mark.parametrize("kind", ["parquet", "plain.feather"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_changes_bit_for_bit(kind, n_jobs, tmp_path, temporary) -> None:
    path = tmp_path / f"rows.{kind}"
    KINDS[kind](path)
    unused = [name for name in TABLE.column_names if name not in [*USED, "y"]]
    X, y = read_table(path, "y", unused)
    stored, response = read_table(path, "y", unused, on_disk=True)
    pd.testing.assert_series_equal(response, y)
    assert isinstance(stored, StoredTable)
    for algorithm in (NamedLevel(), _pipeline()):
        expected = poise.measure(algorithm, X, y, n=150, random_state=3)
        assert expected.changes.max() > 0
        got = poise.measure(algorithm, stored, y, n=150, random_state=3, n_jobs=n_jobs)
        assert got.changes.tobytes() == expected.changes.tobytes()
    del stored, got
    assert not [place for place in temporary.iterdir() if place.name.startswith("poise-")]


def _pipeline():
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["town", "grade"]), ("passthrough", ["float"])
    )
    return make_pipeline(columns, Ridge())


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("algorithm", [Ridge(), DecisionTreeRegressor()], ids=["ridge", "tree"])
def test_the_same_changes_of_numbers(algorithm, n_jobs, tmp_path) -> None:
    path = tmp_path / "rows.parquet"
    KINDS["parquet"](path)
    names = ["float", "single", "whole"]
    X, y = (read_features(path, names), read_labels(path, "y"))
    stored = as_numbers(read_features(path, names, on_disk=True))
    expected = poise.measure(algorithm, as_numbers(X), y, n=40, random_state=3)
    got = poise.measure(algorithm, stored, y, n=40, random_state=3, n_jobs=n_jobs)
    assert got.changes.tobytes() == expected.changes.tobytes()


def test_unlabelled_rows_and_journals(tmp_path) -> None:
    half = N // 2
    pa.parquet.write_table(TABLE.slice(0, half), tmp_path / "rows.parquet")
    pa.feather.write_feather(TABLE.slice(half), str(tmp_path / "more.feather"))
    labels = read_labels(tmp_path / "rows.parquet", "y", on_disk=True)
    tables = [
        [read_features(tmp_path / name, USED, on_disk=on_disk) for on_disk in (False, True)]
        for name in ("rows.parquet", "more.feather")
    ]
    asked = {"n": 40, "random_state": 0}
    expected, first, again = (
        poise.measure(
            NamedLevel(),
            tables[0][kind],
            labels,
            X_unlabeled=tables[1][kind],
            journal=tmp_path / f"{kind}.jsonl",
            **asked,
        )
        for kind in (0, 1, 1)
    )
    assert first.design.n_unlabeled == half
    assert first.changes.tobytes() == expected.changes.tobytes() == again.changes.tobytes()
    with pytest.raises(DataError, match="same kind of container"):
        Sample(tables[0][1], labels, tables[1][0])


def test_a_transcript_replays_but_does_not_swallow_the_file(tmp_path) -> None:
    path = tmp_path / "rows.parquet"
    KINDS["parquet"](path)
    test = poise.procedures.BinomialTest(n=100, epsilon=0.5, delta=0.3)
    X, y = read_features(path, USED, on_disk=True), read_labels(path, "y", on_disk=True)
    ran = poise.run(test, NamedLevel(), X, y, random_state=0)
    assert poise.replay(ran.transcript).verdict == ran.verdict
    with pytest.raises(RecordError, match=r"rows\.parquet, whose rows stay on disk"):
        ran.transcript.save(tmp_path / "run.zip")


def test_other_rows_have_another_digest(tmp_path) -> None:
    frame = TABLE.select(["float", "town"])
    tables = []
    for name, content in (("a", frame), ("b", frame.slice(1)), ("c", frame)):
        pa.parquet.write_table(content, tmp_path / f"{name}.parquet")
        tables.append(read_features(tmp_path / f"{name}.parquet", on_disk=True))
    digests = [Sample(table, [0.0] * len(table)).digest() for table in tables]
    assert digests[0] == digests[2] != digests[1]


def test_only_rows_of_trials_are_read(tmp_path, monkeypatch) -> None:
    path = tmp_path / "rows.parquet"
    KINDS["parquet"](path)
    X, y = read_table(path, "y", on_disk=True)
    sizes = []
    take = StoredTable.take

    def counted(self, rows):
        result = take(self, rows)
        sizes.append(len(result))
        return result

    monkeypatch.setattr("poise.data.duplicates._VALUES_READ", 1600)
    monkeypatch.setattr(StoredTable, "take", counted)
    result = poise.stability_test(
        lambda A, b, seed: lambda rows: [float(b.iloc[-1])],
        X,
        y,
        n=30,
        epsilon=0.0,
        delta=0.5,
        random_state=0,
    )
    assert result.stopped_early
    copies_looked_for = 1600 // 15
    assert max(sizes) <= copies_looked_for
    to_tell_measurements_from_codes = 100
    second_look = 61
    read_once = copies_looked_for + to_tell_measurements_from_codes + second_look
    assert sum(sizes) <= read_once + result.n_observed * (30 + 29 + 2)


def test_a_worker_without_the_copy_reads_the_file_itself(tmp_path, temporary) -> None:
    path = tmp_path / "rows.parquet"
    KINDS["parquet"](path)
    table = StoredTable(path, ["town", "whole gaps"])
    sent = pickle.dumps(table)
    assert len(sent) < 1000
    expected = table.take(slice(0, N))
    pd.testing.assert_frame_equal(pickle.loads(sent).take(slice(0, N)), expected)
    del table
    assert list(temporary.iterdir()) == []
    pd.testing.assert_frame_equal(pickle.loads(sent).take(slice(0, N)), expected)
    path.unlink()
    with pytest.raises(DataError, match=r"a worker cannot find .*rows\.parquet"):
        pickle.loads(sent)


def test_without_pandas_rows_are_polars_frames(file, monkeypatch) -> None:
    found = __import__("importlib.util").util.find_spec
    monkeypatch.setattr(
        "poise.data.files.large_files.find_spec",
        lambda name: None if name == "pandas" else found(name),
    )
    X, y = read_table(file, "y", on_disk=True)
    rows = np.array([5, 2999, 0])
    frame = X.take(rows)
    assert isinstance(frame, pl.DataFrame)
    assert isinstance(y, pl.Series)
    assert frame["whole gaps"].dtype == pl.Int32
    assert sorted(X.copy.names) == ["byte", "float", "single", "whole"]  # numbers without gaps
    assert frame["town"].to_list() == TABLE["town"].take(rows).to_pylist()
    monkeypatch.setattr("poise.data.files.large_files.find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"on disk needs pandas and pyarrow: pip install"):
        read_table(file, "y", on_disk=True)
