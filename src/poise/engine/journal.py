"""A journal: everything that was answered in a run, in plan order.

To go on with a run is to read what is there and to compute the rest; to replay it is to go on with
nothing left to compute. Trials stand in the file as their changes; other fits as what they
predicted, beside the trials that they complete.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy as np

from poise.algorithms.provenance import code_digest
from poise.engine.log import Entry, Log, kind_of, read, require_same
from poise.engine.messages import Answer, Failure, Made, Query, Said, Trial, queries_of
from poise.errors import RecordError
from poise.results.file import Table, numbers, written

if TYPE_CHECKING:
    from poise.engine.oracle import Oracle

KIND = "journal"
OTHER_CODE = (
    "The journal was begun with other code of the algorithm, so its trials may be about two "
    "algorithms."
)
Packed = tuple[str, tuple[int, ...], str]  # an array: its type, its shape, its values as JSON


class Line(msgspec.Struct, omit_defaults=True, forbid_unknown_fields=True):
    """One line of the file: an answer, a stage of a procedure, its verdict, or a warning."""

    changes: Table | None = None  # of one trial or several, and their errors
    errors: Table | None = None
    predictions: Packed | None = None
    failure: tuple[Literal["error", "undefined", "death", "timeout"], str] | None = None
    said: tuple[Said, ...] = ()
    stage: int = 0
    tasks: int = 0
    digest: str = ""
    verdict: str = ""
    warning: str = ""

    @property
    def answers(self) -> bool:
        """Whether it is the answer to a task."""
        return not (self.stage or self.verdict or self.warning)

    @property
    def failed(self) -> Failure | None:
        """Why there is no answer, or not a whole one."""
        return None if self.failure is None else Failure(self.failure[1], self.failure[0])

    @property
    def fit(self) -> Answer:
        """What a fit predicted."""
        if self.predictions is None and self.failure is None:
            raise RecordError("a line of the journal holds neither predictions nor a failure")
        values = None if self.predictions is None else _unpacked(self.predictions)
        return Answer(values, self.failed, said=self.said)


class Journal(AbstractContextManager["Journal"]):
    """The answers of a run, those that are there first.

    What a procedure asks is compared, too (``staged``); where a run is ``replayed`` nothing is left
    to compute, and the file is only read.
    """

    def __init__(self, path: str | Path, *, staged: bool = False, replayed: bool = False) -> None:
        self.path = path
        self.warnings, self._unwritten = list[str](), set[str]()  # doubts about going on
        self._log = None if replayed else Log(path, KIND)
        self.header: Entry | None  # what the file was begun with, once ``begin`` has been called
        if self._log is None:
            self.header, self._lines = lines_of(path)
        else:
            self.header = self._log.header
            self._lines = (_line(each, path) for each in self._log.entries())
        self._next: Line | None = None
        self._staged, self._stage, self._reading = staged or replayed, 0, True
        self._shape: tuple[int, ...] = ()

    def begin(self, header: Mapping[str, Any]) -> None:
        """Begin a new file."""
        assert self._log is not None
        self._log.begin(header)
        self.header = self._log.header

    def identified(self, oracle: Oracle, **more: object) -> dict[str, Any]:
        """Return what makes a run this one; refuse to go on with another one, with both values."""
        algorithm, distance = oracle.algorithm, oracle.distance
        run = {"algorithm": algorithm.name, "rows": oracle.sample.digest()[:16], **more}
        run["parameters"] = algorithm.identity
        run |= {"distance": distance.name, "code of the distance": code_digest(*distance.user_code)}
        here: dict[str, Any] = {"run": run, "python": platform.python_version()}
        here["code_of_algorithm"] = code = code_digest(*algorithm.user_code)
        if self.header is not None:
            require_same(self.path, _run_in(self.header), run)
            comparable = self.header.get("python") == here["python"]  # what code compiles to
            if comparable and self.header.get("code_of_algorithm") not in ("", code):
                self.warnings.append(OTHER_CODE)
                self._unwritten.add(OTHER_CODE)  # unless nothing is computed by it
        return here

    def kept(
        self, tasks: Sequence[Query] | Sequence[Trial], shape: tuple[int, ...]
    ) -> Iterator[Answer]:
        """Yield the answers to a batch that are there; to append them again does nothing.

        ``shape`` is that of the changes of a trial, and (0, 0) where queries are asked.
        """
        self._reading, self._shape, done = True, shape, 0
        if self._staged:
            stage = self._stage + 1
            here = Line(stage=stage, tasks=len(tasks), digest=_digest(tasks))
            self._agree(here, f"stage {stage}", True)
            self._stage = stage
        while done < len(tasks) and (line := self._peek()) is not None and line.answers:
            self._next = None
            answer = trials_of(line, shape) if shape[0] else line.fit
            done += answer.size
            yield answer
        line = self._peek()  # or the warnings behind the last answer
        if done < len(tasks) and (self._log is None or line is not None):
            raise self._other(line, f"task {done:,}")
        self._reading = False

    def append(self, answer: Answer, complete: Callable[[], Answer | None] | None = None) -> None:
        """Write an answer, and which trials it completes, unless it is there."""
        trials = answer if self._shape[0] else None
        if complete is not None:
            trials = complete()
        if self._reading:
            return
        line = Line(said=answer.said)
        if answer.failure is not None:
            line.failure = answer.failure.kind, answer.failure.message
        if not self._shape[0] and answer.values is not None:
            line.predictions = _packed(answer.values)
        if trials is not None:
            changes = np.full(self._shape, np.nan) if trials.values is None else trials.values
            line.changes, line.errors = written(np.ravel(changes)), written(np.ravel(trials.error))
        self._write(line)

    def conclude(self, procedure: str, verdict: str) -> None:
        """Keep what a procedure concludes; refuse another verdict than it came to before."""
        same = self.header is not None and self.header.get("procedure") == procedure
        self._agree(Line(verdict=verdict), "the verdict", same)  # others have their own

    def _agree(self, here: Line, what: str, same: bool) -> None:
        """Compare a line that must be the ``same`` with the one that is there, or write it."""
        line = self._peek()
        if line is None and self._log is not None:
            if same:
                self._write(here)
            return
        if line is None or line.answers or bool(line.stage) != bool(here.stage):
            raise self._other(line, what)
        self._next = None
        if same:
            require_same(f"{self.path}: {what}", *map(msgspec.to_builtins, (line, here)))

    def _other(self, line: Line | None, here: str) -> RecordError:
        """Say what comes next there, and what here."""
        there = "nothing" if line is None else "an answer"
        if line is not None and not line.answers:
            there = "the verdict" if line.verdict else f"stage {line.stage}"
        after = f" after stage {self._stage} has begun" if self._stage else ""
        return RecordError(f"{self.path}{after}: {there} comes next there, and {here} here")

    def _peek(self) -> Line | None:
        """Return the next line, warnings aside."""
        while self._next is None and (line := next(self._lines, None)) is not None:
            if not line.warning:
                self._next = line
                continue
            self._unwritten.discard(line.warning)
            if line.warning not in self.warnings:
                self.warnings.append(line.warning)
        return self._next

    def _write(self, line: Line) -> None:
        assert self._log is not None
        while self._unwritten:
            self._log.append(Line(warning=self._unwritten.pop()))
        self._log.append(line)

    def __exit__(self, *error: object) -> None:
        if self._log is not None:
            self._log.close()


def seed_in(path: str | Path) -> int | None:
    """Return the seed of the run that a file was begun with, if it was begun."""
    header = next(read(path, KIND), None) if kind_of(path) == KIND else None
    seed = _run_in(header or {}).get("seed")
    return seed if isinstance(seed, int) else None


def _run_in(header: Mapping[str, Any]) -> dict[str, Any]:
    run = header.get("run")
    return run if isinstance(run, dict) else {}


def lines_of(path: str | Path) -> tuple[Entry, Iterator[Line]]:
    """Return the header of a journal, and its lines, also while it is being written."""
    entries = read(path, KIND)
    header = next(entries, None)
    if header is None:
        raise RecordError(f"{path} ends before its first line does")
    return header, (_line(each, path) for each in entries)


def trials_of(line: Line, shape: tuple[int, ...]) -> Answer:
    """Return trials as they were appended: one, or several at once."""
    try:
        errors = numbers(line.errors or [])
        changes = numbers(line.changes or []).reshape(len(errors), *shape)
    except ValueError as error:
        raise RecordError(f"a line of the journal holds no trials: {error}") from None
    if not len(errors):
        raise RecordError("a line of the journal holds no trials")
    if len(changes) > 1:
        return Answer(changes, error=errors, said=line.said)
    return Answer(changes[0], line.failed, errors[0], said=line.said)


def _line(entry: Mapping[str, Any], path: str | Path) -> Line:
    try:
        return msgspec.convert(entry, Line)
    except msgspec.ValidationError as error:
        raise RecordError(f"{path} holds a line that poise did not write: {error}") from None


def _packed(array: Any) -> Packed:
    values = array.ravel().tolist()
    for value in values:
        if not (value is None or isinstance(value, str | int | float)):
            kind = type(value).__name__
            raise RecordError(f"a prediction of type {kind} cannot be kept in a journal")
    return array.dtype.str, array.shape, json.dumps(values)


def _unpacked(packed: Packed) -> Any:
    dtype, shape, values = packed
    try:
        return np.array(json.loads(values), dtype=dtype).reshape(shape)
    except Exception as error:  # of NumPy, about what it is given
        raise RecordError(f"a line of the journal holds no predictions: {error}") from None


def _digest(tasks: Sequence[Query] | Sequence[Trial]) -> str:
    """Return a digest of what is asked: rows, points and random terms of every fit."""
    state = hashlib.blake2b(digest_size=16)
    for task in tasks:
        queries = queries_of(task)
        for query in queries:
            code = "" if query.look is None else code_digest(query.look)
            state.update(f"{len(queries)} {query.xi} {code}".encode())
            for rows in (query.train, query.points, *query.also):
                for part in (rows.X, rows.y) if isinstance(rows, Made) else (rows,):
                    state.update(b"none" if part is None else _bytes(part))
    return state.hexdigest()


def _bytes(part: Any) -> bytes:
    array = np.ascontiguousarray(part)
    return f"{array.dtype.str}{array.shape}".encode() + array.tobytes()
