"""Tables from files: text, Parquet, Feather, Excel and numpy's files.

pyarrow reads the text; what it passes over in silence is refused here. pandas and polars would fill
lines that are too short with missing values.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from poise.checks import choice, counted, did_you_mean
from poise.data.suitable import is_number
from poise.errors import ArgumentError, DataError, PoiseError

_TEXT, _SHEETS, _ARRAYS = (".csv", ".tsv", ".txt"), (".xlsx", ".xls", ".ods"), (".npy", ".npz")
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
        known = self.lines and row < len(self.frame)
        return self.lines[int(self.frame.index[row])] if known else None


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
        what it is: text (``.csv``, ``.tsv``, ``.txt``, also packed: ``.gz``, ``.bz2``, ``.xz``),
        Parquet, Feather, Excel, ``.npy`` or ``.npz``. ``"-"`` is text from standard input. Parquet
        or Feather files that hold one table together are given as their folder or as a pattern
        (``"rows/*.parquet"``); their rows follow each other in the order of the paths.
    target : str, optional
        The column with the responses; in an npz file an array, "y" if not given, beside the
        features in the array "X". The columns of a matrix are called "1", "2", ...
    drop : iterable of str
        Columns to leave out, such as row numbers.
    sep, decimal, encoding : str
        Of a text file: the character between values, by default taken from the first line; its
        decimal mark, "." or ","; its encoding.
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
    >>> folder.cleanup()
    """
    place, left_out = str(path), list(drop)
    choice("decimal", decimal, (".", ","))
    try:
        form = {"sep": sep, "decimal": decimal, "encoding": encoding}
        table = _read(place, form, sheet, backend)
    except PoiseError:
        raise
    except Exception as error:  # each library, file system and packer has its own
        remedy = "pip install 'poise[data]'" if isinstance(error, ImportError) else ""
        problem = f"{place} cannot be read: {' '.join(str(error).split())}"
        raise DataError(problem, remedy=remedy) from error
    names = list(map(str, table.frame.columns))
    if target is None and "y" in names and place.lower().endswith(".npz"):
        target = "y"
    if target in left_out:
        raise ArgumentError("must not name the target", argument="drop", got=target)
    for name in left_out if target is None else [*left_out, target]:
        if name not in names:
            hint = did_you_mean(name, names)
            raise DataError(f"{place} has no column {name!r}, only {', '.join(names)}{hint}")
    frame = table.frame.drop(columns=left_out)
    for name in map(str, frame.columns):
        if name.startswith("Unnamed: "):
            problem = f"{place} has a column without a name (row numbers?)"
            raise DataError(problem, remedy=f"drop {name!r}")
    frame = frame.dropna() if drop_missing else frame
    if not len(frame):
        raise DataError(f"{place} has no rows{' without a missing value' if drop_missing else ''}")
    return replace(table, frame=frame, target=target)


def _read(place: str, form: Any, sheet: str | int | None, backend: str | None) -> Table:
    ending = ".csv" if place == "-" else Path(_PACKED.sub("", place.lower())).suffix
    many = "*" in place or "://" in place or Path(place).is_dir()
    if not (many or place == "-"):
        _require_file(place)
    if ending in _TEXT:
        return _without_slips(_text(place, **form), form["decimal"])
    if ending in _SHEETS:
        return _without_slips(_excel(place, 0 if sheet is None else sheet), form["decimal"])
    if ending in _ARRAYS:
        return _numpy(place)
    if ending in _COLUMNAR or many:
        return _columnar(place, backend)
    readable = ", ".join((*_TEXT, *_COLUMNAR, *_SHEETS, *_ARRAYS))
    raise DataError(f"{place} must end in one of {readable}")


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


def _excel(path: str, sheet: str | int) -> Table:
    import pandas as pd

    frame = pd.read_excel(io.BytesIO(_content_of(path)), sheet_name=sheet)
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

    found = np.load(path, mmap_mode="r")
    if isinstance(found, np.ndarray):
        arrays = {"X": found}
    else:
        with found:
            arrays = dict(found)
    if "X" not in arrays:
        raise DataError(f"{path} must hold the features in an array 'X', got {', '.join(arrays)}")
    X = arrays.pop("X")
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        shown = f"{X.dtype} of shape {X.shape}"
        raise DataError(f"{path} must hold numbers in rows and columns, got {shown}")
    frame = pd.DataFrame(X, columns=[str(place + 1) for place in range(X.shape[1])], copy=False)
    beside = {name: array for name, array in arrays.items() if array.shape == X.shape[:1]}
    return Table(frame.assign(**beside) if beside else frame, path)


# Text files -------------------------------------------------------------------------------------


def _text(path: str, sep: str | None, decimal: str, encoding: str) -> Table:
    import pyarrow as pa
    import pyarrow.csv

    text = _decoded(path, encoding)
    first = text.lstrip().partition("\n")[0]
    if not first:
        raise DataError(f"{path} is empty")
    if all(map(is_number, re.split(r"[,;|\t]", first))):  # whatever separates them
        problem = f"the first line of {path} holds numbers, not column names"
        raise DataError(problem, remedy="add a header line")
    if not sep:  # the one that occurs most often; names may hold commas
        sep = max((each for each in ",;\t|" if each != decimal), key=first.count)
    sep = "\t" if sep == "tab" else sep
    content = text.encode()
    lines = _lines_of_rows(path, content, sep)
    if not lines:
        raise DataError(f"{path} has a header but no rows")
    parsing = pyarrow.csv.ParseOptions(delimiter=sep, newlines_in_values=True)
    converting = pyarrow.csv.ConvertOptions(decimal_point=decimal, strings_can_be_null=True)
    buffer = pa.BufferReader(content)
    table = pyarrow.csv.read_csv(buffer, parse_options=parsing, convert_options=converting)
    names = [name.strip() or f"Unnamed: {i}" for i, name in enumerate(table.column_names)]
    return Table(_to_pandas(table.rename_columns(names), path), path, lines=lines)


def _decoded(path: str, encoding: str) -> str:
    content = _content_of(path)
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"{path} is not {encoding} text: byte 0x{content[error.start]:02x} in line {line}"
        raise DataError(problem, remedy={"encoding": "latin-1"}) from None


def _lines_of_rows(path: str, content: bytes, sep: str) -> list[int]:
    """Return the line in which each row begins; refuse rows that are too short or too long.

    pyarrow takes all that follows a quote that is never closed for one value.
    """
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    records = csv.reader(text, delimiter=sep, strict=True)
    lines: list[int] = []
    width, begins = 0, 1
    try:
        for record in records:
            if record:  # else the line is blank
                width = width or len(record)
                if len(record) != width:
                    found = f"line {begins} has {counted(len(record), 'value')}"
                    raise DataError(f"{path} is ragged: {found}, the header has {width}")
                lines.append(begins)
            elif width == 1:  # pyarrow would drop it, and with it a trial that failed
                raise DataError(f"line {begins} of {path} is blank", remedy="write nan there")
            begins = records.line_num + 1
    except csv.Error as error:
        problem = f"{path}, in the row that begins in line {begins}: {error}"
        remedy = "close every quote, and write a quote inside quotes twice"
        raise DataError(problem, remedy=remedy) from None
    return lines[1:]


def _content_of(path: str) -> bytes:
    """Return the bytes of a file or an address, unpacked."""
    if path == "-":
        return sys.stdin.buffer.read()
    import fsspec

    with fsspec.open(path, "rb", compression="infer") as file:
        return bytes(file.read())


def _require_file(path: str) -> None:
    """Refuse what is not there, and pipes and devices, which would be waited for."""
    place = Path(path)
    if place.exists() and not place.is_file():
        raise DataError(f"{path} is not a regular file", remedy="give a file with rows")
    if not place.exists():
        beside = [each.name for each in place.parent.iterdir()] if place.parent.is_dir() else []
        raise DataError(f"no such file: {path}{did_you_mean(place.name, beside)}")
