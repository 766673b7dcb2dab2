"""Read a journal, finished or not, without changing it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from poise.errors import RecordError
from poise.protocol.messages import Failure
from poise.results import Design, Trials
from poise.running.answers import ChangeRecord, of_shape
from poise.storage.journal.header import Header
from poise.storage.journal.journal import Journal
from poise.storage.journal.lines import as_answers, warnings_in
from poise.storage.journal.whole_lines import WholeLines

__all__ = ["JournalContent", "begun_design", "read_journal"]


@dataclass(frozen=True)
class JournalContent:
    """The content of a journal.

    Attributes
    ----------
    header : Header
        What is being measured.
    trials : Trials
        The trials so far; it can be judged like any other measurement.
    failures : tuple of Failure
        The trials that failed, with the reason.
    """

    header: Header
    trials: Trials
    failures: tuple[Failure, ...] = ()


def read_journal(path: str | Path) -> JournalContent:
    """Read a journal, also one that another process is writing.

    Examples
    --------
    >>> import numpy as np, poise, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> fit = lambda X, y, seed: lambda rows: [y.mean()]
    >>> X = np.arange(60.0).reshape(-1, 1)
    >>> trials = poise.measure(fit, X, X[:, 0], n=5, journal=path)
    >>> read_journal(path).trials.changes.tolist() == trials.changes.tolist()
    True
    """
    path = Path(path)
    try:
        lines = WholeLines(path)
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror}") from None
    if lines.count == 0:
        raise RecordError(f"{path} is empty: no trial was begun")
    first, rest = next(iter(lines)), islice(lines, 1, None)
    header = Header.from_line(first, str(path))
    answers = list(of_shape(header.design.shape, as_answers(rest)))
    failures = tuple(answer for answer in answers if isinstance(answer, Failure))
    record = ChangeRecord(lines.count - 1, None, header.design.shape)
    for answer in answers:
        record.enter(answer)
    messages = tuple(failure.message for failure in failures)
    measured = Trials.measured(record.entered(), header.design, messages)
    noted = (*header.warnings, *warnings_in(islice(lines, 1, None)))
    trials = replace(measured, warnings=tuple(dict.fromkeys(noted)))
    return JournalContent(header, trials, failures)


def begun_design(journal: str | Path | Journal) -> Design | None:
    """Return the design that a journal was begun with; None if it was not begun.

    Examples
    --------
    >>> begun_design("no such file") is None
    True
    """
    path = Journal.of(journal).path
    try:
        with path.open("rb") as file:
            first = file.readline()
    except OSError:
        return None  # a new file; if it cannot be read, opening the journal says why
    return Header.from_line(first, str(path)).design if first.endswith(b"\n") else None
