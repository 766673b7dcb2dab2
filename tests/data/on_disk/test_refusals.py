"""Files that cannot stay on disk, and what is said about them."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from sklearn.linear_model import Ridge

import poise
from poise.data.files.read_table import read_table
from poise.data.sample import Sample
from poise.data.tables import as_table
from poise.errors import DataError


def test_the_index_of_a_data_frame_is_no_feature(tmp_path) -> None:
    frame = pd.DataFrame({"id": [7, 8], "a": [1.0, 2.0], "y": [0.5, 1.5]}).set_index("id")
    frame.to_parquet(tmp_path / "rows.parquet")
    X, y = read_table(tmp_path / "rows.parquet", "y", on_disk=True)
    assert X.columns() == ("a",)
    assert X.take(slice(0, 2))["a"].tolist() == [1.0, 2.0]
    assert y.tolist() == [0.5, 1.5]


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_what_is_wrong_with_a_file_is_said(ending, tmp_path) -> None:
    path = tmp_path / f"rows.{ending}"
    path.write_bytes(b"not a table")
    with pytest.raises(DataError, match=r"rows\.\w+ cannot be read as (Parquet|Feather)"):
        read_table(path, "y", on_disk=True)
    write = pa.parquet.write_table if ending == "parquet" else pa.feather.write_feather
    table = pa.table({"a": [1.0], "y": [0.5]})
    write(table.slice(0, 0), str(path))
    with pytest.raises(DataError, match="has no rows"):
        read_table(path, "y", on_disk=True)
    write(table, str(path))
    with pytest.raises(DataError, match=r"has no column 'yy'; did you mean 'y'\?"):
        read_table(path, "yy", on_disk=True)


def test_files_that_cannot_stay_on_disk(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n1,2\n")
    with pytest.raises(DataError, match="must be a Parquet or Feather file to be left on disk"):
        read_table(path, "y", on_disk=True)
    with pytest.raises(DataError, match=r"X must be .* got str; read a file with poise.read_table"):
        poise.measure(Ridge(), str(path), [0.0], n=2)
    with pytest.raises(DataError, match=r"X must be .* got PosixPath; read a file"):
        poise.measure(Ridge(), path, [0.0], n=2)


@pytest.mark.parametrize(
    "view",
    [np.asfortranarray, lambda X: X[:, ::-1], lambda X: X[::2]],
    ids=["F", "columns", "rows"],
)
def test_rows_of_any_array_are_taken_without_copying_all_of_it(view) -> None:
    """``numpy.take`` makes an array contiguous first: for one row, all of them."""
    X = view(np.random.default_rng(0).normal(size=(50_000, 20)))  # 8 MB
    table = as_table(X, "X")
    rows = np.array([3, 24_000, 3])
    sample = Sample(X, np.zeros(len(X)))
    tracemalloc.start()
    taken = table.take(rows)
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()
    assert taken.flags.c_contiguous
    assert taken.flags.owndata
    np.testing.assert_array_equal(taken, X[rows])
    assert sample.digest() == Sample(np.ascontiguousarray(X), np.zeros(len(X))).digest()
