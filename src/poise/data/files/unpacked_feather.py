"""How many bytes a compressed Feather file unpacks to, before anything is unpacked.

In an Arrow IPC file every compressed buffer begins with its length once unpacked, and the
library that reads it allocates that much at once. The lengths stand where the footer, and then
the header of each piece, say. pyarrow does not show them, so they are read here: a table is a
list of offsets to its fields, as flatbuffers write them. Only numbers are read, and a file
that leads out of itself is refused.

https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from poise.data.on_disk.rows_file import Content, RowsFile, content_of

__all__ = ["unpacked_feather"]

_MAGIC = b"ARROW1"
_BLOCK, _BUFFER = struct.Struct("<qi4xq"), struct.Struct("<qq")
_DICTIONARIES, _RECORD_BATCHES = 2, 3  # fields of the footer
_HEADER_TYPE, _HEADER = 1, 2  # fields of a message
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3  # types of headers
_BUFFERS, _COMPRESSION = 2, 3  # fields of a record batch
_STORED = -1  # instead of a length, where compression did not help
_CONTINUES = -1  # before the length of a message, since version 0.15


class _Table:
    """A table of a flatbuffer: where its fields are, by their numbers."""

    def __init__(self, content: Content, at: int) -> None:
        self._content, self._at = content, at
        self._offsets = at - _number(content, at, "<i")
        self._size = _number(content, self._offsets, "<H")

    def place(self, field: int) -> int | None:
        """Return where a field is, or None where it is absent."""
        entry = 4 + 2 * field
        if entry + 2 > self._size:
            return None
        offset = _number(self._content, self._offsets + entry, "<H")
        return self._at + offset if offset else None

    def table(self, field: int) -> _Table | None:
        """Return the table that a field leads to."""
        place = self.place(field)
        if place is None:
            return None
        return _Table(self._content, place + _number(self._content, place, "<I"))

    def structs(self, field: int, form: struct.Struct) -> Iterator[tuple[int, ...]]:
        """Yield the members of a list."""
        place = self.place(field)
        if place is None:
            return
        start = place + _number(self._content, place, "<I")
        stop = start + 4 + _number(self._content, start, "<I") * form.size
        if stop > len(self._content):
            raise ValueError("a list in it is longer than the file")
        yield from form.iter_unpack(self._content[start + 4 : stop])


def unpacked_feather(path: RowsFile) -> int:
    """Return the bytes that the compressed buffers of an Arrow IPC file unpack to.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name, "rows.feather")
    >>> schema = pa.schema({"y": pa.float64()})
    >>> for packed in ("zstd", None):
    ...     options = pa.ipc.IpcWriteOptions(compression=packed)
    ...     with pa.ipc.new_file(str(path), schema, options=options) as file:
    ...         file.write_table(pa.table({"y": [0.0] * 1000}))
    ...     unpacked_feather(path)
    8000
    0
    >>> folder.cleanup()
    """
    with content_of(path) as content:
        blocks = list(_blocks(content))
        # Pieces that overlap could be read any number of times.
        if sum(header + body for _, header, body in blocks) > len(content):
            raise ValueError("its pieces are larger than the file")
        return sum(_unpacked(content, start, header) for start, header, _ in blocks)


def _number(content: Content, at: int, form: str) -> int:
    if at < 0:
        raise ValueError("it leads to a place before its beginning")
    (number,) = struct.unpack(form, content[at : at + struct.calcsize(form)])
    return int(number)


def _blocks(content: Content) -> Iterator[tuple[int, int, int]]:
    """Yield where each piece begins, the length of its header, and that of its body."""
    end = len(content) - len(_MAGIC) - 4
    if end < 0 or content[-len(_MAGIC) :] != _MAGIC:
        raise ValueError("it does not end as an Arrow file does")
    start = end - _number(content, end, "<i")
    footer = _Table(content, start + _number(content, start, "<I"))
    for field in (_DICTIONARIES, _RECORD_BATCHES):
        for block in footer.structs(field, _BLOCK):
            if min(block) < 0:
                raise ValueError("a piece of it has a negative length")
            yield block[0], block[1], block[2]


def _unpacked(content: Content, start: int, header: int) -> int:
    """Return the bytes that one piece unpacks to."""
    at = start + (8 if _number(content, start, "<i") == _CONTINUES else 4)
    batch = _record_batch(_Table(content, at + _number(content, at, "<I")), content)
    if batch is None or batch.place(_COMPRESSION) is None:
        return 0
    return sum(
        _length(content, start + header + offset, length)
        for offset, length in batch.structs(_BUFFERS, _BUFFER)
    )


def _record_batch(message: _Table, content: Content) -> _Table | None:
    """Return the part of a message that says where the buffers are."""
    kind = message.place(_HEADER_TYPE)
    header = message.table(_HEADER)
    types = {_RECORD_BATCH: header, _DICTIONARY_BATCH: header.table(1) if header else None}
    return types.get(_number(content, kind, "<B")) if kind is not None else None


def _length(content: Content, at: int, packed: int) -> int:
    """Return the length of one buffer, unpacked."""
    if packed == 0:
        return 0
    length = _number(content, at, "<q")
    if length < _STORED:
        raise ValueError("a buffer in it has a negative length")
    return packed if length == _STORED else length
