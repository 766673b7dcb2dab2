"""A table in a Parquet or Feather file; rows are read as data frames."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.on_disk.array_files import in_new_folder, write_array
from poise.data.on_disk.file_set import FileSet, rows_place
from poise.data.on_disk.row_copy import RowsInFiles, copied
from poise.errors import DataError

__all__ = ["StoredTable", "stored_array"]

_BYTES_AT_ONCE = 1 << 25  # bytes read together

Selection = NDArray[np.int64] | slice


class StoredTable:
    """Columns of a file that may be larger than memory.

    Rows are returned as a data frame with the columns, types and row numbers that the
    whole file would have in memory. A copy of the columns, arranged for reading rows, is
    kept in a temporary folder as long as the table is used.

    Parameters
    ----------
    path : path
        A Parquet or Feather file with at least one row, or several that hold one table: a
        folder, a pattern, an address, or a
        :class:`~poise.data.on_disk.file_set.FileSet`.
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
        self,
        path: str | os.PathLike[str] | FileSet,
        names: Sequence[str],
        library: str = "pandas",
    ) -> None:
        place = rows_place(path)
        self.path, self.names, self.library = place.absolute(), tuple(names), library
        self.copy = copied(place, self.names, library)

    @property
    def native(self) -> StoredTable:
        """The table itself: no other container holds all rows."""
        return self

    def __len__(self) -> int:
        return len(self.copy)

    def columns(self) -> tuple[str, ...]:
        """Return the column names."""
        return self.names

    def take(self, rows: Selection) -> Any:
        """Return a fresh data frame of these rows."""
        return (self._pandas if self.library == "pandas" else self._polars)(rows)

    def blocks(self) -> Iterator[Any]:
        """Yield all rows, as data frames that fit into memory."""
        return map(self.take, self.slices())

    def slices(self) -> Iterator[slice]:
        """Cut the rows into pieces that fit into memory."""
        step = max(1, _BYTES_AT_ONCE // (8 * len(self.names)))
        for start in range(0, len(self), step):
            yield slice(start, min(start + step, len(self)))

    def numbers(self, rows: Selection) -> dict[str, NDArray[Any]]:
        """Return the columns of numbers."""
        if self.copy.numbers is None:
            return {}
        records = np.asarray(self.copy.numbers)
        taken = records[rows] if isinstance(rows, slice) else records.take(rows)
        return {name: taken[str(k)] for k, name in enumerate(self.copy.names)}

    def _pandas(self, rows: Selection) -> Any:
        import pandas as pd

        columns: dict[str, Any] = self.numbers(rows)
        if self.copy.others is not None:
            others = self.copy.others.take(rows).to_pandas(use_threads=False)
            columns |= {name: others[name].array for name in others.columns}
        for name, kind in self.copy.repaired.items():
            columns[name] = columns[name].astype(kind)
        index = range(rows.start, rows.stop) if isinstance(rows, slice) else rows
        return pd.DataFrame({name: columns[name] for name in self.names}, index)  # copies

    def _polars(self, rows: Selection) -> Any:
        import polars as pl

        frame = pl.DataFrame(self.numbers(rows))
        if self.copy.others is not None:
            others: Any = pl.from_arrow(self.copy.others.take(rows))
            frame = pl.concat([frame, others], how="horizontal") if frame.width else others
        return frame.select(self.names)

    def __getstate__(self) -> dict[str, Any]:
        """Return the places of the file and of its copy; no rows are sent."""
        copy = (self.copy.folder, self.copy.names, self.copy.repaired)
        return {"path": self.path, "names": self.names, "library": self.library, "copy": copy}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path, self.names, self.library = state["path"], state["names"], state["library"]
        if state["copy"][0].exists():
            self.copy = RowsInFiles(*state["copy"])
        elif self.path.exists():
            self.copy = copied(self.path, self.names, self.library)
        else:
            raise cannot_find(self.path)


def cannot_find(path: object) -> DataError:
    """Return what a worker says that does not see a file."""
    return DataError(
        f"a worker cannot find {path}; the file must be on a disk that every worker of the "
        "cluster sees under that name"
    )


def stored_array(table: StoredTable) -> NDArray[Any] | None:
    """Return a table of numbers as a memory map with a row for each row of the file.

    None if a column holds anything but numbers. The array has the type that the
    data frame would have as an array in memory, with NaN for missing values. Its file is
    removed when nothing refers to the array any more.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "rows.parquet")
    >>> pd.DataFrame({"age": [30, 41], "height": [1.5, None]}).to_parquet(path)
    >>> array = stored_array(StoredTable(path, ["age", "height"]))
    >>> array.tolist(), type(array).__name__
    ([[30.0, 1.5], [41.0, nan]], 'memmap')
    >>> folder.cleanup()
    """
    records = table.copy.numbers
    if records is None or table.copy.others is not None:
        return None
    kinds = [records.dtype[str(k)] for k in range(len(table.names))]
    if any(kind.kind == "b" for kind in kinds):
        return None
    dtype = np.result_type(*kinds)
    shape = (len(table), len(kinds))
    if all(kind == dtype for kind in kinds):
        return records.view(dtype).reshape(shape)  # the records are the rows

    def make(folder: Path) -> tuple[NDArray[Any], NDArray[Any]]:
        blocks = (np.column_stack([*table.numbers(rows).values()]) for rows in table.slices())
        write_array(folder / "rows.npy", dtype, shape, blocks)
        array = np.load(folder / "rows.npy", mmap_mode="r")
        return array, array

    return in_new_folder(make)
