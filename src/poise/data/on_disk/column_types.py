"""The types of columns, which depend on missing values and categories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from poise.data.on_disk.file_pieces import Source

__all__ = ["ColumnTypes", "Survey"]


class Survey:
    """Missing values and categories of some columns, found in one pass over the file.

    Attributes
    ----------
    missing : set of str
        Columns that miss a value somewhere.
    categories : dict of str to array
        All categories of each column that has some, as an array without rows.
        Every part of a Parquet file knows only its own.
    """

    def __init__(self, source: Source, names: Iterable[str]) -> None:
        self.missing: set[str] = set()
        self.categories: dict[str, Any] = {}
        chosen = list(names)
        for batch in source.batches(chosen) if chosen else ():
            for name in chosen:
                self._look(name, batch.column(name))

    def _look(self, name: str, column: Any) -> None:
        import pyarrow as pa

        if column.null_count:
            self.missing.add(name)
        if pa.types.is_dictionary(column.type):
            none = column.slice(0, 0)
            self.categories[name] = _unified([self.categories.get(name, none), none])[0]

    def with_all_categories(self, batch: Any) -> Any:
        """Return a batch whose columns have every category of the file."""
        for name in set(batch.schema.names) & set(self.categories):
            column = _unified([self.categories[name], batch.column(name)])[1]
            batch = batch.set_column(batch.schema.get_field_index(name), batch.field(name), column)
        return batch


def _unified(columns: list[Any]) -> list[Any]:
    """Give columns the same categories: those of the first, then further ones of the others."""
    import pyarrow as pa

    chunks: list[Any] = pa.chunked_array(columns).unify_dictionaries().chunks
    return chunks


class ColumnTypes:
    """The types of the columns, so that some rows have the types of the whole file.

    Attributes
    ----------
    numbers : dict of str to dtype
        Columns of plain numbers, and the type they have in a data frame.
    others : list of str
        All other columns.
    repaired : dict of str to dtype
        Those of the others that have another type where no value is missing.
    """

    def __init__(self, schema: Any, survey: Survey, library: str) -> None:
        types = (_in_pandas if library == "pandas" else _in_polars)(schema, survey.missing)
        self.numbers = {name: kind for name, kind in types.items() if _is_plain(kind)}
        self.others = [name for name in schema.names if name not in self.numbers]
        alone = _in_pandas(schema, set()) if library == "pandas" else types
        self.repaired = {
            name: types[name]
            for name in self.others
            if name in survey.missing and types[name] != alone[name]
        }

    @staticmethod
    def to_look_at(schema: Any, library: str) -> list[str]:
        """Return the columns whose type depends on their values.

        A missing value turns a column of integers into floats in pandas, and of
        truth values into objects. In polars a missing number is not NaN.
        """
        import pyarrow as pa

        tests = [pa.types.is_integer, pa.types.is_boolean, pa.types.is_dictionary]
        if library == "polars":
            tests.append(pa.types.is_floating)
        return [field.name for field in schema if any(test(field.type) for test in tests)]


def _in_pandas(schema: Any, missing: set[str]) -> dict[str, Any]:
    """Return the types that pandas gives to these columns."""
    import pyarrow as pa

    gap = pa.table([pa.nulls(1, field.type) for field in schema], schema=schema)
    with_gap, without = (table.to_pandas().dtypes for table in (gap, gap.slice(0, 0)))
    return {name: (with_gap if name in missing else without)[name] for name in schema.names}


def _in_polars(schema: Any, missing: set[str]) -> dict[str, Any]:
    """Return NumPy's types for columns of numbers of which none is missing."""
    import pyarrow as pa

    def kind(field: Any) -> Any:
        number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        plain = number and field.name not in missing
        return np.dtype(field.type.to_pandas_dtype()) if plain else field.type

    return {field.name: kind(field) for field in schema}


def _is_plain(kind: object) -> bool:
    return isinstance(kind, np.dtype) and kind.kind in "iufb"
