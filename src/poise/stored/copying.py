"""Files that cannot be mapped as they are, copied once, a piece at a time.

Parquet and compressed Feather have to be decoded before a row can be found. They
are written to a temporary folder in a form that can be mapped.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from poise.errors import DataError
from poise.stored.mapped import MappedArrow, NotInPlace

__all__ = ["is_parquet", "opened", "written"]

_AT_ONCE = 1 << 25  # bytes decoded together


def is_parquet(path: Path) -> bool:
    """Tell Parquet from Feather by the ending."""
    return path.suffix.lower() in (".parquet", ".pq")


def opened(path: Path, names: Sequence[str]) -> MappedArrow:
    """Map columns of a Parquet or Feather file, from a copy where that is needed."""
    if not is_parquet(path):
        try:
            return MappedArrow(path, names)
        except NotInPlace:
            pass
    schema, batches = (_parquet if is_parquet(path) else _feather)(path, list(names))

    def copy(place: Path) -> MappedArrow:
        _write(place, schema, batches)
        return MappedArrow(place, names)

    result: MappedArrow = written("rows.arrow", copy)
    return result


def written(name: str, write: Callable[[Path], Any]) -> Any:
    """Return what ``write`` makes of a new file; the file goes when that does."""
    folder = tempfile.mkdtemp(prefix="poise-")
    try:
        result = write(Path(folder, name))
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if not isinstance(error, OSError):
            raise
        raise DataError(
            f"a copy of the rows cannot be kept in {tempfile.gettempdir()}: {error}; "
            "set TMPDIR to a folder on a larger disk"
        ) from error
    weakref.finalize(result, shutil.rmtree, folder, ignore_errors=True)
    return result


def _write(place: Path, schema: Any, batches: Iterator[Any]) -> None:
    import pyarrow as pa

    with pa.OSFile(str(place), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for batch in batches:
            writer.write_batch(batch.cast(schema))


def _feather(path: Path, names: list[str]) -> tuple[Any, Iterator[Any]]:
    """Return the columns of an Arrow file and its batches, each decoded when it is reached."""
    import pyarrow as pa

    schema = pa.ipc.open_file(pa.memory_map(str(path))).schema
    wanted = [schema.get_field_index(name) for name in names]
    options = pa.ipc.IpcReadOptions(included_fields=wanted, use_threads=False)
    reader = pa.ipc.open_file(pa.memory_map(str(path)), options=options)
    batches = (reader.get_batch(k).select(names) for k in range(reader.num_record_batches))
    return _takeable(pa.schema([schema.field(k) for k in wanted], schema.metadata)), batches


def _parquet(path: Path, names: list[str]) -> tuple[Any, Iterator[Any]]:
    """Return the columns of a Parquet file and its rows, some at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path, memory_map=True, pre_buffer=False)
    fields = [file.schema_arrow.field(name) for name in names]
    schema = _takeable(pa.schema(fields, file.schema_arrow.metadata))

    def batches(chosen: list[str]) -> Iterator[Any]:
        size = max(1, _AT_ONCE // (8 * len(chosen)))
        for batch in file.iter_batches(size, columns=chosen, use_threads=False):
            yield batch.select(chosen)

    categories = [name for name in names if pa.types.is_dictionary(schema.field(name).type)]
    if not categories:
        return schema, batches(names)
    common = _common_categories(batches(categories), categories)
    return schema, (_with_categories(batch, common) for batch in batches(names))


def _takeable(schema: Any) -> Any:
    """Return a schema in which views are text that rows can be taken from."""
    import pyarrow as pa

    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    fields = [field.with_type(plain.get(field.type, field.type)) for field in schema]
    return pa.schema(fields, schema.metadata)


def _common_categories(batches: Iterator[Any], names: list[str]) -> dict[str, Any]:
    """Collect the categories of each column; every part of a Parquet file has its own."""
    common: dict[str, Any] = {}
    for batch in batches:
        for name in names:
            none = batch.column(name).slice(0, 0)
            both = [common[name], none] if name in common else [none]
            common[name] = _unified(both)[0]
    return common


def _with_categories(batch: Any, common: dict[str, Any]) -> Any:
    for name, categories in common.items():
        column = _unified([categories, batch.column(name)])[1]
        batch = batch.set_column(batch.schema.get_field_index(name), batch.field(name), column)
    return batch


def _unified(columns: list[Any]) -> list[Any]:
    """Give columns the same categories: those of the first, then what the others add."""
    import pyarrow as pa

    chunks: list[Any] = pa.chunked_array(columns).unify_dictionaries().chunks
    return chunks
