"""Tables from files: what is wrong with a file is said before anything is fitted.

A table with column names stays a data frame (pandas if it is installed, else
polars), so that text and categories reach the algorithm as they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from poise.arguments import did_you_mean, listed
from poise.data.files.columns import UNNAMED, Columns, as_numbers
from poise.errors import DataError

__all__ = ["as_numbers", "read_features", "read_labels", "read_table", "worth_leaving"]

PathLike = str | os.PathLike[str]

_COLUMNAR = (".parquet", ".pq", ".feather", ".arrow")
_LARGE = 1 << 28  # bytes of a file; in memory it may well take ten times as much


def read_table(
    path: PathLike, target: str | None = None, drop: Iterable[str] = (), *, on_disk: bool = False
) -> tuple[Any, Any]:
    r"""Read labelled rows from a CSV, TSV, Parquet, Feather or npz file.

    Parameters
    ----------
    path : path
        The kind of file is taken from its ending; ``.csv`` and ``.tsv`` may be
        followed by ``.gz``.
    target : str
        Column with the responses; in an npz file the name of an array
        (``"y"`` if not given), beside the features in the array ``X``.
    drop : iterable of str
        Columns that are neither features nor response, such as row numbers.
    on_disk : bool
        Leave the features in the file, which must be Parquet or Feather and may be
        larger than memory: rows are read when a trial needs them.

    Returns
    -------
    X, y : data frame and column, or two arrays
        With ``on_disk``, X stands for rows that become data frames when taken.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "rows.csv")
    >>> _ = path.write_text("id,age,city,price\n1,30,Oslo,2.5\n2,41,Rome,3.5\n")
    >>> X, y = read_table(path, target="price", drop=["id"])
    >>> list(X.columns), list(y)
    (['age', 'city'], [2.5, 3.5])
    >>> read_table(path, target="prize")
    Traceback (most recent call last):
    poise.errors.DataError: .../rows.csv has no column 'prize'; did you mean 'price'? ...
    >>> X.to_parquet(path.with_suffix(".parquet"))
    >>> X, y = read_table(path.with_suffix(".parquet"), target="age", on_disk=True)
    >>> len(X), X.columns(), list(y)
    (2, ('city',), [30, 41])
    >>> folder.cleanup()
    """
    path, drop = _existing(path), list(drop)
    table = _reader(path, on_disk)(path)
    wanted = table.default_target if target is None else target
    if wanted is None:
        raise DataError(
            f"which column of {path} is the response? Name it as target; "
            f"columns: {listed(table.names)}"
        )
    for name in (wanted, *drop):
        _require(table, name, path)
    if wanted in drop:
        raise DataError(f"column {wanted!r} cannot be the target and be dropped as well")
    features = [name for name in table.names if name != wanted and name not in drop]
    _check_features(features, wanted, path)
    return table.features(features), table.response(wanted)


def read_features(
    path: PathLike, columns: Sequence[str] | None = None, *, on_disk: bool = False
) -> Any:
    r"""Read rows without responses, in the manner of :func:`read_table`.

    Parameters
    ----------
    path : path
        As in :func:`read_table`; an npz file must hold the array ``X``.
    columns : sequence of str, optional
        Take these, in this order, and ignore any other (a response column, say).
    on_disk : bool
        As in :func:`read_table`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "more.csv")
    >>> _ = path.write_text("price,age\n,33\n,47\n")
    >>> list(read_features(path, columns=["age"])["age"])
    [33, 47]
    >>> folder.cleanup()
    """
    path = _existing(path)
    table = _reader(path, on_disk)(path)
    names = table.feature_names if columns is None else list(columns)
    for name in names:
        _require(table, name, path)
    return table.features(names)


def read_labels(path: PathLike, name: str, *, on_disk: bool = False) -> list[Any]:
    r"""Read one column as it is, to say which rows belong together.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "rows.csv")
    >>> _ = path.write_text("price,owner\n2,ann\n3,bob\n")
    >>> read_labels(path, "owner")
    ['ann', 'bob']
    >>> folder.cleanup()
    """
    path = _existing(path)
    table = _reader(path, on_disk)(path)
    _require(table, name, path)
    return table.labels(name)


def worth_leaving(path: PathLike) -> bool:
    """Tell whether a file is large, and of a kind that can stay on disk.

    Examples
    --------
    >>> worth_leaving("rows.csv")
    False
    """
    path = Path(path)
    return path.suffix.lower() in _COLUMNAR and path.is_file() and path.stat().st_size >= _LARGE


def _existing(path: PathLike) -> Path:
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the file with the rows")
    if not path.exists():
        near = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise DataError(f"no such file: {path}{did_you_mean(path.name, near)}")
    return path


def _reader(path: Path, on_disk: bool) -> Callable[[Path], Columns]:
    """Choose by the ending; each kind of file pays only for its own imports."""
    from poise.data.files.csv_text import read_text
    from poise.data.files.large_files import StoredColumns
    from poise.data.files.npz import read_npz
    from poise.data.files.parquet import read_feather, read_parquet

    if on_disk and path.suffix.lower() in _COLUMNAR:
        return StoredColumns
    if on_disk:
        raise DataError(f"{path} must be a Parquet or Feather file to be left on disk")
    by_ending = {
        ".csv": read_text,
        ".tsv": read_text,
        ".parquet": read_parquet,
        ".pq": read_parquet,
        ".feather": read_feather,
        ".arrow": read_feather,
        ".npz": read_npz,
    }
    ending = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    if ending not in by_ending or (path.suffix.lower() == ".gz" and ending not in (".csv", ".tsv")):
        raise DataError(
            f"{path} must end in .csv, .tsv (or either with .gz), .parquet, .feather or .npz, "
            f"got {''.join(path.suffixes[-2:]) or 'no ending'!r}"
        )
    return by_ending[ending]


def _check_features(features: list[str], target: str, path: Path) -> None:
    if not features:
        raise DataError(f"{path} has no column left for features besides {target!r}")
    unnamed = [name for name in features if name.startswith(UNNAMED)]
    if unnamed:
        # pandas and R save row numbers like this; they must not become a feature by accident.
        raise DataError(
            f"{path} has a column without a name (row numbers?): drop {unnamed[0]!r}, "
            "or give it a name in the file"
        )


def _require(table: Columns, name: str, path: Path) -> None:
    if name not in table.names:
        raise DataError(
            f"{path} has no {table.unit} {name!r}{did_you_mean(name, table.names) or '.'} "
            f"It has: {listed(table.names)}"
        )
