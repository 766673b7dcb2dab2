"""How far apart predictions, losses and decisions are, for predictions of every type."""

from __future__ import annotations

import datetime
import itertools
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, Ridge

from poise.algorithms.algorithm import Function
from poise.algorithms.distances import as_distance, error_of
from poise.algorithms.estimator import Estimator
from poise.algorithms.losses import loss_change
from poise.algorithms.predictions import Undefined, gaps
from poise.data.sample import Sample
from poise.decisions import decision, flips, ranking, top_k
from poise.errors import ArgumentError

NAN, INF = math.nan, math.inf
any_float = st.floats(allow_nan=False)
auto = as_distance("auto")


def objects(*values):
    return np.array(values, dtype=object)


NUMBERS = {
    "Decimal": ([Decimal("100.5")], [Decimal("0.5")]),
    "Fraction": ([Fraction(301, 3)], [Fraction(1, 3)]),
    "complex": (np.array([60 + 80j]), [0j]),
    "beyond 64 bits": ([10**30 + 100], [10**30]),
    "64 bits, beyond a float": (np.array([2**62 + 100]), np.array([2**62])),
    "unsigned": (np.array([5], np.uint64), np.array([105], np.uint64)),
    "object (1, 1)": (np.array([[100.0]], object), np.array([[0.0]], object)),
    "object (1, 2)": (np.array([[60, 80]], object), np.array([[0, 0.0]], object)),
    "long double": (np.array([100], np.longdouble), np.array([0], np.longdouble)),
    "half": (np.array([60000], np.float16), np.array([59904], np.float16)),
    "booleans": (np.array([[True] * 10**4]), np.array([[False] * 10**4])),
    "frame": (pd.DataFrame({"a": [60], "b": [80.0]}), pd.DataFrame({"a": [0], "b": [0]})),
    "polars": (pl.Series([100]), pl.Series([0])),
    "masked, hiding nothing": (np.ma.masked_array([100.0]), np.ma.masked_array([0.0])),
    "overflow of squares": ([[6e201, 8e201]], [[6e201, 8e201 - 100 * 2.0**617]]),
}


def test_numbers_of_any_type_are_subtracted_exactly():
    for kind, (full, reduced) in NUMBERS.items():
        expected = {"half": 96.0, "overflow of squares": 100 * 2.0**617}.get(kind, 100.0)
        assert auto(full, reduced).tolist() == [expected], kind


FAILED = [  # no prediction, or neither a finite number: nan, also in one of the two
    *([None], [NAN], objects(pd.NA), objects(pd.NaT), [Decimal("sNaN")], [complex(NAN, 1)]),
    np.ma.masked_array([1.0], [True]),
    pd.Series([None], dtype="Int64"),
    pd.Categorical([None], categories=["a"]),
]
UNDEFINED = [
    (["100"], "text .* distance='label'"),
    (np.array(["100.0"]), "text"),  # also where it reads as numbers
    ([b"100"], "text"),
    (objects("a"), "text"),
    (pd.DataFrame({"a": [100.0], "b": ["x"]}), "text"),
    (np.array(["2020-01-05"], "M8[D]"), "date"),
    (np.array([5], "M8[ns]"), "datetime64|int"),  # listed as integers
    (np.array([5], "m8[ns]"), "timedelta64|int"),
    ([datetime.date(2020, 1, 5)], "type date"),
    ([datetime.timedelta(5)], "type timedelta"),
    (objects({"a": 1}), "type dict"),
    (np.array([(1.0,)], [("a", "f8")]), "void"),
    (5.0, "one prediction per row"),
]


def test_what_is_missing_is_no_change():
    for missing in FAILED:
        for pair in ((missing, missing), (missing, [1.0]), ([1.0], missing)):
            for distance in ("euclidean", "absolute", "label"):
                assert np.isnan(as_distance(distance)(*pair)).all(), (missing, distance)
    beside = {"absolute": (1.0, NAN), "total_variation": ([1, 0], [NAN, 1]), "label": ("a", None)}
    for name, (good, bad) in beside.items():
        np.testing.assert_equal(as_distance(name)([good, good], [good, bad]), [0, NAN])
    vector = np.ma.masked_array([[1.0, 2.0]], [[False, True]])
    assert np.isnan(auto(vector, np.ones((1, 2))))


def test_what_is_no_number_has_no_distance():
    for value, message in UNDEFINED:
        for distance in ("euclidean", "absolute"):
            with pytest.raises(Undefined, match=message):
                as_distance(distance)(value, value)
    days = datetime.date(2020, 1, 1), np.datetime64("2020-01-01")
    chances = 0.5, [7.0, 1.0], ["a"], [1.5, -0.5], objects("0.5", "0.5"), [{}, 1]
    for distance, message, values in [
        ("label", "not a label", [*days, {"a": 1}]),
        ("total_variation", "one probability per class", chances),
        ("absolute", "single numbers", [[1.0, 2.0]]),
    ]:
        for value in values:
            with pytest.raises(Undefined, match=message):
                as_distance(distance)([value], [value])
    with pytest.raises(Undefined, match="differ in shape"):
        auto([1.0], [1.0, 2.0])


def test_infinities():
    """Neither finite: failed. Exactly one: infinite. Some columns: column by column."""
    cases = [
        (INF, INF, NAN),
        (INF, -INF, NAN),
        (-INF, 3.0, INF),
        ([-INF, INF], [-INF, INF], NAN),
        ([-INF, 2.0], [-INF, 5.0], 3.0),
        ([-INF, 2.0], [1.0, 2.0], INF),
        (Decimal("Infinity"), Decimal("Infinity"), NAN),
        (1e308, -1e308, INF),
        (complex(INF, 0), complex(INF, 0), NAN),
    ]
    for a, b, expected in cases:
        np.testing.assert_equal(auto([a], [b]), [expected], err_msg=f"{a}, {b}")
        np.testing.assert_equal(auto([b], [a]), [expected], err_msg=f"{b}, {a}")
    own = as_distance(lambda a, b: 0.0)
    np.testing.assert_equal(own([INF, 1.0], [INF, INF]), [NAN, 0.0])


@given(st.integers(-(10**40), 10**40), st.integers(-(10**40), 10**40))
def test_whole_numbers_are_subtracted_exactly(a, b):
    for kind in (int, Fraction):
        assert gaps(objects(kind(a)), objects(b)) == float(abs(a - b))


@given(any_float, any_float)
def test_floats_of_every_type_have_the_difference_of_floats(a, b):
    expected = gaps(np.array([a]), np.array([b])).tolist()
    for kind in (objects, lambda v: np.array([v], np.longdouble), lambda v: np.array([v + 0j])):
        assert gaps(kind(a), kind(b)).tolist() == expected


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6))
def test_total_variation_is_the_largest_change_of_any_event(pairs):
    p, q = (np.array(part) + 1e-3 for part in zip(*pairs, strict=True))
    p, q = p / p.sum(), q / q.sum()
    events = [[i for i in range(len(p)) if mask >> i & 1] for mask in range(1 << len(p))]
    largest = max(abs((p - q)[event].sum()) for event in events)
    assert as_distance("total_variation")([p], [q])[0] == pytest.approx(largest, abs=1e-12)


def test_labels():
    label = as_distance("label")
    cases = [
        (["a", "b"], ["a", "c"], [0, 1]),
        ([["a", "b"], ["a", "b"]], [["a", "b"], ["a", "c"]], [0, 1]),
        ([2.0, 1], [2, 1], [0, 0]),
        ([1], ["1"], [1]),
        (objects(1, "a"), objects(1, "b"), [0, 1]),
        (pd.Categorical([1, 5]), pd.Categorical([1, 1]), [0, 1]),
        (np.array([2**62 + 1]), np.array([2**62]), [1]),
        ([True], [1], [0]),
    ]
    for a, b, expected in cases:
        assert label(a, b).tolist() == expected, (a, b)


def test_where_y_holds_text_numbers_are_refused():
    sample = Sample.of(np.zeros((2, 1)), ["up", "down"])
    ready = Function(lambda X, y, seed: len).prepared(sample)
    distance = as_distance("auto", ready.natural_distance)
    assert distance.name == "label"
    assert distance(["up", "up"], objects("up", "down")).tolist() == [0, 1]
    for numeric in ([0.5, 1.0], objects(1, 2)):
        with pytest.raises(Undefined, match=r"y holds labels.*euclidean.*distance='label'"):
            distance(numeric, numeric)
    numbers = Function(lambda X, y, seed: len).prepared(Sample.of(np.zeros((2, 1)), [1, 0]))
    assert numbers.natural_distance == "euclidean"


def test_distances_of_ones_own():
    own = as_distance(lambda a, b: 2 * abs(a - b))
    assert own([1.0, 3.0], [2.0, 3.0]).tolist() == [2, 0]
    assert len(own.user_code) == 1
    assert decision(max, of=2).user_code == (max,)
    assert not auto.user_code
    for value in (-1.0, NAN):
        with pytest.raises(Undefined, match="your distance must be a number >= 0, got"):
            as_distance(lambda a, b, value=value: value)([1.0], [2.0])

    def absolute(a, b):
        return 0.0

    assert as_distance(absolute).name == "absolute (own)"


def test_the_largest_change():
    largest = [
        (("label",), 1),
        (("auto", "label"), 1),
        (("auto", "labels only"), 1),
        (("auto", "total_variation", 3), 3),
        (("euclidean", "total_variation"), math.sqrt(2)),
        (("euclidean",), INF),
        (("absolute", "label"), INF),  # classes may be numbered 0 and 100
        ((loss_change("zero_one"),), 1),
        ((loss_change("log"),), INF),
        (("ranking(of=3)",), 1),
    ]
    for arguments, expected in largest:
        assert as_distance(*arguments).largest == expected, arguments
    with pytest.raises(ArgumentError, match=r"distance must be 'auto'.*did you mean 'euclidean'"):
        as_distance("euclidian")


# Losses


def test_changes_of_losses_against_their_definitions():
    def pinball(y, prediction):
        return max(0.9 * (y - prediction), 0.1 * (prediction - y))

    for loss, full, reduced, y, expected in [
        ("squared", [3.0, 2.0], [1.0, 5.0], [1.0, 5.0], 4.0 + 9.0),
        ("absolute", [3.0, 2.0], [1.0, 5.0], [1.0, 5.0], 2.0 + 3.0),
        ("zero_one", "b", "a", "a", 1.0),
        ("zero_one", [1, 2], [1, 2], [1, 2], 0.0),
        ("log", [0.2, 0.7, 0.1], [0.0, 1.0, 0.0], 1, -math.log(0.7)),
        ("log", [0.0, 1.0], [1.0, 0.0], 0, INF),
        ("log", 0.3, 1.0, 1, -math.log(0.3)),
        ("log", 0.3, 0.0, 0, -math.log(0.7)),
        (pinball, 2.0, 0.0, 1.0, 0.9 - 0.1),
    ]:
        assert loss_change(loss)([full], [reduced], [y]) == pytest.approx([expected])
    assert loss_change(pinball).name == "change of pinball loss"


def test_the_log_loss_knows_the_classes_of_the_whole_data():
    sample = Sample.of(np.zeros((4, 1)), ["b", "a", "c", "a"])
    found = loss_change("log").prepared(sample)
    chances = [[0.2, 0.7, 0.1]]
    assert found(chances, [[0.0, 1.0, 0.0]], ["b"]) == pytest.approx(-math.log(0.7))
    with pytest.raises(ArgumentError, match="is that of one response, and y has 2"):
        loss_change("log").prepared(Sample.of(np.zeros((2, 1)), [["a", "b"], ["b", "a"]]))
    backwards = loss_change("log", classes=["c", "b", "a"])  # as where fresh rows lack a class
    assert backwards.prepared(sample)(chances, [[1.0, 0.0, 0.0]], ["c"]) == pytest.approx(
        -math.log(0.2)
    )


def test_losses_that_are_not_defined():
    letters = loss_change("log").prepared(Sample.of(np.zeros((2, 1)), ["a", "b"]))
    cases = [
        (loss_change("log"), [1.5, -0.5], 0, "needs probabilities"),
        (loss_change("log"), np.array(["0.5", "0.5"], object), 0, "needs probabilities"),
        (loss_change("log"), "spam", 0, "'spam'; .*response='predict_proba'"),
        (letters, [0.5, 0.5], "c", "do not fit the classes"),
        (letters, [0.5, 0.25, 0.25], "a", "do not fit the classes"),
        (loss_change("squared"), "1.5", 1.0, "text"),
        (loss_change("squared"), [1.0, 2.0], 1.0, "shape"),
        (loss_change("zero_one"), "1", 1, "could never be right"),
        (loss_change("zero_one"), [1, 2], 1, "could never be right"),
        (loss_change(lambda y, p: NAN), 1.0, 1.0, "your loss must be a number, got nan"),
    ]
    for change, prediction, y, message in cases:
        with pytest.raises(Undefined, match=message):
            change([prediction], [prediction], [y])
    with pytest.raises(ArgumentError, match=r"loss must be 'squared', .*got 'hinge'"):
        loss_change("hinge")


def test_errors_of_prediction():
    assert error_of([[1.0], [4.0]], [2.0, 2.0]) == 1.5
    assert error_of([[1.0, 0.0]], [[2.0, 2.0]]) == 1.5
    assert error_of(["a", "b"], objects("a", "a")) == 0.5
    assert error_of([0, 2], [0, 9], labels=True) == 0.5
    assert math.isnan(error_of([0.5, 0.5], ["a", "b"]))
    y = np.array([0, 7])
    assert Estimator(LogisticRegression()).error([0, 0], y) == 0.5
    assert Estimator(Ridge()).error([0, 0], y) == 3.5
    for response in ("predict_proba", "decision_function"):
        assert math.isnan(Estimator(LogisticRegression(), response).error([0.5, 0.5], y))


# Decisions

few = st.integers(0, 4).map(float)  # ties are frequent


@given(st.lists(st.tuples(few, few), min_size=3, max_size=9))
def test_shares_equal_loops(pairs):
    a, b = zip(*pairs, strict=True)
    T = len(pairs)
    crossed = sum((x > 2) != (z > 2) for x, z in pairs)
    assert flips(2, of=T)(a, b).tolist() == [crossed / T]

    def best(scores):  # ties go to the earlier point
        return {i for _, i in sorted((-score, i) for i, score in enumerate(scores))[:2]}

    assert top_k(2, of=T)(a, b).tolist() == [1 - len(best(a) & best(b)) / 2]
    both = list(itertools.combinations(range(T), 2))
    other = [np.sign(a[i] - a[j]) != np.sign(b[i] - b[j]) for i, j in both]
    assert ranking(of=T)(a, b).tolist() == pytest.approx([np.mean(other)])


def test_what_a_decision_says_of_itself():
    for made in (flips(0.5, of=4), top_k(2, of=4), ranking(of=4), decision(max, of=4)):
        assert (made.panel, made.points, made.largest) == (True, 4, 1.0)
        again = pickle.loads(pickle.dumps(made))
        assert again.name == made.name
    for text in ("top_k(50, of=500)", "flips(0.25, of=80)", "ranking(of=7)"):
        assert as_distance(text).name == text
    assert as_distance(" top_k(of=500, k=50) ").points == 500
    assert as_distance("loss_change('squared')").name == "change of squared loss"


def test_two_probabilities_are_that_of_the_second_class():
    chances = np.array([0.1, 0.4, 0.6, 0.9])
    moved = np.array([0.1, 0.6, 0.4, 0.9])
    two = [np.column_stack([1 - each, each]) for each in (chances, moved)]
    assert flips(0.5, of=4)(*two) == flips(0.5, of=4)(chances, moved) == 0.5
    with pytest.raises(Undefined, match="one number per point"):
        flips(0.5, of=2)(np.ones((2, 3)), np.ones((2, 3)))


def test_failures_are_never_small_shares():
    for missing in (NAN, None):
        assert np.isnan(ranking(of=2)([1.0, missing], [1.0, 2.0])).all()
    assert np.isnan(ranking(of=2)([1.0, INF], [1.0, INF])).all()
    assert ranking(of=2)([1.0, -INF], [1.0, 2.0]) == 1.0  # the last has become the first
    with pytest.raises(Undefined, match=r"top_k\(2, of=4\) is about 4 points, got 3"):
        top_k(2, of=4)([1, 2, 3], [1, 2, 3])
    with pytest.raises(Undefined, match="text"):
        ranking(of=2)(["a", "b"], ["b", "a"])
    assert np.isnan(decision(lambda a, b: NAN, of=1)([1.0], [1.0])).all()
    for share in (-0.1, 1.1):
        with pytest.raises(ValueError, match=r"must return a share in \[0, 1\]"):
            decision(lambda a, b, share=share: share, of=1)([1.0], [1.0])


def test_texts_that_are_no_decision():
    calls = "top_k(4, of=4)", "top_k(0, of=4)", "ranking(of=1)", "flips(1e999, of=4)", "print(1)"
    calls += "flips('a', of=4)", "flips(0.5, of=0)", "top_k(50)", "top_k(*[1, 2])", "top_k(" * 2000
    for text in (*calls, "top_k(50, of=__import__('os').getpid())", "decision(max, of=3)"):
        with pytest.raises(ArgumentError):
            as_distance(text)
