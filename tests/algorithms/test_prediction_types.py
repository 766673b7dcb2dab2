"""Predictions of every type: numbers are subtracted, labels are called labels, the rest fails."""

from __future__ import annotations

import datetime
import decimal
import math
from decimal import Decimal
from fractions import Fraction

import ml_dtypes
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

import poise
from poise import Batch, Query
from poise.algorithms.distance import Undefined, absolute, euclidean, label
from poise.algorithms.losses import LossChange
from poise.algorithms.numbers_of_any_type import difference
from poise.algorithms.prediction_arrays import Category
from poise.errors import TrialError

N = 10
X = np.zeros((120, 1))
y = np.arange(120.0)


def answering(full, reduced):
    """An algorithm that returns ``full`` when it is trained on n rows, else ``reduced``."""
    return lambda A, b, seed: lambda rows: full if len(A) == N else reduced


def changes(full, reduced, responses=y, **settings):
    trials = poise.measure(answering(full, reduced), X, responses, n=N, random_state=0, **settings)
    return set(trials.changes.tolist()), trials.design.distance


NUMBERS = {
    "Decimal": ([Decimal("100.5")], [Decimal("0.5")]),
    "Fraction": ([Fraction(301, 3)], [Fraction(1, 3)]),
    "complex": ([100j], [0j]),
    "complex array": (np.array([60 + 80j]), np.array([0j])),
    "beyond 64 bits": ([10**30 + 100], [10**30]),
    "64 bits, beyond a float": (np.array([2**62 + 100]), np.array([2**62])),
    "unsigned": (np.array([5], np.uint64), np.array([105], np.uint64)),
    "object (1, 1)": (np.array([[100.0]], object), np.array([[0.0]], object)),
    "object (1, 2)": (np.array([[60, 80]], object), np.array([[0, 0.0]], object)),
    "mixed types": ([Decimal(100)], [0.0]),
    "long double": (np.array([100], np.longdouble), np.array([0], np.longdouble)),
    "bfloat16": (np.array([100], ml_dtypes.bfloat16), np.array([0], ml_dtypes.bfloat16)),
    "half": (np.array([100], np.float16), np.array([0], np.float16)),
    "frame of numbers": (
        pd.DataFrame({"a": [60], "b": [80.0]}),
        pd.DataFrame({"a": [0], "b": [0]}),
    ),
    "nullable": (pd.Series([100], dtype="Int64"), pd.Series([0], dtype="Int64")),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_any_type_are_subtracted(kind) -> None:
    assert changes(*NUMBERS[kind]) == ({100.0}, "euclidean")
    result = poise.stability_test(
        answering(*NUMBERS[kind]), X, y, n=N, epsilon=1.0, delta=0.3, random_state=0
    )
    assert result.verdict == "unstable"


UNDEFINED = {
    "text": (["100"], ["0"], "text .* distance='label'"),
    "text that reads as numbers": (np.array(["100.0"]), np.array(["0.0"]), "text"),
    "bytes": ([b"100"], [b"0"], "text"),
    "object text": (np.array(["a"], object), np.array(["b"], object), "text"),
    "frame with a text column": (
        pd.DataFrame({"a": [100.0], "b": ["x"]}),
        pd.DataFrame({"a": [0.0], "b": ["x"]}),
        "text",
    ),
    "categories": (pd.Categorical([3]), pd.Categorical([5]), "text"),
    "days": (np.array(["2020-01-05"], "M8[D]"), np.array(["2020-01-01"], "M8[D]"), "dates"),
    "moments": (np.array([5], "M8[ns]"), np.array([1], "M8[ns]"), "dates"),  # listed as integers
    "short spans": (np.array([5], "m8[ns]"), np.array([1], "m8[ns]"), "dates or times"),
    "time spans": (np.array([5], "m8[s]"), np.array([1], "m8[s]"), "dates or times"),
    "datetime": ([datetime.date(2020, 1, 5)], [datetime.date(2020, 1, 1)], "dates"),
    "timedelta": ([datetime.timedelta(5)], [datetime.timedelta(1)], "dates"),
    "None": ([None], [None], "missing"),
    "NaT": (np.array(["NaT"], "M8[D]"), np.array(["NaT"], "M8[D]"), "missing"),
    "NA": (np.array([pd.NA], object), np.array([pd.NA], object), "missing"),
    "Decimal NaN": ([Decimal("sNaN")], [Decimal("sNaN")], "missing"),
    "complex NaN": ([complex(math.nan, 1)], [complex(math.nan, 1)], "missing"),
    "dict": (np.array([{"a": 1}]), np.array([{"a": 100}]), "type dict cannot be compared"),
    "structured": (np.array([(1.0,)], [("a", "f8")]), np.array([(9.0,)], [("a", "f8")]), "type"),
    "masked": (np.ma.masked_array([1.0], [True]), np.ma.masked_array([9.0], [True]), "masked"),
    "masked once": (np.ma.masked_array([1.0], [True]), np.array([1.0]), "masked"),
    "masked in a list": ([np.ma.masked], [np.ma.masked], "masked"),
    "masked vector": (np.ma.masked_array([[1.0, 2.0]], [[False, True]]), np.ones((1, 2)), "masked"),
}


@pytest.mark.parametrize("distance", ["auto", "euclidean", "absolute"])
@pytest.mark.parametrize("kind", UNDEFINED)
def test_what_is_no_number_is_a_failed_trial_and_never_a_small_change(kind, distance) -> None:
    full, reduced, message = UNDEFINED[kind]
    if distance == "absolute" and kind in ("frame with a text column", "masked vector"):
        message = "single numbers|masked"
    with pytest.raises(TrialError, match=message):
        changes(full, reduced, distance=distance)
    found, _ = changes(full, reduced, distance=distance, on_error="unstable")
    assert found == {math.inf}


def test_masked_arrays_that_hide_nothing_are_arrays() -> None:
    assert changes(np.ma.masked_array([5.0]), np.ma.masked_array([2.0]))[0] == {3.0}


@pytest.mark.parametrize("container", [list, np.array, pd.Series, pd.Categorical])
def test_where_responses_are_labels_the_result_says_label(container) -> None:
    words = container(["up", "down"] * 60)
    assert changes(["up"], ["down"], words) == ({1.0}, "label")
    assert changes(["up"], np.array(["up"], object), words) == ({0.0}, "label")
    result = poise.stability_test(
        answering(["up"], ["up"]), X, words, n=N, epsilon=0.0, delta=0.3, random_state=0
    )
    assert (result.verdict, result.design.distance) == ("stable", "label")
    with pytest.raises(TrialError, match=r"y holds labels and .* numbers \(0.5\); say distance="):
        changes([0.5], [0.25], words)
    assert changes([0.5], [0.25], words, distance="euclidean") == ({0.25}, "euclidean")


def test_categories_named_by_numbers_are_labels() -> None:
    ratings = pd.Series(pd.Categorical([1, 5] * 60))
    assert changes(pd.Categorical([1]), pd.Categorical([5]), ratings) == ({1.0}, "label")
    assert changes(pd.Categorical([1]), pd.Categorical([None]), ratings, on_error="unstable") == (
        {math.inf},
        "label",
    )
    # Losses and distances of one's own see the name of the category itself.
    right = poise.measure(
        answering(pd.Categorical([1]), pd.Categorical([5])),
        X, ratings, n=N, random_state=0, distance=LossChange("zero_one"),
    )  # fmt: skip
    assert set(right.changes) == {1.0}
    own = changes(pd.Categorical([1]), pd.Categorical([5]), distance=lambda a, b: abs(a - b))
    assert own[0] == {4.0}


def test_an_estimator_that_says_nothing_about_itself_compares_labels_where_y_has_them() -> None:
    class Mode:
        def fit(self, A, b):
            self.most = max(set(b), key=list(b).count)
            return self

        def predict(self, rows):
            return [self.most] * len(rows)

    trials = poise.measure(Mode(), X, ["a", "b"] * 60, n=N, random_state=0)
    assert trials.design.distance == "label"
    assert set(trials.changes) <= {0.0, 1.0}


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_losses_do_not_read_numbers_out_of_text(loss) -> None:
    with pytest.raises(Undefined, match="needs numbers"):
        LossChange(loss)("1.5", "2.5", 1.0)
    assert LossChange("absolute")(Decimal(3), Fraction(1, 2), 1.0) == 1.5


def test_the_zero_one_loss_refuses_what_could_never_be_right() -> None:
    change = LossChange("zero_one")
    assert change(np.array([1]), np.array([2]), 1) == 1.0  # a prediction in an array of its own
    for prediction in ("1", math.nan, np.array([1, 2])):
        with pytest.raises(Undefined):
            change(prediction, prediction, 1)


def test_a_distance_of_numbers_refuses_text_in_shortcuts_too() -> None:
    rng = np.random.default_rng(0)
    rows, words = rng.normal(size=(600, 2)), rng.choice(["a", "b"], 600)
    settings = {"n": 15, "distance": "euclidean", "on_error": "unstable", "random_state": 0}
    for fast in (True, False):
        found = poise.measure(KNeighborsClassifier(5), rows, words, fast=fast, **settings)
        assert set(found.changes) == {math.inf}
        codes = np.where(words == "a", 0, 1)  # whole numbers are no probabilities either
        settings["distance"] = "total_variation"
        found = poise.measure(KNeighborsClassifier(5), rows, codes, fast=fast, **settings)
        assert set(found.changes) == {math.inf}
        settings["distance"] = "euclidean"


@pytest.mark.parametrize("kind", [kind for kind in UNDEFINED if "text" not in kind])
def test_procedures_are_never_handed_what_is_not_a_prediction(kind) -> None:
    class One:
        def ask(self, sample, randomness):
            answers = yield Batch([Query(slice(0, N), np.array([N]), xi=0)])
            return answers.predictions

    answer = UNDEFINED[kind][0]
    if kind in ("bytes", "categories"):  # labels, which a procedure may compare as it likes
        assert isinstance(poise.run(One(), answering(answer, 0), X, y).result[0][0], str | bytes)
        return
    with pytest.raises(TrialError):
        poise.run(One(), answering(answer, 0), X, y)


@given(st.integers(-(10**40), 10**40), st.integers(-(10**40), 10**40))
def test_whole_numbers_are_subtracted_exactly(a, b) -> None:
    expected = float(abs(a - b))
    assert difference(a, b) == expected
    assert difference(Fraction(a), b) == expected
    with decimal.localcontext(prec=3):  # a fit may have set a precision of its own
        assert difference(Decimal(a), Decimal(b)) == expected


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_floats_of_every_type_have_the_difference_of_floats(a, b) -> None:
    expected = absolute(a, b)
    assert euclidean(np.array([a]), np.array([b])) == expected
    assert euclidean(np.array([a], object), np.array([b], object)) == expected
    assert difference(np.longdouble(a), np.longdouble(b)) == expected
    assert difference(complex(a), b) == expected


def test_differences_beyond_a_float_are_infinite() -> None:
    assert difference(10**400, 0) == math.inf
    assert difference(Decimal("1e999999999"), 1) == math.inf
    assert difference(Fraction(10**400), Fraction(1)) == math.inf
    assert difference(10**400, math.inf) == math.inf
    assert difference(Decimal("Infinity"), math.inf) == 0.0


def test_labels_of_other_types_are_undefined_also_where_labels_are_asked_for() -> None:
    for value in (datetime.date(2020, 1, 1), {"a": 1}, None, object()):
        with pytest.raises(Undefined):
            label(np.array([value], object), np.array([value], object))
    assert label(np.array([1, "a"], object), np.array([1, "b"], object)) == 1.0
    assert label(2.0, np.float64(2.0)) == label(1, 1.0) == 0.0
    assert label(Category(3), Category(3)) == 0.0
