"""What can be done to a record without its algorithm: a new epoch, or giving up a call."""

from __future__ import annotations

from pathlib import Path

from poise.errors import RecordError
from poise.storage.monitor_record import RecordFile

__all__ = ["abandon_call", "begin_epoch"]


def begin_epoch(path: Path) -> None:
    """Begin a new epoch of a record: older evidence no longer counts."""
    with RecordFile(path) as file:
        _require_begun(file)
        file.append({"restart": file.content.epoch + 1}, sync=True)


def abandon_call(path: Path) -> None:
    """Count the missing trials of an interrupted call as failed."""
    with RecordFile(path) as file:
        _require_begun(file)
        batch = file.content.unfinished
        if batch is None:
            raise RecordError(f"no call was interrupted in {path}: nothing to abandon")
        file.append({"abandoned": batch.trials - len(batch.answers)}, sync=True)


def _require_begun(file: RecordFile) -> None:
    if file.is_new:
        raise RecordError(f"{file.path} holds no record: nothing was added to it")
