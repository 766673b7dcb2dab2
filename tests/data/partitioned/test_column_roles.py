"""Columns by name: of a data frame that is here, and of rows elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import Ridge

import poise
from poise.data.partitioned.column_roles import ColumnRoles
from poise.errors import ArgumentError, DataError
from shared.data import linear_rows

X, Y = linear_rows(120, [1.0, 2.0, 3.0])


def table() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    groups, weights = rng.integers(0, 40, len(Y)), rng.uniform(1, 2, len(Y))
    return pd.DataFrame(X, columns=list("abc")).assign(y=Y, who=groups, w=weights)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_columns_by_name_are_the_columns_themselves(library: Any) -> None:
    frame = table()
    settings = {"n": 4, "random_state": 0, "shuffle": True}
    whole = library(frame.to_dict("list"))
    given, more = whole[:100], whole[100:]
    named = poise.measure(
        Ridge(),
        given,
        target="y",
        groups="who",
        fit_params={"sample_weight": "w"},
        X_unlabeled=more,
        **settings,
    )
    features = given[["a", "b", "c"]]
    expected = poise.measure(
        Ridge(),
        features,
        given["y"],
        groups=given["who"],
        fit_params={"sample_weight": given["w"]},
        X_unlabeled=more[["a", "b", "c"]],
        **settings,
    )
    assert named.changes.tolist() == expected.changes.tolist()


def test_every_question_takes_a_target() -> None:
    frame = table()[["a", "b", "c", "y"]]
    question = {"n": 5, "epsilon": 9.0, "delta": 0.3, "random_state": 0}
    tested = poise.stability_test(Ridge(), frame, target="y", **question)
    assert tested.statistic == poise.stability_test(Ridge(), X, Y, **question).statistic
    assert poise.testing.assert_stable(Ridge(), frame, target="y", **question).stable
    compared = poise.compare([Ridge()], frame, target="y", **question)
    assert compared.trials[0].n_trials == tested.n_trials
    curve = poise.stability_curve(Ridge(), frame, target="y", **(question | {"n": [4, 5]}))
    assert curve.n == (4, 5)
    test = poise.procedures.BinomialTest(n=5, epsilon=9.0, delta=0.3)
    assert poise.run(test, Ridge(), frame, target="y", random_state=0).counts.calls > 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"target": "Y"}, "target must be a column of X, got 'Y'; did you mean 'y'"),
        ({"target": 3}, "target must be a column of X, got a int"),
        (
            {"target": "y", "groups": "whom"},
            "groups must be a column .* did you mean 'who'",
        ),
        ({"target": "y", "y": Y}, "give y or target='y', not both"),
        ({"X": [[1.0]] * 9}, "y must hold the responses, one for each row of X; got None"),
        ({}, r"y must hold the responses; or name their column: target='a'\?"),
        ({"X": X}, "y must hold the responses, one for each row of X; got None"),
        ({"X": X, "target": "y"}, "X is a ndarray; give the responses as y"),
        ({"target": "y", "fit_params": [1]}, "fit_params must be a dict"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        poise.measure(Ridge(), **{"X": table(), "n": 4, **given})


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(DataError, match="X has more than one column named 'a'; rename them"):
        ColumnRoles.of(["a", "b", "a", "y"], "y")


def test_a_frame_without_features_is_refused() -> None:
    with pytest.raises(DataError, match="no columns for features: target, groups and fit_params"):
        ColumnRoles.of(["y", "w"], "y", None, {"sample_weight": "w"})


def test_text_that_names_no_column_is_an_argument_as_it_is() -> None:
    roles = ColumnRoles.of(["a", "y"], "y", None, {"mode": "exact", "weight": "a2"})
    assert (roles.constant, roles.per_row) == ({"mode": "exact", "weight": "a2"}, {})


def test_unlabelled_rows_that_miss_a_feature_are_refused() -> None:
    frame = table()
    with pytest.raises(DataError, match=r"X_unlabeled must have the columns of X \(\('a', 'b'"):
        poise.measure(Ridge(), frame, target="y", X_unlabeled=frame[["a"]], n=4)
    with pytest.raises(DataError, match=r"X_unlabeled must have the columns of X"):
        poise.measure(Ridge(), frame, target="y", X_unlabeled=X, n=4)
