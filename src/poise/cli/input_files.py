"""The files that a command reads: no command overwrites them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from poise.errors import DataError

if TYPE_CHECKING:
    from poise.data.on_disk.rows_file import RowsFile

__all__ = ["OUTPUTS", "input_files", "leave_to_workers", "note_input", "read_here"]

# Options that name a file to be written.
OUTPUTS = ("save", "plot", "report", "table", "certificate")
_NOTED = f"{__name__}.noted"
_ELSEWHERE = f"{__name__}.elsewhere"


def note_input(*files: RowsFile) -> None:
    """Note files that are read although no argument of the command names them."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.find_root().meta.setdefault(_NOTED, {}).update(dict.fromkeys(files))


def leave_to_workers(*files: RowsFile) -> None:
    """Note files that only workers of a cluster read in full."""
    context = click.get_current_context(silent=True)
    if context is not None:
        context.find_root().meta[_ELSEWHERE] = frozenset(file.resolve() for file in files)


def read_here(file: RowsFile) -> bool:
    """Tell whether a file is read in this process."""
    elsewhere = click.get_current_context().find_root().meta.get(_ELSEWHERE, ())
    return file.is_file() and file.resolve() not in elsewhere


def input_files() -> list[RowsFile]:
    """Return the files that the command reads, each once."""
    context = click.get_current_context()
    named = [file for name, value in context.params.items() for file in _files_in(name, value)]
    by_place: dict[object, RowsFile]
    by_place = {path.resolve(): path for path in context.find_root().meta.get(_NOTED, {})}
    by_place |= {path.resolve(): path for path in named}
    return list(by_place.values())


def _files_in(name: str, value: object) -> Iterator[RowsFile]:
    if name in OUTPUTS:
        return
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, Path):
            yield from _files_at(each)
        elif isinstance(each, str):
            yield from _files_in_text(each)


def _files_at(path: Path) -> Iterator[RowsFile]:
    """Yield a file, or the files with rows in a folder or of a pattern."""
    from poise.data.on_disk.file_set import file_set

    try:
        found = None if path.is_file() else file_set(path)
    except DataError:  # a folder for something else, or nothing there: whoever reads it will say so
        found = None
    yield from [path] if found is None else found.files


def _files_in_text(text: str) -> Iterator[Path]:
    """Yield the files in ``model.py:name``, or in the command of a program."""
    source, colon, _ = text.rpartition(":")
    if colon and source.endswith(".py"):
        yield Path(source)
    with suppress(ValueError):  # an open quote: this is not a command
        yield from (Path(word) for word in shlex.split(text) if os.path.isfile(word))
