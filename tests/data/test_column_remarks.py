"""Columns that deserve a look, in every kind of table; the scale of responses, rare classes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from poise.data.column_remarks import suspicious_columns
from poise.data.response_scale import response_scales
from poise.data.tables import as_table

RNG = np.random.default_rng(0)
N = 60
SUSPECTS: dict[str, tuple[Any, str | None]] = {
    "key": (RNG.permutation(N) + 100, "identifier"),
    "name": ([f"person {i}" for i in range(N)], "identifier"),
    "customer_id": (RNG.permutation(N) * 7, "identifier"),
    "patientId": (np.repeat(np.arange(20), 3), "group"),
    "seen": (pd.date_range("2020-01-01", periods=N), "time"),
    "as_text": (["2020-01-05", "2019-12-31"] * 30, "time"),
    "american": (["1/5/2020", "12/31/2019"] * 30, "time"),
    "year": (RNG.integers(1990, 2000, N), "time"),
    "drift": (np.cumsum(RNG.random(N)), "time"),
    "size": (RNG.normal(size=N), None),
    "income": (RNG.permutation(10 * N)[:N] * 3, None),
    "city": (["Oslo", "Rome", "Lima"] * 20, None),
    "grade": ([1, 1, 2, 3] * 15, None),
    "gaps": (np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)), "missing"),
}


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize("name", SUSPECTS)
def test_each_suspect_is_named_for_what_it_looks_like(library: Any, name: str) -> None:
    values, kind = SUSPECTS[name]
    frame = library.DataFrame({name: list(values)})
    found = suspicious_columns(as_table(frame, "X"))
    assert [remark.kind for remark in found] == ([] if kind is None else [kind])


def test_arrays_are_looked_at_by_number_and_few_rows_or_lists_not_at_all() -> None:
    array = np.column_stack([RNG.normal(size=N), np.arange(N)])
    assert [remark.column for remark in suspicious_columns(as_table(array, "X"))] == ["1"]
    assert suspicious_columns(as_table(array[:10], "X")) == ()
    assert suspicious_columns(as_table(array.tolist(), "X")) == ()


def test_the_chance_that_a_class_is_absent_is_counted_out() -> None:
    """All ways to draw n of 9 rows, one by one, beside the formula."""
    labels = list("aabbbcccc")
    [scale] = response_scales(as_table(labels, "y"))
    assert scale.classes == {"a": 2, "b": 3, "c": 4}
    for n in range(1, 9):
        ways = [{labels[i] for i in rows} for rows in combinations(range(9), n)]
        each = sum(sum(label not in way for way in ways) for label in "abc") / len(ways)
        assert scale.chance_absent(n) == pytest.approx(min(1.0, each))


def test_numbers_are_classes_only_if_they_are_few_and_whole() -> None:
    def classes(values: Any) -> int:
        return len(response_scales(as_table(np.asarray(values), "y"))[0].classes)

    assert classes([0.0, 1.0] * 20) == classes([0, 1] * 20) == classes([True, False] * 20) == 2
    assert classes([0.5, 1.0] * 20) == classes(np.arange(40)) == classes(np.zeros(40)) == 0


def test_every_column_of_the_responses_has_its_scale() -> None:
    y = RNG.normal(size=(50, 2)) * [1, 10]
    for scale, column in zip(response_scales(as_table(y, "y")), y.T, strict=True):
        assert scale.sd == pytest.approx(pd.Series(column).std())
        assert scale.quartiles == pytest.approx(pd.Series(column).quantile([0.25, 0.5, 0.75]))


def test_a_column_of_text_with_holes_is_called_both() -> None:
    words = pd.DataFrame({"colour": ["red", "blue", None] * 20, "size": [1.5, 2.5, None] * 20})
    colour, size = suspicious_columns(as_table(words, "X"))
    assert (colour.kind, colour.found) == ("missing", "20 of 60 values, the others are text")
    assert size.found == "20 of 60 values"


def test_one_response_has_no_spread() -> None:
    [scale] = response_scales(as_table([3.0], "y"))
    assert (scale.sd, scale.quartiles) == (0.0, (3.0, 3.0, 3.0))
