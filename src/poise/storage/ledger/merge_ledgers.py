"""Merge two copies of a ledger to which different questions were added."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from poise.errors import RecordError
from poise.storage.ledger.entries import LedgerHeader
from poise.storage.ledger.ledger_file import entries_of, opened, read_ledger

__all__ = ["merge_into"]


def merge_into(path: Path, others: Sequence[Path]) -> int:
    """Append the lines of copies of a ledger that are not in it; return how many there are.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("ours", "theirs"):
    ...     with opened(folder / name) as file:
    ...         _ = file.begin(LedgerHeader.new(0.05))
    >>> merge_into(folder / "ours", [folder / "theirs"])
    Traceback (most recent call last):
    poise.errors.RecordError: ...theirs is no copy of ...ours: it was begun by itself...
    """
    headers = {other: read_ledger(other).header for other in others}  # damaged ones are refused
    with opened(path) as file:
        content = file.content or file.begin(next(iter(headers.values())))
        for other, header in headers.items():
            _require_copy(header, content.header, other, path)
        known = entries_of(path)
        new: list[dict[str, Any]] = []
        for entry in (entry for other in others for entry in entries_of(other)):
            if entry not in known and entry not in new:
                new.append(entry)
        if new:
            file.append(new)
    return len(new)


def _require_copy(one: LedgerHeader, other: LedgerHeader, place: Path, into: Path) -> None:
    if one != other:
        raise RecordError(
            f"{place} is no copy of {into}: it was begun by itself, with a key of its own, so "
            "that their rows cannot be compared. Begin one ledger, and copy it before it is used "
            "in two places"
        )
