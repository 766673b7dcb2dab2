"""Read a journal, finished or not, without changing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from poise.data.ordinary_files import open_ordinary
from poise.errors import RecordError
from poise.protocol.messages import Answer, Failure
from poise.results import Design, Trials
from poise.running.answers import ChangeRecord, of_shape
from poise.storage.journal.complete_lines import CompleteLines
from poise.storage.journal.header import Header
from poise.storage.journal.journal import Journal
from poise.storage.journal.trial_lines import as_answers, warnings_in

__all__ = ["JournalContent", "begun_design", "read_journal"]


@dataclass(frozen=True)
class JournalContent:
    """The content of a journal.

    Attributes
    ----------
    header : Header
        What is being measured.
    trials : Trials or None
        The trials so far; they can be judged like any other measurement. None if the lines are
        not the trials of a stability test.
    failures : tuple of Failure
        The trials that failed, with the reason.
    n_lines : int
        How many trials, or other lines, there are so far.
    warnings : tuple of str
        What was noticed that may make the error level wrong.
    """

    header: Header
    trials: Trials | None
    failures: tuple[Failure, ...] = ()
    n_lines: int = 0
    warnings: tuple[str, ...] = ()


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
        lines = CompleteLines(path)
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror}") from None
    if lines.count == 0:
        raise RecordError(f"{path} is empty: no trial was begun")
    first, rest = next(iter(lines)), islice(lines, 1, None)
    header = Header.from_line(first, str(path))
    noted = tuple(dict.fromkeys((*header.warnings, *warnings_in(islice(lines, 1, None)))))
    shaped = as_answers(rest) if header.lines else of_shape(header.design.shape, as_answers(rest))
    answers = list(shaped)
    failures = tuple(answer for answer in answers if isinstance(answer, Failure))
    n_lines = lines.count - 1
    if header.lines:
        return JournalContent(header, None, failures, n_lines, noted)
    record = ChangeRecord(n_lines, None, header.design.shape)
    trials = replace(_trials(record, header.design, answers), warnings=noted)
    return JournalContent(header, trials, failures, n_lines, noted)


def _trials(record: ChangeRecord, design: Design, answers: Sequence[Answer]) -> Trials:
    """Put the changes of all lines into one measurement."""
    for answer in answers:
        record.enter(answer)
    messages = tuple(answer.message for answer in answers if isinstance(answer, Failure))
    return Trials.measured(record.entered(), design, messages)


def begun_design(journal: str | Path | Journal) -> Design | None:
    """Return the design that a journal was begun with; None if it was not begun.

    Examples
    --------
    >>> begun_design("no such file") is None
    True
    """
    path = Journal.of(journal).path
    try:
        with open_ordinary(path) as file:
            first = file.readline()
    except RecordError:
        return None  # a new file; if it cannot be read, opening the journal says why
    return Header.from_line(first, str(path)).design if first.endswith(b"\n") else None
