"""Tables from files: round trips for each kind, and a clear error for each thing wrong."""

from __future__ import annotations

import gzip
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from poise.data.files.read_table import read_features, read_table
from poise.errors import DataError
from shared.table_files import read_labels

FRAME = pd.DataFrame(
    {
        "id": [11, 12, 13, 14],
        "age": [30.5, np.nan, 52.0, 61.25],
        "city": ["Oslo", "Rome", "Żnin, old town", "Rome"],
        "price": [2.5, 3.5, -1.0, 0.1],
    }
)


def write_csv(path: Path) -> None:
    FRAME.to_csv(path, index=False)


def write_semicolons(path: Path) -> None:
    FRAME.to_csv(path, index=False, sep=";")


def write_tabs(path: Path) -> None:
    FRAME.to_csv(path, index=False, sep="\t")


def write_with_mark(path: Path) -> None:
    FRAME.to_csv(path, index=False, encoding="utf-8-sig")


def write_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(FRAME.to_csv(index=False).encode()))


KINDS: list[tuple[str, Callable[[Path], Any]]] = [
    ("rows.csv", write_csv),
    ("semicolons.csv", write_semicolons),
    ("rows.tsv", write_tabs),
    ("mark.CSV", write_with_mark),
    ("rows.csv.gz", write_gzip),
    ("rows.parquet", lambda path: FRAME.to_parquet(path)),
    ("rows.pq", lambda path: FRAME.to_parquet(path)),
    ("rows.feather", lambda path: FRAME.to_feather(path)),
    ("rows.arrow", lambda path: FRAME.to_feather(path)),
]


@pytest.fixture(params=KINDS, ids=[name for name, _ in KINDS])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    name, write = request.param
    write(tmp_path / name)
    return tmp_path / name


def without(monkeypatch: pytest.MonkeyPatch, *libraries: str) -> None:
    """Make the readers believe that these libraries are not installed."""
    found = importlib.util.find_spec

    def find(name: str) -> Any:
        return None if name in libraries else found(name)

    monkeypatch.setattr("poise.data.files.text_columns.find_spec", find)
    monkeypatch.setattr("poise.data.files.parquet.find_spec", find)


def test_round_trip_keeps_text_missing_values_and_numbers(file: Path) -> None:
    X, y = read_table(file, target="price", drop=["id"])
    pd.testing.assert_frame_equal(X, FRAME[["age", "city"]])
    pd.testing.assert_series_equal(y, FRAME["price"])


def test_round_trip_without_pandas(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "pandas")
    X, y = read_table(file, target="price", drop=["id"])
    assert isinstance(X, pl.DataFrame)
    assert X["city"].to_list() == FRAME["city"].to_list()
    assert X["age"].to_list()[2:] == [52.0, 61.25]
    assert np.isnan(float(X["age"].cast(pl.Float64).fill_null(float("nan"))[1]))
    assert y.to_list() == FRAME["price"].to_list()


def test_unlabelled_rows_take_the_columns_asked_for_in_that_order(file: Path) -> None:
    X = read_features(file, columns=["city", "age"])
    pd.testing.assert_frame_equal(X, FRAME[["city", "age"]])
    assert list(read_features(file).columns) == list(FRAME.columns)
    assert read_labels(file, "city") == list(FRAME["city"])
    with pytest.raises(DataError, match=r"has no column 'aeg'; did you mean 'age'\? It has: id,"):
        read_features(file, columns=["aeg"])


def test_npz_holds_features_and_a_named_response(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    X, y, other = np.arange(6.0).reshape(3, 2), np.array([1, 2, 3]), np.array(["a", "b", "c"])
    np.savez(path, X=X, y=y, label=other)
    for target, expected in [(None, y), ("y", y), ("label", other)]:
        features, response = read_table(path, target=target)
        np.testing.assert_array_equal(features, X)
        np.testing.assert_array_equal(response, expected)
    np.testing.assert_array_equal(read_features(path), X)
    assert read_labels(path, "label") == ["a", "b", "c"]
    with pytest.raises(DataError, match=r"has no array 'Y'; did you mean 'y'\?"):
        read_table(path, target="Y")


def test_npz_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    np.savez(path, features=np.ones((2, 2)), y=np.ones(2))
    with pytest.raises(DataError, match="must hold the features in an array 'X'; it has: features"):
        read_table(path)
    np.savez(path, X=np.array([{}, {}], dtype=object), y=np.ones(2))
    with pytest.raises(DataError, match="cannot be read as npz"):
        read_table(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match="cannot be read as npz"):
        read_table(path)


def text(tmp_path: Path, content: str | bytes, name: str = "rows.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b\n", "has a header but no rows"),
        ("a,b\n1,2\n3\n", "ragged: line 3 has 1 value, there are 2 columns"),
        ("a,b\n1,2\n\n3,4,5\n", "ragged: line 4 has 3 values, there are 2 columns"),
        ("a,b\n1,2,\n3,4,\n", "ragged: line 2 has 3 values"),
        ("1,2\n3,4\n", "holds numbers, not column names; add a header line"),
        ("a,a\n1,2\n", "more than one column 'a'"),
        (",b,y\n0,1,2\n", r"column without a name \(row numbers\?\): drop 'Unnamed: 0'"),
        ("a,y\n1,2\n3,oops\n4,5\n", "column 'y' mixes numbers and text: 'oops' in line 3"),
        ("a,b\n1,2\n", r"has no column 'y'\. It has: a, b"),
        ("y\n1\n2\n", "no column left for features besides 'y'"),
        (b"a,y\n1,2\ncaf\xe9,3\n", "is not UTF-8 text: byte 0xe9 in line 3; save it again as"),
    ],
)
def test_what_is_wrong_with_a_text_file_is_said(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_table(text(tmp_path, content), target="y")


def test_labels_and_gaps_are_no_mixture(tmp_path: Path) -> None:
    _, y = read_table(text(tmp_path, "a,y\n1,cat\n2,7\n3,dog\n"), target="y")
    assert list(y) == ["cat", "7", "dog"]
    _, y = read_table(text(tmp_path, "a,y\n1,2\n2,\n3,4\n"), target="y")
    assert y.isna().tolist() == [False, True, False]


def test_row_numbers_can_be_dropped(tmp_path: Path) -> None:
    X, _ = read_table(text(tmp_path, ",b,y\n0,1,2\n1,3,4\n"), target="y", drop=["Unnamed: 0"])
    assert list(X.columns) == ["b"]
    with pytest.raises(DataError, match="cannot be the target and be dropped"):
        read_table(tmp_path / "rows.csv", target="y", drop=["y", "Unnamed: 0"])


def test_a_file_that_is_not_there_or_not_a_table(tmp_path: Path) -> None:
    text(tmp_path, "a,y\n1,2\n", "rows.csv")
    with pytest.raises(DataError, match=r"no such file: .*row\.csv; did you mean 'rows\.csv'\?"):
        read_table(tmp_path / "row.csv", target="y")
    with pytest.raises(DataError, match="no such file"):
        read_table(tmp_path / "nowhere" / "rows.csv", target="y")
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path, target="y")
    with pytest.raises(DataError, match=r"must end in \.csv, .* got '\.xlsx'"):
        read_table(text(tmp_path, "a", "rows.xlsx"), target="y")
    with pytest.raises(DataError, match=r"must end in .* got '\.parquet\.gz'"):
        read_table(text(tmp_path, "a", "rows.parquet.gz"), target="y")
    with pytest.raises(DataError, match="got 'no ending'"):
        read_table(text(tmp_path, "a", "rows"), target="y")
    with pytest.raises(DataError, match="cannot be read as a gzip file"):
        read_table(text(tmp_path, "a,y\n1,2\n", "rows.csv.gz"), target="y")


def test_a_question_without_a_target_lists_the_columns(tmp_path: Path) -> None:
    wide = ",".join("abcdefghij") + "\n" + ",".join("0123456789") + "\n"
    with pytest.raises(DataError, match=r"which column .* columns: a, .*, h and 2 more"):
        read_table(text(tmp_path, wide))


@pytest.mark.parametrize("name", ["rows.parquet", "rows.feather"])
def test_damaged_and_empty_columnar_files(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match=r"cannot be read as (Parquet|Feather)"):
        read_table(text(tmp_path, "not a table", name), target="y")
    empty = FRAME.iloc[:0]
    empty.to_parquet(tmp_path / name) if "parquet" in name else empty.to_feather(tmp_path / name)
    with pytest.raises(DataError, match="has no rows"):
        read_table(tmp_path / name, target="price")


def test_without_any_data_frame_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "pandas", "polars")
    X, y = read_table(text(tmp_path, "a,b,y\n1,NA,3\n4,5,6\n"), target="y", drop=["a"])
    np.testing.assert_array_equal(X, [[np.nan], [5.0]])
    np.testing.assert_array_equal(y, [3.0, 6.0])
    np.testing.assert_array_equal(read_features(tmp_path / "rows.csv", ["b", "a"])[1], [5.0, 4.0])
    with pytest.raises(DataError, match=r"holds text .* pip install 'poise\[data\]'"):
        read_table(text(tmp_path, "a,y\nred,3\n"), target="y")
    FRAME.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"needs pandas and pyarrow: pip install 'poise\[data\]'"):
        read_table(tmp_path / "rows.parquet", target="price")
