"""The format of a text file: separator, decimal mark, encoding, header."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from poise import arguments
from poise.errors import ArgumentError

__all__ = ["TextFormat"]

_WORDS = {"\\t": "\t", "tab": "\t", "space": " "}  # names of characters
_MARKS = (".", ",")


@dataclass(frozen=True)
class TextFormat:
    r"""The format of a text file; what is not given is guessed from the file.

    Parameters
    ----------
    sep : str, optional
        One character between values. A tab may be written ``"tab"`` or ``"\\t"``;
        a blank stands for any number of blanks. By default the one of ``, ; | tab``
        and blanks that the first line has.
    decimal : {".", ","}, optional
        Decimal mark. By default a point, and columns that hold nothing but numbers
        with commas are refused; given as ``"."``, they are text.
    encoding : str, optional
        Such as ``"latin-1"``. By default UTF-8, or what a byte-order mark says.
    header : bool
        Whether the first line holds the names of the columns. Columns without
        names are called 1, 2, 3 and so on.

    Examples
    --------
    >>> TextFormat(sep="tab", decimal=",").sep
    '\t'
    >>> TextFormat(sep=",", decimal=",")
    Traceback (most recent call last):
    poise.errors.ArgumentError: sep and decimal must differ, got ',' for both
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool = True

    def __post_init__(self) -> None:
        if self.sep is not None:
            object.__setattr__(self, "sep", _separator(self.sep))
        if self.decimal is not None:
            arguments.choice("decimal", self.decimal, _MARKS)
        if self.decimal is not None and self.sep == self.decimal:
            raise ArgumentError(f"sep and decimal must differ, got {self.sep!r} for both")
        if self.encoding is not None:
            _check_encoding(self.encoding)
        arguments.flag("header", self.header)

    @property
    def given(self) -> list[str]:
        """Names of the settings that were given; they apply to text files only."""
        default = TextFormat()
        names = [field.name for field in fields(self)]
        return [name for name in names if getattr(self, name) != getattr(default, name)]


def _separator(text: object) -> str:
    sep = _WORDS.get(text, text) if isinstance(text, str) else ""
    if len(sep) != 1 or sep in '"\r\n':
        raise ArgumentError(
            f"sep must be one character such as ';', or 'tab' or 'space', got {text!r}"
        )
    return str(sep)


def _check_encoding(name: Any) -> None:
    try:
        "".encode(name)
    except (LookupError, TypeError):
        raise ArgumentError(
            f"encoding must be a known one, such as 'utf-8', 'latin-1' or 'utf-16', got {name!r}"
        ) from None
