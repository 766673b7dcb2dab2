"""Text files: unpacked, decoded, and checked for what pyarrow passes over in silence."""

from __future__ import annotations

import bz2
import codecs
import csv
import difflib
import gzip
import io
import lzma
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from poise.checks import counted
from poise.errors import DataError

_COMMENTS = ("#", "%", "//")
_MARKS = {  # the longer marks first, for one of them begins with a shorter
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def read_text(
    path: str, sep: str | None, decimal: str, encoding: str
) -> tuple[Any, Callable[[], Iterator[int]]]:
    """Return a table of pyarrow, and what yields the line in which each of its rows begins."""
    text = _decoded(path, content_of(path), encoding)
    lines = (line for line in io.StringIO(text) if line.strip())
    first, second, *_ = [*islice(lines, 2), "", ""]
    if not first:
        raise DataError(f"{path} is empty")
    sep = sep or _guessed(first, decimal)
    _check_header(path, first, second, sep)
    if '"' in text:  # pyarrow takes all that follows a quote that is never closed for one value
        for _ in _records(path, text, sep):
            pass
    table = _parsed(path, text, sep, decimal)
    if not table.num_rows:
        raise DataError(f"{path} has a header but no rows")
    kept = text if path == "-" else None

    def lines_of_rows() -> Iterator[int]:
        again = kept or _decoded(path, content_of(path), encoding)
        return (line for line, _ in islice(_records(path, again, sep), 1, None))

    return table, lines_of_rows


def _decoded(path: str, content: bytes, encoding: str) -> str:
    encoding = next((name for mark, name in _MARKS.items() if content.startswith(mark)), encoding)
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = f"byte 0x{content[error.start]:02x} in line {line}"
        remedy = "set encoding, such as 'latin-1'"
        raise DataError(f"{path} is not {encoding} text: {byte}", remedy=remedy) from None


def _guessed(first: str, decimal: str) -> str:
    """Return the separator that occurs most often in the first line."""
    possible = [sep for sep in (",", ";", "\t", "|") if sep != decimal and sep in first]
    return max(possible, key=first.count) if possible else ";" if decimal == "," else ","


def _check_header(path: str, first: str, second: str, sep: str) -> None:
    if first.lstrip().startswith(_COMMENTS) and first.count(sep) != second.count(sep):
        raise _comment(path, 1, first)
    if all(map(_is_number, re.split(r"[,;|\t]", first))):  # whatever separates them
        raise DataError(
            f"the first line of {path} holds numbers, not column names", remedy="add a header line"
        )


def _records(path: str, text: str, sep: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every record that is not blank, with the line in which it begins."""
    records = csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True)
    begins = 1
    try:
        for record in records:
            if record:
                yield begins, record
            begins = records.line_num + 1
    except csv.Error as error:
        reason = str(error)
        if "unexpected end" in reason or "field limit" in reason:
            reason = "a quote is opened and never closed"
        elif "expected after" in reason:
            reason = "text follows a closing quote; write a quote inside quotes twice"
        raise DataError(f"{path}, in the row that begins in line {begins}: {reason}") from None


def _parsed(path: str, text: str, sep: str, decimal: str) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(text.encode()),
            parse_options=pyarrow.csv.ParseOptions(delimiter=sep, newlines_in_values='"' in text),
            convert_options=pyarrow.csv.ConvertOptions(
                decimal_point=decimal, strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid as error:
        raise _ragged(path, text, sep, error) from None
    names = [name.strip() or f"Unnamed: {i}" for i, name in enumerate(table.column_names)]
    return table.rename_columns(names)


def _ragged(path: str, text: str, sep: str, error: Exception) -> DataError:
    """Name the first line that has more or fewer values than there are columns."""
    names: list[str] = []
    for line, record in _records(path, text, sep):
        names = names or record
        if len(record) == len(names):
            continue
        for place, cells in ((line, record), (1, names)):
            if cells[0].lstrip().startswith(_COMMENTS):
                return _comment(path, place, sep.join(cells))
        numbers = len(record) > len(names) and all(map(_is_number, record))
        return DataError(
            f"{path} is ragged: line {line} has {counted(len(record), 'value')}, there are "
            f"{counted(len(names), 'column')}",
            remedy="if these are decimal commas, put the values in quotes" if numbers else "",
        )
    return DataError(f"{path} cannot be read as text: {error}")


def _comment(path: str, line: int, text: str) -> DataError:
    shown = text.strip() if len(text.strip()) <= 40 else f"{text.strip()[:39]}…"
    return DataError(f"line {line} of {path} is a comment ({shown!r})", remedy="remove such lines")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# Files and how they are packed ------------------------------------------------------------------


def content_of(path: str) -> bytes:
    """Return the bytes of a file, unpacked."""
    content = _packed(path)
    unpack = next((PACKED[end] for end in PACKED if path.lower().endswith(end)), bytes)
    try:
        return unpack(content)
    except DataError as error:
        raise DataError(f"{path} {error}") from None
    except Exception as error:  # each packer has its own
        raise DataError(f"{path} cannot be unpacked: {error}") from error


def _packed(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    if "://" not in path:
        require_file(path)
        return Path(path).read_bytes()
    import fsspec

    try:
        with fsspec.open(path, "rb") as file:
            return bytes(file.read())
    except Exception as error:  # each file system has its own
        raise DataError(f"{path} cannot be read: {error}") from error


def require_file(path: str) -> None:
    """Refuse what is not there, and pipes and devices, which would be waited for."""
    place = Path(path)
    if place.is_file():
        return
    if place.exists():
        kind = "a folder" if place.is_dir() else "no ordinary file"
        raise DataError(f"{path} is {kind}", remedy="give a file with rows")
    beside = [each.name for each in place.parent.iterdir()] if place.parent.is_dir() else []
    near = difflib.get_close_matches(place.name, beside, n=1)
    raise DataError(f"no such file: {path}", remedy=f"did you mean {near[0]!r}?" if near else "")


def _unzipped(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [each.filename for each in archive.infolist() if not each.is_dir()]
        names = [name for name in names if not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise DataError(f"holds {counted(len(names), 'file')}, and must hold one")
        return archive.read(names[0])


PACKED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
    ".zip": _unzipped,
}
