"""An Arrow file mapped into memory: what is not read costs nothing."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MappedArrow", "NotInPlace"]

_AT_ONCE = 1 << 25  # bytes looked at together


class NotInPlace(Exception):
    """The values are not in the file as memory holds them: compressed, or in a new layout."""


class MappedArrow:
    """Columns of an Arrow file, in batches of rows that lie together.

    Parameters
    ----------
    path : Path
        An Arrow IPC (Feather) file; :class:`NotInPlace` is raised if it is compressed.
    names : sequence of str
        The columns wanted.

    Attributes
    ----------
    mapping : mmap
        The file, as this process sees it.
    """

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        import pyarrow as pa

        self.path = path
        with path.open("rb") as file:
            self.mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        whole = pa.py_buffer(self.mapping)
        reader = pa.ipc.open_file(whole)
        numbers = range(reader.num_record_batches)
        self.batches = [_in_place(reader.get_batch(k).select(names), whole) for k in numbers]
        fields = [reader.schema.field(name) for name in names]
        self.schema = pa.schema(fields, reader.schema.metadata)
        sizes = [batch.num_rows for batch in self.batches]
        self.starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])

    def __len__(self) -> int:
        return int(self.starts[-1])

    def take(self, rows: NDArray[np.int64] | slice) -> Any:
        """Return these rows as a pyarrow table.

        pyarrow's own ``take`` joins all batches of text first, which may not fit
        into memory. Here each batch is visited once, in the order of the file.
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

    def blocks(self) -> Iterator[slice]:
        """Cut the rows into pieces that fit into memory."""
        step = max(1, _AT_ONCE // (8 * max(1, len(self.schema))))
        for start in range(0, len(self), step):
            yield slice(start, min(start + step, len(self)))

    def has_missing(self, name: str) -> bool:
        """Tell whether a column misses a value anywhere; the file has counted them."""
        return any(batch.column(name).null_count for batch in self.batches)


def _in_place(batch: Any, whole: Any) -> Any:
    """Return a batch if its values lie in the mapped file and can be taken from there."""
    import pyarrow as pa

    views = (pa.string_view(), pa.binary_view())
    for column in batch.columns:
        inside = all(_inside(buffer, whole) for buffer in column.buffers())
        if not inside or column.type in views:  # of views, pyarrow cannot take some
            raise NotInPlace
    return batch


def _inside(buffer: Any, whole: Any) -> bool:
    if buffer is None or buffer.size == 0:
        return True
    return bool(whole.address <= buffer.address < whole.address + whole.size)
