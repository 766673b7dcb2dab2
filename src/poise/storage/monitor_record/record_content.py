"""What a record holds: batches, trials, epochs, and which rows were used."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments.field_rules import Count, Digest, Positive
from poise.arguments.typed_fields import read_object
from poise.errors import RecordError
from poise.protocol.messages import Failure
from poise.storage.journal.complete_lines import CompleteLines
from poise.storage.journal.trial_lines import Answer, read_entry
from poise.storage.line_checksums import entry_of
from poise.storage.monitor_record.record_header import RECORD, RecordHeader

__all__ = ["RecordContent", "RowBatch", "read_content", "read_record"]

_ABANDONED = "the call was interrupted, and its unfinished trials were abandoned"


@dataclass
class RowBatch:
    """The trials of one call: which rows they use, and what they found so far.

    Attributes
    ----------
    first, trials : int
        Number of its first trial in the record, and how many there are.
    epoch : int
        From 1; a restart begins a new one.
    rows : tuple of str
        Identities of the labelled rows, in plan order.
    features : tuple of str
        Identities of the features of all rows: the labelled ones, then the unlabelled.
    distance : str
        How far apart two predictions are: what "auto" meant for these rows.
    time : str
        When the call began.
    warnings : tuple of str
        What was noticed that may make the error level wrong.
    answers : list
        The changes of its trials so far, in plan order.
    """

    first: Count
    trials: Count
    epoch: Positive
    rows: tuple[Digest, ...]
    features: tuple[Digest, ...]
    distance: str
    time: str = ""
    warnings: tuple[str, ...] = ()
    answers: list[Answer] = field(default_factory=list, compare=False)  # in lines of their own

    @property
    def finished(self) -> bool:
        """Whether every trial has been run."""
        return len(self.answers) == self.trials

    @property
    def unlabeled(self) -> tuple[str, ...]:
        """Identities of the unlabelled rows."""
        return self.features[len(self.rows) :]

    def to_entry(self) -> dict[str, Any]:
        """Return its line; its trials have lines of their own."""
        entry = asdict(self)
        del entry["answers"]
        return {"batch": entry.pop("first"), **entry}

    @classmethod
    def from_entry(cls, entry: dict[str, Any]) -> RowBatch:
        """Read its line."""
        content = {"first" if key == "batch" else key: value for key, value in entry.items()}
        return read_object(cls, content, "a batch of rows")


@dataclass
class RecordContent:
    """A record, read.

    Attributes
    ----------
    header : RecordHeader
        What is asked.
    batches : list of RowBatch
        In order.
    epoch : int
        The present one; only its trials count.
    size : int
        Bytes of the lines that were read.
    """

    header: RecordHeader
    batches: list[RowBatch] = field(default_factory=list)
    epoch: int = 1
    size: int = 0

    @property
    def counted(self) -> list[RowBatch]:
        """The batches of the present epoch."""
        return [batch for batch in self.batches if batch.epoch == self.epoch]

    @property
    def unfinished(self) -> RowBatch | None:
        """The batch of a call that was interrupted, if there is one."""
        last = self.counted[-1:]
        return last[0] if last and not last[0].finished else None

    @property
    def next_trial(self) -> int:
        """The number that the next trial gets."""
        return sum(batch.trials for batch in self.batches)

    @property
    def answers(self) -> list[Answer]:
        """What was found in the trials of the present epoch, in plan order."""
        return list(chain.from_iterable(batch.answers for batch in self.counted))

    @property
    def failures(self) -> list[Failure]:
        """The trials of the present epoch that failed."""
        return [answer for answer in self.answers if isinstance(answer, Failure)]

    @property
    def changes(self) -> list[Any]:
        """The changes of each trial of the present epoch; nan stands for a failure."""
        return [_changes(answer) for answer in self.answers]

    def used_rows(self) -> set[str]:
        """Return the identities of all labelled rows that were used, in any epoch."""
        return set(chain.from_iterable(batch.rows for batch in self.batches))

    def used_features(self, *, unlabeled_only: bool = False) -> set[str]:
        """Return the identities of the features of rows that were used, in any epoch."""
        parts = (b.unlabeled if unlabeled_only else b.features for b in self.batches)
        return set(chain.from_iterable(parts))

    def take(self, entry: dict[str, Any]) -> None:
        """Take in the next line; a line that does not follow from those before is an error."""
        if "batch" in entry:
            batch = RowBatch.from_entry(entry)
            self._require(self.unfinished is None and batch.first == self.next_trial)
            # No row serves two trials: that also limits how many trials a line can announce.
            enough = batch.trials * self.header.asked.n <= len(batch.rows) <= len(batch.features)
            self._require(enough and batch.epoch == self.epoch)
            self.batches.append(batch)
        elif "trial" in entry:
            self._take_trial(entry)
        elif "warnings" in entry:
            noted = entry["warnings"]
            texts = isinstance(noted, list) and all(isinstance(text, str) for text in noted)
            self._require(bool(self.batches) and texts)
            self.batches[-1].warnings += tuple(noted)
        elif "restart" in entry:
            self._require(entry["restart"] == self.epoch + 1)
            self.epoch += 1
        elif "abandoned" in entry:
            self._abandon(entry["abandoned"])
        else:
            self._require(False)

    def _take_trial(self, entry: dict[str, Any]) -> None:
        batch = self.unfinished
        self._require(batch is not None)
        assert batch is not None
        number = batch.first + len(batch.answers)
        self._require(entry["trial"] == number)
        answer = read_entry(number, entry)
        known = answer.changes if isinstance(answer, Failure) else answer
        self._require(known is None or np.shape(known) == self.header.asked.shape)
        batch.answers.append(answer)

    def _abandon(self, count: object) -> None:
        batch = self.unfinished
        self._require(batch is not None)
        assert batch is not None
        self._require(count == batch.trials - len(batch.answers))
        numbers = range(batch.first + len(batch.answers), batch.first + batch.trials)
        batch.answers += [Failure(number, _ABANDONED, kind="error") for number in numbers]

    @staticmethod
    def _require(follows: bool) -> None:
        if not follows:
            raise RecordError("it does not follow from the lines before it")


def _changes(answer: Answer) -> NDArray[np.float64]:
    if isinstance(answer, Failure):
        return np.array([np.nan]) if answer.changes is None else answer.changes
    return np.atleast_1d(np.asarray(answer))


def read_content(lines: CompleteLines, name: str) -> RecordContent | None:
    """Read the lines of a record; None if there are none."""
    content: RecordContent | None = None
    for number, line in enumerate(lines, 1):
        if content is None:
            content = RecordContent(RecordHeader.from_entry(entry_of(line), name))
            content.size = lines.size
        else:
            _take(content, line, f"line {number} of {name}")
    return content


def _take(content: RecordContent, line: bytes, place: str) -> None:
    try:
        content.take(entry_of(line))
    except RecordError as error:
        raise RecordError(
            f"{place} cannot be used: {error}. The file was edited, or two files were joined; "
            "take an undamaged copy, or begin a new record with fresh rows"
        ) from None


def read_record(path: str | Path) -> RecordContent:
    """Read a record without changing it, also one that another process is writing."""
    path = Path(path)
    try:
        lines = CompleteLines(path, RECORD)
    except OSError as error:
        raise RecordError(f"cannot read {path}: {error.strerror}") from None
    content = read_content(lines, str(path))
    if content is None:
        raise RecordError(f"{path} holds no record: nothing was added to it")
    return content
