"""One table in many files: the same rows, in the same order, as in one file."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import fsspec
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest
from sklearn.linear_model import Ridge

import poise
from poise.data.files.file_parts import file_parts
from poise.data.files.read_table import as_numbers, read_features, read_table
from poise.data.on_disk import StoredTable
from poise.data.on_disk.file_set import file_set
from poise.data.on_disk.set_pieces import SetSource
from poise.errors import DataError
from shared.table_files import read_labels

N = 400
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "a": RNG.normal(size=N),
        "b": RNG.integers(-9, 9, N),
        "town": RNG.choice(["Rome", "Żnin"], N),
        "y": RNG.normal(size=N),
    }
)
CUTS = [0, 37, 37, 120, 333, N]  # one file is empty
PARTS = [FRAME.iloc[a:b] for a, b in pairwise(CUTS)]


def typed(frame: pd.DataFrame) -> pa.Table:
    """Return rows with the types of all rows: no rows at all have no types in pandas."""
    return pa.Table.from_pandas(frame, schema=pa.Schema.from_pandas(FRAME, preserve_index=False))


def write_parts(folder: Path, ending: str = "parquet") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(PARTS):
        path = folder / f"part-{number:04}.{ending}"
        if ending == "parquet":
            pa.parquet.write_table(typed(part), path, row_group_size=50)
        else:
            pa.feather.write_feather(typed(part), str(path), chunksize=50)
    return folder


def write_memory(name: str) -> str:
    system = fsspec.filesystem("memory")
    for number, part in enumerate(PARTS):
        with system.open(f"/{name}/part-{number}.parquet", "wb") as file:
            pa.parquet.write_table(typed(part), file, row_group_size=50)
    return f"memory://{name}"


@pytest.fixture
def memory():
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def test_rows_are_those_of_one_file(tmp_path, memory) -> None:
    folder = write_parts(tmp_path / "rows")
    feather = write_parts(tmp_path / "feather", "feather")
    places = [
        folder,
        f"{folder}/*.parquet",
        f"{tmp_path}/ro*",
        f"{tmp_path}/**/*.parquet",
        f"file://{folder}",
        Path(f"file://{folder}"),
        feather,
        write_memory("rows"),
        f"{write_memory('more')}/part-*.parquet",
        Path(write_memory("rows")),
    ]
    for place in places:
        X, y = read_table(place, "y")
        pd.testing.assert_frame_equal(X, FRAME[["a", "b", "town"]])
        pd.testing.assert_series_equal(y, FRAME["y"])
        stored, y = read_table(place, "y", ["b"], on_disk=True)
        assert isinstance(stored, StoredTable)
        rows = np.array([399, 36, 37, 0, 120])
        pd.testing.assert_frame_equal(stored.take(rows), FRAME[["a", "town"]].iloc[rows])
        pd.testing.assert_series_equal(y, FRAME["y"])
        assert read_labels(place, "town") == FRAME["town"].tolist()


def last_row(X, y, seed):
    """Depend on the order of rows; every container gives the same numbers."""
    row = np.asarray(X[-1:], dtype=float)[0]
    level = np.asarray(y)[-1] + row.max() + 10 * row.min()
    return lambda new: [level]


def test_the_same_changes_bit_for_bit_wherever_the_rows_lie(tmp_path, memory) -> None:
    numbers = FRAME[["a", "b", "y"]]
    FRAME.to_parquet(tmp_path / "one.parquet")
    folder = write_parts(tmp_path / "rows")
    X, y = numbers[["a", "b"]], numbers["y"]
    asked = {"n": 20, "random_state": 5}
    expected = poise.measure(last_row, X.to_numpy(), y.to_numpy(), **asked).changes
    ridge = poise.measure(Ridge(), X.to_numpy(), y.to_numpy(), **asked).changes
    assert np.unique(ridge).size > 10
    assert np.unique(expected).size > 2
    assert poise.measure(last_row, X, y, **asked).changes.tobytes() == expected.tobytes()
    places = [tmp_path / "one.parquet", folder, f"{folder}/*.parquet", write_memory("rows")]
    for place in places:
        for on_disk in (False, True):
            X, y = read_table(place, "y", ["town"], on_disk=on_disk)
            assert poise.measure(last_row, X, y, **asked).changes.tobytes() == expected.tobytes()
            arrays = as_numbers(X), as_numbers(y)
            assert poise.measure(Ridge(), *arrays, **asked).changes.tobytes() == ridge.tobytes()


def test_the_same_changes_bit_for_bit_with_a_key_of_folders(tmp_path) -> None:
    half = FRAME.assign(half=np.arange(N) // 200)
    for key, part in half.groupby("half"):
        place = tmp_path / "hive" / f"half={key}"
        place.mkdir(parents=True)
        part[["a", "b", "y"]].to_parquet(place / "rows.parquet")
    asked = {"n": 20, "random_state": 5}
    expected = poise.measure(last_row, half[["a", "b", "half"]], half["y"], **asked)
    X, y = read_table(tmp_path / "hive", "y", on_disk=True)
    assert X.columns() == ("a", "b", "half")
    hive = poise.measure(last_row, X, y, **asked)
    assert hive.changes.tobytes() == expected.changes.tobytes()


def test_numbers_become_the_array_they_would_be_in_one_file(tmp_path) -> None:
    folder = write_parts(tmp_path / "rows")
    array = as_numbers(read_features(folder, ["b", "a"], on_disk=True))
    assert isinstance(array, np.memmap)
    np.testing.assert_array_equal(array, FRAME[["b", "a"]].to_numpy())


def test_journals_and_digests_are_those_of_one_file(tmp_path) -> None:
    FRAME.to_parquet(tmp_path / "one.parquet")
    folder = write_parts(tmp_path / "rows")
    tables = [read_table(place, "y", ["town"]) for place in (tmp_path / "one.parquet", folder)]
    asked = {"n": 20, "random_state": 5, "journal": tmp_path / "run.jsonl"}
    first = poise.measure(Ridge(), *tables[0], **asked)
    again = poise.measure(Ridge(), *tables[1], **asked)  # the journal is about the same rows
    assert again.changes.tobytes() == first.changes.tobytes()


def test_files_are_read_in_plain_order_of_their_paths(tmp_path) -> None:
    for number, name in enumerate(["a-b/x", "a/x", "a/y", "b/k=10/x", "b/k=2/x"]):
        path = tmp_path / "rows" / f"{name}.parquet"
        path.parent.mkdir(parents=True) if not path.parent.exists() else None
        pa.parquet.write_table(pa.table({"y": [number]}), path)
    for place in (f"{tmp_path}/rows/a*", f"{tmp_path}/rows/[ab]*/*.parquet"):
        assert read_labels(place, "y") == [0, 1, 2]
    assert read_labels(tmp_path / "rows" / "b", "y") == [3, 4]
    assert read_labels(tmp_path / "rows" / "b", "k") == [10, 2]


def test_what_engines_write_beside_the_rows_is_left_out(tmp_path) -> None:
    folder = write_parts(tmp_path / "_data" / "rows.parquet")
    for name in ("_SUCCESS", "_metadata.parquet", ".part-0.parquet", "notes.txt", "_tmp/a.parquet"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"")
    assert len(file_set(folder).files) == len(PARTS)
    assert len(file_set(f"{folder}/*").files) == len(PARTS)


@pytest.mark.parametrize(
    "values", [["1", "-2", "2147483647"], ["1", "2147483648", "3"], ["1", "b c", "3"]]
)
def test_keys_have_the_types_that_pyarrow_finds(values, tmp_path) -> None:
    for value in values:
        place = tmp_path / "rows" / "all=x" / f"key={value.replace(' ', '%20')}"
        place.mkdir(parents=True)
        pa.parquet.write_table(pa.table({"y": [0.5, 1.5]}), place / "a.parquet")
    expected = pa.dataset.dataset(tmp_path / "rows", partitioning="hive")
    source = SetSource(file_set(tmp_path / "rows"))
    assert source.schema == expected.schema
    for names in (["key"], ["all", "y", "key"]):
        table = pa.Table.from_batches(source.batches(names))
        assert table == expected.to_table(names)


def test_a_missing_key_and_keys_of_some_files(tmp_path) -> None:
    for value in ("3", "__HIVE_DEFAULT_PARTITION__"):
        place = tmp_path / "rows" / f"key={value}"
        place.mkdir(parents=True)
        pa.parquet.write_table(pa.table({"y": [0.5]}), place / "a.parquet")
    X, _ = read_table(tmp_path / "rows", "y")
    assert X["key"].isna().tolist() == [False, True]
    pa.parquet.write_table(pa.table({"y": [0.5]}), tmp_path / "rows" / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet and .*key=3/a\.parquet must lie in folders"):
        read_table(tmp_path / "rows", "y")


def test_a_key_that_is_also_a_column_is_refused(tmp_path) -> None:
    place = tmp_path / "y=3"
    place.mkdir()
    pa.parquet.write_table(pa.table({"a": [1.0], "y": [0.5]}), place / "a.parquet")
    with pytest.raises(DataError, match=r"y=3/a\.parquet has a column 'y', and so has the name of"):
        read_table(tmp_path, "y")


OTHERS = {
    "float": (pa.table({"a": [1], "y": [0.5]}), "'a' is double in the first and int64 in the sec"),
    "less": (pa.table({"y": [0.5]}), "'a' is double in the first and missing in the second"),
    "more": (pa.table({"a": [1.0], "y": [0.5], "z": [1]}), "'z' is missing in the first and int64"),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("on_disk", [False, True])
def test_files_with_different_columns_are_refused(name, on_disk, tmp_path) -> None:
    pa.parquet.write_table(pa.table({"a": [1.0], "y": [0.5]}), tmp_path / "a.parquet")
    pa.parquet.write_table(pa.table({"y": [0.5], "a": [1.0]}), tmp_path / "b.parquet")
    assert len(read_table(tmp_path, "y", on_disk=on_disk)[1]) == 2
    table, complaint = OTHERS[name]
    pa.parquet.write_table(table, tmp_path / "c.parquet")
    with pytest.raises(DataError, match=rf"a\.parquet and .*c\.parquet must have .*{complaint}"):
        read_table(tmp_path, "y", on_disk=on_disk)


def test_the_index_of_data_frames_is_no_column(tmp_path) -> None:
    PARTS[0].to_parquet(tmp_path / "a.parquet")
    PARTS[2].sample(frac=1, random_state=0).to_parquet(tmp_path / "b.parquet")
    X, _ = read_table(tmp_path, "y")
    assert list(X.columns) == ["a", "b", "town"]
    assert X.index.tolist() == list(range(120))


@pytest.mark.parametrize("on_disk", [False, True])
def test_each_file_is_checked_as_a_single_file_is(on_disk, tmp_path, monkeypatch) -> None:
    folder = write_parts(tmp_path / "rows")
    (folder / "zzz.parquet").write_bytes(b"not a table")
    with pytest.raises(DataError, match=r"rows/zzz\.parquet cannot be read as Parquet"):
        read_table(folder, "y", on_disk=on_disk)
    (folder / "zzz.parquet").unlink()
    monkeypatch.setattr("poise.data.files.parquet._MOST_BYTES", 1 << 20)
    monkeypatch.setattr("poise.data.files.unpacked_size._FLOOR", 1 << 20)
    zeros = pd.DataFrame(0, range(1 << 17), list("aby")).astype({"a": float, "y": float})
    table = typed(zeros.assign(town="Rome"))
    pa.parquet.write_table(table, folder / "zzz.parquet", use_dictionary=False, compression="zstd")
    with pytest.raises(DataError, match=r"zzz\.parquet would unpack to [\d,]{9,} bytes"):
        read_table(folder, "y", on_disk=on_disk)


def test_only_ordinary_files_are_opened(tmp_path) -> None:
    folder = write_parts(tmp_path / "rows")
    os.mkfifo(folder / "pipe.parquet")
    with pytest.raises(DataError, match=r"rows/pipe\.parquet is a named pipe"):
        read_table(folder, "y")
    (folder / "pipe.parquet").unlink()
    (folder / "zero.parquet").symlink_to("/dev/zero")
    with pytest.raises(DataError, match=r"rows/zero\.parquet is a device"):
        read_table(f"{folder}/*.parquet", "y")


def test_what_is_no_set_of_files_is_refused(tmp_path, memory) -> None:
    write_parts(tmp_path / "rows")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"is a folder that holds no Parquet or Feather file"):
        read_table(tmp_path / "empty", "y")
    with pytest.raises(DataError, match=r"no such file: .*\*\.pq, and no file matches it"):
        read_table(tmp_path / "*.pq", "y")
    with pytest.raises(DataError, match=r"there is no file at memory://nothing"):
        read_table("memory://nothing", "y")
    with pytest.raises(DataError, match=r"nowhere://rows cannot be read: .*nowhere"):
        read_table("nowhere://rows", "y")
    with pytest.raises(DataError, match=r"sep is for text files, and .*rows is none"):
        read_table(tmp_path / "rows", "y", sep=";")
    pa.feather.write_feather(typed(PARTS[0]), str(tmp_path / "rows" / "a.feather"))
    with pytest.raises(DataError, match=r"holds Parquet and Feather files, .*; give files of one"):
        read_table(tmp_path / "rows", "y")
    pa.parquet.write_table(typed(PARTS[1]), tmp_path / "empty" / "a.parquet")
    with pytest.raises(DataError, match="empty has no rows"):
        read_table(tmp_path / "empty", "y")


def test_a_row_is_named_by_its_file(tmp_path, monkeypatch) -> None:
    write_parts(tmp_path / "rows")
    labels = pa.array(["1.5"] * 12 + ["slip"] + ["2"] * (len(PARTS[3]) - 13))
    for number, part in enumerate(PARTS):
        texts = labels if number == 3 else pa.array(["1.5"] * len(part), pa.string())
        table = typed(part).set_column(3, "y", texts)
        pa.parquet.write_table(table, tmp_path / "rows" / f"part-{number:04}.parquet")
    monkeypatch.chdir(tmp_path)
    for on_disk in (False, True):
        with pytest.raises(DataError, match=r"'slip' in row 12 of rows/part-0003\.parquet \(count"):
            read_table("rows", "y", on_disk=on_disk)


def test_a_worker_without_the_copy_reads_the_files_itself(tmp_path, temporary, monkeypatch) -> None:
    write_parts(tmp_path / "rows")
    monkeypatch.chdir(tmp_path)
    table = StoredTable("rows", ["town", "b"])
    sent = pickle.dumps(table)
    expected = table.take(slice(0, N))
    monkeypatch.chdir("/")
    del table
    assert list(temporary.iterdir()) == []
    pd.testing.assert_frame_equal(pickle.loads(sent).take(slice(0, N)), expected)
    (tmp_path / "rows" / "part-0003.parquet").unlink()
    with pytest.raises(DataError, match="a worker cannot find rows"):
        pickle.loads(sent)


def test_without_pandas_rows_are_polars_frames(tmp_path, monkeypatch) -> None:
    folder = write_parts(tmp_path / "rows")
    found = __import__("importlib.util").util.find_spec
    monkeypatch.setattr(
        "poise.data.files.large_files.find_spec",
        lambda name: None if name == "pandas" else found(name),
    )
    X, y = read_table(folder, "y")
    assert isinstance(X, pl.DataFrame)
    assert y.to_list() == FRAME["y"].tolist()
    monkeypatch.setattr("poise.data.files.large_files.find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"reading .*rows needs pandas and pyarrow: pip install"):
        read_table(folder, "y")


def test_without_fsspec_an_address_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(DataError, match=r"memory://rows needs fsspec: pip install 'poise\[data\]'"):
        read_table("memory://rows", "y")


def test_a_process_that_read_an_address_ends_as_usual() -> None:
    """pyarrow's own threads would call fsspec when the interpreter has ended, and abort."""
    script = """
import fsspec, pandas as pd, poise
for k in range(9):
    with fsspec.open(f"memory://rows/{k}.parquet", "wb") as file:
        pd.DataFrame({"a": range(40_000), "y": range(40_000)}).to_parquet(file)
print(len(poise.read_table("memory://rows", "y", on_disk=True)[0]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "360000", "")


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize("size", [1, 4000, 1 << 30])
def test_parts_of_files_are_the_rows_of_the_table(ending, size, tmp_path, monkeypatch) -> None:
    write_parts(tmp_path / "rows", ending)
    monkeypatch.chdir(tmp_path)
    parts = pickle.loads(pickle.dumps(file_parts(file_set("rows"), ["b"], size)))
    monkeypatch.chdir("/")
    assert len(parts) in {1: [10], 4000: range(5, 10), 1 << 30: [4]}[size]
    frames = [part.read() for part in parts]
    pd.testing.assert_frame_equal(pd.concat(frames), FRAME[["a", "town", "y"]])


def test_parts_of_files_have_the_keys_of_their_folders(tmp_path, memory) -> None:
    for key, part in (("u", PARTS[0]), ("v", PARTS[2])):
        with memory.open(f"/hive/key={key}/a.parquet", "wb") as file:
            part.to_parquet(file)
    parts = pickle.loads(pickle.dumps(file_parts(file_set("memory://hive"))))
    expected, _ = read_table("memory://hive", "y")
    found = pd.concat([part.read() for part in parts])
    pd.testing.assert_frame_equal(found.drop(columns="y"), expected)
    assert found["key"].unique().tolist() == ["u", "v"]


def test_parts_of_files_are_checked_where_they_are_read(tmp_path, monkeypatch) -> None:
    words = pa.DictionaryArray.from_arrays(np.zeros(100, np.int32), pa.array(["x" * (1 << 15)]))
    table = pa.table({"a": words, "y": np.zeros(100)})
    pa.parquet.write_table(table, tmp_path / "rows.parquet", store_schema=False)
    monkeypatch.setattr("poise.data.files.parquet._MOST_BYTES", 1 << 20)
    monkeypatch.setattr("poise.data.files.unpacked_size._FLOOR", 1 << 20)
    (part,) = file_parts(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"rows\.parquet would unpack to [\d,]+ bytes"):
        part.read()
    pa.parquet.write_table(
        pa.table({"y": np.zeros(1 << 18)}),
        tmp_path / "rows.parquet",
        use_dictionary=False,
        compression="zstd",
    )
    with pytest.raises(DataError, match=r"rows\.parquet would unpack to [\d,]+ bytes"):
        file_parts(tmp_path / "rows.parquet")
