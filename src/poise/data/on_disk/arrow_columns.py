"""Columns that are not numbers, in an Arrow file that is mapped into memory."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MappedArrow", "takeable"]


def takeable(schema: Any) -> Any:
    """Return a schema without string views, from which pyarrow cannot take rows."""
    import pyarrow as pa

    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    fields = [field.with_type(plain.get(field.type, field.type)) for field in schema]
    return pa.schema(fields, schema.metadata)


class MappedArrow:
    """The columns of an Arrow file; rows that are not read use no memory.

    Attributes
    ----------
    mapping : mmap
        The file, as this process sees it.
    """

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        with path.open("rb") as file:
            self.mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        reader = pa.ipc.open_file(pa.py_buffer(self.mapping))
        self.schema = reader.schema
        self.batches = [reader.get_batch(k) for k in range(reader.num_record_batches)]
        sizes = [batch.num_rows for batch in self.batches]
        self.starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def take(self, rows: NDArray[np.int64] | slice) -> Any:
        """Return these rows as a pyarrow table.

        pyarrow's own ``take`` joins all batches of text first, which may not fit
        into memory. Here each batch is read once, in the order of the file.
        """
        import pyarrow as pa

        if isinstance(rows, slice):
            whole = pa.Table.from_batches(self.batches, self.schema)
            return whole.slice(rows.start, rows.stop - rows.start)
        order = np.argsort(rows, kind="stable")
        gathered = pa.Table.from_batches(list(self._parts(rows[order])), self.schema)
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return gathered.take(back)

    def _parts(self, rows: NDArray[np.int64]) -> Iterator[Any]:
        """Yield rows in ascending order, batch by batch."""
        bounds = np.searchsorted(rows, self.starts)
        for k in np.flatnonzero(np.diff(bounds)) if len(rows) else [0]:
            chosen = rows[bounds[k] : bounds[k + 1]] - self.starts[k]
            yield self.batches[k].take(chosen)
