"""Python that reads the rows of a run again: columns, groups, weights and unlabelled rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, NamedTuple

from poise.data.files.row_source import RowSource
from poise.data.files.text_format import TextFormat

__all__ = ["Expression", "ReadRows", "as_keywords", "read_again"]


class Expression(str):
    """Python that stands in a call as it is."""

    __repr__ = str.__str__


class ReadRows(NamedTuple):
    """Lines of Python that read rows, and the keywords of a call that takes them."""

    imports: list[str]
    lines: list[str]
    settings: dict[str, Any]


def as_keywords(values: dict[str, Any]) -> str:
    """Write arguments as they stand in a call.

    Examples
    --------
    >>> as_keywords({"n": 10, "groups": Expression("groups")})
    'n=10, groups=groups'
    """
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def read_again(source: RowSource | None) -> ReadRows:
    """Return Python that reads what the command line read; None where that is not known.

    Examples
    --------
    >>> read = read_again(RowSource("rows.csv", "price", groups="patient"))
    >>> for line in read.lines:
    ...     print(line)
    X, y = poise.read_table('rows.csv', target='price', drop=['patient'])
    groups = poise.read_table('rows.csv', target='patient')[1]
    >>> as_keywords(read.settings)
    'groups=groups'
    """
    if source is None:
        return ReadRows([], ["X, y = ...  # the rows of the run"], {})
    drop = {"drop": source.left_out} if source.left_out else {}
    read = ReadRows([], [f"X, y = {_table(source, source.target, **drop)}"], {})
    for name, made in _beside(source):
        read.lines.append(f"{name} = {made}")
        read.settings[name] = Expression(name)
    if source.unlabeled is not None:
        read.imports.append("from poise.data.files.read_table import read_features")
    return read


def _beside(source: RowSource) -> Iterator[tuple[str, str]]:
    """Yield what belongs to the rows besides X and y, and the Python that reads it."""
    if source.groups is not None:
        yield "groups", f"{_table(source, source.groups)}[1]"
    if source.fit_params:
        columns = (f"{k!r}: {_table(source, c)}[1]" for k, c in source.fit_params.items())
        yield "fit_params", f"{{{', '.join(columns)}}}"
    if source.unlabeled is not None:
        given = [repr(str(source.unlabeled)), "getattr(X, 'columns', None)"]
        yield "X_unlabeled", f"read_features({_call(*given, **_form(source.form))})"


def _table(source: RowSource, target: str | None, **more: Any) -> str:
    given = {"target": target, **more, **_form(source.form)}
    return f"poise.read_table({_call(repr(str(source.file)), **given)})"


def _call(*words: str, **values: Any) -> str:
    return ", ".join(filter(None, [*words, as_keywords(values)]))


def _form(form: TextFormat) -> dict[str, Any]:
    """Return what was said about the format of text files."""
    given = {field.name: getattr(form, field.name) for field in fields(TextFormat)}
    return {name: value for name, value in given.items() if value != getattr(TextFormat, name)}
