"""Which rows lie elsewhere."""

from __future__ import annotations

from pathlib import Path

import dask.dataframe as dd
import pandas as pd
import pytest

from poise.running.shuffle.partitions_of import partitions_of


def test_a_dask_frame_from_files_is_a_dask_frame(tmp_path: Path) -> None:
    """It has an ``engine``, that of its files, and a ``map``."""
    frame = pd.DataFrame({"age": [30, 41], "dose": [1.5, 2.5]})
    frame.to_parquet(tmp_path / "rows.parquet")
    found = partitions_of(dd.read_parquet(tmp_path))
    assert found is not None
    assert (found.engine, found.columns()) == ("dask", ["age", "dose"])


@pytest.mark.parametrize("rows", [pd.DataFrame({"age": [30]}), [[1.0]], None, "rows.parquet"])
def test_rows_that_are_here(rows) -> None:
    assert partitions_of(rows) is None
