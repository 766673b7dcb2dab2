"""Parquet and Feather files, read piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from poise.data.on_disk.file_set import RowsPlace
from poise.data.on_disk.rows_file import RowsFile, arrow_file
from poise.data.ordinary_files import open_ordinary
from poise.errors import DataError

__all__ = ["BYTES_AT_ONCE", "Source", "is_parquet", "readable", "source_of_file"]

BYTES_AT_ONCE = 1 << 22  # bytes decoded together; more is not faster, and fragments memory


class Source(Protocol):
    """Columns of a file, with the types of Arrow."""

    schema: Any
    n_rows: int

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield some of the columns from the first row to the last; no other is decoded."""
        ...


def is_parquet(path: RowsFile | RowsPlace) -> bool:
    """Tell Parquet from Feather by the ending.

    Examples
    --------
    >>> is_parquet(Path("rows.parquet")), is_parquet(Path("rows.feather"))
    (True, False)
    """
    return path.suffix.lower() in (".parquet", ".pq")


@contextmanager
def readable(path: RowsFile | RowsPlace) -> Iterator[None]:
    """Turn whatever a library raises for a damaged file into an error that names it."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # each library has its own exceptions
        reason = " ".join(str(error).split()) or type(error).__name__
        kind = "Parquet" if is_parquet(path) else "Feather"
        raise DataError(f"{path} cannot be read as {kind}: {reason}") from error


def source_of_file(file: RowsFile) -> Source:
    """Open a file; errors are those of pyarrow, and a DataError for one that is no file."""
    if isinstance(file, Path):
        open_ordinary(file, DataError).close()
    return ParquetSource(file) if is_parquet(file) else FeatherSource(file)


class ParquetSource:
    """A Parquet file."""

    def __init__(self, file: RowsFile) -> None:
        import pyarrow.parquet as pq

        self._file = pq.ParquetFile(arrow_file(file), pre_buffer=False)
        self.schema = self._file.schema_arrow
        self.n_rows = self._file.metadata.num_rows

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield some of the columns from the first row to the last."""
        size = max(1, BYTES_AT_ONCE // (8 * len(names)))
        for batch in self._file.iter_batches(size, columns=list(names), use_threads=False):
            yield _valid(batch.select(list(names)))


class FeatherSource:
    """A Feather (Arrow IPC) file, compressed or not."""

    def __init__(self, file: RowsFile) -> None:
        import pyarrow as pa

        self._file = file
        with arrow_file(file) as opened:
            reader = pa.ipc.open_file(opened)
            self.schema, self.n_rows = reader.schema, reader.count_rows()

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield some of the columns from the first row to the last."""
        import pyarrow as pa

        wanted = [self.schema.get_field_index(name) for name in names]
        options = pa.ipc.IpcReadOptions(included_fields=wanted, use_threads=False)
        with arrow_file(self._file) as opened:
            reader = pa.ipc.open_file(opened, options=options)
            for k in range(reader.num_record_batches):
                yield from _cut(_valid(reader.get_batch(k).select(list(names))))


def _valid(batch: Any) -> Any:
    """Check the batch in full: with damaged offsets, reading a text would end the process."""
    batch.validate(full=True)
    return batch


def _cut(batch: Any) -> Iterator[Any]:
    """Cut a batch into pieces, since some writers put all rows into one."""
    size = max(1, BYTES_AT_ONCE // (8 * max(1, batch.num_columns)))
    for start in range(0, batch.num_rows, size):
        yield batch.slice(start, size)
