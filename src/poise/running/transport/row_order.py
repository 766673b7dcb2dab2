"""Rows of a large array are written in the order in which the trials read them.

Shuffled trials pick rows from all over the array. A worker that maps it would soon
hold a second copy of the whole array. In the order of the trials, the rows of a trial
lie together: they are read quickly and released after use.
"""

from __future__ import annotations

import copy
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from poise.data.sample import Sample
from poise.data.tables import ArrayTable, Selection, Table, as_table
from poise.protocol.messages import Tasks
from poise.protocol.work import WorkData
from poise.running.transport.memmap import Rearranged, is_large, lies_in_a_file, release_pages

__all__ = ["RangesOfFile", "arranged"]

_BYTES_HELD = 1 << 24  # bytes that a worker reads before it releases them


@runtime_checkable
class _Arrangeable(Protocol):
    """Tasks that know in which order they read the labelled rows."""

    def reading_order(self) -> NDArray[np.int64] | None: ...

    def in_reading_order(self) -> Tasks: ...


def arranged(sample: Sample, tasks: Tasks) -> WorkData:
    """Return the same data for the same trials, with rows in reading order if that saves memory.

    The sample can only be used to be written by
    :func:`~poise.running.transport.memmap.write_mapped`.
    """
    if not isinstance(tasks, _Arrangeable) or not _pays(sample.X):
        return sample, tasks
    order = tasks.reading_order()
    if order is None:
        return sample, tasks
    moved = copy.copy(sample)
    moved.X, moved.y, moved.groups = _moved(sample.X, order), _moved(sample.y, order), None
    if sample.fit_params is not None:
        moved.fit_params = copy.copy(sample.fit_params)
        tables = sample.fit_params.per_row.items()
        moved.fit_params.per_row = {name: _moved(table, order) for name, table in tables}
    return moved, tasks.in_reading_order()


def _pays(table: Table) -> bool:
    """Tell whether X is a large array in memory; an array in a file is best read there."""
    array = table.native
    return isinstance(table, ArrayTable) and is_large(array) and not lies_in_a_file(array)


def _moved(table: Table, order: NDArray[np.int64]) -> Table:
    if not isinstance(table, ArrayTable):
        return as_table(table.take(order), "rows")
    return RangesOfFile(Rearranged(table.native, order))


class RangesOfFile(ArrayTable):
    """An array in a file of its own, read from front to back.

    Rows that were read are released from time to time: no trial reads them again.
    """

    def __init__(self, native: Any) -> None:
        self.native = native  # an array again, once it has been written and mapped
        self.read = 0

    def take(self, rows: Selection) -> NDArray[Any]:
        """Return a fresh copy of these rows."""
        taken = super().take(rows)
        self.read += taken.nbytes
        if self.read >= _BYTES_HELD:
            release_pages(self.native)
            self.read = 0
        return taken
