"""Text files: unpacked, decoded, and checked for what pyarrow passes over in silence."""

from __future__ import annotations

import csv
import io
import re
import sys
from pathlib import Path
from typing import Any

from poise.checks import counted, did_you_mean
from poise.data.suitable import is_number
from poise.errors import ArgumentError, DataError


def read_text(path: str, sep: str | None, decimal: str, encoding: str) -> tuple[Any, list[int]]:
    """Return a table of pyarrow, and the line in which each of its rows begins."""
    text = _decoded(path, encoding)
    first = text.lstrip().partition("\n")[0]
    if not first:
        raise DataError(f"{path} is empty")
    if all(map(is_number, re.split(r"[,;|\t]", first))):  # whatever separates them
        problem = f"the first line of {path} holds numbers, not column names"
        raise DataError(problem, remedy="add a header line")
    sep = sep or _guessed(first, decimal)
    content = text.encode()
    lines = _lines_of_rows(path, content, sep)
    if not lines:
        raise DataError(f"{path} has a header but no rows")
    return _parsed(content, sep, decimal), lines


def _decoded(path: str, encoding: str) -> str:
    content = content_of(path)
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"{path} is not {encoding} text: byte 0x{content[error.start]:02x} in line {line}"
        raise DataError(problem, remedy="set encoding, such as 'latin-1' or 'utf-16'") from None
    except (LookupError, TypeError):
        rule = "must be a known encoding, such as 'utf-8' or 'latin-1'"
        raise ArgumentError(rule, argument="encoding", got=encoding) from None


def _guessed(first: str, decimal: str) -> str:
    """Return the separator that occurs most often in the first line."""
    possible = [sep for sep in (",", ";", "\t", "|") if sep != decimal and sep in first]
    return max(possible, key=first.count) if possible else ";" if decimal == "," else ","


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


def _parsed(content: bytes, sep: str, decimal: str) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    parsing = pyarrow.csv.ParseOptions(delimiter=sep, newlines_in_values=True)
    converting = pyarrow.csv.ConvertOptions(decimal_point=decimal, strings_can_be_null=True)
    buffer = pa.BufferReader(content)
    table = pyarrow.csv.read_csv(buffer, parse_options=parsing, convert_options=converting)
    names = [name.strip() or f"Unnamed: {i}" for i, name in enumerate(table.column_names)]
    return table.rename_columns(names)


# Files and how they are packed ------------------------------------------------------------------


def content_of(path: str) -> bytes:
    """Return the bytes of a file or an address, unpacked."""
    if path == "-":
        return sys.stdin.buffer.read()
    import fsspec

    if "://" not in path:
        require_file(path)
    with fsspec.open(path, "rb", compression="infer") as file:
        return bytes(file.read())


def require_file(path: str) -> None:
    """Refuse what is not there, and pipes and devices, which would be waited for."""
    place = Path(path)
    if place.exists() and not place.is_file():
        raise DataError(f"{path} is not a regular file", remedy="give a file with rows")
    if not place.exists():
        beside = [each.name for each in place.parent.iterdir()] if place.parent.is_dir() else []
        remedy = did_you_mean(place.name, beside).removeprefix("; ")
        raise DataError(f"no such file: {path}", remedy=remedy)
