"""Rows of a ledger: known again in any order and container, compact, and told apart."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from poise.data.files.read_table import read_table
from poise.data.keyed_row_hashes import RowKey
from poise.data.sample import Sample
from poise.errors import RecordError
from poise.storage.ledger.families import families_of
from poise.storage.ledger.row_set import RowSet
from poise.storage.ledger.row_sketch import RowSketch

KEY = RowKey(b"0123456789abcdef")
RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(300, 3)), RNG.normal(size=300)


def _set(features, response, unlabeled=None) -> RowSet:
    return RowSet.of(KEY, Sample(features, response, unlabeled))


def test_equal_rows_in_any_order_and_container_are_one_set() -> None:
    order = RNG.permutation(300)
    sets = [
        _set(X, Y),
        _set(X[order], Y[order]),
        _set(pd.DataFrame(X), pd.Series(Y)),
        _set(X.tolist(), Y.tolist()),
    ]
    assert len({each.digest for each in sets}) == 1
    assert sets[0].arrangement != sets[1].arrangement  # the trials would be others
    assert sets[0].arrangement == sets[2].arrangement


def test_another_key_gives_other_hashes() -> None:
    other = RowSet.of(RowKey(b"fedcba9876543210"), Sample(X, Y))
    assert other.shared_with(_set(X, Y)) == 0
    assert not np.isin(other.parts["whole"].hashes, _set(X, Y).parts["whole"].hashes).any()


@pytest.mark.parametrize(
    ("grown", "shared"),
    [
        (_set(X[:200], Y[:200]), 120),
        (_set(X[:120, :2], Y[:120]), 120),  # a column was dropped
        (_set(X[:120], RNG.normal(size=120)), 120),  # another response
        (_set(X[200:], Y[200:], X[:50]), 50),  # as test points
        (_set(csr_matrix(X[:200]), Y[:200]), 120),  # only the responses are known again
        (_set(X[119:], Y[119:]), 1),
        (_set(X[120:], Y[120:]), 0),
    ],
)
def test_shared_rows_are_counted(grown, shared) -> None:
    assert _set(X[:120], Y[:120]).shared_with(grown) == shared
    assert (grown.shared_with(_set(X[:120], Y[:120])) > 0) == (shared > 0)


def test_a_table_on_disk_has_the_same_rows(tmp_path) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.assign(y=Y).to_parquet(tmp_path / "rows.parquet")
    features, response = read_table(tmp_path / "rows.parquet", target="y", on_disk=True)
    assert _set(features, response).digest == _set(X, Y).digest


def test_rows_that_are_equal_by_chance_are_not_shared() -> None:
    """Numbers with two digits: a third of the rows occur twice, in fresh rows too."""
    drawn = RNG.integers(0, 1200, size=(1000, 1)).astype(float)
    old, fresh = _set(drawn[:500], drawn[:500, 0]), _set(drawn[500:], drawn[500:, 0])
    assert 0.2 < old.parts["whole"].repeated < 0.5
    assert old.shared_with(fresh) == 0
    assert old.shared_with(_set(drawn, drawn[:, 0])) > 0


def test_a_response_that_is_equal_by_chance_is_not_a_shared_row() -> None:
    """Numbers with a few digits, all different in each set: a few are in both, and no row is."""
    features, numbers = RNG.normal(size=(600, 2)), np.arange(600) / 100
    old = _set(features[:300], numbers[:300])
    fresh = _set(features[300:], numbers[295:595])  # five responses in common
    assert old.shared_with(fresh) == 0
    assert fresh.shared_with(old) == 0
    assert old.shared_with(_set(features[299:599], numbers[299:599])) == 1  # one whole row
    assert old.shared_with(_set(features[290:590, :1], numbers[290:590])) == 10  # a dropped column
    assert _set(features[:8], numbers[:8]).shared_with(_set(features[:8, :1], numbers[:8])) == 8


def test_labels_do_not_tell_rows_apart() -> None:
    old, fresh = (_set(X[part], Y[part] > 0) for part in (slice(0, 150), slice(150, 300)))
    assert "responses" not in old.parts
    assert old.shared_with(fresh) == 0


def test_rows_of_few_values_count_as_the_same() -> None:
    """They cannot be told apart, and a question too many is better than one too few."""
    drawn = RNG.integers(0, 2, size=(400, 2))
    old, fresh = (_set(drawn[part], drawn[part, 0]) for part in (slice(0, 200), slice(200, 400)))
    assert list(old.parts) == ["whole"]
    assert old.shared_with(fresh) > 0


def test_millions_of_rows_take_little_room_and_are_found_again() -> None:
    """Hashes are random numbers; half of a per cent in common is missed with chance 1.2e-9."""
    hashes = np.random.default_rng(0).integers(0, 2**64, size=3_000_000, dtype=np.uint64)
    old, new = RowSketch.of(hashes[:1_000_000]), RowSketch.of(hashes[990_000:])
    assert len(json.dumps(old.to_entry())) < 200_000
    assert abs(old.shared_with(new) - 10_000) < 5_000
    assert RowSketch.of(hashes[:1_000_000]).shared_with(RowSketch.of(hashes[1_000_000:])) == 0
    few = RowSketch.of(hashes[:4_000])
    assert few.shared_with(old) > 0


def test_a_set_is_read_back_as_it_was() -> None:
    rows = _set(X, Y, X[:7] + 1)
    again = RowSet.from_entry(json.loads(json.dumps(rows.to_entry())))
    assert (again.digest, again.labeled, again.unlabeled) == (rows.digest, 300, 7)
    assert again.to_entry() == rows.to_entry()


@pytest.mark.parametrize(
    "change",
    [
        {"labeled": "many"},
        {"rows": 3},
        {"whole": {"hashes": "!", "distinct": 3, "repeated": 0.0}},
        {"whole": {"hashes": "AAAAAAAAAAAAAAAAAAAAAA==", "distinct": 3, "repeated": 0.0}},
        {"whole": {"hashes": "", "distinct": 1e400, "repeated": 0.0}},
        {"whole": {"hashes": "AAAAAAAAAAA=", "distinct": 0, "repeated": 0.0}},
        {"whole": {"distinct": 0}},
    ],
)
def test_what_no_rows_give_is_refused(change) -> None:
    with pytest.raises(RecordError):
        RowSet.from_entry(_set(X, Y).to_entry() | change)


def test_families_are_connected_through_others() -> None:
    pieces = [slice(0, 60), slice(100, 160), slice(50, 110), slice(200, 260)]
    sets = [_set(X[piece], Y[piece]) for piece in pieces]
    family = families_of({each.digest: each for each in sets})
    names = [family[each.digest] for each in sets]
    assert names[0] == names[1] == names[2] != names[3]
    assert families_of({}) == {}
