"""A record that is open for writing, by one process at a time."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any

from poise.storage.journal.append_only_file import GrowingFile
from poise.storage.monitor_record.record_content import RecordContent, read_content
from poise.storage.monitor_record.record_header import RECORD, RecordHeader

__all__ = ["RecordFile"]


class RecordFile:
    """A record, locked and read; what is appended is in ``content`` at once.

    Parameters
    ----------
    path : Path
        The file; created when its header is written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "ridge.record"
    >>> asked = {"algorithm": "mean", "n": 20, "epsilon": 0.1, "delta": 0.1, "alpha": 0.05}
    >>> trial = {"removals": 1, "points": 1, "labeled_test": False, "response": "predict"}
    >>> trial |= {"coupling": "shared", "distance": "absolute"}
    >>> with RecordFile(path) as file:
    ...     file.begin(RecordHeader(asked | trial, seed=3))
    >>> with RecordFile(path) as file:
    ...     file.content.header.seed
    3
    """

    content: RecordContent

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> RecordFile:
        self._file = GrowingFile(self.path, RECORD)
        try:
            content = read_content(self._file.before, str(self.path))
            self.is_new = content is None
            if content is not None:
                self.content = content
        except BaseException:
            self._file.close()
            raise
        return self

    def begin(self, header: RecordHeader) -> None:
        """Write the first line of a new record."""
        self.content = RecordContent(header)
        self._append(header.to_entry())
        self._file.sync()
        self.is_new = False

    def append(self, entry: dict[str, Any], *, sync: bool = False) -> None:
        """Write one entry; with ``sync`` it is on the disk before this returns."""
        self.content.take(entry)
        self._append(entry)
        if sync:
            self._file.sync()

    def _append(self, entry: dict[str, Any]) -> None:
        self._file.append(json.dumps(entry, allow_nan=False).encode() + b"\n")
        self.content.size = self._file.size

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
