"""Copy a Parquet or Feather file: numbers row by row, the rest in columns."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.on_disk.array_files import in_new_folder, write_array
from poise.data.on_disk.arrow_columns import MappedArrow, takeable
from poise.data.on_disk.column_types import ColumnTypes, Survey
from poise.data.on_disk.file_set import RowsPlace
from poise.data.on_disk.set_pieces import source_of
from poise.errors import DataError

__all__ = ["RowsInFiles", "copied"]

_NUMBERS, _OTHERS = "numbers.npy", "others.arrow"


class RowsInFiles:
    """The copy of a table, mapped into memory.

    Parameters
    ----------
    folder : Path
        Where the copy is.
    names : tuple of str
        Columns of numbers; the others have their names in their file.
    repaired : dict of str to dtype
        See :class:`~poise.data.on_disk.column_types.ColumnTypes`.

    Attributes
    ----------
    numbers : ndarray or None
        One record per row, whose fields are the columns of numbers in order.
    others : MappedArrow or None
        The other columns.
    """

    def __init__(self, folder: Path, names: tuple[str, ...], repaired: dict[str, Any]) -> None:
        self.folder, self.names, self.repaired = folder, names, repaired
        self.numbers: NDArray[Any] | None = None
        self.others: MappedArrow | None = None
        if (folder / _NUMBERS).exists():
            self.numbers = np.load(folder / _NUMBERS, mmap_mode="r")
        if (folder / _OTHERS).exists():
            self.others = MappedArrow(folder / _OTHERS)

    @property
    def parts(self) -> list[Any]:
        """The parts: numbers, and other columns."""
        return [part for part in (self.numbers, self.others) if part is not None]

    def __len__(self) -> int:
        return len(self.parts[0])

    @property
    def mappings(self) -> list[mmap.mmap]:
        """The files as mapped by this process."""
        return [getattr(part, "mapping", None) or part.base for part in self.parts]


def copied(path: RowsPlace, names: Sequence[str], library: str) -> RowsInFiles:
    """Copy columns of one or several files into a temporary folder, a piece at a time."""
    import pyarrow as pa

    source = source_of(path)
    schema = pa.schema([source.schema.field(name) for name in names], source.schema.metadata)
    survey = Survey(source, ColumnTypes.to_look_at(schema, library))
    types = ColumnTypes(schema, survey, library)

    def make(folder: Path) -> tuple[RowsInFiles, Any]:
        if types.numbers:
            record = np.dtype([(str(k), kind) for k, kind in enumerate(types.numbers.values())])
            blocks = (_records(batch, record) for batch in source.batches(list(types.numbers)))
            write_array(folder / _NUMBERS, record, (source.n_rows,), blocks)
        if types.others:
            batches = map(survey.with_all_categories, source.batches(types.others))
            fields = [schema.field(name) for name in types.others]
            _write_others(folder / _OTHERS, pa.schema(fields, schema.metadata), batches)
        pa.default_memory_pool().release_unused()  # hundreds of megabytes after a large file
        rows = RowsInFiles(folder, tuple(types.numbers), types.repaired)
        if {len(part) for part in rows.parts} != {source.n_rows}:
            raise DataError(f"{path} has columns of different lengths: it is damaged")
        return rows, rows.parts[0]

    return in_new_folder(make)


def _records(batch: Any, record: np.dtype[Any]) -> NDArray[Any]:
    """Put the numbers of each row side by side; a missing value becomes NaN."""
    block = np.empty(batch.num_rows, record)
    for position, column in enumerate(batch.columns):
        block[str(position)] = column.to_numpy(zero_copy_only=False)
    return block


def _write_others(path: Path, schema: object, batches: Iterable[Any]) -> None:
    import pyarrow as pa

    schema = takeable(schema)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch.cast(schema))
