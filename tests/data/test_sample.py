"""What belongs to rows follows them; what cannot be used is named: value, row and column."""

from __future__ import annotations

import datetime
import decimal
import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from poise.data.rows import as_rows
from poise.data.sample import Sample
from poise.data.suitable import (
    check_responses,
    first_missing,
    first_not_number,
    holds_labels,
    is_classification,
    is_missing,
    rare_class,
)
from poise.errors import ArgumentError, DataError

RNG = np.random.default_rng(1)
X, y = RNG.normal(size=(40, 3)), RNG.normal(size=40)
PLACES = np.array([7, 0, 31])
DAY = datetime.date(2024, 2, 29)
NAN, INF = math.nan, math.inf


def test_arguments_of_fit_follow_the_rows() -> None:
    for kind in (np.asarray, list, pd.Series, pl.Series, pa.array):
        params = Sample.of(X, y, sample_weight=kind(y**2)).training(PLACES)[2]
        assert np.asarray(params["sample_weight"]).tolist() == (y**2)[PLACES].tolist()
    given = {"w": [1, 2, 3], "names": ["a", "b"], "text": "abc", "zero": np.array(1.0), "d": {1: 2}}
    sample = Sample.of(X[:3], y[:3], fit_params=given)
    assert list(sample.per_row) == ["w"]
    assert sample.training(np.array([2, 0]))[2]["w"] == [3, 1]
    spoilt = sample.training(np.array([0]))[2]
    spoilt["d"][1] = spoilt["names"][0] = 9
    assert sample.training(np.array([0]))[2] == {**given, "w": [1], "names": ["a", "b"]}
    assert given["d"] == {1: 2}


def test_columns_of_the_frame_by_name() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=range(100, 140))
    who = [f"p{i}" for i in range(40)]
    full = frame.assign(price=y, clinic=np.arange(40) // 4, w=y**2, who=who)
    more = frame[:6].assign(price=np.nan, clinic=[0, 77, 77, 78, 1, 77])
    named = {"groups": "clinic", "sample_weight": "w", "ids": "who"}
    for make in (pd.DataFrame, pl.from_pandas, lambda f: pa.Table.from_pandas(f.reset_index())):
        sample = Sample.of(make(full), "price", X_unlabeled=make(more), **named)
        assert list(sample.X.labels)[-3:] == ["a", "b", "c"] or make is not pd.DataFrame
        assert (sample.n_labeled, sample.n_unlabeled) == (40, 6)
        assert (sample.n_groups, sample.n_groups_unlabeled) == (10, 2)
        rows, response, params = sample.training(PLACES)
        assert np.asarray(rows)[:, -3:].tolist() == X[PLACES].tolist()
        assert np.asarray(response).tolist() == y[PLACES].tolist()
        assert np.asarray(params["sample_weight"]).tolist() == (y**2)[PLACES].tolist()
        assert sample.label_of(31) == "p31"
        assert np.asarray(sample.points(np.array([41])))[:, -3:].tolist() == X[1:2].tolist()
    for rows, given, message in [
        (full, {"y": "prize"}, "y names no column of X, .* who, got 'prize'; did you mean 'price'"),
        (full, {"y": y, "groups": "town"}, "groups names no column of X"),
        (full, {"y": y, "ids": "nobody"}, "ids names no column"),
        (full, {"y": y, "groups": "w", "X_unlabeled": more}, "groups_unlabeled names no column of"),
        (X, {"y": "y"}, "y names no column of X, which has no column names, got 'y'"),
    ]:
        with pytest.raises(DataError, match=message):
            Sample.of(rows, **given)


def test_labels_of_rows() -> None:
    frame = pd.DataFrame(X, index=[f"row {i}" for i in range(40)])
    assert Sample.of(frame, y, X_unlabeled=frame[5:]).label_of(41) == "row 6"
    assert Sample.of(frame, y, ids=list(range(500, 540))).label_of(3) == 503
    assert Sample.of(frame.reset_index(drop=True), y).label_of(3) == 3
    assert Sample.of(X, y, X_unlabeled=X[:5]).label_of(41) == 41


def test_groups_are_numbered_by_appearance() -> None:
    category = pd.Series(["u", "v", "u", "w"], dtype="category")
    pairs = [("a", 1), ("b", 1), ("a", 1), ("b", 2)]
    for labels in (pairs, np.array([5, -1, 5, 0]), category, pa.array([1.5, 2.5, 1.5, 3.5])):
        sample = Sample.of(X[:4], y[:4], groups=labels)
        assert sample.groups.tolist() == [0, 1, 0, 2]
        assert sample.n_groups == 3
    given = {"groups": [3, 3, 1, 1], "X_unlabeled": X[:5], "groups_unlabeled": [9, 1, 2, 9, 3]}
    assert Sample.of(X[:4], y[:4], **given).groups_unlabeled.tolist() == [0, -1, 1, 0, -1]


def test_rows_set_aside_are_no_longer_there() -> None:
    def names(part: Sample) -> list[object]:
        return part.ids.tolist()

    rows = np.arange(40)
    sample = Sample.of(X, y, sample_weight=y**2, ids=rows, X_unlabeled=X[:5])
    aside, rest = sample.set_aside(12)
    assert (aside.n_labeled, rest.n_labeled, rest.n_unlabeled) == (12, 28, 5)
    assert sorted(names(aside) + names(rest)) == list(range(40))
    for part in (aside, rest):
        _, response, params = part.training(np.arange(part.n_labeled))
        assert response.tolist() == y[names(part)].tolist()
        assert params["sample_weight"].tolist() == (y**2)[names(part)].tolist()
    assert names(Sample.of(X + 1, y + 1, ids=rows).set_aside(12)[0]) == names(aside)
    aside, rest = Sample.of(X, y, groups=rows // 3, ids=rows // 3).set_aside(10)
    assert not set(names(aside)) & set(names(rest))
    assert 10 <= aside.n_labeled <= 12
    assert rest.groups.tolist() == np.unique(names(rest), return_inverse=True)[1].tolist()
    assert sample.set_aside(20)[1].n_labeled == 20
    with pytest.raises(DataError, match=r"setting 21 of 40 labelled rows.*epsilon as a number"):
        sample.set_aside(21)


def test_the_sd_of_the_responses() -> None:
    assert Sample.of(X, y).sd() == pytest.approx(np.std(y, ddof=1), rel=1e-12)
    both = np.stack([y, 3 * y], axis=1)
    for responses in (both, pd.DataFrame(both), both.tolist()):
        assert Sample.of(X, responses).sd() == pytest.approx(np.sqrt(10) * np.std(y, ddof=1))
    for responses in (["yes", "no"] * 20, [True, False] * 20, [0.1] * 40):
        assert Sample.of(X, responses).sd() is None
    assert Sample.of(X, y).only(np.arange(0)).sd() is None


def test_equal_values_have_equal_digests_in_every_container() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    containers = (np.asfortranarray(X), X.tolist(), frame, pl.from_pandas(frame))
    digests = {
        Sample.of(rows, y.tolist(), sample_weight=pd.Series(y**2)).digest()
        for rows in (*containers, scipy.sparse.csr_array(X))
    }
    assert digests == {Sample.of(X, y, sample_weight=y**2).digest()}
    one_ulp, text = X.copy(), frame.assign(town="x")
    one_ulp[17, 1] = np.nextafter(one_ulp[17, 1], 9)
    other_town = text.assign(town=["x"] * 39 + ["z"])
    rows = [X, one_ulp, X[:, [1, 0, 2]], X[::-1], text, other_town, list(X[:, None])]
    more = [
        *({"X_unlabeled": X}, {"groups": np.arange(40)}, {"groups": np.arange(40) // 2}),
        *({"sample_weight": y**2}, {"fit_params": {"eval_set": np.zeros(5000)}}),
        {"fit_params": {"eval_set": np.eye(1, 5000, 2500)}},
    ]
    samples = [*(Sample.of(each, y) for each in rows), *(Sample.of(X, y, **each) for each in more)]
    assert len({sample.digest() for sample in samples}) == len(samples) == 13
    pinned = Sample.of(np.arange(6.0).reshape(3, 2), [1.0, 2.0, 3.0]).digest()  # stands in files
    assert pinned == "4c8657e07bbdf7259f3109d5c970ddc9aabd6d4301e228cec43ba943446b2fd9"


def test_what_cannot_be_used_is_refused() -> None:
    frame, four = pd.DataFrame(X, columns=["a", "b", "c"]), {"groups": np.arange(40)}
    hole = {"sample_weight": np.where(np.arange(40) == 5, np.nan, 1)}
    for message, given in [
        ("X has no rows", {"X": X[:0]}),
        ("X has no columns", {"X": X[:, :0]}),
        ("y is missing; give the responses, or the name", {"y": None}),
        (r"y must hold one value per labelled row \(40\), got 39", {"y": y[:-1]}),
        ("X_unlabeled has no rows; leave it out", {"X_unlabeled": X[:0]}),
        (r"of 3 columns\), got numpy ndarray of 2 columns", {"X_unlabeled": X[:, :2]}),
        (r"of \['a', 'b', 'c'\]\), got", {"X": frame, "X_unlabeled": frame[["b", "a", "c"]]}),
        (r"\), got polars DataFr", {"X": frame, "X_unlabeled": pl.from_pandas(frame)}),
        ("like X .*, got list of 3 columns", {"X_unlabeled": X.tolist()}),
        (r"groups must hold one value per labelled row \(40\), got 39", {"groups": y[1:]}),
        ("groups must be one column", {"groups": X}),
        (
            "groups must not be missing or infinite, got nan in row 1 ",
            {"groups": [0.0, np.nan] * 20},
        ),
        ("groups must not be missing or .*, got None in row 0 ", {"groups": [None] * 40}),
        ("groups must hold numbers or text", {"groups": [[1]] * 40}),
        ("X_unlabeled needs groups_unlabeled", {**four, "X_unlabeled": X}),
        ("groups_unlabeled needs groups", {"groups_unlabeled": y, "X_unlabeled": X}),
        ("groups_unlabeled needs X_unlabeled", {**four, "groups_unlabeled": y}),
        (r"unlabelled row \(40\), got 2", {**four, "X_unlabeled": X, "groups_unlabeled": [1, 2]}),
        ("ids must hold one value per labelled row", {"ids": [1]}),
        (r"fit_params\['sample_weight'\] must hold one.*got 39", {"sample_weight": y[1:]}),
        (r"ridge__sample_weight'\] must", {"fit_params": {"ridge__sample_weight": y[1:]}}),
        ("must hold finite numbers, got nan in row 5", hole),
        ("must hold finite numbers, got a in row 0", {"sample_weight": pd.Series(["a"] * 40)}),
        ("fit_params must be a dict", {"fit_params": y}),
        ("is given twice", {"sample_weight": y, "fit_params": {"sample_weight": y}}),
    ]:
        with pytest.raises((DataError, ArgumentError), match=message):
            Sample.of(**{"X": X, "y": y, **given})


# Rows that cannot be used, and labels that are told from numbers


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
        (np.full((2, 2), 1e308), None),  # whose sum is infinite
        (frame.assign(town=["x", None, "y", "z"]), ("c", 1, INF)),
        (frame.assign(town=[None, "x", "y", "z"])[["town", "a"]], ("town", 0, None)),
        (gaps, ("k", 1, None)),
        (scipy.sparse.csr_array(X), None),
        ([["x", 1.0], ["y", None]], (1, 1, None)),
        (np.array([DAY, "NaT"], dtype="M8[D]"), (0, 1, np.datetime64("NaT"))),
        (["a text", "another"], None),
        *((each, (2, 1, INF)) for each in (holes, holes.tolist(), holes.astype(object))),
        (scipy.sparse.csc_array(holes), (2, 1, INF)),
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
    whole, grades, many = [1.0, 2.0, 3.0] * 10, ["a", "b"] * 15, list(range(30))
    numbers = [many, [0.5, 1.5] * 15, [1] * 30, np.stack([whole, many], axis=1)]
    classes = [whole, [True, False] * 15, np.stack([whole, whole], axis=1)]
    labels = [kind(grades) for kind in (list, np.array, pd.Series, pl.Series)]
    labels.append(pd.Series(many, dtype="category"))
    for kind, natives in [((0, 0), numbers), ((0, 1), classes), ((1, 1), labels)]:
        for native in natives:
            rows = as_rows(native, "y")
            assert (holds_labels(rows), is_classification(rows)) == kind, native


def test_a_class_that_most_training_sets_lack_is_told() -> None:
    assert rare_class({"a": 90, "b": 10}, 7) is None  # 0.9^7 = 0.48
    assert "Class b has 10 of 100 rows" in (rare_class({"a": 90, "b": 10}, 6) or "")
