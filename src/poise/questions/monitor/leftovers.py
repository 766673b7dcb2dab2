"""Rows that were too few for a trial: kept for the next call, in memory or beside the record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from poise.questions.monitor.new_rows import NewRows
from poise.storage.monitor_record import RecordContent
from poise.storage.monitor_record.leftovers_file import (
    leftovers_path,
    load_leftovers,
    save_leftovers,
)

__all__ = ["Leftovers"]

_IDENTITIES = ("rows", "features", "unlabeled")


class Leftovers:
    """The rows that wait for more, of one record.

    Parameters
    ----------
    record : Path
        The record; the rows may be in a file beside it.
    keep : bool
        Whether they are written to that file. It is read wherever it is there.
    """

    def __init__(self, record: Path, keep: bool) -> None:
        self._path, self._keep = leftovers_path(record), keep
        self._rows: NewRows | None = None

    def __len__(self) -> int:
        rows = self.load()
        return 0 if rows is None else len(rows.rows) + len(rows.unlabeled)

    def load(self) -> NewRows | None:
        """Return the rows of the last call, or of an earlier process; None if there are none."""
        if self._rows is None:
            self._rows = _read(self._path)
        return self._rows

    def unused(self, record: RecordContent) -> NewRows | None:
        """Return those rows that the record has not used since they were kept."""
        rows = self.load()
        return None if rows is None else rows.without(*rows.used(record))

    def store(self, rows: NewRows) -> None:
        """Keep these rows in place of those before."""
        self.forget()
        if rows.rows or rows.unlabeled:
            self._rows = rows
            if self._keep:
                named = {name: list(getattr(rows, name)) for name in _IDENTITIES}
                save_leftovers(self._path, rows.tables | named)

    def forget(self) -> None:
        """Keep no rows."""
        self._rows = None
        self._path.unlink(missing_ok=True)


def _read(path: Path) -> NewRows | None:
    content = load_leftovers(path)
    if not content:
        return None
    tables: dict[str, Any] = {name: content.get(name) for name in ("X", "y", "X_unlabeled")}
    return NewRows(**tables, **{name: tuple(content[name]) for name in _IDENTITIES})
