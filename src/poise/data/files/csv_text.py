"""CSV and TSV: checked line by line first, because the fast readers forgive too much.

They fill short lines with missing values and shift columns when every line is
too long; both would change the question without a word.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from poise.arguments import counted
from poise.data.files.columns import UNNAMED, Columns, FrameColumns, NumericColumns
from poise.errors import DataError

__all__ = ["read_text"]

_DELIMITERS = (",", ";", "\t", "|")
_MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None"]


def read_text(path: Path) -> Columns:
    """Read a CSV or TSV file with a header line; the delimiter is taken from that line."""
    text = _decoded(path)
    first = next((line for line in io.StringIO(text) if line.strip()), None)
    if first is None:
        raise DataError(f"{path} is empty")
    delimiter = _delimiter(first)
    names = _checked_names(text, delimiter, path)
    if find_spec("pandas"):
        return FrameColumns(_with_pandas(text, delimiter, names))
    if find_spec("polars"):
        return FrameColumns(_with_polars(text, delimiter, names))
    return _with_numpy(text, delimiter, names, path)


def _decoded(path: Path) -> str:
    content = path.read_bytes()
    try:
        if path.suffix.lower() == ".gz":
            content = gzip.decompress(content)
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path} is not UTF-8 text: byte 0x{content[error.start]:02x} in line {line}; "
            "save it again as UTF-8"
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} is not a gzip file: {error}") from None


def _delimiter(header: str) -> str:
    """Return the delimiter that occurs most in the header; a comma if none does."""
    return max(_DELIMITERS, key=header.count)


def _checked_names(text: str, delimiter: str, path: Path) -> list[str]:
    """Return the column names once every line has been seen to have one value for each."""
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names: list[str] = []
    n_rows = 0
    try:
        for row in lines:
            if not row:
                continue  # a blank line is no row
            if not names:
                names = [name.strip() for name in row]
            elif len(row) != len(names):
                raise DataError(
                    f"{path} is ragged: line {lines.line_num} has {counted(len(row), 'value')}, "
                    f"the header names {len(names)} columns"
                )
            else:
                n_rows += 1
    except csv.Error as error:
        raise DataError(f"{path}, line {lines.line_num}: {error}") from None
    _check_header(names, n_rows, path)
    return names


def _check_header(names: list[str], n_rows: int, path: Path) -> None:
    if all(_is_number(name) for name in names):
        raise DataError(
            f"the first line of {path} holds numbers, not column names; add a header line"
        )
    if n_rows == 0:
        raise DataError(f"{path} has a header but no rows")
    for position, name in enumerate(names):
        names[position] = name or f"{UNNAMED}{position}"
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(f"{path} has more than one column {repeated[0]!r}; rename one of them")


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _with_pandas(text: str, delimiter: str, names: list[str]) -> Any:
    import pandas as pd

    # Whole columns at a time: pandas would otherwise guess types chunk by chunk.
    return pd.read_csv(
        io.StringIO(text), sep=delimiter, header=0, names=names, index_col=False, low_memory=False
    )


def _with_polars(text: str, delimiter: str, names: list[str]) -> Any:
    import polars as pl

    return pl.read_csv(
        io.BytesIO(text.encode()),
        separator=delimiter,
        new_columns=names,
        infer_schema_length=None,
        null_values=_MISSING,
    )


def _with_numpy(text: str, delimiter: str, names: list[str], path: Path) -> NumericColumns:
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    try:
        values = [
            [np.nan if cell.strip() in _MISSING else float(cell) for cell in row]
            for row in rows[1:]
        ]
    except ValueError as error:
        raise DataError(
            f"{path} holds text ({error}), which needs a data-frame library: "
            "pip install 'poise[data]'"
        ) from None
    return NumericColumns(names, np.array(values))
