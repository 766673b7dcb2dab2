"""Digests of the rows a test has used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from poise.data.sample import Sample
from poise.data.tables import as_table
from poise.data.used_rows import RowDigests, digest_of_rows
from shared.processes import printed

rng = np.random.default_rng(0)
X, y = rng.normal(size=(40, 3)), rng.normal(size=40)


def test_rows_are_found_wherever_they_stand():
    used = RowDigests.of(Sample(X[:30], y[:30]))
    assert used.find(X[20:][::-1], y[20:][::-1]).tolist() == list(range(10, 20))
    assert used.find(X[30:], y[30:]).tolist() == []
    assert used.find(X[:5], y[1:6]).tolist() == []  # another response is another row
    assert used.most_by_chance(1000) == 0


@pytest.mark.parametrize("kind", [pd.DataFrame, np.asfortranarray])
def test_the_container_does_not_matter(kind):
    used = RowDigests.of(Sample(kind(X[:30]), y[:30]))
    assert used.find(X[25:], pd.Series(y[25:])).tolist() == [0, 1, 2, 3, 4]


def test_rows_without_response_are_known_by_their_features():
    used = RowDigests.of(Sample(X[:10], y[:10], X[10:20]))
    assert used.find(X[8:22], y[8:22] + 1).tolist() == list(range(2, 12))


def test_weights_and_equal_rows_are_noted():
    used = RowDigests.of(Sample(X, y, fit_params={"sample_weight": np.ones(40)}))
    assert used.fit_params == ("sample_weight",)
    few = RowDigests.of(Sample(np.ones((4, 1)), [1.0, 2.0, 1.0, 3.0]))
    assert few.most_by_chance(10) == 10  # half of the rows have an equal
    assert few.most_by_chance(100) == 73  # P(Bin(100, 1/2) > 73) < 1e-6 < P(Bin(100, 1/2) > 72)


def test_the_digest_of_rows_is_the_same_in_every_process_and_container() -> None:
    code = (
        "from poise.data.used_rows import digest_of_rows as d; from poise.data.tables import "
        "as_table as t; import pandas as pd; "
        "X = pd.DataFrame({'town': ['Ely', 'Bath'], 'size': [1.0, 2.0]}); "
        "print(d(t(X, 'X'), t([5, 6], 'y')), d(t(X[::-1], 'X'), t([6, 5], 'y')))"
    )
    first, second = printed(code).split(), printed(code).split()
    assert first == second
    assert len({*first, *second}) == 1
    plain = digest_of_rows(as_table(X, "X"), as_table(y, "y"))
    framed = digest_of_rows(as_table(pd.DataFrame(X), "X"), as_table(pd.Series(y), "y"))
    listed = digest_of_rows(as_table(X.tolist(), "X"), as_table(y.tolist(), "y"))
    other = digest_of_rows(as_table(X + 1, "X"), as_table(y, "y"))
    assert plain == framed == listed != other
