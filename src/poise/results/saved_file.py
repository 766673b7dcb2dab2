"""Measurements in one file: an array of changes and a header, in NumPy's npz format."""

from __future__ import annotations

import io
import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments.json_text import parse_json
from poise.data.damaged_file import naming_file
from poise.data.files.array_archive import read_arrays
from poise.errors import RecordError

__all__ = ["is_saved", "naming_saved", "read_saved", "saved_form", "write_saved"]

_COMPLAINT = "does not hold trials saved by poise"


def write_saved(
    path: str | Path, form: str, changes: NDArray[np.float64], header: dict[str, Any]
) -> None:
    """Write changes and what else is known about them; ``form`` names the kind of file."""
    buffer = io.BytesIO()
    described = np.array(json.dumps({"format": form} | header))
    np.savez(buffer, changes=changes, header=described)
    Path(path).write_bytes(buffer.getvalue())


def saved_form(path: str | Path) -> str:
    """Return which kind of measurement a file holds; refuse a file that holds none."""
    return str(_content(path)[1].get("format"))


def is_saved(path: str | Path) -> bool:
    """Tell whether a file holds a measurement."""
    try:
        return saved_form(path).startswith("poise ")
    except RecordError:
        return False


def read_saved(path: str | Path, form: str) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """Read what :func:`write_saved` wrote; refuse another kind of file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mine.trials"
    >>> write_saved(path, "mine 1", np.array([0.5]), {"n": 5})
    >>> read_saved(path, "mine 1")
    (array([0.5]), {'format': 'mine 1', 'n': 5})
    """
    changes, header = _content(path)
    if header.get("format") != form:
        raise RecordError(f"{path} has format {header.get('format')!r}, expected {form!r}")
    return changes, header


def naming_saved(path: str | Path) -> AbstractContextManager[None]:
    """Let errors about the content of a file name the file."""
    return naming_file(path, _COMPLAINT)


def _content(path: str | Path) -> tuple[NDArray[np.float64], dict[str, Any]]:
    arrays = read_arrays(path, _COMPLAINT, RecordError)
    try:
        return arrays["changes"], dict(parse_json(str(arrays["header"])))
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"{path} {_COMPLAINT}") from error
