"""How many bytes a Parquet file unpacks to, before it is unpacked.

Two things can be large in a small file: pages that compress well, whose sizes the footer has,
and a text that stands once in the dictionary of a column and is repeated in a million rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["repeated_text", "unpacked_pages"]

_MANY_ROWS, _FEW_ROWS = 1 << 16, 1 << 6  # read together
_DICTIONARY = {"PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY"}


def unpacked_pages(path: Path) -> int:
    """Return the size of all pages once they are decompressed, as the footer has it.

    Examples
    --------
    >>> import tempfile
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

    footer = pq.read_metadata(path)
    groups = [footer.row_group(index) for index in range(footer.num_row_groups)]
    return sum(max(0, group.total_byte_size) for group in groups)


def repeated_text(path: Path, most: int) -> int:
    """Return the size of all texts, each as often as it is repeated, or more than ``most``.

    Of a column with a dictionary no text is written out. Others are read a few rows at a time,
    since each row may repeat the one before it.
    """
    import pyarrow.parquet as pq

    footer = pq.read_metadata(path)
    texts = _texts(footer)
    total = 0
    for rows, names in ((_MANY_ROWS, texts[True]), (_FEW_ROWS, texts[False])):
        words = names if rows == _MANY_ROWS else []
        with pq.ParquetFile(path, memory_map=True, pre_buffer=False, read_dictionary=words) as file:
            for batch in file.iter_batches(rows, columns=names, use_threads=False) if names else ():
                total += sum(map(_size, batch.columns))
                if total > most:
                    return total
    return total


def _texts(footer: Any) -> dict[bool, list[str]]:
    """Name the columns of texts: those with plain dictionaries, and those of other kinds."""
    found: dict[str, bool] = {}
    for group in range(footer.num_row_groups):
        for index in range(footer.num_columns):
            chunk = footer.row_group(group).column(index)
            if chunk.physical_type != "BYTE_ARRAY":
                continue
            name, encodings = chunk.path_in_schema, set(chunk.encodings)
            nested = footer.schema.column(index).max_repetition_level > 0 or "." in name
            if not encodings <= {"PLAIN", "RLE", "BIT_PACKED"} or nested:
                found[name] = found.get(name, True) and encodings <= _DICTIONARY and not nested
    return {plain: [name for name in found if found[name] is plain] for plain in (True, False)}


def _size(column: Any) -> int:
    """Return the size of a column, with every word of a dictionary as often as it is used."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column.validate(full=True)
    if not isinstance(column, pa.DictionaryArray):
        return int(column.nbytes)
    lengths = pc.cast(pc.binary_length(column.dictionary), "int64")
    return int(pc.sum(lengths.take(column.indices)).as_py() or 0)
