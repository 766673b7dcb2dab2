"""Columns of a text file, parsed by pandas or polars when they are needed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from poise.data.files.columns import FrameColumns, NumericColumns
from poise.data.files.text_format import TextFormat
from poise.errors import DataError

__all__ = ["TextColumns"]

_MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None"]
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*")
_WHOLE = re.compile(r"\s*[+-]?\d+\s*")
_LOOKED_AT = 100  # values of a column, for decimal commas


class TextColumns:
    """The columns of a text file whose lines have been checked.

    A missing column is found without importing a data-frame library: only the header
    has been read.
    """

    unit = "column"
    default_target: str | None = None

    def __init__(
        self,
        path: Path,
        text: str,
        sep: str,
        form: TextFormat,
        names: list[str],
        lines: Sequence[int],
    ) -> None:
        self._path, self._text, self._sep, self._form = path, text, sep, form
        self.names = self.feature_names = names
        self._lines = lines

    def features(self, names: list[str]) -> Any:
        """Return a data frame, or an array if no data-frame library is installed."""
        for name in names:
            self._refuse_decimal_commas(name)
        return self._parsed.features(names)

    def response(self, name: str) -> Any:
        """Return one column as the responses."""
        self._refuse_decimal_commas(name)
        return self._parsed.response(name)

    def labels(self, name: str) -> list[Any]:
        """Return one column as it is."""
        return self._parsed.labels(name)

    def place(self, row: int) -> str:
        """Say where a row is, by its line number as an editor shows it."""
        return f"line {self._lines[row]}"

    @cached_property
    def _parsed(self) -> FrameColumns | NumericColumns:
        try:
            return self._read()
        except DataError:
            raise
        except Exception as error:  # each library has its own exceptions
            reason = " ".join(str(error).split()) or type(error).__name__
            raise DataError(f"{self._path} cannot be read as text: {reason}") from error
        finally:
            self._text = ""  # do not keep the text in memory as well

    def _read(self) -> FrameColumns | NumericColumns:
        if find_spec("pandas"):
            return FrameColumns(self._with_pandas(), self.place, self._form.decimal or ".")
        if find_spec("polars"):
            return FrameColumns(self._with_polars(), self.place, self._form.decimal or ".")
        return NumericColumns(self.names, self._with_numpy(), self.place)

    def _with_pandas(self) -> Any:
        import pandas as pd

        return pd.read_csv(
            io.StringIO(self._text),
            sep=self._sep,
            header=0 if self._form.header else None,
            names=self.names,
            index_col=False,
            decimal=self._form.decimal or ".",
            low_memory=False,  # whole columns: pandas would otherwise guess types chunk by chunk
        )

    def _with_polars(self) -> Any:
        import polars as pl

        return pl.read_csv(
            io.BytesIO(self._text.encode()),
            separator=self._sep,
            has_header=self._form.header,
            new_columns=self.names,
            decimal_comma=self._form.decimal == ",",
            infer_schema_length=None,
            null_values=_MISSING,
        )

    def _with_numpy(self) -> Any:
        lines = io.StringIO(self._text, newline="")
        rows = [row for row in csv.reader(lines, delimiter=self._sep) if row]
        first = 1 if self._form.header else 0
        try:
            return np.array([[self._number(cell) for cell in row] for row in rows[first:]])
        except ValueError as error:
            raise DataError(
                f"{self._path} holds text ({error}), which needs a data-frame library: "
                "pip install 'poise[data]'"
            ) from None

    def _number(self, cell: str) -> float:
        if cell.strip() in _MISSING:
            return np.nan
        if self._form.decimal is None and _DECIMAL_COMMA.fullmatch(cell):
            raise self._decimal_commas(f"{cell!r}")
        return float(cell.replace(self._form.decimal or ".", "."))

    def _refuse_decimal_commas(self, name: str) -> None:
        """Refuse a column of text that would be numbers if a comma were the decimal mark."""
        if self._form.decimal is not None:
            return
        values = self._parsed.first_texts(name, _LOOKED_AT)
        commas = [row for row, value in values.items() if _DECIMAL_COMMA.fullmatch(value)]
        whole = sum(_WHOLE.fullmatch(value) is not None for value in values.values())
        if commas and len(commas) + whole == len(values):
            shown = f"{values[commas[0]]!r} in {self.place(commas[0])}"
            raise self._decimal_commas(f"column {name!r}, {shown}")

    def _decimal_commas(self, example: str) -> DataError:
        return DataError(
            f"{self._path} has decimal commas ({example}); set decimal to ',' (or to '.' if this "
            "is text)"
        )
