"""Tables from files: text, Parquet, Feather, Excel, JSON lines and numpy's files.

pyarrow reads the text, because it alone fails on lines that are too short: pandas and polars fill
them with missing values.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from poise.checks import choice, did_you_mean
from poise.data.text_file import content_of, read_text, require_file
from poise.errors import ArgumentError, DataError, PoiseError

_TEXT, _LINES = (".csv", ".tsv", ".txt"), (".jsonl", ".ndjson")
_SHEETS, _ARRAYS = (".xlsx", ".xls", ".ods"), (".npy", ".npz")
_COLUMNAR = (".parquet", ".pq", ".feather", ".arrow")
_PACKED = re.compile(r"\.(gz|bz2|xz)$")
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?([eE][+-]?\d+)?\s*")


@dataclass(frozen=True, eq=False)
class Table:
    """A table read from a file.

    Attributes
    ----------
    frame : pandas.DataFrame
        The table, with the column names of the file.
    path : str
        Where it was read from.
    target : str or None
        The column with the responses.
    """

    frame: Any
    path: str
    target: str | None = None
    lines: Sequence[int] = field(default=(), repr=False)

    @property
    def X(self) -> Any:  # noqa: N802 - what everyone calls it
        """All columns but the target."""
        return self.frame if self.target is None else self.frame.drop(columns=[self.target])

    @property
    def y(self) -> Any:
        """The target; None if no column was named."""
        return None if self.target is None else self.frame[self.target]

    def line_of(self, row: int) -> int | None:
        """Return the line of the file in which a row begins, from 1; None where there are none."""
        return self.lines[int(self.frame.index[row])] if self.lines else None


def read_table(
    path: str | Path,
    target: str | None = None,
    *,
    drop: Iterable[str] = (),
    sep: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    sheet: str | int | None = None,
    drop_missing: bool = False,
    backend: Literal["dask"] | None = None,
) -> Table:
    r"""Read a table from a file.

    Parameters
    ----------
    path : str or Path
        A file, or an address that fsspec opens (``"s3://bucket/rows.parquet"``). Its ending says
        what it is: text (``.csv``, ``.tsv``, ``.txt``), Parquet, Feather, Excel, JSON lines
        (``.jsonl``), ``.npy`` or ``.npz``; text and JSON lines may be packed (``.gz``, ``.bz2``,
        ``.xz``). ``"-"`` is text from standard input. Parquet or Feather files that hold
        one table together are given as their folder or as a pattern (``"rows/*.parquet"``); their
        rows follow each other in the order of the paths.
    target : str, optional
        The column with the responses; in an npz file an array, "y" if not given, beside the
        features in the array "X". The columns of a matrix are called "1", "2", ...
    drop : iterable of str
        Columns to leave out, such as row numbers.
    sep : str, optional
        Character between the values of a text file; by default taken from its first line.
    decimal : {".", ","}
        Decimal mark of a text file.
    encoding : str
        Encoding of a text file.
    sheet : str or int, optional
        Sheet of an Excel file; by default the first.
    drop_missing : bool
        Leave out rows that lack a value.
    backend : {"dask"}, optional
        Leave the rows of Parquet files where they are: ``frame`` is one of Dask.

    Returns
    -------
    table : Table
        Its ``frame`` has the column names of the file; ``table.X`` and ``table.y`` are features
        and target.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "rows.csv")
    >>> _ = path.write_text("id,age,city,price\n1,30,Oslo,2.5\n2,41,Rome,3.5\n")
    >>> table = read_table(path, "price", drop=["id"])
    >>> list(table.X.columns), list(table.y), table.line_of(1)
    (['age', 'city'], [2.5, 3.5], 3)
    >>> read_table(path, "prize")
    Traceback (most recent call last):
    poise.errors.DataError: ... has no column 'prize', only id, ...; did you mean 'price'?
    >>> folder.cleanup()
    """
    place, left_out = str(path), list(drop)
    asked = _character(sep), choice("decimal", decimal, (".", ",")), encoding, sheet
    try:
        table = _read(place, backend, *asked)
    except PoiseError:
        raise
    except Exception as error:  # each library, file system and packer has its own
        remedy = "pip install 'poise[data]'" if isinstance(error, ImportError) else ""
        problem = f"{place} cannot be read: {' '.join(str(error).split())}"
        raise DataError(problem, remedy=remedy) from error
    names = list(map(str, table.frame.columns))
    if target is None and "y" in names and place.lower().endswith(".npz"):
        target = "y"
    if target is not None and target in left_out:
        raise ArgumentError("must not name the target", argument="drop", got=target)
    for name in filter(None, [*left_out, target]):
        if name not in names:
            hint = did_you_mean(name, names).removeprefix("; ")
            raise DataError(f"{place} has no column {name!r}, only {', '.join(names)}", remedy=hint)
    for name in names:
        if name.startswith("Unnamed: ") and name not in left_out:
            problem = f"{place} has a column without a name (row numbers?)"
            raise DataError(problem, remedy=f"drop {name!r}")
    frame = table.frame.drop(columns=left_out) if left_out else table.frame
    frame = frame.dropna() if drop_missing else frame
    if not len(frame):
        raise DataError(f"{place} has no rows{' without a missing value' if drop_missing else ''}")
    return replace(table, frame=frame, target=target)


def _read(place: str, backend: str | None, *form: Any) -> Table:
    name = place.lower().rpartition("/")[2]
    ending = Path(bare := _PACKED.sub("", name)).suffix
    if place == "-" or (bare != name and not ending):
        ending = ".csv"
    readable = (*_TEXT, *_COLUMNAR, *_SHEETS, *_LINES, *_ARRAYS)
    many = "*" in place or "://" in place or Path(place).is_dir()
    if ending not in readable and not many:
        raise DataError(f"{place} must end in one of {', '.join(readable)}")
    *text, sheet = form
    if ending in _TEXT:
        rows, lines = read_text(place, *text)
        return _without_slips(Table(_to_pandas(rows, place), place, lines=lines), text[1])
    if ending in _SHEETS:
        return _without_slips(_excel(place, 0 if sheet is None else sheet), text[1])
    if ending in _LINES:
        return _json_lines(place)
    return _numpy(place) if ending in _ARRAYS else _columnar(place, backend)


def _to_pandas(table: Any, path: str) -> Any:
    import pyarrow as pa

    names = table.column_names
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{path} has more than one column {twice!r}", remedy="rename one of them")
    for place, column in enumerate(table.schema):
        if pa.types.is_null(column.type):  # pandas would make a column of objects
            table = table.set_column(place, column.name, table[place].cast(pa.float64()))
    return table.to_pandas(date_as_object=False)


def _columnar(place: str, backend: str | None) -> Table:
    """Read the rows of all files, in the plain order of their paths."""
    if "://" not in place and "*" not in place and not Path(place).is_dir():
        require_file(place)
    import fsspec
    import pyarrow.dataset

    system, path = fsspec.url_to_fs(place)
    found = sorted(system.glob(path) if "*" in path else system.find(path))
    named = [(file, file.lower().rpartition("/")[2]) for file in found]
    files = [file for file, name in named if name.endswith(_COLUMNAR) and name[0] not in "_."]
    if not files:
        raise DataError(f"no Parquet or Feather file in {place}")
    kind = "parquet" if files[0].lower().endswith((".parquet", ".pq")) else "feather"
    data = pyarrow.dataset.dataset(
        files,
        filesystem=system,
        format=kind,
        partitioning="hive",  # the names of folders such as year=2024 are a column
        partition_base_dir=path.partition("*")[0].rpartition("/")[0] if "*" in path else path,
    )
    parts = list(data.get_fragments())
    for part in parts:  # pyarrow would fill in missing values, or drop one of two columns
        keys = pyarrow.dataset.get_partition_keys(part.partition_expression)
        same = part.physical_schema.equals(parts[0].physical_schema)
        if not same or sorted([*part.physical_schema.names, *keys]) != sorted(data.schema.names):
            columns = ", ".join(data.schema.names)
            raise DataError(f"{part.path}, with its folders, must have each column once: {columns}")
    if backend == "dask" and kind == "parquet":
        import dask.dataframe as dd

        each = [dd.read_parquet(system.unstrip_protocol(file)) for file in files]
        return Table(dd.concat(each), place)
    # Threads of pyarrow that call fsspec while the interpreter ends would end it with an error.
    table = data.to_table(use_threads="file" in system.protocol)
    table.validate(full=True)  # offsets out of range would end the process later
    # Each part knows only its own categories.
    return Table(_to_pandas(table.unify_dictionaries(), place), place)


def _json_lines(path: str) -> Table:
    import pyarrow as pa
    import pyarrow.json

    content = content_of(path)
    table = pyarrow.json.read_json(pa.BufferReader(content))
    lines = [number for number, line in enumerate(content.split(b"\n"), 1) if line.strip()]
    return Table(_to_pandas(table, path), path, lines=lines)


def _excel(path: str, sheet: str | int) -> Table:
    import pandas as pd

    frame = pd.read_excel(io.BytesIO(content_of(path)), sheet_name=sheet)
    return Table(frame, path, lines=range(2, len(frame) + 2))


def _without_slips(table: Table, decimal: str) -> Table:
    """Refuse columns of text that were meant as numbers: one slip makes a whole column text."""
    import pandas as pd

    for name, column in table.frame.select_dtypes(["object", "string"]).items():
        known = column.dropna().map(str)
        commas = decimal == "." and known.str.contains(",").any()
        if commas and known.str.fullmatch(_DECIMAL_COMMA).all():
            example = f"column {name!r}, {known.iloc[0]!r}"
            raise DataError(f"{table.path} has decimal commas ({example})", remedy={"decimal": ","})
        plain = known.str.replace(decimal, ".", regex=False)
        good = pd.to_numeric(plain, errors="coerce").notna().to_numpy()
        if len(known) / 2 < good.sum() < len(known):
            row = int(known.index[~good][0])
            found = f"{known[row]!r} in line {table.line_of(row)}"
            problem = f"column {name!r} of {table.path} mixes numbers and text: {found}"
            raise DataError(problem, remedy="correct the value, or leave it empty")
    return table


def _numpy(path: str) -> Table:
    """Read a matrix, or the matrix X of an archive with columns beside it."""
    import pandas as pd

    require_file(path)
    found = np.load(path, mmap_mode="r", allow_pickle=False)
    with nullcontext() if isinstance(found, np.ndarray) else found:
        arrays = {"X": found} if isinstance(found, np.ndarray) else dict(found)
    if "X" not in arrays:
        raise DataError(f"{path} must hold the features in an array 'X', got {', '.join(arrays)}")
    X = arrays.pop("X")
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        shown = f"{X.dtype} of shape {X.shape}"
        raise DataError(f"{path} must hold numbers in rows and columns, got {shown}")
    frame = pd.DataFrame(X, columns=[str(place + 1) for place in range(X.shape[1])], copy=False)
    beside = {name: array for name, array in arrays.items() if array.shape == X.shape[:1]}
    return Table(frame.assign(**beside) if beside else frame, path)


def _character(sep: str | None) -> str | None:
    word = {"tab": "\t", "\\t": "\t"}.get(sep, sep) if isinstance(sep, str) else sep
    if word is not None and (not isinstance(word, str) or len(word) != 1 or word in '"\n\r'):
        raise ArgumentError("must be one character, or 'tab'", argument="sep", got=sep)
    return word
