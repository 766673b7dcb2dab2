"""CSV, TSV and other text files: each line is checked before the values are read.

pandas and polars fill short lines with missing values, and shift columns if every line
is too long. Both would change the question without a message.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from poise.arguments import counted, reads_as_number
from poise.data.files.columns import UNNAMED
from poise.data.files.decode_text import decoded
from poise.data.files.text_columns import TextColumns
from poise.data.files.text_format import TextFormat
from poise.errors import DataError

__all__ = ["read_text"]

_BLANK = " "
_BLANK_LINE = re.compile(r"(?:^|\n|\r)\r?\n")
_NUMERIC = re.compile(r"[\d\s.,;|+-]+")  # numbers, but perhaps with another separator
_COMMENTS = ("#", "%", "//")


def read_text(path: Path, form: TextFormat = TextFormat()) -> TextColumns:  # noqa: B008  # frozen
    """Check a text file and name its columns; values are read when they are needed."""
    text = decoded(path, form.encoding)
    first, second, *_ = [*islice((s for s in io.StringIO(text) if s.strip()), 2), "", ""]
    if not first:
        raise DataError(f"{path} is empty")
    sep = form.sep or _guessed_separator(first, second, form)
    _refuse_comment(first, second, sep, path)
    content = _Content.checked(text, sep, form.header, path)
    if sep == _BLANK or _BLANK_LINE.search(text):  # which the libraries read differently
        text, sep = _with_tabs(text, sep), "\t"
    return TextColumns(path, text, sep, form, content.names, content.lines)


def _guessed_separator(first: str, second: str, form: TextFormat) -> str:
    """Return the separator that occurs most in the header; blanks if there is no other."""
    possible = [sep for sep in (",", ";", "\t", "|") if sep != form.decimal and sep in first]
    if not possible:
        blanks = len(first.split()) == len(second.split()) > 1
        return _BLANK if blanks else ";" if form.decimal == "," else ","
    # In a line of values, commas may also be decimal marks.
    rivals = possible if form.header else [sep for sep in possible if sep != ","] or possible
    return max(rivals, key=first.count)


def _rows(text: str, sep: str) -> csv._reader:  # type: ignore[name-defined]
    lines: Iterator[str] = io.StringIO(text, newline="")
    if sep == _BLANK:
        lines = (line.strip() + "\n" for line in lines)
    return csv.reader(lines, delimiter=sep, skipinitialspace=sep == _BLANK, strict=True)


def _with_tabs(text: str, sep: str) -> str:
    """Write the rows again, with tabs and without blank lines."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, delimiter="\t").writerows(row for row in _rows(text, sep) if row)
    return buffer.getvalue()


def _refuse_comment(first: str, second: str, sep: str, path: Path) -> None:
    """Refuse a file that begins with a remark; a header may begin with # as well."""
    if first.lstrip().startswith(_COMMENTS) and first.count(sep) != second.count(sep):
        raise DataError(f"{_comment(1, first, path)}")


def _comment(line: int, text: str, path: Path) -> str:
    shown = text.strip() if len(text.strip()) <= 40 else f"{text.strip()[:39]}…"
    return f"line {line} of {path} is a comment ({shown!r}); remove such lines"


@dataclass(frozen=True)
class _Content:
    """Names of the columns, and the line of the file in which each row begins."""

    names: list[str]
    lines: Sequence[int]

    @classmethod
    def checked(cls, text: str, sep: str, header: bool, path: Path) -> _Content:
        """Check that every line has one value for each name."""
        names: list[str] = []
        lines = array("q")
        for line, row in _numbered(text, sep, path):
            if not names:
                names = _names(row, header, path)
                if header:
                    continue
            if len(row) != len(names):
                raise _ragged(line, row, names, sep, path)
            lines.append(line)
        if not lines:
            raise DataError(f"{path} has a header but no rows")
        return cls(names, lines)


def _numbered(text: str, sep: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield every row that is not blank, with the line in which it begins."""
    rows = _rows(text, sep)
    begins = 1
    try:
        for row in rows:
            if row:
                yield begins, row
            begins = rows.line_num + 1
    except csv.Error as error:
        raise _misquoted(begins, str(error), path) from None


def _misquoted(line: int, reason: str, path: Path) -> DataError:
    if "unexpected end" in reason:
        reason = "a quote is opened and never closed"
    elif "field limit" in reason:
        size = f"{csv.field_size_limit():,}"
        reason = f"a value has more than {size} characters: is a quote never closed?"
    elif "expected after" in reason:
        reason = "text follows a closing quote; write a quote inside quotes twice"
    return DataError(f"{path}, in the row that begins in line {line}: {reason}")


def _ragged(line: int, row: list[str], names: list[str], sep: str, path: Path) -> DataError:
    if row[0].lstrip().startswith(_COMMENTS):
        return DataError(_comment(line, sep.join(row), path))
    if names[0].lstrip().startswith(_COMMENTS):  # several comments, taken for a header and rows
        return DataError(_comment(1, sep.join(names), path))
    hint = ""
    if len(row) > len(names) and all(reads_as_number(cell) for cell in row):
        hint = "; if these are decimal commas, values need another separator, or quotes"
    return DataError(
        f"{path} is ragged: line {line} has {counted(len(row), 'value')}, there are "
        f"{counted(len(names), 'column')}{hint}"
    )


def _names(row: list[str], header: bool, path: Path) -> list[str]:
    if not header:
        return [str(number) for number in range(1, len(row) + 1)]
    names = [name.strip() for name in row]
    if all(reads_as_number(name) or _NUMERIC.fullmatch(name) for name in names):
        raise DataError(
            f"the first line of {path} holds numbers, not column names; add a header line, or "
            "set header to false"
        )
    names = [name or f"{UNNAMED}{position}" for position, name in enumerate(names)]
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(f"{path} has more than one column {repeated[0]!r}; rename one of them")
    return names
