"""Identities of rows: the same in every process and container, and nothing without the key."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from poise.data.keyed_row_hashes import RowKey, row_identities
from poise.data.tables import as_table
from poise.errors import ArgumentError
from shared.processes import printed

KEY = RowKey(b"0123456789abcdef")


def _of(native, key=KEY) -> list[str]:
    return row_identities(key, as_table(native, "X"))


def test_one_row_has_one_identity_in_every_container() -> None:
    array = np.array([[1.0, 2.0], [3.0, -0.0], [np.nan, 1.0]])
    frame = pd.DataFrame(array, columns=["a", "b"])
    assert _of(array) == _of(frame) == _of(pl.DataFrame(array)) == _of(array.tolist())
    assert _of(array)[1] == _of([[3, 0]])[0]
    assert len(set(_of(array))) == 3


def test_words_and_numbers_side_by_side() -> None:
    frame = pd.DataFrame({"a": [1.0, 1.0, 2.0], "town": ["Ely", "Bath", "Ely"]})
    assert _of(frame) == _of(pl.from_pandas(frame))
    assert len(set(_of(frame))) == 3


def test_columns_do_not_run_into_each_other() -> None:
    rows = pd.DataFrame({"a": ["x", "xy"], "b": ["yz", "z"]})
    assert len(set(_of(rows))) == 2


def test_sparse_rows() -> None:
    dense = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    first, second, third = _of(scipy.sparse.csr_array(dense))
    assert first == third != second
    assert _of(scipy.sparse.csc_matrix(dense)) == [first, second, third]


def test_the_response_is_part_of_a_labelled_row() -> None:
    X = as_table([[1.0], [1.0]], "X")
    one, other = row_identities(KEY, X, as_table([5.0, 6.0], "y"))
    assert one != other


def test_another_process_finds_the_same_and_another_key_does_not() -> None:
    code = (
        "from poise.data.keyed_row_hashes import RowKey, row_identities\n"
        "from poise.data.tables import as_table\n"
        "import pandas as pd\n"
        "rows = as_table(pd.DataFrame({'town': ['Ely', 'Bath']}), 'X')\n"
        "print(*row_identities(RowKey(b'0123456789abcdef'), rows))"
    )
    frame = pd.DataFrame({"town": ["Ely", "Bath"]})
    assert printed(code).split() == _of(frame)
    assert not set(_of(frame)) & set(_of(frame, RowKey(b"another key of mine")))


def test_keys() -> None:
    assert RowKey.of("a key of sixteen bytes").name == RowKey.of(b"a key of sixteen bytes").name
    for wrong in ("short", b"", 7, None):
        with pytest.raises(ArgumentError, match="key must be bytes or text of at least 16 bytes"):
            RowKey.of(wrong)
