"""The file of a monitor: its question, the rows that were used, and their changes, line by line."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np

from poise.checks import counted
from poise.data.copies import beyond_chance, chance_of_equals
from poise.data.randomness import Ids, Words
from poise.engine.log import Entry, Log, require_same
from poise.engine.messages import Floats
from poise.errors import ArgumentError, DataError, RecordError
from poise.results.design import Design
from poise.results.file import numbers
from poise.results.question import Question
from poise.results.result import Result
from poise.results.trials import Trials

KIND = "record"
_SAME = (
    *("algorithm", "n", "response", "distance", "compares", "coupling", "position", "seed"),
    *("remove", "replace", "removals", "points", "shuffle"),
)


class Header(msgspec.Struct):
    """What a record begins with; its trials come from there."""

    design: Design
    question: Question
    asked: dict[str, Any]
    code: dict[str, str]
    versions: dict[str, str]
    kept: dict[str, Any] = {}
    data: ClassVar[str] = ""  # which rows there were is known by their fingerprints
    split: ClassVar[None] = None

    def label_of(self, row: int) -> object:
        """Return the row's number: records hold no names."""
        return row


@dataclass
class Call:
    """The trials of one call: their rows, and the changes that are known."""

    rows: list[int]
    trials: int
    tables: list[Floats] = field(default_factory=list)
    ended: Entry | None = None


@dataclass
class Record:
    """What a record says, line by line."""

    header: Header
    calls: list[Call] = field(default_factory=list)
    since: int = 0  # the first call whose evidence counts

    @classmethod
    def of(cls, header: Mapping[str, Any], entries: Iterable[Entry]) -> Record:
        """Read the lines, each of which must follow from those before it."""
        try:
            record = cls(msgspec.convert(header, Header))
            for entry in entries:
                record.take(entry)
        except (msgspec.ValidationError, KeyError, IndexError, ValueError) as error:
            raise RecordError(f"this is not a record of a monitor: {error}") from None
        return record

    def take(self, entry: Entry) -> None:
        """Take the next line."""
        if "restart" in entry:
            self.since = len(self.calls)
        elif "rows" in entry:
            self.calls.append(Call(entry["rows"], entry["trials"]))
        elif "changes" in entry:
            table = numbers(entry["changes"]).reshape(self.header.design.removals, -1)
            self.calls[-1].tables.append(table)
        else:
            self.calls[-1].ended = entry

    def write(self, log: Log, entry: Entry) -> None:
        """Append a line."""
        log.append(entry)
        self.take(entry)

    @property
    def unfinished(self) -> Call | None:
        """The last call, if it was interrupted."""
        last = self.calls[self.since :][-1:]
        return last[0] if last and last[0].ended is None else None

    @property
    def known(self) -> Entry | None:
        """What the first call to end has seen of the algorithm."""
        return next((call.ended for call in self.calls if call.ended), None)

    @property
    def design(self) -> Design:
        """The design after that look; what it gave up is seen in the changes."""
        design = self.header.design
        sizes = [table.size for call in self.calls for table in call.tables]
        if sizes and sizes[0] != math.prod(design.shape):
            design = replace(design, given_up=("points",))
        more = {k: v for k, v in (self.known or {}).items() if k != "warnings"}
        return replace(design, **more)

    @property
    def tables(self) -> list[Floats]:
        """The changes of all trials since the last restart."""
        return [table for call in self.calls[self.since :] for table in call.tables]

    def result(self) -> Result:
        """Judge all trials since the last restart."""
        header, m = self.header, sum(call.trials for call in self.calls[self.since :])
        design = replace(self.design, n_labeled=m * width(header.design))
        said = [text for call in self.calls if call.ended for text in call.ended["warnings"]]
        trials = Trials(
            np.array(self.tables).reshape(-1, *design.shape),
            design,
            warnings=tuple(dict.fromkeys(said)),
            delta=header.question.delta,
            asked=header.question,
            origin=header,
        )
        return trials.judge(header.question)


def width(design: Design) -> int:
    """Return how many rows a trial takes."""
    return design.taken + design.points


def require_the_same(path: Path, there: Header, here: Header) -> None:
    """Refuse another algorithm, question or seed than the record's."""
    before, now = (
        {name: getattr(each.design, name) for name in _SAME}
        | {name: getattr(each.question, name) for name in ("epsilon", "delta", "alpha")}
        | ({"code": each.code} if there.versions["python"] == here.versions["python"] else {})
        for each in (there, here)
    )
    require_same(path, before, now)


def used_before(record: Record, words: Words, skip: bool, path: Path) -> Ids:
    """Return the rows that were used before; refuse more than chance explains."""
    known = np.array([word for call in record.calls for word in call.rows], dtype=np.uint64)
    if skip:
        used = np.flatnonzero(np.isin(words, known))
        if len(used) and chance_of_equals(known):
            problem = "needs ids: some rows are equal by chance"
            raise ArgumentError(problem, argument="skip_used")
        return used
    used = beyond_chance(known, words)
    if len(used):
        raise DataError(
            f"{len(used):,} of {counted(len(words), 'row')} were used before, says {path}, such as "
            f"row {used[0]} (counting from 0); ids tell equal rows apart",
            remedy={"skip_used": True},
        )
    return used
