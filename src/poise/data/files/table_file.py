"""A file of rows, read once and checked before the first fit.

A table with column names stays a data frame (pandas if it is installed, else
polars), so that text and categories reach the algorithm as they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from poise.arguments import did_you_mean, listed
from poise.data.files.columns import UNNAMED, Columns
from poise.data.files.decode_text import COMPRESSED, STDIN
from poise.data.files.text_format import TextFormat
from poise.data.on_disk.file_set import COLUMNAR, FileSet, RowsPlace, rows_place
from poise.data.ordinary_files import kind_of_file
from poise.errors import DataError

__all__ = ["PathLike", "TableFile", "open_table"]

PathLike = str | os.PathLike[str]

_TEXT = (".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class TableFile:
    """Rows of one file, or of several that hold one table; each is read only once.

    Attributes
    ----------
    path : Path or FileSet
        The file or files, for messages.
    columns : Columns
        What is in it.
    """

    path: RowsPlace
    columns: Columns

    def labelled(self, target: str | None, drop: Iterable[str] = ()) -> tuple[Any, Any]:
        """Return features and responses."""
        names, drop = self.columns.names, list(drop)
        wanted = self.columns.default_target if target is None else target
        if wanted is None:
            raise DataError(
                f"which column of {self.path} is the response? Name it as target; "
                f"columns: {listed(names)}"
            )
        self.require(wanted, *drop)
        if wanted in drop:
            raise DataError(f"column {wanted!r} cannot be the target and be dropped as well")
        features = [name for name in names if name != wanted and name not in drop]
        self._check_features(features, wanted)
        return self.columns.features(features), self.columns.response(wanted)

    def features(self, names: Sequence[str] | None = None) -> Any:
        """Return these columns, in this order; all of them if none are named."""
        wanted = self.columns.feature_names if names is None else list(names)
        self.require(*wanted)
        return self.columns.features(wanted)

    def labels(self, name: str) -> list[Any]:
        """Return one column as it is."""
        self.require(name)
        return self.columns.labels(name)

    def require(self, *names: str) -> None:
        """Refuse a name that is not a column, and suggest the closest."""
        known = self.columns.names
        for name in names:
            if name not in known:
                raise DataError(
                    f"{self.path} has no {self.columns.unit} {name!r}"
                    f"{did_you_mean(name, known) or '.'} It has: {listed(known)}"
                )

    def _check_features(self, features: list[str], target: str) -> None:
        if not features:
            raise DataError(f"{self.path} has no column left for features besides {target!r}")
        unnamed = [name for name in features if name.startswith(UNNAMED)]
        if unnamed:
            # pandas and R save row numbers like this; they must not become a feature.
            raise DataError(
                f"{self.path} has a column without a name (row numbers?): drop {unnamed[0]!r}, "
                "or give it a name in the file"
            )


def open_table(
    path: PathLike | FileSet, *, on_disk: bool = False, form: TextFormat | None = None
) -> TableFile:
    r"""Open a file by its ending, or several that hold one table.

    ``-`` is text from standard input. A folder, a pattern such as ``rows/*.parquet`` and an
    address such as ``s3://bucket/rows`` stand for Parquet or Feather files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "rows.txt")
    >>> _ = path.write_text("30;2,5\n41;3,5\n")
    >>> table = open_table(path, form=TextFormat(decimal=",", header=False))
    >>> table.labels("2")
    [2.5, 3.5]
    >>> folder.cleanup()
    """
    place = rows_place(path)
    if isinstance(place, FileSet):
        return TableFile(place, _columns_of_set(place, on_disk, form or TextFormat()))
    return TableFile(_existing(place), _columns(place, on_disk, form or TextFormat()))


def _existing(place: Path) -> Path:
    if place == STDIN:
        return place
    if place.exists() and not place.is_file():
        raise DataError(
            f"{place} is {kind_of_file(place.stat())}, not an ordinary file; text from a pipe is "
            "read from standard input, as -"
        )
    if not place.exists():
        near = [entry.name for entry in place.parent.iterdir()] if place.parent.is_dir() else []
        raise DataError(f"no such file: {place}{did_you_mean(place.name, near)}")
    return place


def _columns_of_set(files: FileSet, on_disk: bool, form: TextFormat) -> Columns:
    from poise.data.files.large_files import StoredColumns, read_file_set

    _refuse_format(form, files)
    return StoredColumns(files) if on_disk else read_file_set(files)


def _refuse_format(form: TextFormat, path: RowsPlace) -> None:
    if form.given:
        raise DataError(f"{form.given[0]} is for text files, and {path} is none")


def _columns(path: Path, on_disk: bool, form: TextFormat) -> Columns:
    """Choose the reader by the ending; only its own imports are made."""
    from poise.data.files.csv_text import read_text
    from poise.data.files.large_files import StoredColumns
    from poise.data.files.npy import read_npy
    from poise.data.files.npz import read_npz
    from poise.data.files.parquet import read_feather, read_parquet

    ending = _ending(path)
    if on_disk and ending in COLUMNAR:
        return StoredColumns(path)
    if on_disk:
        raise DataError(f"{path} must be a Parquet or Feather file to be left on disk")
    if ending not in _TEXT:
        _refuse_format(form, path)
    readers: dict[str, Callable[[Path], Columns]] = {
        **dict.fromkeys(_TEXT, partial(read_text, form=form)),
        **dict.fromkeys((".parquet", ".pq"), read_parquet),
        **dict.fromkeys((".feather", ".arrow"), read_feather),
        ".npz": read_npz,
        ".npy": read_npy,
    }
    return readers[ending](path)


def _ending(path: Path) -> str:
    """Return the ending, which tells the kind of file; standard input is text."""
    if path == STDIN:
        return ".csv"
    packed, inner = path.suffix.lower(), path.with_suffix("").suffix.lower()
    if packed in COMPRESSED and (inner in _TEXT or (packed, inner) == (".zip", "")):
        return ".csv"
    if packed not in (*_TEXT, *COLUMNAR, ".npz", ".npy"):
        raise DataError(
            f"{path} must end in .csv, .tsv, .txt (or these with .gz, .bz2, .xz, .zip), .parquet, "
            f".feather, .npz or .npy, got {''.join(path.suffixes[-2:]) or 'no ending'!r}"
        )
    return packed
