"""Tables and lists of rows, written as plain arrays and read back with their type."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from poise.arguments.field_rules import MOST_ROWS
from poise.data.on_disk import StoredTable
from poise.data.tables import is_sparse
from poise.errors import RecordError
from poise.storage.transcript.array_pool import ArrayPool

__all__ = ["read_container", "write_container"]


def write_container(native: Any, pool: ArrayPool) -> dict[str, Any]:
    """Keep a container's values in the pool; return what is needed to rebuild it.

    Examples
    --------
    >>> pool = ArrayPool()
    >>> note = write_container([[1.5], [2.5]], pool)
    >>> read_container(note, pool)
    [[1.5], [2.5]]
    """
    if isinstance(native, np.ndarray):
        return {"kind": "array", "values": pool.add(native)}
    if isinstance(native, (list, tuple)):
        return {"kind": "list", "values": _checked_json(native)}
    if is_sparse(native):
        rows = native.tocsr()
        parts = [pool.add(np.asarray(part)) for part in (rows.data, rows.indices, rows.indptr)]
        return {"kind": "sparse", "parts": parts, "shape": list(native.shape)}
    if isinstance(native, StoredTable):
        raise RecordError(
            f"cannot save a transcript of {native.path}, whose rows stay on disk: it would hold "
            "all of them. Replay this transcript in memory instead"
        )
    return _write_frame(native, pool)


def _checked_json(native: Any) -> Any:
    """Refuse a list that JSON would alter."""
    plain = list(native)
    try:
        if json.loads(json.dumps(plain, allow_nan=False)) == plain:
            return plain
    except (TypeError, ValueError):
        pass
    raise RecordError(
        "cannot save a list of rows that are not lists of plain numbers or words; "
        "replay this transcript in memory instead"
    )


def _write_frame(native: Any, pool: ArrayPool) -> dict[str, Any]:
    import narwhals as nw

    frame: Any = nw.from_native(native, eager_only=True, allow_series=True)
    single = not hasattr(frame, "columns")
    columns = [frame] if single else list(frame.iter_columns())
    return {
        "kind": "series" if single else "frame",
        "library": frame.implementation.value,
        "columns": [[column.name, _column(column, pool)] for column in columns],
    }


def _column(column: Any, pool: ArrayPool) -> Any:
    import narwhals as nw

    if column.dtype == nw.String and column.null_count() == 0:
        return pool.add(np.array(column.to_list(), dtype=np.str_))
    values = column.to_numpy()
    if (column.dtype.is_numeric() or column.dtype == nw.Boolean) and values.dtype.kind in "biuf":
        return pool.add(values)
    raise RecordError(
        f"cannot save column {column.name!r} of type {column.dtype}: a transcript file holds "
        "numbers and words only. Replay this transcript in memory instead"
    )


def read_container(note: dict[str, Any], pool: ArrayPool) -> Any:
    """Rebuild a container from what :func:`write_container` returned."""
    if note["kind"] == "array":
        return pool.get(note["values"])
    if note["kind"] == "list":
        return note["values"]
    if note["kind"] == "sparse":
        return _read_sparse(note, pool)
    return _read_frame(note, pool)


def _read_sparse(note: dict[str, Any], pool: ArrayPool) -> Any:
    """Rebuild a sparse matrix; a wrong index in it would end the process when it is used."""
    import scipy.sparse

    data, indices, indptr = (pool.get(part) for part in note["parts"])
    numbers = all(part is not None and part.ndim == 1 for part in (data, indices, indptr))
    if not numbers or {indices.dtype.kind, indptr.dtype.kind} != {"i"}:
        raise RecordError("a sparse matrix must consist of three lists of numbers")
    if data.dtype.kind not in "biufc":
        raise RecordError("a sparse matrix must hold numbers")
    shape = tuple(note["shape"])
    if len(shape) != 2 or not all(type(n) is int and 0 <= n <= MOST_ROWS for n in shape):
        raise RecordError(f"a sparse matrix must have rows and columns, got the shape {shape}")
    matrix = scipy.sparse.csr_array((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _read_frame(note: dict[str, Any], pool: ArrayPool) -> Any:
    import narwhals as nw

    if note["kind"] == "series":
        (name, reference) = note["columns"][0]
        return nw.new_series(name, pool.get(reference), backend=note["library"]).to_native()
    columns = {name: pool.get(reference) for name, reference in note["columns"]}
    return nw.from_dict(columns, backend=note["library"]).to_native()
