"""Rows in files that are not read yet: a path given as X."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from poise.data.files.read_table import worth_leaving
from poise.data.files.table_file import open_table
from poise.data.on_disk.file_set import FileSet, RowsPlace, rows_place
from poise.data.partitioned.column_roles import ColumnRoles

__all__ = ["FileTable", "read_files"]


@dataclass(frozen=True)
class FileTable:
    """Files that hold one table, and columns that are left out.

    Attributes
    ----------
    place : Path or FileSet
        Where the rows are.
    drop : tuple of str
        Columns that are neither features nor response.
    """

    place: RowsPlace
    drop: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Any) -> FileTable | None:
        """Return the files that a path stands for; None of anything else.

        Examples
        --------
        >>> FileTable.of("rows.parquet").place.name, FileTable.of([[1.0]])
        ('rows.parquet', None)
        """
        if isinstance(rows, FileTable):
            return rows
        named = isinstance(rows, (str, os.PathLike, FileSet))
        return cls(rows_place(rows)) if named else None


def read_files(
    table: FileTable,
    target: str,
    unlabeled: FileTable | None = None,
    groups: Any = None,
    fit_params: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Read the arguments of a sample; large Parquet and Feather files stay on disk."""
    tables = [table] if unlabeled is None else [table, unlabeled]
    on_disk = any(worth_leaving(each.place) for each in tables)
    opened = [open_table(each.place, on_disk=on_disk) for each in tables]
    names = [name for name in opened[0].columns.names if name not in table.drop]
    by_name = isinstance(groups, str)
    roles = ColumnRoles.of(names, target, groups if by_name else None, fit_params)
    columns, features = opened[0].columns, list(roles.features)
    params = {name: columns.response(column) for name, column in roles.per_row.items()}
    return {
        "X": columns.features(features),
        "y": columns.response(target),
        "X_unlabeled": opened[1].features(features) if unlabeled is not None else None,
        "groups": columns.labels(groups) if by_name else groups,
        "fit_params": None if fit_params is None else {**roles.constant, **params},
    }
