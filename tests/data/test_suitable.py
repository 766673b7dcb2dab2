"""What cannot be used is named: value, row and column; labels are told from numbers."""

from __future__ import annotations

import datetime
import decimal
import math
import re

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
    rare_class,
)
from poise.errors import DataError

DAY = datetime.date(2024, 2, 29)
NAN, INF = math.nan, math.inf


def test_responses_that_cannot_be_used_are_named() -> None:
    missing = "y must not be missing or infinite, got "
    for responses, message in [
        (np.array([1, NAN, 2]), f"{missing}nan in row 1 (counting from 0); remove"),
        (np.array([1, 2, -INF]), f"{missing}-inf in row 2 "),
        ([1.0, None], f"{missing}None in row 1 "),
        (pd.Series(["a", None, "b"]), "in row 1 "),
        (pd.Series([1, None, 2], dtype="Int64"), "in row 1 "),
        (pl.Series([1.5, None, 2]), f"{missing}nan in row 1 "),
        (pl.Series(["a", "b", None]), f"{missing}None in row 2 "),
        (np.array([[1, 2], [3, NAN]]), f"{missing}nan in row 1 (counting from 0), column 1"),
        (pd.DataFrame({"u": [1.0, 2], "v": [1, INF]}), "in row 1 (counting from 0), column 'v'"),
        ([decimal.Decimal("1"), decimal.Decimal("nan")], f"{missing}NaN in row 1"),
        (np.array([1j, 2]), "y must hold numbers or classes, got complex numbers"),
        ([DAY, DAY], "got dates and times (2024-02-29 in row 0); give the time since"),
        (np.array(["2024-02-29"], dtype="M8[D]"), "dates and times (2024-02-29 in row 0)"),
        (pl.Series([DAY]), "dates and times"),
        (pd.to_timedelta(["1h"]).to_series(), "dates and times"),
        (scipy.sparse.eye_array(3), "y must not be sparse; give y.toarray()"),
        (np.zeros((2, 2, 2)), "y must have one or two dimensions"),
    ]:
        with pytest.raises(DataError, match=re.escape(message)):
            check_responses(as_rows(responses, "y"))
    decimals, classes = [decimal.Decimal("1.5")], pd.Series(["u", "v"], dtype="category")
    large = np.array([2**63, 1], dtype=np.uint64)
    for good in ([1, 2], ["a"], [True], np.zeros((3, 2)), large, classes, decimals, [{"a": 1}]):
        check_responses(as_rows(good, "y"))


def test_the_first_missing_feature_is_named() -> None:
    X = np.arange(12.0).reshape(4, 3)
    holes = X.copy()
    holes[2, 0], holes[1, 2], holes[3, 1] = NAN, INF, -INF
    frame = pd.DataFrame(holes, columns=["a", "b", "c"])
    gaps = pl.DataFrame({"town": ["u", "v", None], "k": [1, None, 3]})
    for native, found in [
        (X, None),
        (np.full((2, 2), 1e308), None),  # whose sum is infinite
        (holes, (2, 1, INF)),
        (holes.tolist(), (2, 1, INF)),
        (frame.assign(town=["x", None, "y", "z"]), ("c", 1, INF)),
        (frame.assign(town=[None, "x", "y", "z"])[["town", "a"]], ("town", 0, None)),
        (gaps, ("k", 1, None)),
        (scipy.sparse.csr_array(X), None),
        (scipy.sparse.csc_array(holes), (2, 1, INF)),
        ([["x", 1.0], ["y", None]], (1, 1, None)),
        (np.array([DAY, "NaT"], dtype="M8[D]"), (0, 1, np.datetime64("NaT"))),
        (["a text", "another"], None),
    ]:
        place = first_missing(as_rows(native, "X"))
        assert (place and place[:2]) == (found and found[:2])
        assert place is None or is_missing(place[2]) == is_missing(found[2])


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
        (np.array(grades), True, True),
        (pd.Series(grades), True, True),
        (pl.Series(grades), True, True),
        (pd.Series(list(range(30)), dtype="category"), True, True),
        ([1] * 30, False, False),
        (np.stack([whole, whole], axis=1), False, True),
        (np.stack([whole, np.arange(30.0)], axis=1), False, False),
    ]:
        rows = as_rows(native, "y")
        assert (holds_labels(rows), is_classification(rows)) == (labels, classes), native


def test_a_class_that_most_training_sets_lack_is_told() -> None:
    assert rare_class({"a": 90, "b": 10}, 7) is None  # 0.9^7 = 0.48
    assert "Class b has 10 of 100 rows" in (rare_class({"a": 90, "b": 10}, 6) or "")
