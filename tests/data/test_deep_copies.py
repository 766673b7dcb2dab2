"""No fit can write into the user's rows, whatever they are kept in and however deep."""

from __future__ import annotations

import copy
import threading
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import poise
from poise.data.sample import Sample
from poise.errors import PoiseWarning

rng = np.random.default_rng(0)
VALUES = rng.normal(size=(66, 3))
y = rng.normal(size=66)


def objects(rows: list[Any]) -> Any:
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


CONTAINERS = {
    "array": VALUES.copy,
    "list of lists": VALUES.tolist,
    "list of arrays": lambda: list(VALUES.copy()),
    "tuple of arrays": lambda: tuple(VALUES.copy()),
    "list of dicts": lambda: [{"a": a, "b": [b, c]} for a, b, c in VALUES],
    "list of nested lists": lambda: [[a, [b, c]] for a, b, c in VALUES],
    "list of tuples of lists": lambda: [([a], [b, c]) for a, b, c in VALUES],
    "array of lists": lambda: objects(VALUES.tolist()),
    "array of arrays": lambda: objects(list(VALUES.copy())),
    "table of lists": lambda: np.stack([objects(VALUES.tolist())] * 2, axis=1),
    "column of lists": lambda: pd.Series(VALUES.tolist(), index=range(100, 166)),
    "frame with a column of dicts": lambda: pd.DataFrame(
        {"a": VALUES[:, 0], "b": [{"x": x} for x in VALUES[:, 1]]}
    ),
    "polars objects": lambda: pl.DataFrame(
        {"a": VALUES[:, 0], "b": pl.Series("b", [{"x": x} for x in VALUES[:, 1]], dtype=pl.Object)}
    ),
}


def leaves(value: Any) -> list[Any]:
    """Every container inside a value that can be written to, the innermost last."""
    if isinstance(value, pd.DataFrame | pl.DataFrame):
        value = [value[name].to_list() for name in value.columns]
    if isinstance(value, pd.Series):
        value = value.to_list()
    if isinstance(value, np.ndarray) and value.dtype != object:
        return list(value) if value.ndim == 2 else [value]
    if isinstance(value, dict):
        return [value, *leaves(list(value.values()))]
    inner = [leaf for item in value for leaf in leaves(item)] if np.iterable(value) else []
    return [value, *inner] if isinstance(value, list) else inner


def spoil(rows: Any) -> float:
    """Sum what is in the rows, and then overwrite whatever can be overwritten."""
    places = [
        (leaf, key)
        for leaf in {id(leaf): leaf for leaf in leaves(rows)}.values()
        for key in (leaf if isinstance(leaf, dict) else range(len(leaf)))
        if isinstance(leaf[key], float)
    ]
    total = sum(leaf[key] for leaf, key in places)
    for leaf, key in places:
        leaf[key] = 1e9
    return float(total)


def spoiler(X, y, seed):
    total = spoil(X)
    return lambda rows: [spoil(rows) + total]


@pytest.mark.parametrize("kind", CONTAINERS)
def test_a_fit_that_overwrites_its_rows_reaches_neither_the_user_nor_the_next_fit(kind) -> None:
    X = CONTAINERS[kind]()
    before = copy.deepcopy(X)
    first = poise.measure(spoiler, X, y, n=5, random_state=0)
    assert repr(leaves(X)) == repr(leaves(before))
    again = poise.measure(spoiler, X, y, n=5, random_state=0)
    assert first.changes.tolist() == again.changes.tolist()
    assert 0 < first.changes.max() < 100


@pytest.mark.parametrize("kind", CONTAINERS)
def test_copies_are_equal_to_the_rows_and_of_their_kind(kind) -> None:
    X = CONTAINERS[kind]()
    for rows in (slice(3, 9), np.array([8, 3, 5])):
        taken = Sample(X, y).training(rows)[0]
        assert len(taken) == (6 if isinstance(rows, slice) else 3)
        assert type(taken) is (list if isinstance(X, tuple) else type(X))
        numbers = range(3, 9) if isinstance(rows, slice) else rows
        if isinstance(X, list | tuple):
            assert repr(taken) == repr([X[i] for i in numbers])
        elif isinstance(X, pd.Series | pd.DataFrame):
            assert taken.index.tolist() == [X.index[i] for i in numbers]
            assert repr(taken.to_numpy().tolist()) == repr(
                X.iloc[list(numbers)].to_numpy().tolist()
            )


def test_arguments_of_fit_are_copies_too() -> None:
    class Estimator:
        def fit(self, X, y, history=None, weights=None):
            history.append(len(history))
            self.level = float(len(history) + weights["a"][0])
            weights["a"][0] += 1
            return self

        def predict(self, rows):
            return [self.level] * len(rows)

    history, weights = [0.0], {"a": np.zeros(1)}
    params = {"history": history, "weights": weights}
    trials = poise.measure(Estimator(), VALUES, y, n=5, fit_params=params)
    assert set(trials.changes) == {0.0}
    assert (history, weights["a"].tolist()) == ([0.0], [0.0])


def test_rows_that_cannot_be_copied_are_handed_over_with_a_warning() -> None:
    class Row:
        def __init__(self, value):
            self.value, self.lock = value, threading.Lock()

    rows = [Row(value) for value in VALUES[:, 0]]
    with pytest.warns(PoiseWarning, match="a Row among the rows cannot be copied .*lock"):
        trials = poise.measure(
            lambda X, y, seed: lambda points: [sum(row.value for row in X)], rows, y, n=5
        )
    assert (trials.changes > 0).all()
