"""A Parquet or Feather file as a table: rows come out as the data frames they would be."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.errors import DataError
from poise.stored.copying import opened
from poise.stored.mapped import MappedArrow

__all__ = ["StoredTable"]


class StoredTable:
    """Columns of a file that may be larger than memory.

    Whatever rows are taken come as a data frame with the columns, types and row
    numbers that the whole file would have in memory. Feather files without
    compression are mapped where they are; of others a copy that can be mapped is
    kept in a temporary folder for as long as the table is used.

    Parameters
    ----------
    path : path
        A Parquet or Feather file.
    names : sequence of str
        The columns wanted, in this order.
    library : {"pandas", "polars"}
        Whose data frames to make.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "rows.parquet")
    >>> pd.DataFrame({"age": [30, 41, 52], "city": ["Oslo", "Rome", "Bonn"]}).to_parquet(path)
    >>> table = StoredTable(path, ["city", "age"])
    >>> len(table), table.columns()
    (3, ('city', 'age'))
    >>> table.take(np.array([2, 0]))
       city  age
    2  Bonn   52
    0  Oslo   30
    >>> folder.cleanup()
    """

    def __init__(
        self, path: str | os.PathLike[str], names: Sequence[str], library: str = "pandas"
    ) -> None:
        self.path, self.names, self.library = Path(path).absolute(), tuple(names), library
        self._hold(opened(self.path, self.names))

    def _hold(self, arrow: MappedArrow) -> None:
        self.arrow = arrow
        self._types = _types_of_whole_columns(arrow) if self.library == "pandas" else {}

    @property
    def native(self) -> StoredTable:
        """The table itself: no other container holds all rows."""
        return self

    def __len__(self) -> int:
        return len(self.arrow)

    def take(self, rows: NDArray[np.int64] | slice) -> Any:
        """Return a fresh data frame of these rows."""
        if self.library == "polars":
            import polars as pl

            return pl.from_arrow(self.arrow.take(rows))
        import pandas as pd

        frame = self.arrow.take(rows).to_pandas(use_threads=False).astype(self._types)
        if isinstance(rows, slice):
            frame.index = pd.RangeIndex(rows.start, rows.stop)
        else:
            frame.index = pd.Index(rows, dtype=np.int64)
        return frame.copy()  # pyarrow lends its memory where it can, and that is read-only

    def blocks(self) -> Iterator[Any]:
        """Yield all rows, as data frames that fit into memory."""
        return map(self.take, self.arrow.blocks())

    def columns(self) -> tuple[str, ...]:
        """Return the column names."""
        return self.names

    def __getstate__(self) -> dict[str, Any]:
        """Say where the file is, and where its copy: no rows travel."""
        place = {"path": self.path, "names": self.names, "library": self.library}
        return place | {"mapped": self.arrow.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path, self.names, self.library = state["path"], state["names"], state["library"]
        if state["mapped"].exists():
            self._hold(MappedArrow(state["mapped"], self.names))
        elif self.path.exists():
            self._hold(opened(self.path, self.names))
        else:
            raise DataError(
                f"a worker cannot find {self.path}; the file must be on a disk that every "
                "worker of the cluster sees under that name"
            )


def _types_of_whole_columns(arrow: MappedArrow) -> dict[str, Any]:
    """Return the types that some rows alone would not have.

    A missing value turns a whole column of integers into floats, and of truth
    values into objects. Rows without any must look the same.
    """
    import pyarrow as pa

    missing = [name for name in arrow.schema.names if arrow.has_missing(name)]
    schema = pa.schema([arrow.schema.field(name) for name in missing], arrow.schema.metadata)
    nothing = pa.table([pa.nulls(1, field.type) for field in schema], schema=schema)
    with_gap, without = (table.to_pandas().dtypes for table in (nothing, nothing.slice(0, 0)))
    return {name: with_gap[name] for name in missing if with_gap[name] != without[name]}
