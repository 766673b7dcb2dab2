"""Text as people have it: decimal commas, other encodings, packed files, no header, remarks."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import io
import lzma
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import poise
from poise.data.files.row_source import RowSource
from poise.data.files.table_file import open_table
from poise.data.files.text_format import TextFormat
from poise.errors import ArgumentError, DataError
from shared.zip_files import zipped

FRAME = pd.DataFrame(
    {"age": [30.5, -2.0, 52.0], "city": ["Ávila", "Rome", "Köln"], "price": [2.5, 3.25, 4.0]}
)
LIBRARIES = {"pandas": (), "polars": ("pandas",), "numpy": ("pandas", "polars")}


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read with each library that may be there."""
    absent, found = LIBRARIES[request.param], importlib.util.find_spec
    monkeypatch.setattr(
        "poise.data.files.text_columns.find_spec",
        lambda name: None if name in absent else found(name),
    )
    return str(request.param)


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "rows.csv.gz": gzip.compress,
    "rows.csv.bz2": bz2.compress,
    "rows.tsv.xz": lzma.compress,
    "rows.txt.zip": lambda content: zipped(content, "folder/rows.txt"),
    "rows.zip": lambda content: zipped(content, "rows.csv", "__MACOSX/._rows.csv"),
    "rows.txt": bytes,
}


@pytest.mark.parametrize("name", PACKED)
def test_packed_files_hold_the_same_rows(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, PACKED[name](FRAME.to_csv(index=False).encode()))
    X, y = poise.read_table(path, target="price")
    pd.testing.assert_frame_equal(X, FRAME[["age", "city"]])
    pd.testing.assert_series_equal(y, FRAME["price"])


@pytest.mark.parametrize("name", [name for name in PACKED if name != "rows.txt"])
def test_damaged_packed_files(tmp_path: Path, name: str) -> None:
    whole = PACKED[name](FRAME.to_csv(index=False).encode())
    for content in (b"age,price\n1,2\n", whole[: len(whole) // 2]):
        with pytest.raises(DataError, match=r"cannot be read as a (gzip|bzip2|xz|zip) file"):
            poise.read_table(written(tmp_path / name, content), target="price")


def test_a_zip_of_several_files_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.zip", zipped(b"a,y\n1,2\n", "a.csv", "b.csv"))
    with pytest.raises(DataError, match=r"it holds 2 files \(a\.csv, b\.csv\), and must hold one"):
        poise.read_table(path, target="y")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-32"])
def test_a_byte_order_mark_is_enough(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path / "rows.csv", FRAME.to_csv(index=False).encode(encoding))
    X, _ = poise.read_table(path, target="price")
    pd.testing.assert_frame_equal(X, FRAME[["age", "city"]])


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16-le", "utf-16-be"])
def test_other_encodings_are_named_by_the_user(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path / "rows.csv", FRAME.to_csv(index=False).encode(encoding))
    X, _ = poise.read_table(path, target="price", encoding=encoding)
    assert list(X["city"]) == list(FRAME["city"])
    with pytest.raises(DataError, match=r"set encoding to .*'(latin-1|utf-16-le)'"):
        poise.read_table(path, target="price")


def test_a_wrong_encoding_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", FRAME.to_csv(index=False))
    with pytest.raises(DataError, match="is not ascii text: byte 0xc3 in line 2"):
        poise.read_table(path, target="price", encoding="ascii")
    with pytest.raises(DataError, match="is not utf-16 text"):
        poise.read_table(path, target="price", encoding="utf-16")


def test_decimal_commas(tmp_path: Path, library: str) -> None:
    content = "a;b;y\n1,5;-2,25e1;3\n-0,5;NA;4,125\n"
    X, y = poise.read_table(written(tmp_path / "rows.csv", content), target="y", decimal=",")
    values = np.asarray(X, dtype=float)
    np.testing.assert_array_equal(values, [[1.5, -22.5], [-0.5, np.nan]])
    np.testing.assert_array_equal(np.asarray(y), [3.0, 4.125])


def test_decimal_commas_are_recognised(tmp_path: Path, library: str) -> None:
    path = written(tmp_path / "rows.csv", "a;y\n\n1,5;3\n2;4\n")
    where = r"'1,5'" if library == "numpy" else r"column 'a', '1,5' in line 3"
    with pytest.raises(DataError, match=rf"has decimal commas \({where}\); set decimal to ','"):
        poise.read_table(path, target="y")
    path = written(tmp_path / "rows.csv", 'a,y\n1,"3,5"\n2,"4,0"\n')
    with pytest.raises(DataError, match="has decimal commas"):
        poise.read_table(path, target="y")


def test_commas_that_are_no_decimal_commas(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "a;y\n1,5;3\n2,x;4\n")
    X, _ = poise.read_table(path, target="y")
    assert list(X["a"]) == ["1,5", "2,x"]
    path = written(tmp_path / "rows.csv", "a;y\n1,5;3\n2,6;4\n")
    X, _ = poise.read_table(path, target="y", decimal=".")
    assert list(X["a"]) == ["1,5", "2,6"]  # it was said that this is text


def test_a_slip_among_decimal_commas_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "a;y\n1;3,5\n\n2;oops\n3;4,5\n4;1,5\n")
    with pytest.raises(DataError, match="mixes numbers and text: 'oops' in line 4; correct or"):
        poise.read_table(path, target="y", decimal=",")


def test_without_a_header_columns_have_numbers(tmp_path: Path, library: str) -> None:
    path = written(tmp_path / "rows.csv", "1;2;3\n4;5;6\n")
    X, y = poise.read_table(path, target="3", drop=["1"], header=False)
    np.testing.assert_array_equal(np.asarray(X), [[2], [5]])
    np.testing.assert_array_equal(np.asarray(y), [3, 6])
    with pytest.raises(DataError, match=r"has no column '4'\. It has: 1, 2, 3"):
        poise.read_table(path, target="4", header=False)


@pytest.mark.parametrize(
    ("content", "form"),
    [
        ("a^y\n1^2\n3^4\n", {"sep": "^"}),
        ("a\ty\n1\t2\n3\t4\n", {"sep": "tab"}),
        ("a\ty\n1\t2\n3\t4\n", {"sep": r"\t"}),
        ("a\ty\n1\t2\n3\t4\n", {}),
        ("a|y\n1|2\n3|4\n", {}),
        ("a y\n1 2\n3 4\n", {}),
        ("  a   y \n  1   2 \n  3   4\n", {}),
        ('"a"  y\n1  2\n3  4\n', {"sep": "space"}),
        ("1,0;2,0\n3,0;4,0\n", {"header": False, "decimal": ","}),
        ("1,0 2,0\n3,0 4,0\n", {"header": False, "decimal": ","}),
        ("1 2\n3 4\n", {"header": False}),
    ],
)
def test_separators(tmp_path: Path, library: str, content: str, form: dict[str, Any]) -> None:
    path = written(tmp_path / "rows.txt", content)
    X, y = poise.read_table(path, target="y" if form.get("header", True) else "2", **form)
    np.testing.assert_array_equal(np.asarray(X, dtype=float), [[1.0], [3.0]])
    np.testing.assert_array_equal(np.asarray(y, dtype=float), [2.0, 4.0])


def test_commas_in_values_do_not_hide_semicolons(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "1,5;2,5;3\n4,5;5,5;6\n")
    with pytest.raises(DataError, match="has decimal commas"):
        poise.read_table(path, target="3", header=False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('a,y\n1,"2\n3,4\n5,6\n', "the row that begins in line 2: a quote is opened and never clo"),
        (
            'a,y\n1,2\n\n3,"4\n' + "5,6\n" * 50_000,
            "line 4: a value has more than 131,072",
        ),
        ('a,y\n1,"2"3\n', "begins in line 2: text follows a closing quote"),
        ("# saved by R, 2024, v1\na,y\n1,2\n", r"line 1 of .* is a comment \('# saved by R, 2024,"),
        ("% one\na,y\n1,2\n", "is a comment"),
        ("# made by us\n# in 2024\na,y\n1,2\n", r"line 1 of .* is a comment \('# made by us'\)"),
        ("a,y\n1,2\n# end\n", r"line 3 of .* is a comment \('# end'\); remove such lines"),
        (
            "a,y\n1,5,2,5\n",
            "ragged: line 2 has 4 values, there are 2 columns; if these are",
        ),
        ("a,y\n1,2,x\n", "ragged: line 2 has 3 values, there are 2 columns$"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        poise.read_table(written(tmp_path / "rows.csv", content), target="y")


def test_a_header_may_begin_with_a_hash(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.csv", "#id,a,y\n1,2,3\n2,3,4\n")
    X, _ = poise.read_table(path, target="y", drop=["#id"])
    assert list(X.columns) == ["a"]


def test_a_quoted_value_may_have_several_lines(tmp_path: Path, library: str) -> None:
    path = written(tmp_path / "rows.csv", 'a,"y\nz"\n1,2\n3,x\n4,5\n6,7\n')
    if library == "numpy":
        with pytest.raises(DataError, match="holds text"):
            poise.read_table(path, target="y\nz")
        return
    with pytest.raises(DataError, match="'x' in line 4"):
        poise.read_table(path, target="y\nz")


@pytest.mark.parametrize(
    "address",
    ["https://example.org/rows.csv", "s3://bucket/rows.csv", "ftp://host/rows.csv"],
)
def test_addresses_are_named(tmp_path: Path, address: str) -> None:
    for path in (address, Path(address), tmp_path / address):
        with pytest.raises(DataError, match=r":/.*rows\.csv is the address of a file.*download it"):
            poise.read_table(path, target="y")


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    content = FRAME.to_csv(index=False, sep=";", decimal=",").encode("utf-16")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    X, y = poise.read_table("-", target="price", decimal=",")
    pd.testing.assert_frame_equal(X, FRAME[["age", "city"]])
    assert list(y) == list(FRAME["price"])


def test_npy_columns_have_numbers(tmp_path: Path) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, np.arange(6).reshape(2, 3))
    X, y = poise.read_table(path, target="3", drop=["1"])
    np.testing.assert_array_equal(X, [[1], [4]])
    np.testing.assert_array_equal(y, [2, 5])
    np.save(path, np.array([(1.5, 2), (3.5, 4)], dtype=[("a", float), ("y", int)]))
    X, y = poise.read_table(path, target="y")
    np.testing.assert_array_equal(X, [[1.5], [3.5]])


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.arange(3), r"numbers in rows and columns, got int64 of shape \(3,\)"),
        (np.array([["a", "b"]]), "numbers in rows and columns, got <U1"),
        (np.empty((0, 2)), "has no rows"),
        (np.array([[{}]]), "cannot be read as npy"),
    ],
)
def test_npy_that_cannot_be_used(tmp_path: Path, array: Any, message: str) -> None:
    np.save(tmp_path / "rows.npy", array)
    with pytest.raises(DataError, match=message):
        poise.read_table(tmp_path / "rows.npy", target="1")


def test_npy_that_is_something_else(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read as npy"):
        poise.read_table(written(tmp_path / "rows.npy", b"nothing"), target="1")
    np.savez(tmp_path / "rows.npz", X=np.ones((2, 2)))
    with pytest.raises(DataError, match=r"several arrays; its ending should be \.npz"):
        poise.read_table((tmp_path / "rows.npz").rename(tmp_path / "rows.npy"), target="1")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sep": ";;"}, "sep must be one character such as ';', or 'tab' or 'space', got ';;'"),
        ({"sep": '"'}, "sep must be one character"),
        ({"sep": 3}, "sep must be one character"),
        ({"decimal": "'"}, "decimal must be one of"),
        ({"sep": ",", "decimal": ","}, "sep and decimal must differ"),
        ({"encoding": "latin-99"}, "encoding must be a known one, .* got 'latin-99'"),
        ({"encoding": "hex"}, "encoding must be a known one"),
        ({"header": "no"}, "header must be True or False, got 'no'"),
    ],
)
def test_formats_that_cannot_be(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        TextFormat(**wrong)


def test_a_format_is_for_text(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(DataError, match=r"decimal is for text files, and .*parquet is none"):
        poise.read_table(tmp_path / "rows.parquet", target="price", decimal=",")


def test_a_missing_column_costs_no_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> Any:
        raise AssertionError(name)

    monkeypatch.setattr("poise.data.files.text_columns.find_spec", fail)
    path = written(tmp_path / "rows.csv", "a,price\n1,2\n")
    with pytest.raises(DataError, match="did you mean 'price'"):
        open_table(path).labelled("prize")


def test_what_is_no_feature_is_left_out_once() -> None:
    source = RowSource(Path("x"), "y", ("id", "w"), groups="id", fit_params={"sample_weight": "w"})
    assert source.left_out == ["id", "w"]


def test_what_a_library_says_of_text_it_cannot_read_is_passed_on(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("poise.data.files.text_columns.find_spec", lambda name: name == "polars")
    path = written(tmp_path / "rows.csv", 'a,b\n1,x"y\n2,3\n')
    with pytest.raises(DataError, match="cannot be read as text: CSV malformed"):
        poise.read_table(path, "a")
