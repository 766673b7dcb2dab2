"""Rows that come in over time: an open-ended test whose evidence is kept on disk."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import msgspec
import numpy as np

from poise import checks
from poise.algorithms.provenance import code_digest, versions
from poise.checks import counted
from poise.data.copies import row_identities
from poise.data.randomness import Ids, Randomness, Words
from poise.data.rows import as_rows
from poise.engine.first_trial import Look
from poise.engine.log import Log, read
from poise.engine.messages import Answer, Floats
from poise.engine.oracle import Oracle
from poise.errors import ArgumentError, DataError, PoiseWarning, RecordError, note
from poise.questions.ask import question_of
from poise.questions.job import Job
from poise.questions.record import (
    KIND,
    Header,
    Record,
    require_the_same,
    used_before,
    width,
)
from poise.results.design import Design
from poise.results.file import written
from poise.results.question import Question
from poise.results.result import Result, Verdict
from poise.settings import Every, checked, documented

_MOST_AHEAD = 20_000  # trials for which it is estimated when the verdict comes
_OF_A_CALL = ("backend", "fit_timeout", "on_error", "progress", "check", "n_jobs")  # not kept
_NOT_HERE = (
    *("X_unlabeled", "groups", "groups_unlabeled", "fit_params", "sample_weight", "ids"),
    *("test", "stop_early", "randomized", "fast", "journal"),
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
        for name in _NOT_HERE:
            if name in given:
                raise ArgumentError("is not a setting of a monitor", argument=name)
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
        with Log(self.path, KIND) as log:
            record = None if log.header is None else Record.of(log.header, log.entries())
            if record is not None and (count := len(as_rows(X, "X"))) < record.header.design.n:
                _tell_few(count, record.header.design)
                return record.result()
            job, words = self._job(record, X, y, ids)
            if record is None:
                record = Record(self._header(job))
                if not job.design.n_trials:
                    _tell_few(len(words), job.design)
                    return record.result()
                log.begin(msgspec.to_builtins(record.header))
            before, finishes = len(record.calls), record.unfinished is not None
            rest = self._finish(record, log, job, words)
            rest = np.delete(rest, used_before(record, words[rest], skip, self.path))
            self._begin(record, log, job, words, rest)
            if len(record.calls) == before and not finishes:
                _tell_few(len(rest), job.design)
            return record.result()

    def restart(self) -> Result:
        """Begin again without older evidence, as after a drift; used rows stay used.

        Each beginning has an error level of its own.
        """
        with Log(self.path, KIND) as log:
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
        decided, calls = _evidence(record.result())[0], record.calls[record.since :]
        return decided is not None and decided > sum(len(each.tables) for each in calls[:-1])

    @property
    def outlook(self) -> str:
        """How many more calls may bring the verdict, if changes go on as they were; else ""."""
        record = self._read()
        calls = record.calls[record.since :]
        if not calls or record.unfinished:
            return ""
        ahead = _evidence(record.result())[1]
        if ahead == 0:
            return ""
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
        entries = read(self.path, KIND)
        return Record.of(next(entries, {}), entries)

    def _job(self, record: Record | None, X: Any, y: Any, ids: Any) -> tuple[Job, Words]:
        """Prepare a test of all these rows, as the record has it; return what tells rows apart."""
        asked = self._asked if record is None else {**record.header.asked, **self._asked}
        job = Job.of("Monitor", self.algorithm, X, y, {**asked, "ids": ids, "fast": False})
        words, names = row_identities(0, job.sample.X, job.sample.y), job.sample.ids
        if names is not None:
            words = row_identities(0, as_rows(names, "ids"))
            if len(np.unique(words)) < len(words):
                raise DataError("must be a different name for each row", argument="ids")
        job = job.planned()
        if record is not None:
            require_the_same(self.path, record.header, self._header(job))
        return job, words

    def _header(self, job: Job) -> Header:
        """Return what a record begins with: what later calls must be the same in."""
        design, code = replace(job.design, max_trials=None), job.algorithm.user_code
        known = {k: v for k, v in job.settings.items() if isinstance(v, int | float | str)}
        asked = {k: v for k, v in known.items() if k not in (*_OF_A_CALL, *_NOT_HERE)}
        asked |= {"n": design.n, "random_state": design.seed, "removals_per_trial": design.removals}
        if design.compares != "decisions":
            asked["points_per_trial"] = design.points
        question = question_of(job, job.with_epsilon(asked.get("epsilon"))[1])
        return Header(
            design,
            replace(question, test="open-ended"),
            asked,
            {"algorithm": code_digest(*code)},
            dict(versions(*code)),
            self.kept,
        )

    def _finish(self, record: Record, log: Log, job: Job, words: Words) -> Ids:
        """Run the missing trials of a call that was interrupted; return which rows are left."""
        every, call = np.arange(len(words)), record.unfinished
        if call is None:
            return every
        places: dict[int, deque[int]] = defaultdict(deque)
        for place, word in enumerate(words.tolist()):
            places[word].append(place)
        found = [places[word].popleft() for word in call.rows if places[word]]
        if len(found) < len(call.rows):
            raise RecordError(
                f"{self.path}: a call was interrupted, and {len(call.rows) - len(found):,} of its "
                f"{len(call.rows):,} rows are not among these: give them again to finish it, or "
                "restart without the evidence so far"
            )
        CallJob.of_call(record, log, job, np.array(found)).finish()
        return np.setdiff1d(every, found)

    def _begin(self, record: Record, log: Log, job: Job, words: Words, rest: Ids) -> None:
        """Choose rows for as many trials as there can be, and run them."""
        design = replace(job.design, n_labeled=len(rest))
        if design.n_trials:
            order = job.randomness.order("order of labelled rows", len(rest))
            used = (rest[order] if design.shuffle else rest)[: design.n_trials * width(design)]
            record.write(log, {"rows": words[used].tolist(), "trials": design.n_trials})
            CallJob.of_call(record, log, job, used).finish()


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

    def _until(self, question: Question | None, rivals: int) -> Callable[[Floats], bool]:
        """Return what writes trials down; it never ends the run."""
        place, known = itertools.count(), len(self.record.calls[-1].tables)

        def keep(table: Floats) -> bool:
            if next(place) >= known:
                self.record.write(self.log, {"changes": written(table)})
            return False

        return keep


def _tell_few(count: int, design: Design) -> None:
    few = f"{counted(count, 'row')} are too few for a trial, which takes {width(design)}"
    if count:
        note(PoiseWarning, f"{few}: give them again together with later ones.")


def _evidence(result: Result) -> tuple[int | None, float]:
    """Return when the verdict came, and how many more trials it may take."""
    from poise.theory.anytime import log_path, open_ended

    question, threshold = result.question, result.design.threshold(result.epsilon)
    shares, low = (
        result.trials.table.shares(threshold, failures_exceed=exceed) for exceed in (True, False)
    )
    found = open_ended(shares, question.delta, question.alpha, low)
    if found.decided_at is not None:
        return found.decided_at, 0
    if not shares.size or not question.delta:
        return None, math.inf
    stable = shares.mean() < question.delta
    path, delta = (shares, question.delta) if stable else (1 - low, 1 - question.delta)
    ahead = log_path(np.append(path, np.full(_MOST_AHEAD, path.mean())), delta)[shares.size :]
    reached = ahead >= -math.log(question.alpha)
    return None, float(reached.argmax()) + 1 if reached.any() else math.inf
