"""What cannot be used is named: value, row and column; labels are told from numbers."""

from __future__ import annotations

import datetime
import decimal
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from poise.data.rows import as_rows
from poise.data.suitable import (
    check_responses,
    first_missing,
    first_not_number,
    holds_labels,
    is_classification,
    is_missing,
)
from poise.errors import DataError

DAY = datetime.date(2024, 2, 29)


def with_(value: object, row: int = 2) -> list[object]:
    return [value if place == row else float(place) for place in range(5)]


def test_responses_that_are_missing_or_infinite_are_named() -> None:
    for responses, message in [
        (np.array(with_(math.nan)), "got nan in row 2 "),
        (np.array(with_(-math.inf)), "got -inf in row 2 "),
        (with_(None), "got None in row 2 "),
        (with_(math.inf, 4), "got inf in row 4 "),
        (pd.Series(["a", None, "b"]), "in row 1 "),
        (pd.Series([1, None, 2], dtype="Int64"), "in row 1 "),
        (pl.Series([1.5, None, 2]), "in row 1 "),
        (pl.Series(["a", "b", None]), "got None in row 2 "),
        (
            np.array([[1.0, 2.0], [3.0, math.nan]]),
            r"got nan in row 1 \(counting from 0\), column 1",
        ),
        (pd.DataFrame({"u": [1.0, 2.0], "v": [1.0, math.inf]}), "in row 1 .*, column 'v'"),
        ([decimal.Decimal("1"), decimal.Decimal("nan")], "got NaN in row 1"),
    ]:
        with pytest.raises(DataError, match=f"y must not be missing or infinite, .*{message}"):
            check_responses(as_rows(responses, "y"))


def test_responses_of_no_use_are_refused() -> None:
    for responses, message in [
        (np.array([1j, 2]), "y must hold numbers or classes, got complex numbers"),
        ([DAY, DAY], r"got dates and times \(2024-02-29 in row 0\); give the time since"),
        (np.array(["2024-02-29"], dtype="M8[D]"), r"dates and times \(2024-02-29 in row 0\)"),
        (pl.Series([DAY]), "dates and times"),
        (pd.to_timedelta(["1h"]).to_series(), "dates and times"),
        (scipy.sparse.eye_array(3), r"y must not be sparse; give y\.toarray\(\)"),
        (np.zeros((2, 2, 2)), "y must have one or two dimensions"),
    ]:
        with pytest.raises(DataError, match=message):
            check_responses(as_rows(responses, "y"))
    for good in (
        [1, 2],
        ["a", "b"],
        [True, False],
        np.zeros((3, 2)),
        np.array([2**63, 1], dtype=np.uint64),
        pd.Series(["u", "v"], dtype="category"),
        [decimal.Decimal("1.5"), decimal.Decimal(2)],
        [{"a": 1}, {"a": 2}],
    ):
        check_responses(as_rows(good, "y"))


def test_the_first_missing_feature_is_named() -> None:
    X = np.arange(12.0).reshape(4, 3)
    holes = X.copy()
    holes[2, 0], holes[1, 2], holes[3, 1] = math.nan, math.inf, -math.inf
    frame = pd.DataFrame(holes, columns=["a", "b", "c"])
    gaps = pl.DataFrame({"town": ["u", "v", None], "k": [1, None, 3]})
    for native, found in [
        (X, None),
        (X.astype(int), None),
        (np.full((2, 2), 1e308), None),  # whose sum is infinite
        (holes, (2, 1, math.inf)),
        (np.asfortranarray(holes), (2, 1, math.inf)),
        (holes.tolist(), (2, 1, math.inf)),
        (frame, ("c", 1, math.inf)),
        (frame.assign(town=["x", None, "y", "z"]), ("c", 1, math.inf)),
        (frame.assign(town=[None, "x", "y", "z"])[["town", "a"]], ("town", 0, None)),
        (gaps, ("k", 1, None)),
        (scipy.sparse.csr_array(X), None),
        (scipy.sparse.csc_array(holes), (2, 1, math.inf)),
        ([["x", 1.0], ["y", None]], (1, 1, None)),
        (np.array([DAY, "NaT"], dtype="M8[D]"), (0, 1, np.datetime64("NaT"))),
        (["a text", "another"], None),
    ]:
        place = first_missing(as_rows(native, "X"))
        assert (place and place[:2]) == (found and found[:2])
        if found is not None:
            assert is_missing(place[2]) == is_missing(found[2])


def test_the_first_entry_that_is_no_number_is_named() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["1", "2.5", "three"]})
    for native, found in [
        (np.zeros((2, 2)), None),
        (frame, ("b", 2, "three")),
        (pl.from_pandas(frame), ("b", 2, "three")),
        (frame[:2], None),  # numbers written as text are numbers to scikit-learn
        (frame.assign(c=["x", "y", "z"]), ("c", 0, "x")),
        (frame.assign(b=[DAY] * 3), ("b", 0, DAY)),
        (frame.assign(b=pd.to_datetime([DAY] * 3)), ("b", 0, np.datetime64(DAY, "us"))),
        (frame.assign(b=[1, None, True]), None),
        ([[1, "x"], [2, 3]], (1, 0, "x")),
        ([[1, 2], [2, [3]]], (1, 1, [3])),
    ]:
        assert first_not_number(as_rows(native, "X")) == found


def test_labels_and_classes_are_told_from_numbers() -> None:
    whole, grades = [1.0, 2.0, 3.0] * 10, ["a", "b"] * 15
    for native, labels, classes in [
        (whole, False, True),
        (list(range(30)), False, False),
        ([0.5, 1.5] * 15, False, False),
        ([True, False] * 15, False, True),
        (grades, True, True),
        (np.array(grades), True, True),
        (pd.Series(grades), True, True),
        (pl.Series(grades), True, True),
        (pd.Series(whole, dtype="category"), True, True),
        (pd.Series(list(range(30)), dtype="category"), True, True),
        ([1] * 30, False, False),
        (np.stack([whole, whole], axis=1), False, True),
        (np.stack([whole, np.arange(30.0)], axis=1), False, False),
    ]:
        rows = as_rows(native, "y")
        assert (holds_labels(rows), is_classification(rows)) == (labels, classes), native
