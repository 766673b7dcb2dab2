"""Files of the folder that hold rows, their columns, and files with algorithms."""

from __future__ import annotations

import ast
from pathlib import Path

from poise.cli.ui.results_folder import Folder
from poise.errors import DataError

__all__ = ["algorithm_files", "columns_of", "is_table", "names_in", "tables"]

_TABLES = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".feather", ".arrow", ".npz", ".npy")
_PACKED = (".gz", ".bz2", ".xz", ".zip")
_MOST_FILES = 500


def is_table(name: str) -> bool:
    """Tell from its ending whether a file may hold rows.

    Examples
    --------
    >>> is_table("rows.csv.gz"), is_table("rows.npz"), is_table("--n"), is_table("notes.zip")
    (True, True, False, False)
    """
    path = Path(name)
    inner = path.with_suffix("") if path.suffix.lower() in _PACKED else path
    return inner.suffix.lower() in _TABLES


def tables(folder: Folder) -> dict[str, Path]:
    """Return the files that may hold rows, by their names; records of poise are left out."""
    from poise.cli.ui.file_kind import kind_of

    found: dict[str, Path] = {}
    for file in folder.files():
        if len(found) < _MOST_FILES and is_table(file.name):
            try:
                ours = file.path.suffix == ".npz" and kind_of(file.path) is not None
            except Exception:  # a damaged archive: reading its columns will say so
                ours = False
            found |= {} if ours else {file.name: file.path}
    return found


def columns_of(path: Path) -> tuple[list[str], int]:
    """Return the names of the columns of a file, and the number of its rows."""
    from poise.data.files.read_table import worth_leaving
    from poise.data.files.table_file import open_table
    from poise.data.tables import as_table

    table = open_table(path, on_disk=worth_leaving(path))
    names = [str(name) for name in table.columns.names]
    if not names:
        raise DataError(f"{path.name} has no columns")
    return names, len(as_table(table.columns.labels(names[-1]), "y"))


def algorithm_files(folder: Folder) -> dict[str, Path]:
    """Return the Python files of the folder, by their names."""
    found = (file for file in folder.files() if file.path.suffix == ".py")
    return {file.name: file.path for file, _ in zip(found, range(_MOST_FILES), strict=False)}


def names_in(path: Path) -> list[str]:
    r"""Return the names that a Python file defines at its top; nothing in it is run.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "models.py")
    >>> _ = path.write_text("import os\nmodel = 1\ndef fit(X, y, seed): ...\n_x = 2\n")
    >>> names_in(path)
    ['model', 'fit']
    """
    try:
        body = ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError, RecursionError) as error:
        raise DataError(f"{path.name} is not Python: {error}") from None
    names: list[str] = []
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [each.id for each in node.targets if isinstance(each, ast.Name)]
    return [name for name in names if not name.startswith("_")]
