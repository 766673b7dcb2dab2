"""Rows that come in over time: an open-ended test whose evidence is kept on disk."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Unpack

import msgspec
import numpy as np

from poise import checks
from poise.algorithms.provenance import code_digest, versions
from poise.checks import counted
from poise.data.copies import beyond_chance, chance_of_equals, row_identities
from poise.data.randomness import Ids, Randomness, Words
from poise.data.rows import as_rows
from poise.engine.first_trial import Look
from poise.engine.log import Entry, Log, read, require_same
from poise.engine.messages import Answer, Floats
from poise.engine.oracle import Oracle
from poise.errors import ArgumentError, DataError, PoiseWarning, RecordError, note
from poise.questions.job import Job
from poise.results.design import Design
from poise.results.file import numbers, written
from poise.results.question import Question
from poise.results.result import Result, Verdict
from poise.results.trials import Trials
from poise.settings import Every, checked, documented

_KIND = "record"
_MOST_AHEAD = 20_000  # trials for which it is estimated when the verdict comes
_NOT_HERE = (
    *("X_unlabeled", "groups", "groups_unlabeled", "fit_params", "sample_weight", "ids"),
    *("test", "stop_early", "randomized", "fast", "journal"),
)
_NOT_KEPT = {"backend", "fit_timeout", "on_error", "progress", "check", "n_jobs", *_NOT_HERE}
_SAME = (
    *("algorithm", "n", "response", "distance", "compares", "coupling", "position", "seed"),
    *("remove", "replace", "removals", "points", "shuffle"),
)


@documented(Every, leave=_NOT_HERE)
class Monitor:
    """A test of rows that come in over time, which may be looked at as often as you like.

    Each call of :meth:`add` makes trials of fresh rows, and all trials so far decide:

        P(the verdict is ever wrong) ≤ α

    however often rows are added, also if that depends on what was seen, for every algorithm and
    rows of one distribution. What was decided stays decided. The record on disk holds the question,
    the changes and a fingerprint of every row that was used: a row may be used once.

    Parameters
    ----------
    record : str or Path
        The file, new or begun before. One that was begun knows its question.
    algorithm : estimator, function or Algorithm, optional
        As in :func:`poise.stability_test`; without it a record can only be looked at.
    {settings}

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sklearn.linear_model import Lasso
    >>> rng, path = np.random.default_rng(0), tempfile.mkdtemp() + "/lasso.record"
    >>> monitor = Monitor(path, Lasso(0.1), n=20, epsilon=0.8, delta=0.1)
    >>> for day in range(3):
    ...     X = rng.normal(size=(420, 3))
    ...     result = monitor.add(X, X.sum(axis=1) + rng.normal(size=420))
    >>> result.verdict, result.n_trials, monitor.decided_now
    ('stable', 60, True)
    """

    def __init__(self, record: str | Path, algorithm: Any = None, **asked: Unpack[Every]) -> None:
        given: Mapping[str, Any] = asked
        checked("Monitor", given, Every)
        if isinstance(given.get("epsilon"), str):
            problem = "must be a number: a monitor sets no rows aside"
            raise ArgumentError(problem, argument="epsilon", got=given["epsilon"])
        self.path, self.algorithm = Path(record), algorithm
        self._asked = {name: value for name, value in given.items() if value is not None}
        self.kept: dict[str, Any] = {}  # what a front end finds in the record again
        if self.path.exists():
            self.kept = self._read().header.kept

    def add(self, X: Any, y: Any = None, *, ids: Any = None, skip_used: bool = False) -> Result:
        """Make trials of fresh rows, and judge all trials so far.

        Rows that are too few for a trial are not used: give them again together with later ones.
        A call that was interrupted is finished first, by the same rows.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list
            Labelled rows.
        y : array or str
            Responses, or the name of their column in X.
        ids : array or str, optional
            Names of the rows, or the name of a column: rows are known again by them, else by what
            is in them.
        skip_used : bool, default False
            Leave out rows that were used before, as for a table that grows.

        Returns
        -------
        Result
        """
        if self.algorithm is None:
            raise ArgumentError("is missing: rows can only be added with it", argument="algorithm")
        skip = checks.flag("skip_used", skip_used)
        with Log(self.path, _KIND) as log:
            record = None if log.header is None else Record.of(log.header, log.entries())
            if record is not None and (count := len(as_rows(X, "X"))) < record.header.design.n:
                _tell_few(count, record.header.design)
                return record.result()
            job, words = self._job(record, X, y, ids)
            if record is None:
                record = Record(self._header(job))
                if job.design.n_trials:
                    log.begin(msgspec.to_builtins(record.header))
            rest, interrupted = np.arange(len(words)), record.unfinished
            if interrupted is not None:
                again = _found_again(interrupted, words, self.path)
                CallJob.of_call(record, log, job, again).finish()
                rest = np.setdiff1d(rest, again)
            rest = np.delete(rest, record.used_before(words[rest], skip, self.path))
            design = replace(job.design, n_labeled=len(rest))
            if design.n_trials:
                order = job.randomness.order("order of labelled rows", len(rest))
                used = (rest[order] if design.shuffle else rest)[: design.n_trials * _width(design)]
                record.write(log, {"rows": words[used].tolist(), "trials": design.n_trials})
                CallJob.of_call(record, log, job, used).finish()
            elif interrupted is None:
                _tell_few(len(rest), design)
            return record.result()

    def restart(self) -> Result:
        """Begin again without older evidence, as after a drift; used rows stay used.

        Each beginning has an error level of its own.
        """
        with Log(self.path, _KIND) as log:
            if log.header is None:
                raise RecordError(f"{self.path} does not exist")
            record = Record.of(log.header, log.entries())
            record.write(log, {"restart": True})
        return record.result()

    # what is known

    @property
    def result(self) -> Result:
        """The verdict on all trials so far."""
        return self._read().result()

    @property
    def verdict(self) -> Verdict:
        """The answer so far: "stable", "unstable" or "inconclusive"."""
        return self.result.verdict

    @property
    def e_value(self) -> float:
        """Evidence for "stable", which decides as soon as it reaches 1 / alpha."""
        return self.result.e_value

    @property
    def decided_now(self) -> bool:
        """Whether the last call brought the verdict."""
        record = self._read()
        before = replace(record, calls=record.calls[:-1])
        return before.result().verdict == "inconclusive" and self.verdict != "inconclusive"

    @property
    def outlook(self) -> str:
        """How many more calls may bring the verdict, if changes go on as they were; else ""."""
        record = self._read()
        calls, result = record.calls[record.since :], record.result()
        if not calls or record.unfinished or result.verdict != "inconclusive":
            return ""
        ahead = _ahead(result)
        if math.isinf(ahead):
            return "At this rate no verdict is in sight."
        more = math.ceil(ahead / calls[-1].trials)
        return f"At this rate about {counted(more, 'more call')} like the last one will decide."

    def __str__(self) -> str:
        return "\n".join(filter(None, (str(self.result), self.outlook)))

    def __repr__(self) -> str:
        return f"Monitor({str(self.path)!r})"

    # calls

    def _read(self) -> Record:
        entries = read(self.path, _KIND)
        return Record.of(next(entries, {}), entries)

    def _job(self, record: Record | None, X: Any, y: Any, ids: Any) -> tuple[Job, Words]:
        """Prepare a test of all these rows, as the record has it; return what tells rows apart."""
        asked = self._asked if record is None else {**record.header.asked, **self._asked}
        job = Job.of("monitor", self.algorithm, X, y, {**asked, "ids": ids, "fast": False})
        words, names = row_identities(0, job.sample.X, job.sample.y), job.sample.ids
        if names is not None:
            words = row_identities(0, as_rows(names, "ids"))
            if len(np.unique(words)) < len(words):
                raise DataError("must be a different name for each row", argument="ids")
        job = job.planned()
        if record is not None:
            record.header.require_same(self._header(job), self.path)
        return job, words

    def _header(self, job: Job) -> Header:
        """Return what a record begins with: what later calls must be the same in."""
        design, code = replace(job.design, max_trials=None), job.algorithm.user_code
        known = {k: v for k, v in job.settings.items() if isinstance(v, int | float | str)}
        asked = {k: v for k, v in known.items() if k not in _NOT_KEPT}
        asked |= {"n": design.n, "random_state": design.seed, "removals_per_trial": design.removals}
        if design.compares != "decisions":
            asked["points_per_trial"] = design.points
        question = replace(job.asked()[1], test="open-ended")
        digests = {"algorithm": code_digest(*code)}
        return Header(design, question, asked, digests, dict(versions(*code)), self.kept)


@dataclass(frozen=True)
class CallJob(Job):
    """A test of the rows of the last call, which stand in the order of its trials."""

    record: Record = field(default=None)  # type: ignore[assignment]
    log: Log = field(default=None)  # type: ignore[assignment]

    @classmethod
    def of_call(cls, record: Record, log: Log, job: Job, used: Ids) -> CallJob:
        """Take these rows of a job, in this order; random terms go on from earlier calls."""
        *before, call = (each.trials for each in record.calls)
        randomness = Randomness(job.randomness.root, sum(before))
        sample, design = job.sample.only(used), replace(job.design, n_labeled=len(used))
        design = replace(design, max_trials=call, shuffle=False)
        settings = {**job.settings, **record.header.asked, "max_trials": call}
        parts = (job.algorithm, sample, job.distance, job.coupling, settings, randomness, design)
        return cls(*parts, record=record, log=log)

    def finish(self) -> None:
        """Run the trials that are missing; each is in the file before the next one is awaited."""
        try:
            ran = self.run(self.record.header.question, warn=False)
        except BaseException as error:
            path = self.log.path
            error.add_note(f"{path} keeps the trials so far: the same call goes on from there")
            raise
        known = {name: getattr(ran.design, name) for name in ("order_free", "one_full_fit")}
        self.record.write(self.log, {**known, "warnings": list(ran.warnings)})

    def look(self, oracle: Oracle) -> Look:
        """Look at the first trial of the first call; later ones are run as it was."""
        if self.record.known:
            self.warnings.extend(self.doubts())
            seen = Look.of(self.record.design, self.design)
        else:
            seen = super().look(oracle)
        seen.known |= {k: Answer(table) for k, table in enumerate(self.record.calls[-1].tables)}
        return seen

    def _until(self, question: Question | None) -> Callable[[Floats], bool]:
        """Return what writes trials down; it never ends the run."""
        place, known = itertools.count(), len(self.record.calls[-1].tables)

        def keep(table: Floats) -> bool:
            if next(place) >= known:
                self.record.write(self.log, {"changes": written(table)})
            return False

        return keep


def _found_again(call: Call, words: Words, path: Path) -> Ids:
    """Return the places of the rows of a call that was interrupted; equal ones in turn."""
    places: dict[int, deque[int]] = defaultdict(deque)
    for place, word in enumerate(words.tolist()):
        places[word].append(place)
    found = [places[word].popleft() for word in call.rows if places[word]]
    if len(found) < len(call.rows):
        count = len(call.rows)
        lacking = f"{count - len(found):,} of its {count:,} rows are not among these"
        raise RecordError(f"{path}: a call was interrupted, and {lacking}; add them, or restart")
    return np.array(found)


def _tell_few(count: int, design: Design) -> None:
    few = f"{counted(count, 'row')} are too few for a trial, which takes {_width(design)}"
    if count:
        note(PoiseWarning, f"{few}: give them again together with later ones.")


def _width(design: Design) -> int:
    """Return how many rows a trial takes."""
    return design.taken + design.points


def _ahead(result: Result) -> float:
    """Return how many more trials the verdict takes if changes go on as they were."""
    from poise.theory.anytime import open_ended

    if not result.n_observed:
        return math.inf
    table, threshold = result.trials.table, result.design.threshold(result.epsilon)
    seen = (table.shares(threshold), table.shares(threshold, failures_exceed=False))
    shares, low = (np.append(each, np.full(_MOST_AHEAD, each.mean())) for each in seen)
    decided = open_ended(shares, result.delta, result.alpha, low).decided_at
    return math.inf if decided is None else decided - result.n_observed


# The file: its question, the rows that were used, and their changes, line by line ---------------


class Header(msgspec.Struct):
    """What a record begins with; its trials come from there."""

    design: Design
    question: Question
    asked: dict[str, Any]
    code: dict[str, str]
    versions: dict[str, str]
    kept: dict[str, Any] = {}
    data: ClassVar[str] = ""  # which rows there were is known by their fingerprints

    def require_same(self, now: Header, path: Path) -> None:
        """Refuse another algorithm, question or seed than the record's."""
        before, here = (
            {name: getattr(each.design, name) for name in _SAME}
            | {name: getattr(each.question, name) for name in ("epsilon", "delta", "alpha")}
            | ({"code": each.code} if self.versions["python"] == now.versions["python"] else {})
            for each in (self, now)
        )
        require_same(path, before, here)


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
        design = replace(self.design, n_labeled=m * _width(header.design))
        said = [text for call in self.calls if call.ended for text in call.ended["warnings"]]
        changes, asked = np.array(self.tables).reshape(-1, *design.shape), header.question
        more: dict[str, Any] = {"warnings": tuple(dict.fromkeys(said)), "delta": asked.delta}
        return Trials(changes, design, asked=asked, origin=header, **more).judge(asked)

    def used_before(self, words: Words, skip: bool, path: Path) -> Ids:
        """Return the rows that were used before; refuse more than chance explains."""
        known = np.array([word for call in self.calls for word in call.rows], dtype=np.uint64)
        if skip:
            used = np.flatnonzero(np.isin(words, known))
            if len(used) and chance_of_equals(known):
                problem = "needs ids: some rows are equal by chance"
                raise ArgumentError(problem, argument="skip_used")
            return used
        used = beyond_chance(known, words)
        if len(used):
            some = f"{len(used):,} of {counted(len(words), 'row')} were used before, says {path}"
            problem = f"{some}, such as row {used[0]} (counting from 0); ids tell equal rows apart"
            raise DataError(problem, remedy={"skip_used": True})
        return used
