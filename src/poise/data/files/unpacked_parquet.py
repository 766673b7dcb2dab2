"""How many bytes a Parquet file unpacks to, before it is unpacked.

Two things can be large in a small file: pages that compress well, whose sizes the footer has,
and a text that stands once in the dictionary of a column and is repeated in a million rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from poise.data.on_disk.rows_file import RowsFile, arrow_file

__all__ = ["repeated_text", "unpacked_pages"]

_MANY_ROWS, _FEW_ROWS = 1 << 16, 1 << 6  # read together


def unpacked_pages(path: RowsFile) -> int:
    """Return the size of all pages once they are decompressed, as the footer has it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "rows.parquet")
    >>> table = pa.table({"a": [0.0] * 1000, "b": ["a word"] * 1000})
    >>> pq.write_table(table, path, use_dictionary=["b"])
    >>> 8_000 < unpacked_pages(path) < 9_000, repeated_text(path, most=10**6)
    (True, 6000)
    >>> folder.cleanup()
    """
    import pyarrow.parquet as pq

    with arrow_file(path) as file:
        footer = pq.read_metadata(file)
    groups = [footer.row_group(index) for index in range(footer.num_row_groups)]
    return sum(max(0, group.total_byte_size) for group in groups)


def repeated_text(path: RowsFile, most: int, groups: Sequence[int] | None = None) -> int:
    """Return the size of all texts, each as often as it is repeated, or more than ``most``.

    ``groups`` are the row groups that are looked at, by default all of them.
    Of a column with a dictionary no text is written out. Others are read a few rows at a time,
    since each row may repeat the one before it. (What the footer says of the encodings is not
    asked: pyarrow ends the process where that is damaged.)
    """
    import pyarrow.parquet as pq

    total = 0
    with arrow_file(path) as file:
        schema = pq.read_schema(file)
    for field in schema:
        if total <= most and _may_repeat(field.type):
            total += _size_of_column(path, field, groups, most - total)
    return total


def _may_repeat(kind: Any) -> bool:
    import pyarrow.types as types

    plain = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    other = (types.is_string_view, types.is_binary_view, types.is_nested)
    return any(is_of(kind) for is_of in (*plain, *other))


def _size_of_column(path: RowsFile, field: Any, groups: Sequence[int] | None, most: int) -> int:
    import pyarrow.types as types

    def size(rows: int, words: list[str]) -> int:
        batches = _batches(path, groups, rows, columns=[field.name], read_dictionary=words)
        return _sum(batches, most)

    if types.is_nested(field.type):
        return size(_FEW_ROWS, [])
    try:
        return size(_MANY_ROWS, [field.name])
    except (NotImplementedError, OSError):  # its encoding has no dictionary
        return size(_FEW_ROWS, [])


def _batches(
    path: RowsFile,
    groups: Sequence[int] | None,
    rows: int,
    columns: list[str],
    read_dictionary: list[str],
) -> Iterator[Any]:
    """Yield pieces of so many rows."""
    import pyarrow.parquet as pq

    with arrow_file(path) as opened:
        file = pq.ParquetFile(opened, pre_buffer=False, read_dictionary=read_dictionary)
        yield from file.iter_batches(rows, groups, columns, use_threads=False)


def _sum(batches: Iterator[Any], most: int) -> int:
    """Add the sizes of pieces, until it is too much."""
    total = 0
    for batch in batches:
        total += sum(map(_size, batch.columns))
        if total > most:
            break
    return total


def _size(column: Any) -> int:
    """Return the size of a column, with every word of a dictionary as often as it is used."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column.validate(full=True)
    if not isinstance(column, pa.DictionaryArray):
        return int(column.nbytes)
    lengths = pc.cast(pc.binary_length(column.dictionary), "int64")
    return int(pc.sum(lengths.take(column.indices)).as_py() or 0)
