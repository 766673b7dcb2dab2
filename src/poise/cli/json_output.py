"""What ``--json`` prints: the result, its inputs, and errors."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from poise.cli.input_files import input_files, read_here
from poise.errors import TrialError

if TYPE_CHECKING:
    from poise.data.on_disk.rows_file import RowsFile

__all__ = ["note_warning", "print_json", "print_json_error"]

_WARNINGS = f"{__name__}.warnings"


def print_json(content: Mapping[str, Any]) -> None:
    """Print a result, and under ``run`` how it was computed.

    ``run`` holds the arguments of the command, the SHA-256 of every file it read (but not of
    those that workers of a cluster read), and each distinct warning once. Infinite numbers are
    null; see :func:`poise.results.json_encoding.to_json`.
    """
    from poise.results.json_encoding import to_json

    root = click.get_current_context().find_root()
    run = {
        "arguments": list(root.obj or ()),
        "digests": {str(path): _sha256(path) for path in input_files() if read_here(path)},
        "warnings": list(root.meta.get(_WARNINGS, {})),
    }
    click.echo(to_json({**content, "run": run}))


def print_json_error(error: BaseException, message: str, status: int) -> None:
    """Print an error as JSON, for a program that can read only JSON."""
    from poise.results.json_encoding import to_json

    content: dict[str, Any] = {
        "error": type(error).__name__,
        "message": message,
        "exit_status": int(status),
    }
    if isinstance(error, TrialError):
        content |= {"trial": error.trial, "kind": error.kind}
    click.echo(to_json(content))


def note_warning(message: str) -> bool:
    """Keep a warning for the JSON of this command; return whether it is new."""
    context = click.get_current_context(silent=True)
    if context is None:
        return True
    noted = context.find_root().meta.setdefault(_WARNINGS, {})
    new = message not in noted
    noted[message] = True
    return new


def _sha256(path: RowsFile) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
