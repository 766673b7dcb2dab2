"""What reaches a program is what the user has, in every container and to the last bit."""

import csv
import datetime
import io
import json
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import poise
from poise.algorithms.program.rows_as_text import read_columns, read_training
from poise.algorithms.program.task_files import Task, to_csv, to_json
from poise.errors import DataError

TABLE = {
    "size": [0.1, None, 1e-300],
    "count": [1, 2, 3],
    "town": ["Bath", None, "Køln"],
    "old": [True, False, True],
}
RESPONSE = [1.5, 2.5, 3.5]

CONTAINERS = {
    "pandas": (pd.DataFrame, lambda y: pd.Series(y, name="price")),
    "polars": (pl.DataFrame, lambda y: pl.Series("price", y)),
    "pyarrow": (pa.table, lambda y: pa.table({"price": y})),
    "pandas nullable": (
        lambda table: pd.DataFrame(table).convert_dtypes(),
        lambda y: pd.DataFrame({"price": y}),
    ),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_frames_keep_names_text_and_missing_values(kind):
    frame, column = CONTAINERS[kind]
    assert read_training(frame(TABLE), column(RESPONSE)) == {**TABLE, "price": RESPONSE}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_types_stay_what_they_are(kind):
    columns = read_columns(CONTAINERS[kind][0](TABLE))
    assert [type(column[0]) for column in columns.values()] == [float, int, str, bool]


@pytest.mark.parametrize(
    "y",
    [
        RESPONSE,
        np.array(RESPONSE),
        np.array(RESPONSE)[:, None],
        [[v] for v in RESPONSE],
        pd.Series(RESPONSE),
        pa.chunked_array([RESPONSE]),
        pl.Series(RESPONSE),
    ],
)
def test_a_response_without_a_name_is_y(y):
    assert read_training(np.zeros((3, 1)), y) == {"x1": [0.0] * 3, "y": RESPONSE}


def test_arrays_and_lists_are_numbered_from_one():
    assert read_columns(np.array([[1, 2], [3, 4]])) == {"x1": [1, 3], "x2": [2, 4]}
    assert read_columns([(1.0, "a"), (np.nan, "b")]) == {"x1": [1.0, None], "x2": ["a", "b"]}
    assert read_columns(np.array([["a", None]], dtype=object)) == {"x1": ["a"], "x2": [None]}
    assert read_columns(pd.DataFrame([[1.0, 2.0]])) == {"0": [1.0], "1": [2.0]}


def test_every_kind_of_cell():
    day = datetime.date(2024, 2, 29)
    cells = [np.float32(0.1), np.int8(3), np.bool_(True), np.str_("s"), Decimal("0.5"), day]
    found = read_columns([[cell] for cell in cells])["x1"]
    assert found == [float(np.float32(0.1)), 3, True, "s", 0.5, "2024-02-29"]
    assert [type(cell) for cell in found] == [float, int, bool, str, float, str]
    times = np.array([["2024-02-29T12:00"], ["NaT"]], dtype="datetime64[s]")
    assert read_columns(times) == {"x1": ["2024-02-29T12:00:00", None]}
    categories = pd.DataFrame({"c": pd.Categorical(["u", None])})
    assert read_columns(categories) == {"c": ["u", None]}


def test_rows_to_predict_take_or_must_match_the_names_of_training():
    assert read_columns([[1, 2]], expected=["a", "b"]) == {"a": [1], "b": [2]}
    with pytest.raises(DataError, match=r"columns of the training rows, \['a', 'b'\], got 3"):
        read_columns([[1, 2, 3]], expected=["a", "b"])
    with pytest.raises(DataError, match=r"\['a', 'b'\], got \['b', 'a'\]"):
        read_columns(pd.DataFrame({"b": [1], "a": [2]}), expected=["a", "b"])


REFUSED = {
    "sparse": (scipy.sparse.csr_matrix(np.eye(3)), "dense columns, got csr_matrix; .*toarray"),
    "sparse array": (scipy.sparse.coo_array(np.eye(3)), "dense columns, got coo_array"),
    "one dimension": (np.zeros(3), r"rows and columns, got an array of shape \(3,\)"),
    "numbers": ([1.0, 2.0, 3.0], "list of rows of equal length, got the row 1.0"),
    "ragged": ([[1, 2], [3], [4, 5]], r"list of rows of equal length, got the row \[3\]"),
    "nothing": (np.zeros((3, 0)), "X has no columns"),
    "text": ("abc", "takes an array, a data frame or a list of rows, got str"),
    "complex": ([[1j]] * 3, "column 'x1' holds 1j of type complex; a program takes numbers"),
    "length": (np.zeros((2, 1)), "same number of rows, got 2 and 3"),
    "twice": (pd.DataFrame([[1, 2]] * 3, columns=["a", "a"]), "names must differ"),
    "same": (pd.DataFrame({"y": [1, 2, 3]}), "response and a feature are both named 'y'"),
    "same text": (pd.DataFrame([[1, 2]] * 3, columns=[1, "1"]), r"must differ .*\['1', '1'\]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_rows_that_are_refused(case):
    X, message = REFUSED[case]
    with pytest.raises(DataError, match=message):
        read_training(X, RESPONSE)


def test_two_responses_are_refused():
    with pytest.raises(DataError, match="one response, got 2 columns in y"):
        read_training(np.zeros((3, 1)), np.zeros((3, 2)))


cell = st.one_of(
    st.none(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0")),
)
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(cell, min_size=width, max_size=width), min_size=1, max_size=5)
)


@given(rows=tables)
def test_csv_reads_back_cell_by_cell(rows):
    """Python's own reader is the judge; numbers must come back bit for bit."""
    header, *read = csv.reader(io.StringIO(to_csv(read_columns(rows))), strict=True)
    assert header == [f"x{j + 1}" for j in range(len(rows[0]))]
    assert len(read) == len(rows)
    for fields, row in zip(read, rows, strict=True):
        for field, value in zip(fields, row, strict=True):
            expected = "NA" if value is None else value
            assert type(expected)(field) == expected


def test_csv_tells_missing_from_empty_and_from_the_text_na():
    text = to_csv({'a "quoted" name': [None, "", "NA", True, -0.0, 1e22, math.inf]})
    assert text == '"a ""quoted"" name"\nNA\n""\n"NA"\nTRUE\n-0.0\n1e+22\ninf\n'


def test_pandas_reads_the_csv_as_it_was():
    table = {**TABLE, "price": RESPONSE}
    read = pd.read_csv(io.StringIO(to_csv(read_columns(pd.DataFrame(table)))))
    assert read_columns(read) == table


@given(rows=tables)
def test_json_is_one_line_that_reads_back(rows):
    finite = [[None if cell in (math.inf, -math.inf) else cell for cell in row] for row in rows]
    task = Task(read_training(finite, list(range(len(rows)))), read_columns(finite), seed=9)
    line = to_json(task, request=4)
    assert line.count(b"\n") == 1
    read = json.loads(line)
    assert (read["id"], read["seed"], read["response"]) == (4, 9, "y")
    assert read["test"] == task.test
    assert list(read["train"].items()) == list(task.train.items())


def test_json_refuses_infinity():
    task = Task({"x1": [math.inf], "y": [1.0]}, {"x1": [0.0]}, seed=0)
    with pytest.raises(DataError, match=r"infinite value, which JSON cannot express; .*one-shot"):
        to_json(task, request=1)


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (np.zeros((9, 2)), np.zeros((9, 2)), "a program takes one response, got 2 columns in y"),
        (np.zeros(9), np.zeros(9), r"rows and columns, got an array of shape \(1,\)"),
        (scipy.sparse.csr_array(np.eye(9)), np.zeros(9), r"dense columns.*X\.toarray\(\)"),
        (pd.DataFrame({"y": range(9)}), pd.Series(range(9), name="y"), "both named 'y'"),
        ([[{}]] * 9, [0.0] * 9, "a program takes numbers, text, dates and missing values"),
    ],
)
def test_rows_that_a_program_cannot_be_given_are_refused_before_it_starts(
    rows, labels, message
) -> None:
    program = poise.Program("false {train} {test} {predictions}")
    with pytest.raises(DataError, match=message):
        poise.measure(program, rows, labels, n=2)
