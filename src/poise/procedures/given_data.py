"""Stability of one training set: its rows are trained on, and fresh rows are the trials.

Every fit has the same ξ. A trial compares pairs of fits, as for new training sets, and fits on the
same rows are made once: without row i of D for every fresh row, say. So n + 1 fits serve all.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np

from poise.data.randomness import Ids, Randomness
from poise.data.split import Units
from poise.engine.messages import Answer, Answers, Batch, Failure, Floats, Query
from poise.engine.oracle import failed_with
from poise.errors import RecordError, TrialError
from poise.results.design import Design
from poise.results.trials import MOST_FAILURES, Failed

Compare = Callable[[Any, Any, Ids], tuple[Floats | float, Failure | None]]


class Fit(NamedTuple):
    """A training set, and the changes for which it is compared with the one before."""

    left_out: Ids  # units of D
    added: int  # the trial whose fresh units are trained on, too; -1 for none
    trials: Ids  # their places in the table of changes
    removal: int = 0


@dataclass(frozen=True, eq=False)
class GivenSplit:
    """The rows of every trial about one training set D.

    Attributes
    ----------
    design : Design
        The notion, and how many trials and points there are.
    own, fresh : Units
        Units of D; fresh ones in the order in which trials use them, labelled ones first.
    randomness : Randomness
        Of ξ, and of the row that stands for a fresh group.
    chosen : array of int
        Numbers of the trials: all of them, or those that are repeated.
    apart : bool
        Whether the points of each trial are predicted in a call of their own.

    Examples
    --------
    >>> design = Design(algorithm="A", n=3, n_labeled=4, notion="update", batch=1)
    >>> own, fresh = Units(np.arange(3)), Units(np.array([6, 3, 5, 4]))
    >>> split = GivenSplit(design, own, fresh, Randomness(0), np.arange(2))
    >>> split.rows(1, 0), split.points(1)
    ((array([0, 1, 2]), array([0, 1, 2, 3])), array([4]))
    """

    design: Design
    own: Units
    fresh: Units
    randomness: Randomness
    chosen: Ids
    apart: bool = False

    def __len__(self) -> int:
        return len(self.chosen)

    # what a trial is

    def rows(self, k: int, j: int) -> tuple[Ids, Ids]:
        """Return the rows of the two fits that trial k compares for removal j."""
        after = self._after(k, j)
        before = after.left_out if self.is_jackknife else after.left_out[:0]
        return self.training(before), self.training(after.left_out, after.added)

    def removed(self, k: int, j: int) -> Ids:
        """Return the rows of D that removal j takes away, or the fresh ones that are added."""
        after = self._after(k, j)
        added = after.added >= 0 and not self.is_jackknife
        return self._added(after.added) if added else self.own.of(after.left_out)

    def points(self, k: int) -> Ids:
        """Return the fresh rows at which trial k predicts; of the jackknife, the one it adds."""
        if self.is_jackknife:
            return self._added(k)
        first = self.design.n_trials * self.design.taken + k * self.design.points
        units = range(first, first + self.design.points)
        return np.array([self._row_of(unit) for unit in units], dtype=np.int64)

    def training(self, left_out: Ids, added: int = -1) -> Ids:
        """Return the rows of D without some units, and with those that a trial adds."""
        units = np.delete(np.arange(len(self.own)), left_out)
        rows = np.sort(self.own.of(units))  # as they were given, also where groups leave
        return rows if added < 0 else np.append(rows, self._added(added))

    @property
    def one_by_one(self) -> bool:
        """Whether each trial has fits of its own."""
        return self.is_jackknife or self.design.notion in ("update", "add-one")

    @property
    def is_jackknife(self) -> bool:
        """Whether both fits go without a row, the one that they predict."""
        return self.design.notion == "jackknife"

    def _after(self, k: int, j: int) -> Fit:
        """Return the second fit of a pair."""
        design, none = self.design, np.arange(0)
        if design.notion == "changed":
            return Fit(none, -1, none)
        if design.notion in ("update", "add-one"):
            return Fit(none, k, none)
        if design.notion == "without":
            return Fit(np.array(design.without), -1, none)
        leaves = np.array([j if design.all_leave else self._drawn[k]])
        return Fit(leaves, k if self.is_jackknife else -1, none)

    def _added(self, k: int) -> Ids:
        first = k * self.design.batch
        return self.fresh.between(first, first + self.design.batch)

    def _row_of(self, unit: int) -> int:
        rows = self.fresh.between(unit, unit + 1)
        if len(rows) == 1:
            return int(rows[0])
        return int(rows[int(self.randomness.uniform("row of the test group", unit) * len(rows))])

    @cached_property
    def _drawn(self) -> Ids:
        return self.design.drawn(self.design.n_trials)

    # which fits that takes

    @cached_property
    def befores(self) -> list[Ids]:
        """The units that each fit goes without with which others are compared."""
        units = np.arange(self.design.n if self.is_jackknife else 0)
        return [units[i : i + 1] for i in range(len(units))] or [units]

    @cached_property
    def n_fits(self) -> int:
        """How many fits are compared with them."""
        design, m = self.design, len(self)
        if design.all_leave:
            return design.n * (m if self.is_jackknife else 1)
        return {"changed": 1, "without": 1, "deployed": len(self._leaving)}.get(design.notion, m)

    def fit(self, f: int) -> Fit:
        """Return one of these fits; those of trial 0 come first wherever they serve it alone."""
        m = np.arange(len(self))
        if self.one_by_one:
            place, j = divmod(f, self.design.removals)
            fit = self._after(int(self.chosen[place]), j)
            return fit._replace(trials=m[place : place + 1], removal=j)
        if self.design.notion in ("without", "changed") or self.design.all_leave:
            return self._after(0, f)._replace(trials=m, removal=f)
        leaves = self._leaving[f : f + 1]
        return Fit(leaves, -1, np.flatnonzero(self._drawn[self.chosen] == leaves))

    def predicted(self, fit: Fit) -> Ids:
        """Return the rows at which a fit predicts, a row of them for each of its trials."""
        if self.is_jackknife:
            return self.own.of(fit.left_out)[None]
        return self.tested[fit.trials]

    @cached_property
    def tested(self) -> Ids:
        """The fresh rows at which each trial predicts, a row of them for each."""
        found = [self.points(int(k)) for k in self.chosen]
        return np.array(found, dtype=np.int64).reshape(len(found), self.design.points)

    @cached_property
    def _leaving(self) -> Ids:
        return np.unique(self._drawn[self.chosen])

    def query(self, f: int) -> Query:
        """Return a fit with the calls of predict that it needs: one for all, if they may be."""
        befores = self.befores
        every = np.arange(len(self))
        fit = Fit(befores[f], -1, every) if f < len(befores) else self.fit(f - len(befores))
        points = self.predicted(fit)
        if not self.apart:
            points = points.reshape(-1, 1 if "together" in self.design.given_up else points.size)
        first, *others = points
        train = self.training(fit.left_out, fit.added)
        place = (fit.added + 1) * len(self.own) + int((fit.left_out + 1).sum())  # in a stack
        xi = f if self.design.notion == "changed" else self.xi  # which of the two models
        return Query(train, first, xi, tuple(others), place=place)

    @property
    def xi(self) -> int:
        """The random term of every fit."""
        return int(self.randomness.block("conditional", 0, 1)[0, 0])


class Queries(Sequence[Query]):
    """The fits of a split, each made when it is looked up."""

    def __init__(self, split: GivenSplit) -> None:
        self.split = split

    def __len__(self) -> int:
        return len(self.split.befores) + self.split.n_fits

    @overload
    def __getitem__(self, f: int) -> Query: ...
    @overload
    def __getitem__(self, f: slice) -> Sequence[Query]: ...
    def __getitem__(self, f: int | slice) -> Query | Sequence[Query]:
        if isinstance(f, slice):
            return [self[each] for each in range(*f.indices(len(self)))]
        return self.split.query(f)


def given_data(
    split: GivenSplit,
    compare: Compare,
    error: Callable[[Any, Ids], float],
    until: Callable[[Floats], bool] | None = None,
    known: Mapping[int, Answer] | None = None,
    on_error: str = "record",
) -> Generator[Batch, Answers, Answers]:
    """Ask for every fit, and compare what it predicts as soon as it is there."""
    table = _Table(split, compare, error, until, on_error)
    try:
        batch = Batch(Queries(split), table.enter, known=known or {}, complete=table.latest)
        answers = yield batch
    except (TrialError, RecordError, KeyboardInterrupt) as failed:
        failed.partial = table.answers()  # type: ignore[union-attr]
        raise
    return table.answers(answers.failures)


class _Table:
    """The changes so far."""

    def __init__(
        self,
        split: GivenSplit,
        compare: Compare,
        error: Callable[[Any, Ids], float],
        until: Callable[[Floats], bool] | None,
        on_error: str,
    ) -> None:
        self.split, self.compare, self.error, self.until = split, compare, error, until
        self.on_error, self.design = on_error, split.design
        self.changes = np.full((len(split), *split.design.shape), np.nan)
        self.before: list[Any] = []
        self.compared = self.complete = self.told = 0  # fits, trials
        self.failures: list[Failed] = []

    def enter(self, predictions: Any) -> bool:
        """Take the predictions of the next fit; say whether to stop."""
        if len(self.before) < len(self.split.befores):
            self.before.append(predictions)
            return False
        fit = self.split.fit(self.compared)
        before = self.before[fit.removal if self.split.is_jackknife else 0]
        if before is not None and predictions is not None:
            self._compare(fit, before, predictions)
        self.compared += 1
        if not self.split.one_by_one:
            self.complete = len(self.changes) if self.compared == self.split.n_fits else 0
            return False
        complete, self.complete = self.complete, self.compared // self.design.removals
        told = self.until is None or complete == self.complete
        return not told and self.until(self.changes[complete])  # type: ignore[misc]

    def _compare(self, fit: Fit, before: Any, after: Any) -> None:
        """Enter the changes of a fit; decisions are judged trial by trial."""
        points, T = self.split.predicted(fit).ravel(), self.design.points
        if not self.split.is_jackknife:
            before = before[(fit.trials[:, None] * T + np.arange(T)).ravel()]
        parts = [slice(None)]
        if self.design.compares == "decisions":
            parts = [slice(i * T, (i + 1) * T) for i in range(len(fit.trials))]
        found = []
        for part, trial in zip(parts, fit.trials, strict=False):
            changes, failure = self.compare(before[part], after[part], points[part])
            found.append(np.broadcast_to(changes, self._changes_in(points[part])))
            if failure is not None:
                self._failed(int(trial), failure)
        table = np.concatenate(found).reshape(len(fit.trials), -1)
        self.changes[fit.trials, fit.removal] = table

    def _changes_in(self, points: Ids) -> int:
        return 1 if self.design.compares == "decisions" else len(points)

    def _failed(self, trial: int, failure: Failure) -> None:
        if self.on_error == "raise":
            raise failed_with(failure, "trial", trial, self.complete) from failure.cause
        self.failures.append(Failed(trial, failure.kind, failure.message))

    def latest(self) -> Answer | None:
        """Return the trials that the latest fit has completed."""
        new = range(self.told, self.complete)
        self.told = self.complete
        if not new:
            return None
        return Answer(self.changes[new.start : new.stop], error=self._errors(new))

    def answers(self, failed: Sequence[Failed] = ()) -> Answers:
        """Return the changes of the trials that are complete."""
        done, befores = self.complete, len(self.split.befores)
        first = [
            int(self.split.fit(each.trial - befores).trials[0]) if each.trial >= befores else 0
            for each in failed
        ]
        of_fits = [replace(each, trial=k) for each, k in zip(failed, first, strict=True)]
        changes = self.changes[:done]
        failures = tuple([*of_fits, *self.failures][:MOST_FAILURES])
        n_failed = int(np.isnan(changes).any(axis=(1, 2)).sum())
        return Answers(changes, self._errors(range(done)), failures, n_failed)

    def _errors(self, trials: range) -> Floats:
        """Return the error of the fit on all of D at the points of each trial."""
        T = self.design.points
        if self.split.is_jackknife or not self.before or self.before[0] is None:
            return np.full(len(trials), np.nan)
        parts = [(self.before[0][k * T : (k + 1) * T], self.split.tested[k]) for k in trials]
        return np.array([self.error(*pair) for pair in parts], dtype=np.float64)
