"""Read tables from files: labelled rows, unlabelled rows, single columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from poise.data.files.columns import as_numbers
from poise.data.files.table_file import PathLike, open_table
from poise.data.files.text_format import TextFormat
from poise.data.on_disk.file_set import COLUMNAR, FileSet, rows_place

__all__ = ["as_numbers", "read_features", "read_table", "worth_leaving"]

_LARGE_BYTES = 1 << 28  # of all files; in memory it may take ten times as much


def read_table(
    path: PathLike,
    target: str | None = None,
    drop: Iterable[str] = (),
    *,
    on_disk: bool = False,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool = True,
) -> tuple[Any, Any]:
    r"""Read labelled rows from a text, Parquet, Feather, npz or npy file.

    Parameters
    ----------
    path : path
        The kind of file is taken from its ending. Text ends in ``.csv``, ``.tsv`` or
        ``.txt``, which may be followed by ``.gz``, ``.bz2``, ``.xz`` or ``.zip``; ``"-"`` is
        text from standard input. Parquet or Feather files that hold one table together are
        given as their folder, as a pattern (``"rows/*.parquet"``), or as an address for fsspec
        (``"s3://bucket/rows"``). Their rows are numbered in the order of the files' paths,
        compared as plain text, and all files must have the same columns. Folders called
        ``key=value`` below the folder (before the first star of a pattern) add a column
        ``key``, of integers if all its values are, else of text.
    target : str
        Column with the responses; in an npz file the name of an array
        (``"y"`` if not given), beside the features in the array ``X``. Columns
        without names (an npy file, text without a header) are called 1, 2, 3, ...
    drop : iterable of str
        Columns that are neither features nor response, such as row numbers.
    on_disk : bool
        Leave the features in the files, which must be Parquet or Feather and may be
        larger than memory: rows are read when a trial needs them.
    sep : str, optional
        Of a text file: one character between values; ``"tab"`` and ``"space"`` are
        understood. By default taken from the first line.
    decimal : {".", ","}, optional
        Of a text file: the decimal mark. By default a point, and columns that hold
        nothing but numbers with commas are refused.
    encoding : str, optional
        Of a text file: such as ``"latin-1"``. By default UTF-8, or UTF-16 where the
        file begins with its mark.
    header : bool
        Of a text file: whether its first line holds names.

    Returns
    -------
    X, y : data frame and column, or two arrays
        With ``on_disk``, X stands for rows that become data frames when taken.

    See Also
    --------
    stability_test, poise.data.files.read_table.read_features

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
    >>> import pandas as pd
    >>> for year in (2024, 2025):
    ...     part = pathlib.Path(folder.name, "rows", f"year={year}")
    ...     part.mkdir(parents=True)
    ...     pd.DataFrame({"age": [year - 2000], "price": [1.5]}).to_parquet(part / "a.parquet")
    >>> X, y = read_table(pathlib.Path(folder.name, "rows"), target="price")
    >>> X.to_dict("list")
    {'age': [24, 25], 'year': [2024, 2025]}
    >>> folder.cleanup()
    """
    form = TextFormat(sep, decimal, encoding, header)
    return open_table(path, on_disk=on_disk, form=form).labelled(target, drop)


def read_features(
    path: PathLike,
    columns: Sequence[str] | None = None,
    *,
    on_disk: bool = False,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool = True,
) -> Any:
    r"""Read rows without responses, as :func:`read_table` does.

    Parameters
    ----------
    path : path
        As in :func:`read_table`; an npz file must hold the array ``X``.
    columns : sequence of str, optional
        Take these, in this order, and ignore any other (a response column, say).
    on_disk, sep, decimal, encoding, header
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
    form = TextFormat(sep, decimal, encoding, header)
    return open_table(path, on_disk=on_disk, form=form).features(columns)


def worth_leaving(path: PathLike | FileSet) -> bool:
    """Tell whether a table is large, and in files of a kind that can stay on disk.

    Examples
    --------
    >>> worth_leaving("rows.csv")
    False
    """
    place = rows_place(path)
    if isinstance(place, FileSet):
        return place.size >= _LARGE_BYTES
    return (
        place.suffix.lower() in COLUMNAR
        and place.is_file()
        and place.stat().st_size >= _LARGE_BYTES
    )
