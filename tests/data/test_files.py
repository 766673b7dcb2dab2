"""Files as people have them: read as they are meant, or refused with file, line and column."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import pytest

from poise.data.read import read_table
from poise.errors import ArgumentError, DataError

TOWNS = ["Oslo", "Rome", "Żnin, old town", 'the "new"\ntown']
COLUMNS = {"id": [11, 12, 13, 14], "age": [30.5, np.nan, 52.0, 61.25], "city": TOWNS}
FRAME = pd.DataFrame({**COLUMNS, "price": [2.5, 3.5, -1.0, 0.1]})
CSV = FRAME.to_csv(index=False).encode()


def written(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if callable(content):
        content(path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(message: str, path: object, *asked: Any, **form: Any) -> None:
    with pytest.raises((ArgumentError, DataError), match=message) as raised:
        read_table(str(path), *asked, **form)
    named = isinstance(raised.value, DataError)
    assert not named or Path(str(path)).name.strip("*") in str(raised.value)


def test_every_kind_of_file_holds_the_same_rows(tmp_path: Path) -> None:
    plain = FRAME.replace({TOWNS[3]: "town"})
    blank = b"\n\n" + plain.to_csv(index=False).encode().replace(b"\n", b"\r\n\r\n")
    each = [2, 3, 4, 5]
    for name, content, lines in [
        ("a.csv", CSV, each),
        ("b.CSV", FRAME.to_csv(index=False, sep=";"), each),
        ("c.tsv", FRAME.to_csv(index=False, sep="\t").encode("utf-8-sig"), each),
        ("d.txt", FRAME.to_csv(index=False, sep="|"), each),
        ("e.csv.gz", gzip.compress(CSV), each),
        ("f.csv.bz2", bz2.compress(CSV), each),
        ("g.tsv.xz", lzma.compress(CSV), each),
        ("i.parquet", FRAME.to_parquet, [None] * 4),
        ("j.feather", FRAME.to_feather, [None] * 4),
        ("k.xlsx", lambda path: FRAME.to_excel(path, index=False), each),
        ("n.csv", blank, [5, 7, 9, 11]),
    ]:
        path = written(tmp_path / name, content)
        table = read_table(path, "price", drop=["id"])
        wanted = plain if name == "n.csv" else FRAME
        pd.testing.assert_frame_equal(table.X, wanted[["age", "city"]], obj=name)
        pd.testing.assert_series_equal(table.y, FRAME["price"], obj=name)
        assert list(table.frame) == ["age", "city", "price"]
        assert [table.line_of(row) for row in range(4)] == lines
        complete = read_table(path, drop_missing=True)
        assert list(complete.frame["id"]) == [11, 13, 14]
        assert complete.line_of(1) == lines[2]
    with pd.ExcelWriter(tmp_path / "two.xlsx") as book:
        FRAME.to_excel(book, sheet_name="all")
        FRAME[:1].to_excel(book, sheet_name="one")
    assert len(read_table(tmp_path / "two.xlsx", sheet="one", drop=["Unnamed: 0"]).frame) == 1


WRONG: dict[str | bytes, str] = {
    "": "is empty",
    "\n \n": "is empty",
    "a,y\n": "has a header but no rows",
    "a,y\n1,2\n3\n": "ragged: line 3 has 1 value, the header has 2$",
    "a,y\n1,2\n\n3,4,x\n": "ragged: line 4 has 3 values, the header has 2$",
    'a,y\n"1\n2",2\n3\n': "ragged: line 4 has 1 value",
    "# made by us\n# in 2024\na,y\n1,2\n": "ragged: line 3 has 2 values, the header has 1",
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
    b"a,y\n1,2\ncaf\xe9,3\n": "is not utf-8 text: byte 0xe9 in line 3; use encoding='latin-1'",
    'a,y\n1,2\n3,"4\n' + "5,6\n" * 50_000: "begins in line 3: .*; close every quote",
    'a,y\n1,"2"3\n': "begins in line 2: .* and write a quote inside quotes twice",
}
ODD: list[tuple[str | bytes, dict[str, Any], list[Any]]] = [
    ("a ; y\n1,5;3\n-2,25e1;4\n", {"decimal": ","}, [1.5, -22.5]),
    ("a;y\n1,5;3\nNA;4\n", {"decimal": ","}, [1.5, np.nan]),
    ("weight, in kg, dry;y\n1,5;3\n", {"decimal": ","}, [1.5]),
    ("a,y\nx,2\nNA,3\n", {}, ["x", np.nan]),
    (",a,y\n0,1,2\n", {"drop": ["Unnamed: 0"]}, [1]),
    ("a^y\n1^2\n3^4\n", {"sep": "^"}, [1, 3]),
    ("a\ty\n1\t2\n3\t4\n", {"sep": "tab"}, [1, 3]),
    ("a;y\n1,5;3\n2,x;4\n", {}, ["1,5", "2,x"]),
    ("a,y\ncat,2\n7,2\ndog,3\n", {}, ["cat", "7", "dog"]),
    ('a,y\n"007x",2\n"x08",3\n', {}, ["007x", "x08"]),
    ("a,y\n,2\n,3\n", {}, [np.nan, np.nan]),
    ("a,y\ntrue,2\nfalse,3\n", {}, [True, False]),
    ("a,y\n2024-02-29,2\n", {}, [pd.Timestamp("2024-02-29")]),
    ('"a, b",y\n"x, z",2\n"""q""",3\n', {}, ["x, z", '"q"']),
    ("a,y\n1,2\n2,\n3,4\n", {}, [1, 2, 3]),
    ("a,y\nÁvila,2\nKöln,3\n".encode("latin-1"), {"encoding": "latin-1"}, ["Ávila", "Köln"]),
    ("a,y\n1,2\n3,4".encode("utf-16"), {"encoding": "utf-16"}, [1, 3]),
]


def test_text_is_read_as_it_is_meant_or_refused(tmp_path: Path) -> None:
    for number, (content, message) in enumerate(WRONG.items()):
        refused(message, written(tmp_path / f"wrong{number}.csv", content), "y")
    for number, (content, form, features) in enumerate(ODD):
        table = read_table(written(tmp_path / f"odd{number}.csv", content), "y", **form)
        first, wanted = table.X.iloc[:, 0], pd.Series(features)
        pd.testing.assert_series_equal(first, wanted, check_dtype=False, check_names=False)
        assert [str(name).strip() for name in table.frame.columns] == list(table.frame.columns)


def test_standard_input_and_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(CSV)))
    table = read_table("-", "price")
    pd.testing.assert_frame_equal(table.frame, FRAME)
    assert table.line_of(3) == 5
    for name, content in (("a.csv", CSV), ("a.parquet", FRAME.to_parquet())):
        fsspec.filesystem("memory").pipe(f"/rows/{name}", content)
        pd.testing.assert_frame_equal(read_table(f"memory://rows/{name}").frame, FRAME)
    refused("memory://rows/b.csv cannot be read", "memory://rows/b.csv")


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.csv", CSV)
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "empty").mkdir()
    gaps = pd.DataFrame({"a": [None, 1.0], "y": [1.0, None]})
    for name, content, message in [
        ("row.csv", None, r"no such file: .*row\.csv; did you mean 'rows\.csv'"),
        ("nowhere/rows.csv", None, "no such file"),
        ("pipe.csv", None, "is not a regular file"),
        ("empty", None, "no Parquet or Feather file in"),
        ("rows.doc", "a,y", r"must end in one of \.csv"),
        ("rows", "a,y", "must end in"),
        ("plain.csv.gz", "a,y\n1,2\n", "cannot be read: Not a gzipped file"),
        ("half.csv.xz", lzma.compress(CSV)[:60], "cannot be read"),
        ("bad.parquet", "not a table", "cannot be read"),
        ("bad.feather", "not a table", "cannot be read"),
        ("bad.xlsx", "not a table", "cannot be read"),
        ("bad.npy", "not a table", "cannot be read"),
        ("none.parquet", FRAME[:0].to_parquet, "has no rows"),
    ]:
        if content is not None:
            written(tmp_path / name, content)
        refused(message, tmp_path / name)
    path = written(tmp_path / "gaps.parquet", gaps.to_parquet)
    refused("has no rows without a missing value", path, drop_missing=True)
    for message, asked in [
        ("has no column 'aeg', only .*; did you mean 'age'", {"drop": ["aeg"]}),
        ("has no column '', only", {"drop": [""]}),
        ("drop must not name the target, got 'age'", {"drop": ["age"]}),
        ("cannot be read: .*1-character string", {"sep": ";;"}),
        (r"decimal must be '\.' or ','", {"decimal": "'"}),
        ("cannot be read: unknown encoding: latin-99", {"encoding": "latin-99"}),
    ]:
        refused(message, rows, "age", **asked)


def test_many_files_hold_one_table(tmp_path: Path) -> None:
    for number, (start, stop) in enumerate([(0, 1), (1, 1), (1, 3), (3, 4)]):
        part = FRAME[start:stop].reset_index(drop=True)
        for kind, write in (("parquet", part.to_parquet), ("feather", part.to_feather)):
            written(tmp_path / kind / f"part-{number:02}.{kind}", write)
    written(tmp_path / "parquet" / "_SUCCESS", "")
    written(tmp_path / "parquet" / ".hidden.parquet", "no table")
    for place in ("parquet", "feather", "parquet/*.parquet", "**/*.feather"):
        found = read_table(f"{tmp_path}/{place}").frame
        pd.testing.assert_frame_equal(found, FRAME, check_dtype=False)
    for other in (FRAME[["id"]], FRAME.assign(id=0.5)):
        written(tmp_path / "parquet" / "part-99.parquet", other.to_parquet)
        with pytest.raises(DataError, match=r"part-99\.parquet, with its folders, must have each"):
            read_table(tmp_path / "parquet")


def test_the_names_of_folders_may_be_a_column(tmp_path: Path) -> None:
    tmp_path /= "run=3"  # above what is read, and so no column
    for year, town in [(2024, "Rome"), (2025, "Żnin a")]:
        path = tmp_path / "keys" / f"year={year}" / f"town={town}" / "rows.parquet"
        written(path, pd.DataFrame({"age": [year - 2000]}).to_parquet)
    towns = {"age": [24, 25], "year": [2024, 2025], "town": ["Rome", "Żnin a"]}
    for place in (tmp_path / "keys", f"{tmp_path}/keys/*/*/rows.parquet"):
        assert read_table(place).frame.to_dict("list") == towns
    age = pd.DataFrame({"age": [1]}, dtype="int32").to_parquet
    written(tmp_path / "keys" / "rows.parquet", age)
    written(tmp_path / "both" / "age=3" / "rows.parquet", age)
    for folder in ("keys", "both"):
        with pytest.raises(DataError, match="with its folders, must have each column once: age"):
            read_table(tmp_path / folder)


def test_kinds_of_columns_survive(tmp_path: Path) -> None:
    when, level = pd.to_datetime(["2024-01-01", None]), pd.Categorical(["low", "high"])
    kinds = pd.DataFrame({"when": when, "level": level, "truth": [True, False]}, index=["x", "y"])
    kinds.to_parquet(tmp_path / "rows.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "rows.parquet").frame, kinds)


def test_numpy_files(tmp_path: Path) -> None:
    array, npy, npz = np.arange(12.0).reshape(3, 4), tmp_path / "rows.npy", tmp_path / "rows.npz"
    np.save(npy, array)
    table = read_table(npy, "4", drop=["2"])
    assert table.X.to_dict("list") == {"1": [0, 4, 8], "3": [2, 6, 10]}
    assert table.y.tolist() == [3, 7, 11]
    refused("has no column '5', only 1, 2, 3, 4", npy, "5")
    np.savez(npz, X=array, y=array[:, 0], label=np.array(["a", "b", "c"]), version=np.array(3))
    table = read_table(npz, drop=["label"])
    assert (table.y.tolist(), table.X.to_numpy().tolist()) == ([0, 4, 8], array.tolist())
    assert read_table(npz, "label").y.tolist() == ["a", "b", "c"]
    for made, message in [
        (np.arange(3), r"numbers in rows and columns, got int64 of shape \(3,\)"),
        (np.array([["a", "b"]]), "numbers in rows and columns, got <U1"),
        (np.empty((0, 2)), "has no rows"),
        (np.array([[{}]]), "cannot be read"),
    ]:
        np.save(npy, made)
        refused(message, npy, "1")
    np.savez(npz, features=array)
    refused("must hold the features in an array 'X', got features", npz)
