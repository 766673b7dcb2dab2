"""Files as people have them: read as they are meant, or refused with file, line and column."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from poise.data.read import read_table
from poise.errors import ArgumentError, DataError

FRAME = pd.DataFrame(
    {
        "id": [11, 12, 13, 14],
        "age": [30.5, np.nan, 52.0, 61.25],
        "city": ["Oslo", "Rome", "Żnin, old town", 'the "new"\ntown'],
        "price": [2.5, 3.5, -1.0, 0.1],
    }
)
CSV = FRAME.to_csv(index=False).encode()


def zipped(content: bytes, *names: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return made.getvalue()


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_every_kind_of_file_holds_the_same_rows(tmp_path: Path) -> None:
    plain = FRAME.replace({'the "new"\ntown': "town"})
    kinds: dict[str, Any] = {
        "a.csv": CSV,
        "b.CSV": FRAME.to_csv(index=False, sep=";").encode(),
        "c.tsv": FRAME.to_csv(index=False, sep="\t").encode("utf-8-sig"),
        "d.txt": FRAME.to_csv(index=False, sep="|").encode("utf-16"),
        "e.csv.gz": gzip.compress(CSV),
        "f.csv.bz2": bz2.compress(CSV),
        "g.tsv.xz": lzma.compress(CSV),
        "h.zip": zipped(CSV, "folder/rows.csv", "__MACOSX/._rows.csv"),
        "i.parquet": FRAME.to_parquet,
        "j.pq": FRAME.to_parquet,
        "k.feather": FRAME.to_feather,
        "l.arrow": FRAME.to_feather,
        "m.xlsx": lambda path: FRAME.to_excel(path, index=False),
        "n.jsonl": FRAME.to_json(orient="records", lines=True).encode(),
        "o.jsonl.gz": gzip.compress(FRAME.to_json(orient="records", lines=True).encode()),
        "p.csv": b"\n\n" + plain.to_csv(index=False).encode().replace(b"\n", b"\r\n\r\n"),
    }
    for name, content in kinds.items():
        path = tmp_path / name
        content(path) if callable(content) else written(path, content)
        table = read_table(path, "price", drop=["id"])
        wanted = plain if name == "p.csv" else FRAME
        pd.testing.assert_frame_equal(table.X, wanted[["age", "city"]], obj=name)
        pd.testing.assert_series_equal(table.y, FRAME["price"], obj=name)
        assert list(table.frame) == ["age", "city", "price"]
        complete = read_table(path, "price", drop_missing=True)
        assert list(complete.frame["id"]) == [11, 13, 14]
        if name[0] in "abcdefgh":
            assert [table.line_of(row) for row in range(4)] == [2, 3, 4, 5]
            assert complete.line_of(1) == 4
        elif name[0] in "ijkl":
            assert table.line_of(2) is None
    assert read_table(tmp_path / "p.csv").line_of(3) == 11
    assert read_table(tmp_path / "m.xlsx").line_of(0) == 2
    assert read_table(tmp_path / "n.jsonl").line_of(3) == 4
    assert list(read_table(tmp_path / "m.xlsx", sheet="Sheet1").frame) == list(FRAME)


WRONG: dict[str | bytes, str] = {
    "": "is empty",
    "\n \n": "is empty",
    "a,y\n": "has a header but no rows",
    "a,y\n1,2\n3\n": "ragged: line 3 has 1 value, there are 2 columns$",
    "a,y\n1,2\n\n3,4,x\n": "ragged: line 4 has 3 values, there are 2 columns$",
    "a,y\n1,2,\n3,4,\n": "ragged: line 2 has 3 values",
    'a,y\n"1\n2",2\n3\n': "ragged: line 4 has 1 value",
    "a,y\n1,5,2,5\n": "line 2 has 4 values, .*; if these are decimal commas",
    "1,2\n3,4\n": "the first line of .* holds numbers, not column names; add a header",
    "1,5;2,5\n3;4\n": "holds numbers, not column names",
    "a,a\n1,2\n": "more than one column 'a'; rename",
    ",b,y\n0,1,2\n": r"column without a name \(row numbers\?\); drop 'Unnamed: 0'",
    "a,y\n1,2\n3,oops\n4,5\n": "column 'y' of .* mixes numbers and text: 'oops' in line 3; correct",
    'a,y\n"1\n",2\n\n3,oops\n4,5\n': "'oops' in line 5",
    "a;y\n\n1,5;3\n2;4\n": r"has decimal commas \(column 'a', '1,5'\); use decimal=','",
    'a,y\n1,"3,5"\n2,"4,0"\n': "has decimal commas",
    "a,b\n1,2\n": "has no column 'y', only a, b$",
    "a,Y\n1,2\n": "has no column 'y', only a, Y; did you mean 'Y'",
    b"a,y\n1,2\ncaf\xe9,3\n": "is not utf-8 text: byte 0xe9 in line 3; set encoding",
    'a,y\n1,"2\n3,4\n5,6\n': "the row that begins in line 2: a quote is opened and never closed",
    'a,y\n1,2\n3,"4\n' + "5,6\n" * 50_000: "line 3: a quote is opened and never closed",
    'a,y\n1,"2"3\n': "begins in line 2: text follows a closing quote",
    "# saved by R, 2024, v1\na,y\n1,2\n": r"line 1 of .* is a comment \('# saved by R, 2024, v1'\)",
    "# made by us\n# in 2024\na,y\n1,2\n": "line 1 of .* is a comment",
    "a,y\n1,2\n# end\n": r"line 3 of .* is a comment \('# end'\); remove such lines",
}


def test_what_is_wrong_with_a_text_file_is_said(tmp_path: Path) -> None:
    for number, (content, message) in enumerate(WRONG.items()):
        path = written(tmp_path / f"rows{number}.csv", content)
        with pytest.raises(DataError, match=message) as raised:
            read_table(path, "y")
        assert path.name in str(raised.value)


def test_odd_files_that_are_good(tmp_path: Path) -> None:
    for number, (content, form, features) in enumerate(
        [
            ("a ; y\n1,5;3\n-2,25e1;4\n", {"decimal": ","}, [1.5, -22.5]),
            ("a;y\n1,5;3\nNA;4\n", {"decimal": ","}, [1.5, np.nan]),
            ("a^y\n1^2\n3^4\n", {"sep": "^"}, [1, 3]),
            ("a\ty\n1\t2\n3\t4\n", {"sep": "tab"}, [1, 3]),
            ("a;y\n1,5;3\n2,x;4\n", {}, ["1,5", "2,x"]),
            ("a,y\ncat,2\n7,2\ndog,3\n", {}, ["cat", "7", "dog"]),
            ("a,y\n,2\n,3\n", {}, [np.nan, np.nan]),
            ("a,y\ntrue,2\nfalse,3\n", {}, [True, False]),
            ('"a, b",y\n"x, z",2\n"""q""",3\n', {}, ["x, z", '"q"']),
            ("a,y\n1,2\n2,\n3,4\n", {}, [1, 2, 3]),
            ("#a,y\n1,2\n3,4\n", {}, [1, 3]),
            (
                "a,y\nÁvila,2\nKöln,3\n".encode("latin-1"),
                {"encoding": "latin-1"},
                ["Ávila", "Köln"],
            ),
            ("a,y\n1,2\n3,4".encode("utf-16-le"), {"encoding": "utf-16-le"}, [1, 3]),
        ]
    ):
        table = read_table(written(tmp_path / f"rows{number}.csv", content), "y", **form)
        pd.testing.assert_series_equal(
            table.X.iloc[:, 0], pd.Series(features), check_dtype=False, check_names=False
        )
        assert [str(name).strip() for name in table.X.columns] == list(table.X.columns)


def test_standard_input_and_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(CSV)))
    table = read_table("-", "price")
    pd.testing.assert_frame_equal(table.frame, FRAME)
    assert table.line_of(3) == 5
    system = fsspec.filesystem("memory")
    system.pipe("/rows/a.csv", CSV)
    with system.open("/rows/a.parquet", "wb") as file:
        FRAME.to_parquet(file)
    for name in ("a.csv", "a.parquet"):
        table = read_table(f"memory://rows/{name}", "price")
        pd.testing.assert_frame_equal(table.frame, FRAME)
    with pytest.raises(DataError, match=r"memory://rows/b\.csv cannot be read"):
        read_table("memory://rows/b.csv")


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    written(tmp_path / "rows.csv", CSV)
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "empty").mkdir()
    cases: dict[str, tuple[str | bytes | None, str]] = {
        "row.csv": (None, r"no such file: .*row\.csv; did you mean 'rows\.csv'"),
        "nowhere/rows.csv": (None, "no such file"),
        "pipe.csv": (None, "is no ordinary file"),
        "empty": (None, "no Parquet or Feather file in"),
        "rows.doc": ("a,y", r"must end in one of \.csv"),
        "rows": ("a,y", "must end in"),
        "plain.csv.gz": ("a,y\n1,2\n", "cannot be unpacked"),
        "half.csv.xz": (lzma.compress(CSV)[:60], "cannot be unpacked"),
        "two.zip": (zipped(CSV, "a.csv", "b.csv"), "holds 2 files, and must hold one"),
        "bad.parquet": ("not a table", r"bad\.parquet cannot be read"),
        "bad.feather": ("not a table", r"bad\.feather cannot be read"),
        "bad.xlsx": ("not a table", r"bad\.xlsx cannot be read"),
        "bad.jsonl": ('{"a": 1}\n{"a": oops}\n', "cannot be read as JSON lines"),
        "bad.npy": ("not a table", r"bad\.npy cannot be read"),
    }
    for name, (content, message) in cases.items():
        if content is not None:
            written(tmp_path / name, content)
        with pytest.raises(DataError, match=message):
            read_table(tmp_path / name, "y")
    for name in ("none.parquet", "none.feather"):
        pa.feather.write_feather(pa.Table.from_pandas(FRAME[:0]), str(tmp_path / name)) if (
            "feather" in name
        ) else FRAME[:0].to_parquet(tmp_path / name)
        with pytest.raises(DataError, match="has no rows"):
            read_table(tmp_path / name, "price")
    frame = pd.DataFrame({"a": [None, 1.0], "y": [1.0, None]})
    frame.to_parquet(tmp_path / "gaps.parquet")
    with pytest.raises(DataError, match="has no rows without a missing value"):
        read_table(tmp_path / "gaps.parquet", drop_missing=True)
    for error, message, asked in [
        (DataError, "has no column 'aeg', only .*; did you mean 'age'", {"drop": ["aeg"]}),
        (ArgumentError, "drop must not name the target, got 'age'", {"drop": ["age"]}),
        (ArgumentError, "sep must be one character, or 'tab', got ';;'", {"sep": ";;"}),
        (ArgumentError, "sep must be one character", {"sep": '"'}),
        (ArgumentError, r"decimal must be '\.' or ','", {"decimal": "'"}),
        (ArgumentError, "encoding must be a known encoding", {"encoding": "latin-99"}),
        (ArgumentError, "encoding must be a known encoding", {"encoding": "hex"}),
    ]:
        with pytest.raises(error, match=message):
            read_table(tmp_path / "rows.csv", "age", **asked)


def test_many_files_hold_one_table(tmp_path: Path) -> None:
    folder = tmp_path / "rows"
    for number, (start, stop) in enumerate([(0, 1), (1, 1), (1, 3), (3, 4)]):
        part = pa.Table.from_pandas(FRAME[start:stop], schema=pa.Schema.from_pandas(FRAME[:4]))
        for ending in ("parquet", "feather"):
            (folder / ending).mkdir(parents=True, exist_ok=True)
            path = str(folder / ending / f"part-{number:02}.{ending}")
            writer = pa.parquet.write_table if ending == "parquet" else pa.feather.write_feather
            writer(part.replace_schema_metadata(), path)
    written(folder / "parquet" / "_SUCCESS", "")
    written(folder / "parquet" / ".hidden.parquet", "no table")
    for place in ("parquet", "feather", "parquet/*.parquet", "parq*", "**/*.feather"):
        pd.testing.assert_frame_equal(read_table(f"{folder}/{place}").frame, FRAME)
    with pytest.raises(DataError, match="holds both Parquet and Feather files"):
        read_table(folder)
    FRAME[["id"]].to_parquet(folder / "parquet" / "part-99.parquet")
    with pytest.raises(DataError, match=r"part-99\.parquet must have the same columns"):
        read_table(folder / "parquet")


def test_folders_may_hold_a_column(tmp_path: Path) -> None:
    for year, town in [(2024, "Rome"), (2025, "Żnin a")]:
        folder = tmp_path / "keys" / f"year={year}" / f"town={town}"
        folder.mkdir(parents=True)
        pd.DataFrame({"age": [year - 2000]}).to_parquet(folder / "rows.parquet")
    frame = read_table(tmp_path / "keys").frame
    assert frame.to_dict("list") == {
        "age": [24, 25], "year": [2024, 2025], "town": ["Rome", "Żnin a"]
    }  # fmt: skip
    pd.DataFrame({"age": [1]}).to_parquet(tmp_path / "keys" / "rows.parquet")
    with pytest.raises(DataError, match="must all have the same keys"):
        read_table(tmp_path / "keys")
    both = tmp_path / "both" / "age=3"
    both.mkdir(parents=True)
    pd.DataFrame({"age": [1]}, dtype="int32").to_parquet(both / "rows.parquet")
    with pytest.raises(DataError, match="'age' is the name of a column and of a folder"):
        read_table(tmp_path / "both")


def test_kinds_of_columns_survive(tmp_path: Path) -> None:
    kinds = pd.DataFrame(
        {
            "when": pd.to_datetime(["2024-01-01", None]),
            "level": pd.Categorical(["low", "high"]),
            "truth": [True, False],
        },
        index=["first", "second"],
    )
    kinds.to_parquet(tmp_path / "rows.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "rows.parquet").frame, kinds)


def test_numpy_files(tmp_path: Path) -> None:
    array = np.arange(12.0).reshape(3, 4)
    np.save(tmp_path / "rows.npy", array)
    table = read_table(tmp_path / "rows.npy", "4", drop=["2"])
    assert table.X.to_dict("list") == {"1": [0, 4, 8], "3": [2, 6, 10]}
    assert table.y.tolist() == [3, 7, 11]
    assert list(read_table(tmp_path / "rows.npy").frame) == ["1", "2", "3", "4"]
    label = np.array(["a", "b", "c"])
    np.savez(tmp_path / "rows.npz", X=array, y=array[:, 0], label=label, version=np.array(3))
    table = read_table(tmp_path / "rows.npz", drop=["label"])
    assert (table.y.tolist(), table.X.to_numpy().tolist()) == ([0, 4, 8], array.tolist())
    assert read_table(tmp_path / "rows.npz", "label").y.tolist() == ["a", "b", "c"]
    for made, message in [
        (np.arange(3), r"numbers in rows and columns, got int64 of shape \(3,\)"),
        (np.array([["a", "b"]]), "numbers in rows and columns, got <U1"),
        (np.empty((0, 2)), "has no rows"),
        (np.array([[{}]]), "cannot be read"),
    ]:
        np.save(tmp_path / "bad.npy", made)
        with pytest.raises(DataError, match=message):
            read_table(tmp_path / "bad.npy", "1")
    np.savez(tmp_path / "bad.npz", features=array)
    with pytest.raises(DataError, match="must hold the features in an array 'X', got features"):
        read_table(tmp_path / "bad.npz")
    with pytest.raises(DataError, match="has no column '5', only 1, 2, 3, 4"):
        read_table(tmp_path / "rows.npy", "5")
