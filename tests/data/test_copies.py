"""Copies of rows are noticed; equal rows that chance explains are no copies."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from helpers import python
from poise.data.copies import chosen, copies, find_copies, row_identities
from poise.data.rows import as_rows
from poise.data.sample import Sample

RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(200, 3)), RNG.normal(size=200)
TWICE = np.vstack([X, X]), np.tile(y, 2)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(town=RNG.choice(["x", "y"], 200))


def identities(native: object) -> np.ndarray:
    return row_identities(3, as_rows(native, "X"))


def test_the_warning_counts_rows_and_says_what_to_do() -> None:
    groups = np.tile(np.arange(200), 2)
    same = {"X_unlabeled": X[:1], "groups_unlabeled": [0], "groups": np.arange(200)}
    for given, said in [
        ((*TWICE, {}), "400 of 400 rows .* or give groups= to keep them together$"),
        ((np.vstack([X, X[:1]]), np.append(y, y[0]), {}), "2 of 201 rows"),
        ((X, y, {}), None),
        ((TWICE[0], np.append(y, y + 1), {}), None),
        ((*TWICE, {"groups": groups}), None),  # copies in one group may stay
        ((*TWICE, {"groups": [*groups[:399], 777]}), "2 of 400 rows .* put copies into one group"),
        # the response is not compared with rows that have none
        ((X, y, {"X_unlabeled": np.tile(X[:9] + 9, (2, 1))}), "18 of 218 rows"),
        ((X, y, {"X_unlabeled": X}), "400 of 400 rows"),
        ((X, y, same), "2 of 201 rows"),
        ((X, y, {"X_unlabeled": RNG.normal(size=(50, 3))}), None),
    ]:
        warning = copies(Sample.of(given[0], given[1], **given[2]))
        assert warning is None if said is None else re.match(said, warning)


def test_equal_rows_that_chance_explains() -> None:
    for rows in (
        (np.zeros((330, 1)), np.ones(330)),
        (RNG.integers(0, 2, (500, 4)), RNG.integers(0, 2, 500)),
        (RNG.integers(20, 90, (3000, 1)) / 10, RNG.integers(0, 2, 3000)),  # an age and a label
        (RNG.integers(0, 100, (5000, 2)), RNG.integers(0, 100, 5000)),
        (np.repeat(RNG.integers(0, 9, (800, 1)), 2, axis=1), np.zeros(800)),  # dependent
    ):
        assert find_copies(Sample.of(*rows))[0] > 0
        assert copies(Sample.of(*rows)) is None
    for load in (load_iris, load_wine, load_breast_cancer, load_diabetes):
        assert copies(Sample.of(*load(return_X_y=True))) is None


def test_the_pairs_that_chance_explains_are_counted_by_hand() -> None:
    """Of three distinct rows no pair agrees in x and one in y; one is added to each: 1/4 · 2/4."""
    found = find_copies(Sample.of(np.array([[0], [0], [1], [2]]), np.array([5.0, 5.0, 5.0, 6.0])))
    assert found == (2, 1, pytest.approx(6 * (1 / 4) * (2 / 4)))
    sample = Sample.of(RNG.integers(0, 10, (20_000, 3)), np.zeros(20_000))
    _, observed, expected = find_copies(sample)
    assert 0.7 < expected / observed < 1.4


def test_identities_tell_exactly_the_rows_apart_that_differ() -> None:
    """Of 300,000 words about ten pairs share 32 bits by chance; they are no copies."""
    many = np.random.default_rng(3).normal(size=300_000)
    assert find_copies(Sample.of(many[:, None], many))[0] == 0
    coarse = RNG.integers(-1, 2, size=(20_000, 9)).astype(float)
    assert len(np.unique(identities(coarse))) == len(np.unique(coarse, axis=0))
    differing = [[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [2.0, 2.0], [0.0, 1.0], [1.0, 0.0]]
    assert len(set(identities(np.array(differing)))) == 6
    texts = [["x", "y"], ["y", "x"], ["xy", ""], ["", "xy"], ["1", "2"], [1, 2], [None, "y"]]
    assert len(set(identities(texts))) == 7
    assert len(set(identities([{"a": 1}, {"a": 2}, [1], [2]]))) == 4
    assert len(set(identities(scipy.sparse.csr_array(differing)))) == 6
    assert (identities(X) != row_identities(4, as_rows(X, "X"))).all()


def test_identities_are_the_same_in_every_container_and_process() -> None:
    rows = np.round(X, 1)
    rows[rows < 0] = -0.0
    expected = identities(np.abs(rows)).tolist()
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    frames = frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)
    others = rows.reshape(200, 3, 1), rows.tolist(), scipy.sparse.coo_array(rows)
    for native in (rows, *frames, *others):
        assert identities(native).tolist() == expected
    assert identities(np.array([[1, 2]])) == identities([[1.0, 2]]) == identities([[True, 2]])
    script = (
        "from poise.data.copies import row_identities as r; from poise.data.rows import as_rows;"
        "print(r(3, as_rows([['a text', 1.5, None], [(1, 2), {'k': [3]}, b'x']], 'X')).tolist())"
    )
    here = identities([["a text", 1.5, None], [(1, 2), {"k": [3]}, b"x"]])
    assert python(script).stdout.strip() == str(here.tolist())


def test_of_many_rows_a_part_is_looked_at_that_has_both_copies_or_none() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 100)).astype(np.float32)  # one row in ten is looked at
    X[:, 0] = 1.0
    X[-200:] = X[:200]
    assert copies(Sample.of(X[200:], np.zeros(49_800))) is None
    assert copies(Sample.of(X, np.arange(50_000.0))) is None  # a response tells rows apart, too
    apart = X[:25_000], np.zeros(25_000), X[25_000:]
    for rows, y, more in ((X, np.zeros(50_000), None), (X, X[:, 1], None), apart):
        sample = Sample.of(rows, y, X_unlabeled=more)
        found = re.match(r"At least (\d+) of 50,000 rows", copies(sample) or "")
        assert found is not None
        assert 20 <= int(found[1]) <= 60  # of pairs chosen one by one, about four
    many = as_rows(np.arange(300_000.0)[:, None], "X")
    assert 29_000 < len(chosen(many, 0, 0.1)) < 31_000
