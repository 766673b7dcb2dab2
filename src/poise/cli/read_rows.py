"""The rows of a question, read from its files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import click

from poise.cli.input_files import leave_to_workers, note_input
from poise.errors import ArgumentError

if TYPE_CHECKING:
    from poise.data.files.row_source import RowSource
    from poise.data.files.table_file import TableFile
    from poise.data.on_disk.file_set import FileSet

__all__ = ["FileRows", "name_lines", "note_places", "read_rows", "rows_for_trials"]

_PLACE = f"{__name__}.place"
_ROW = re.compile(r"row (\d+) \(counting from 0\)")
_COLUMN = re.compile(r"column (\d+) of (X|X_fresh|--fresh|X_unlabeled|--unlabeled)(?!\w)")
_OTHER_FILE = re.compile(r"\bof (X_fresh|--fresh|X_unlabeled|--unlabeled)(?!\w)")


@dataclass(frozen=True)
class FileRows:
    """The rows of the files, and how to name a row in a message.

    Attributes
    ----------
    tables : dict
        X, y and, where they are asked for, X_unlabeled, groups and fit_params.
    place : callable
        Gives the line of the file in which a labelled row is.
    columns : tuple of str
        Names of the columns of X, which arrays do not have; empty if the file has none.
    unlabeled_place : callable or None
        Gives the line of the other file in which an unlabelled row is.
    """

    tables: dict[str, Any]
    place: Callable[[int], str]
    columns: tuple[str, ...] = ()
    unlabeled_place: Callable[[int], str] | None = None

    def given_to(self, *algorithms: object) -> dict[str, Any]:
        """Return the arguments of a measurement.

        They are arrays if the files hold only numbers and no algorithm asks for names.
        """
        from poise.cli.load_algorithm import ignores_names

        note_places(self.place, self.columns, self.unlabeled_place)
        names = not all(ignores_names(algorithm) for algorithm in algorithms)
        return self.tables if names else self._arrays

    def usable_by(self, algorithm: object, new: object = None) -> dict[str, Any]:
        """Return the arguments of a fit; refuse gaps and labels that the algorithm cannot use.

        Messages name the file of the unlabelled rows, ``new``, in place of an argument.
        """
        from poise.algorithms.as_algorithm import as_algorithm
        from poise.data.sample import Sample
        from poise.errors import AlgorithmError

        rows = dict(self.given_to(algorithm))
        try:
            as_algorithm(algorithm).prepared(Sample(rows["X"], rows["y"], rows.get("X_unlabeled")))
        except AlgorithmError as error:
            name_lines(error, click.get_current_context())
            raise AlgorithmError(str(error).replace("X_unlabeled", str(new))) from None
        return rows

    @cached_property
    def _arrays(self) -> dict[str, Any]:
        """Plain arrays of numbers if that is possible."""
        from poise.data.files.read_table import as_numbers

        wanted = [name for name in ("X", "y", "X_unlabeled") if name in self.tables]
        made = {name: as_numbers(self.tables[name]) for name in wanted}
        # If one of them holds text, neither is converted: both must be of the same kind.
        if type(made["X"]) is not type(made.get("X_unlabeled", made["X"])):
            made = {"y": made["y"]}
        return self.tables | made


@dataclass(frozen=True)
class RowsOfWorkers(FileRows):
    """Files that workers of a cluster read, and the names of their columns."""

    def given_to(self, *algorithms: object) -> dict[str, Any]:
        """Return the arguments of a measurement; algorithms get data frames."""
        note_places(self.place)
        return self.tables


def rows_for_trials(source: RowSource, backend: str | None) -> FileRows:
    """Read the files of a question; workers of a cluster read one table in many files themselves.

    Then they must see the files under the same names, and nothing is read here but the ends of
    the files.
    """
    from poise.data.files.unread_rows import FileTable
    from poise.data.on_disk.file_set import FileSet, rows_place
    from poise.running.workers.backend import CLUSTERS

    place = rows_place(source.file)
    if backend not in CLUSTERS or not isinstance(place, FileSet) or source.target is None:
        return read_rows(source)
    tables: dict[str, Any] = {"X": FileTable(place, source.drop), "target": source.target}
    if source.unlabeled is not None:
        tables["X_unlabeled"] = FileTable(rows_place(source.unlabeled))
    if source.groups is not None:
        tables["groups"] = source.groups
    if source.fit_params:
        tables["fit_params"] = dict(source.fit_params)
    leave_to_workers(*place.files)
    return RowsOfWorkers(tables, partial(_line_in, place))


def _line_in(files: FileSet, row: int) -> str:
    """Say in which file a row is; the ends of all files are read for that."""
    from poise.data.on_disk.set_pieces import SetSource

    return SetSource(files).place(row)


def read_rows(source: RowSource) -> FileRows:
    """Read the files of a question, each of them once.

    A missing column is reported before any library is imported. If one table is large and in
    Parquet or Feather files, both stay on disk.
    """
    from poise.data.tables import as_table

    table, *unlabeled = _opened(source)
    table.require(*source.left_out)
    tables: dict[str, Any] = {}
    tables["X"], tables["y"] = table.labelled(source.target, source.left_out)
    note_places(table.columns.place)
    name = f"column {source.target!r} of {source.file}" if source.target else "y"
    _check_complete(tables["y"], name)
    columns = as_table(tables["X"], "X").columns()
    names = columns if isinstance(columns, tuple) else None
    for other in unlabeled:
        tables["X_unlabeled"] = other.features(names)
    if source.groups is not None:
        tables["groups"] = table.labels(source.groups)
    if source.fit_params:
        tables["fit_params"] = {
            name: _checked_column(table, column) for name, column in source.fit_params.items()
        }
    others = [other.columns.place for other in unlabeled]
    return FileRows(tables, table.columns.place, names or (), *others)


def _opened(source: RowSource) -> list[TableFile]:
    """Open the file of the labelled rows and, if there is one, that of the unlabelled rows."""
    from poise.data.files.decode_text import STDIN
    from poise.data.files.read_table import worth_leaving
    from poise.data.files.table_file import open_table
    from poise.data.on_disk.file_set import FileSet, rows_place

    if source.file == source.unlabeled == STDIN:
        raise ArgumentError("standard input holds one table; give the other one as a file")
    files = [rows_place(file) for file in (source.file, source.unlabeled) if file is not None]
    for file in files:
        note_input(*(file.files if isinstance(file, FileSet) else [file]))
    on_disk = any(worth_leaving(file) for file in files)
    return [open_table(file, on_disk=on_disk, form=source.form) for file in files]


def _checked_column(table: TableFile, name: str) -> Any:
    """Return one column of arguments of fit, such as weights."""
    values = table.columns.response(name)
    _check_complete(values, f"column {name!r} of {table.path}")
    return values


def _check_complete(values: object, name: str) -> None:
    from poise.data.responses import check_responses
    from poise.data.tables import as_table

    check_responses(as_table(values, name), name)


def note_places(
    place: Callable[[int], str],
    columns: tuple[str, ...] = (),
    unlabeled_place: Callable[[int], str] | None = None,
) -> None:
    """Remember the names of rows and columns until the command has ended."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.find_root().meta[_PLACE] = place, columns, unlabeled_place or place


def name_lines(error: ArgumentError, context: click.Context) -> None:
    """Change an error about a row so that it names the line in the file and the column."""
    if _PLACE not in context.meta or not error.args:
        return
    place, columns, unlabeled_place = context.meta[_PLACE]
    message = str(error.args[0])
    line = unlabeled_place if _OTHER_FILE.search(message) else place
    message = _ROW.sub(lambda row: line(int(row[1])), message)
    if columns:
        message = _COLUMN.sub(lambda found: _named(found, columns), message)
    error.args = (message, *error.args[1:])


def _named(found: re.Match[str], columns: tuple[str, ...]) -> str:
    """Name a column by its name in the file; of the labelled rows that is enough."""
    table = "" if found[2] == "X" else f" of {found[2]}"
    return f"column {columns[int(found[1])]!r}{table}"
