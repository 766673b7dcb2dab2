"""A folder of journals, one file for each measurement of a comparison or curve."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from poise.arguments import without_addresses
from poise.data.ordinary_files import open_ordinary
from poise.errors import ArgumentError, RecordError
from poise.protocol.randomness import Randomness, RandomStateLike
from poise.storage.journal.header import Header, begun_randomness
from poise.storage.journal.journal import Journal

__all__ = ["JournalFolder", "journals_of"]

_SUFFIX = ".jsonl"
_MOST_HEADER_BYTES = 1 << 24  # the arguments of a command are part of a header
_NAME_CHARACTERS = 40  # characters of a name that are kept in a file name


class JournalFolder:
    """Journals by the name of what is measured; made when they are needed.

    Parameters
    ----------
    path : str, Path or None
        The folder, made if it is not there; None keeps no journals.
    command : dict, optional
        How the command line was called, so that it can be called again.

    Examples
    --------
    >>> import tempfile
    >>> folder = JournalFolder(tempfile.mkdtemp())
    >>> folder.journal("Ridge(alpha=2.0)").path.name
    'Ridge-alpha-2.0-774c3184.jsonl'
    >>> JournalFolder(None).journal("Ridge(alpha=2.0)") is None
    True
    """

    def __init__(self, path: str | Path | None, command: dict[str, Any] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.command = command or {}
        self.siblings: dict[str, Any] = {}

    def expect(self, count: int, unit: str) -> None:
        """Say how many measurements there will be, and of what: ``poise status`` counts them."""
        self.siblings = {"count": count, "unit": unit}

    @classmethod
    def of(cls, journal: str | Path | JournalFolder | None) -> JournalFolder:
        """Accept a path where a folder is wanted."""
        if journal is not None and not isinstance(journal, (str, Path, JournalFolder)):
            raise ArgumentError(f"journal must be the path of a folder, got {journal!r}")
        return journal if isinstance(journal, JournalFolder) else cls(journal)

    def _make(self, path: Path) -> None:
        if path.exists() and not path.is_dir():
            raise RecordError(
                f"journal must be a folder here, with a file per measurement; {path} is a file"
            )
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            raise RecordError(
                f"cannot make the folder {path} for journals: {error.strerror}"
            ) from None

    def randomness(self, random_state: RandomStateLike) -> Randomness:
        """Return the randomness of all measurements; by default that of the earlier run."""
        begun = [] if self.path is None else journals_in(self.path)
        first = header_of(begun[0]).design if begun else None
        return begun_randomness(random_state, first)

    def journal(self, name: str, *details: object) -> Journal | None:
        """Return the journal of one measurement; its details are part of the file name."""
        if self.path is None:
            return None
        self._make(self.path)
        known = without_addresses(repr((name, *details)))
        code = hashlib.blake2b(known.encode(), digest_size=4).hexdigest()
        words = re.sub(r"[^\w.]+", "-", without_addresses(name)).strip("-.")
        journal = Journal(self.path / f"{words[:_NAME_CHARACTERS]}-{code}{_SUFFIX}", self.command)
        journal.place, journal.siblings = self.path, self.siblings
        return journal


def journals_of(path: Path) -> list[Path]:
    """Return one journal, or all journals of a folder; refuse a folder without any."""
    if not path.is_dir():
        return [path]
    found = journals_in(path)
    if not found:
        raise RecordError(f"{path} holds no journal: no trial was begun")
    return found


def journals_in(folder: Path) -> list[Path]:
    """Return the journals of a folder that have a complete header, in order of name."""
    found = sorted(folder.glob(f"*{_SUFFIX}"))
    return [path for path in found if path.is_file() and _first_line(path).endswith(b"\n")]


def header_of(path: Path) -> Header:
    """Read the header of a journal."""
    return Header.from_line(_first_line(path), str(path))


def _first_line(path: Path) -> bytes:
    with open_ordinary(path) as file:
        return file.readline(_MOST_HEADER_BYTES)
