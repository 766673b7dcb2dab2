"""Parts of files that workers of a cluster read: row groups of Parquet, batches of Feather.

Only the ends of files are read here, in which the sizes of all parts stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from poise.arguments import did_you_mean
from poise.data.files.parquet import (
    refuse_large_pages,
    refuse_no_rows,
    refuse_repeated_text,
    refuse_too_many,
)
from poise.data.on_disk.file_pieces import is_parquet, readable
from poise.data.on_disk.file_set import FileSet, RowsPlace
from poise.data.on_disk.rows_file import RowsFile, arrow_file
from poise.data.on_disk.set_pieces import SetSource
from poise.data.on_disk.stored_table import cannot_find
from poise.errors import DataError

__all__ = ["FilePart", "as_file_set", "file_parts"]

_PART_BYTES = 1 << 26  # small row groups are read together, up to so many bytes


@dataclass(frozen=True)
class FilePart:
    """Rows of one file that follow each other.

    Attributes
    ----------
    file : Path or RemoteFile
        The file, which every worker must see under this name.
    groups : tuple of int
        Its row groups, or batches.
    first, rows : int
        How many rows of the table come before these, and how many these are.
    columns : tuple of str
        The columns of the table that are wanted.
    keys : dict
        The values of columns that stand in the name of the folder.
    """

    file: RowsFile
    groups: tuple[int, ...]
    first: int
    rows: int
    columns: tuple[str, ...]
    keys: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.rows

    def read(self) -> Any:
        """Return a data frame of pandas, with the row numbers of the whole table."""
        if not self.file.is_file():
            raise cannot_find(self.file)
        stored = [name for name in self.columns if name not in self.keys]
        with readable(self.file):
            if is_parquet(self.file):
                refuse_repeated_text(self.file, self.groups)
            table = self._with_keys(self._table(stored))
            table.validate(full=True)
            frame = table.select(list(self.columns)).to_pandas(use_threads=False)
        return frame.set_axis(range(self.first, self.first + self.rows), axis=0)

    def _table(self, names: list[str]) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with arrow_file(self.file) as opened:
            if is_parquet(self.file):
                file = pq.ParquetFile(opened, pre_buffer=False)
                return file.read_row_groups(list(self.groups), names, use_threads=False)
            reader = pa.ipc.open_file(opened)
            return pa.Table.from_batches([reader.get_batch(k) for k in self.groups]).select(names)

    def _with_keys(self, table: Any) -> Any:
        import pyarrow as pa

        for name, value in self.keys.items():
            table = table.append_column(name, pa.repeat(value, self.rows))
        return table


def as_file_set(place: RowsPlace) -> FileSet:
    """Return one file as a set of one file."""
    if isinstance(place, FileSet):
        return place
    return FileSet(str(place), (place,), str(place.parent))


def file_parts(
    place: RowsPlace, without: Sequence[str] = (), size: int = _PART_BYTES
) -> list[FilePart]:
    """Cut the files of a table into parts of about ``size`` bytes, in the order of the rows.

    Parameters
    ----------
    place : Path or FileSet
        Parquet or Feather files.
    without : sequence of str
        Columns that are not read.
    size : int
        Row groups that follow each other are read together up to so many bytes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "rows.parquet")
    >>> pq.write_table(pa.table({"a": range(50), "y": range(50)}), path, row_group_size=20)
    >>> [(part.groups, part.first, part.rows) for part in file_parts(path)]
    [((0, 1, 2), 0, 50)]
    >>> parts = file_parts(path, without=["a"], size=1)
    >>> parts[2].read().T
       40  41  42  43  44  45  46  47  48  49
    y  40  41  42  43  44  45  46  47  48  49
    >>> folder.cleanup()
    """
    files = as_file_set(place).absolute()
    source = SetSource(files)
    refuse_no_rows(source.n_rows, place)
    known = source.schema.names
    for name in without:
        if name not in known:
            raise DataError(f"{place} has no column {name!r}{did_you_mean(name, known)}")
    columns = tuple(name for name in known if name not in without)
    found = []
    for number, file in enumerate(files.files):
        with readable(file):
            refuse_large_pages(file)
            rows = int(source.starts[number + 1] - source.starts[number])
            refuse_too_many(rows, len(columns), file)
            keys, first = source.keys_of(number), int(source.starts[number])
            for groups, count in _together(_groups(file), size):
                found.append(FilePart(file, groups, first, count, columns, keys))
                first += count
    return found


def _groups(file: RowsFile) -> Iterator[tuple[int, int]]:
    """Yield the rows and bytes of each row group or batch."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with arrow_file(file) as opened:
        if is_parquet(file):
            footer = pq.read_metadata(opened)
            groups = [footer.row_group(k) for k in range(footer.num_row_groups)]
            yield from ((group.num_rows, group.total_byte_size) for group in groups)
        else:
            reader = pa.ipc.open_file(opened)
            batches = (reader.get_batch(k) for k in range(reader.num_record_batches))
            yield from ((batch.num_rows, batch.nbytes) for batch in batches)


def _together(
    groups: Iterable[tuple[int, int]], most: int
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Put groups that follow each other together, up to so many bytes; leave out empty ones.

    Examples
    --------
    >>> list(_together([(10, 20)] * 4, most=64))  # two parts of 40 bytes, not of 60 and 20
    [((0, 1), 20), ((2, 3), 20)]
    """
    some = [(number, *group) for number, group in enumerate(groups) if group[0]]
    whole = sum(size for _, _, size in some)
    parts = max(1, -(-whole // most))
    most = -(-whole // parts)
    chosen: list[int] = []
    total = rows = 0
    for number, count, size in some:
        if chosen and total + size > most:
            yield tuple(chosen), rows
            chosen, total, rows = [], 0, 0
        chosen.append(number)
        total, rows = total + size, rows + count
    if chosen:
        yield tuple(chosen), rows
