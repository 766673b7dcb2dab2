"""From a record to its verdict, evidence and limits."""

from __future__ import annotations

from poise.results.design import Design
from poise.results.monitor_status import MonitorStatus
from poise.storage.monitor_record import RecordContent, RecordHeader
from poise.theory.exceedance_shares import shares

__all__ = ["status_of"]


def status_of(record: RecordContent, n_leftover: int | None = None) -> MonitorStatus:
    """Judge the trials of the present epoch of a record.

    Parameters
    ----------
    record : RecordContent
        What was read from the file.
    n_leftover : int, optional
        Rows that are too few for a trial and wait for more, if that is known.
    """
    asked, changes = record.header.question, record.changes
    unfinished = record.unfinished
    used = sum(len(batch.features) for batch in record.counted)
    noted = (text for batch in record.counted for text in batch.warnings)
    return MonitorStatus(
        design=_design(record.header, record),
        epsilon=asked["epsilon"],
        delta=asked["delta"],
        alpha=asked["alpha"],
        shares=tuple(shares(changes, asked["epsilon"]).tolist()),
        shares_unstable=tuple(shares(changes, asked["epsilon"], failures_exceed=False).tolist()),
        looks=tuple(_looks(record)),
        failures=tuple(failure.message for failure in record.failures),
        epoch=record.epoch,
        n_rows=used,
        n_unfinished=0 if unfinished is None else unfinished.trials - len(unfinished.answers),
        n_leftover=n_leftover,
        warnings=tuple(dict.fromkeys(noted)),
    )


def _looks(record: RecordContent) -> list[int]:
    """Return the numbers of trials after each call."""
    looks, total = [], 0
    for batch in record.counted:
        total += len(batch.answers)
        looks.append(total)
    return looks


def _design(header: RecordHeader, record: RecordContent) -> Design:
    """Describe the trials; the rows counted are those of the present epoch."""
    asked = header.question
    distances = [batch.distance for batch in record.counted]
    labeled = sum(len(batch.rows) for batch in record.counted)
    return Design(
        algorithm=asked["algorithm"],
        n=asked["n"],
        n_labeled=labeled,
        n_unlabeled=sum(len(batch.features) for batch in record.counted) - labeled,
        coupling=asked["coupling"],
        distance=distances[-1] if distances else asked["distance"],
        seed=header.seed,
        removals=asked["removals"],
        points=asked["points"],
        labeled_test=asked["labeled_test"],
        name=header.name,
    )
