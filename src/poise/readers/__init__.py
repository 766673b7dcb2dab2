"""Tables from files: what is wrong with a file is said before anything is fitted.

A table with column names stays a data frame (pandas if it is installed, else
polars), so that text and categories reach the algorithm as they are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from poise._suggest import did_you_mean, listed
from poise.errors import DataError
from poise.readers.columns import UNNAMED, Columns, as_numbers

__all__ = ["as_numbers", "read_features", "read_table"]

PathLike = str | os.PathLike[str]


def read_table(
    path: PathLike, target: str | None = None, drop: Iterable[str] = ()
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

    Returns
    -------
    X, y : data frame and column, or two arrays

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
    >>> folder.cleanup()
    """
    path, drop = _existing(path), list(drop)
    table = _reader(path)(path)
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


def read_features(path: PathLike, columns: Sequence[str] | None = None) -> Any:
    r"""Read rows without responses, in the manner of :func:`read_table`.

    Parameters
    ----------
    path : path
        As in :func:`read_table`; an npz file must hold the array ``X``.
    columns : sequence of str, optional
        Take these, in this order, and ignore any other (a response column, say).

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
    table = _reader(path)(path)
    names = table.feature_names if columns is None else list(columns)
    for name in names:
        _require(table, name, path)
    return table.features(names)


def _existing(path: PathLike) -> Path:
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; give the file with the rows")
    if not path.exists():
        near = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise DataError(f"no such file: {path}{did_you_mean(path.name, near)}")
    return path


def _reader(path: Path) -> Callable[[Path], Columns]:
    """Choose by the ending; each kind of file pays only for its own imports."""
    from poise.readers.arrays import read_npz
    from poise.readers.columnar import read_feather, read_parquet
    from poise.readers.text import read_text

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
