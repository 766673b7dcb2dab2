"""Copies of rows are noticed; equal rows that chance explains are not made a fuss about."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.dummy import DummyRegressor

import poise
from poise.data import duplicates
from poise.data.duplicates import find_copies
from poise.data.row_hashes import row_words
from poise.data.sample import Sample
from poise.data.tables import as_table
from poise.errors import PoiseWarning
from shared.data import linear_rows

rng = np.random.default_rng(0)
X, y = linear_rows(200, [0.0, 0.0, 0.0], rng)


def doubled(kind: str):
    if kind == "pandas":
        frame = pd.DataFrame(X, columns=list("abc")).assign(town=rng.choice(["x", "y"], 200))
        return pd.concat([frame, frame], ignore_index=True)
    if kind == "polars":
        import polars

        return polars.DataFrame({"a": np.tile(X[:, 0], 2), "b": np.tile(X[:, 1], 2)})
    if kind == "sparse":
        return scipy.sparse.csr_array(np.vstack([X, X]) * (np.abs(np.vstack([X, X])) > 0.5))
    if kind == "text":
        return [f"document number {i}" for i in range(200)] * 2
    return np.vstack([X, X])


@pytest.mark.parametrize("kind", ["array", "pandas", "polars", "sparse", "text"])
def test_copies_are_found_in_every_container(kind) -> None:
    found = find_copies(Sample(doubled(kind), np.tile(y, 2)))
    assert (found.rows, found.looked_at, found.observed) == (400, 400, 200)
    assert found.beyond_chance


def test_the_warning_says_how_many_and_what_to_do() -> None:
    some = np.vstack([X, X[:7]]), np.append(y, y[:7])
    message = r"14 of the 207 rows have an equal elsewhere.*not independent.*groups="
    with pytest.warns(PoiseWarning, match=message):
        poise.measure(DummyRegressor(), *some, n=20, random_state=0)
    with pytest.warns(PoiseWarning, match=message):
        poise.stability_test(DummyRegressor(), *some, n=5, epsilon=1.0, delta=0.2, random_state=0)


def test_copies_in_one_group_may_stay() -> None:
    twice = np.vstack([X, X]), np.tile(y, 2)
    groups = np.tile(np.arange(200), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        poise.measure(DummyRegressor(), *twice, n=20, groups=groups, random_state=0)
    apart = np.append(groups[:399], 777)
    with pytest.warns(PoiseWarning, match=r"2 of the 400 rows .*put them into one group"):
        poise.measure(DummyRegressor(), *twice, n=20, groups=apart, random_state=0)


def test_test_points_that_were_trained_on_are_noticed() -> None:
    with pytest.warns(PoiseWarning, match="400 of the 400 rows"):
        poise.measure(DummyRegressor(), X, y, n=20, X_unlabeled=X, random_state=0)
    assert find_copies(Sample(X, y, rng.normal(size=(50, 3)))).rows == 0


COARSE = {
    "constant": (np.zeros((330, 1)), np.ones(330)),
    "yes and no": (rng.integers(0, 2, (500, 4)), rng.integers(0, 2, 500)),
    "an age and a label": (rng.integers(20, 90, (3000, 1)) / 10, rng.integers(0, 2, 3000)),
    "three scores": (rng.integers(0, 100, (5000, 2)), rng.integers(0, 100, 5000)),
    "dependent columns": (np.repeat(rng.integers(0, 9, (800, 1)), 2, axis=1), np.zeros(800)),
}


@pytest.mark.parametrize("name", COARSE)
def test_equal_rows_that_chance_explains(name) -> None:
    found = find_copies(Sample(*COARSE[name]))
    assert found.rows > 0
    assert not found.beyond_chance


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_diabetes])
def test_real_data_give_no_false_alarm(load) -> None:
    assert not find_copies(Sample(*load(return_X_y=True))).beyond_chance


def test_one_copy_among_continuous_rows_is_enough() -> None:
    found = find_copies(Sample(np.vstack([X, X[:1]]), np.append(y, y[0])))
    assert found.rows == 2
    assert found.beyond_chance


def test_the_same_features_with_another_response_are_no_copy() -> None:
    assert find_copies(Sample(np.vstack([X, X]), np.append(y, y + 1))).rows == 0


def test_rows_differ_if_columns_are_swapped_or_entries_move() -> None:
    assert find_copies(Sample(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2))).rows == 0
    moved = scipy.sparse.csr_array([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]])
    assert find_copies(Sample(moved, np.zeros(3))).rows == 0


def test_of_a_large_table_some_rows_are_looked_at(monkeypatch) -> None:
    monkeypatch.setattr(duplicates, "_VALUES_HASHED", 400)
    found = find_copies(Sample(np.vstack([X, X]), np.tile(y, 2)))
    assert 50 <= found.looked_at <= 100
    assert found.beyond_chance
    assert found == find_copies(Sample(np.vstack([X, X]), np.tile(y, 2))), "always the same rows"


def test_every_row_of_a_wide_table_is_looked_at() -> None:
    wide = np.random.default_rng(1).normal(size=(5_000, 100))
    wide[4_321] = wide[17]
    found = find_copies(Sample(wide, np.zeros(5_000)))
    assert (found.rows, found.looked_at, found.beyond_chance) == (2, 5_000, True)


def test_copies_among_many_rows_are_told_from_rows_that_share_half_a_word() -> None:
    """Of 300,000 words about ten pairs share 32 bits by chance; they are no copies."""
    many = np.random.default_rng(3).normal(size=300_000)
    assert find_copies(Sample(many[:, None], many)).rows == 0
    many[[7, 299_999, 150_000]] = many[12]
    found = find_copies(Sample(many[:, None], many))
    assert (found.rows, found.observed) == (4, 6)


def test_words_of_rows_tell_exactly_the_rows_apart_that_differ() -> None:
    coarse = np.random.default_rng(2).integers(-1, 2, size=(20_000, 9)).astype(float)
    words = row_words([as_table(coarse, "X")])
    assert len(np.unique(words)) == len(np.unique(coarse, axis=0))
    assert row_words([as_table(np.array([[0.0], [-0.0]]), "X")])[0] == words_of([[-0.0]])[0]
    assert len(set(words_of([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [2.0, 2.0]]))) == 4


def words_of(rows):
    return row_words([as_table(np.array(rows), "X")])


def test_the_pairs_that_chance_explains_are_counted_by_hand() -> None:
    """Of three distinct rows no pair agrees in x and one in y; one is added to each: 1/4 · 2/4."""
    found = find_copies(Sample(np.array([[0], [0], [1], [2]]), np.array([5.0, 5.0, 5.0, 6.0])))
    assert (found.rows, found.looked_at, found.observed) == (2, 4, 1)
    assert found.expected == pytest.approx(6 * (1 / 4) * (2 / 4))
