"""A large array, sent to workers in the order in which the trials read its rows.

Shuffled trials pick rows from all over the array. A worker that maps it would
soon hold all of it, once more beside the array itself. Written in the order of
the trials, a trial is a range of rows that lie together: it is read quickly, and
let go of after use.
"""

from __future__ import annotations

import copy
from typing import Any

from poise.engines.mapped import Rearranged, is_large, lies_in_a_file
from poise.tables import ArrayTable, Table, as_table

__all__ = ["arranged"]


def arranged(sample: Any, tasks: Any) -> tuple[Any, Any]:
    """Return the same data for the same trials, rows in reading order where that pays.

    The sample is only good for being written by
    :func:`~poise.engines.mapped.write_mapped`.
    """
    order = tasks.reading_order() if hasattr(tasks, "reading_order") else None
    if order is None or not _pays(sample.X):
        return sample, tasks
    moved = copy.copy(sample)
    moved.X, moved.y, moved.groups = _moved(sample.X, order), _moved(sample.y, order), None
    if sample.fit_params is not None:
        moved.fit_params = copy.copy(sample.fit_params)
        tables = sample.fit_params.per_row.items()
        moved.fit_params.per_row = {name: _moved(table, order) for name, table in tables}
    return moved, tasks.in_reading_order()


def _pays(table: Table) -> bool:
    """Tell a large array in memory; what lies in a file is best read there."""
    array = table.native
    return isinstance(table, ArrayTable) and is_large(array) and not lies_in_a_file(array)


def _moved(table: Table, order: Any) -> Table:
    if not isinstance(table, ArrayTable):
        return as_table(table.take(order), "rows")
    moved = copy.copy(table)
    moved.native = Rearranged(table.native, order)  # type: ignore[assignment]
    return moved
