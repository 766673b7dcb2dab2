"""Stability of one training set: its rows are trained on, and fresh rows are the trials.

Every fit has the same ξ. A trial compares pairs of fits, as for new training sets, and fits on the
same rows are made once: without row i of D for every fresh row, say. So n + 1 fits serve all.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from poise.data.randomness import Ids, Randomness
from poise.data.sample import Sample
from poise.data.split import Units
from poise.engine.messages import Answer, Answers, Batch, Floats, Planned, Query
from poise.engine.oracle import Ends, failed_with
from poise.engine.work import Work
from poise.results.design import Design
from poise.results.trials import MOST_FAILURES, Failed

Until = Callable[[Floats], bool] | None  # shown the changes of each trial, says whether to stop
_NONE = np.arange(0)


class Fit(NamedTuple):
    """A training set, and the changes for which it is compared with the one before."""

    left_out: Ids  # units of D
    added: int  # the trial whose fresh units are trained on, too; -1 for none
    trials: Ids = _NONE  # their places in the table of changes
    removal: int = 0


@dataclass(frozen=True, eq=False)
class GivenSplit:
    """The rows of every trial about one training set D, and which fits that takes."""

    design: Design
    sample: Sample  # D, and the fresh rows as its unlabelled ones
    randomness: Randomness  # of ξ, the order of the fresh rows, the row of a fresh group
    chosen: Ids  # numbers of the trials: all of them, or those that are repeated
    apart: bool = False  # whether the points of each trial are predicted in a call of their own

    def __len__(self) -> int:
        return len(self.chosen)

    @cached_property
    def own(self) -> Units:
        """Units of D: rows, or groups if they leave as a whole."""
        codes = None if self.design.notion == "without" else self.sample.groups
        count = self.sample.n_labeled if codes is None else self.design.n
        return Units.in_order(np.arange(count), codes)

    @cached_property
    def fresh(self) -> Units:
        """Fresh units in the order in which trials use them: first those that are added."""
        sample, codes = self.sample, self.sample.groups_unlabeled
        kind, count = "rows", sample.n_unlabeled
        if codes is not None:
            kind, count = "groups", sample.n_groups_unlabeled
        role, shuffle = f"order of fresh {kind}", self.design.shuffle
        order = self.randomness.order(role, count) if shuffle else np.arange(count)
        units = Units.in_order(order, codes)
        return Units(sample.n_labeled + units.rows, units.starts)

    # what a trial is

    def rows(self, k: int, j: int) -> tuple[Ids, Ids]:
        """Return the rows of the two fits that trial k compares for removal j."""
        left_out, added, *_ = self._after(k, j)
        before = left_out if self.is_jackknife else _NONE
        return self.training(before), self.training(left_out, added)

    def removed(self, k: int, j: int) -> Ids:
        """Return the rows of D that removal j takes away, or the fresh ones that are added."""
        left_out, added, *_ = self._after(k, j)
        return self.own.of(left_out) if added < 0 or self.is_jackknife else self._added(added)

    def points(self, k: int) -> Ids:
        """Return the fresh rows at which trial k predicts; of the jackknife, the one it adds."""
        if self.is_jackknife:
            return self._added(k)
        first = self.design.n_trials * self.design.taken + k * self.design.points
        units = range(first, first + self.design.points)
        return np.array([self.fresh.one_of(unit, self.randomness, unit) for unit in units])

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
        leaves = np.array(self.design.without, dtype=np.int64)
        if self.design.notion in ("deployed", "jackknife"):
            leaves = np.array([j if self.design.all_leave else self._drawn[k]])
        return Fit(leaves, k if self.one_by_one else -1)

    def _added(self, k: int) -> Ids:
        first = k * self.design.batch
        return self.fresh.between(first, first + self.design.batch)

    @cached_property
    def _drawn(self) -> Ids:
        return self.design.drawn(self.design.n_trials)

    # which fits that takes

    @cached_property
    def befores(self) -> list[Fit]:
        """The fits with which others are compared."""
        every = np.arange(len(self))
        left_out = np.arange(self.design.n)[:, None] if self.is_jackknife else [_NONE]
        return [Fit(units, -1, every) for units in left_out]

    @cached_property
    def afters(self) -> Sequence[Fit]:
        """The others; those of trial 0 come first wherever they serve it alone."""
        design, every = self.design, np.arange(len(self))
        if self.one_by_one:
            return Planned(self._of_one_trial, range(len(self) * design.removals))
        if design.all_leave:
            return [Fit(np.array([j]), -1, every, j) for j in range(design.n)]
        if design.notion != "deployed":
            return [self._after(0, 0)._replace(trials=every)]
        drawn = self._drawn[self.chosen]
        return [Fit(np.array([i]), -1, np.flatnonzero(drawn == i)) for i in np.unique(drawn)]

    def _of_one_trial(self, f: int) -> Fit:
        place, j = divmod(f, self.design.removals)
        return self._after(int(self.chosen[place]), j)._replace(trials=np.array([place]), removal=j)

    def queries(self) -> Planned:
        """Return all of them as what is asked."""
        return Planned(self._query, range(len(self.befores) + len(self.afters)))

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

    def fit(self, f: int) -> Fit:
        """Return a fit by its number: first those with which others are compared."""
        others = f - len(self.befores)
        return self.befores[f] if others < 0 else self.afters[others]

    def _query(self, f: int) -> Query:
        """Return a fit with the calls of predict that it needs: one for all, if they may be."""
        fit = self.fit(f)
        points = self.predicted(fit)
        if not self.apart:
            points = points.reshape(-1, 1 if "together" in self.design.given_up else points.size)
        call, *more = points
        train = self.training(fit.left_out, fit.added)
        place = (fit.added + 1) * len(self.own) + int((fit.left_out + 1).sum())  # in a stack
        xi = f if self.design.notion == "changed" else self.xi  # which of the two models
        return Query(train, call, xi, tuple(more), place=place)

    @property
    def xi(self) -> int:
        """The random term of every fit."""
        return int(self.randomness.block("conditional", 0, 1)[0, 0])


def given_data(
    split: GivenSplit, work: Work, until: Until = None, known: Mapping[int, Answer] | None = None
) -> Generator[Batch, Answers, Answers]:
    """Ask for every fit, and compare what it predicts as soon as it is there."""
    table = _Table(split, work, until)
    try:
        answers = yield Batch(split.queries(), table.enter, known or {}, complete=table.latest)
    except Ends as failed:
        failed.partial = table.answers()  # type: ignore[union-attr]
        raise
    return table.answers(answers.failures)


class _Table:
    """The changes so far."""

    def __init__(self, split: GivenSplit, work: Work, until: Until) -> None:
        self.split, self.work, self.until, self.design = split, work, until, split.design
        self.changes = np.full((len(split), *split.design.shape), np.nan)
        self.before: list[Any] = []
        self.compared = self.complete = self.told = 0  # fits, trials
        self.failures: list[Failed] = []

    def enter(self, predictions: Any) -> bool:
        """Take the predictions of the next fit; say whether to stop."""
        split = self.split
        if len(self.before) < len(split.befores):
            self.before.append(predictions)
            return False
        fit = split.afters[self.compared]
        before = self.before[fit.removal if split.is_jackknife else 0]
        if before is not None and predictions is not None:
            self._compare(fit, before, predictions)
        self.compared += 1
        if not split.one_by_one:
            self.complete = len(self.changes) * (self.compared == len(split.afters))
            return False
        done, self.complete = self.complete, self.compared // self.design.removals
        return self.until is not None and any(map(self.until, self.changes[done : self.complete]))

    def _compare(self, fit: Fit, before: Any, after: Any) -> None:
        """Enter the changes of a fit; decisions are judged trial by trial."""
        points, T = self.split.predicted(fit), self.design.points
        if not self.split.is_jackknife:
            before = before[(fit.trials[:, None] * T + np.arange(T)).ravel()]
        decides = self.design.compares == "decisions"
        width = T if decides else points.size
        for i, trials in enumerate(fit.trials[:, None] if decides else [fit.trials]):
            part = slice(i * width, (i + 1) * width)
            found, failure = self.work.compare(before[part], after[part], points.ravel()[part])
            table = np.reshape(found, (len(trials), -1)) if np.ndim(found) else found  # nan for all
            self.changes[trials, fit.removal] = table
            if failure is not None and self.work.keep_causes:  # it ends the run
                ended = failed_with(failure, "trial", int(trials[0]), self.complete)
                raise ended from failure.cause
            if failure is not None:
                self.failures.append(Failed(int(trials[0]), failure.kind, failure.message))

    def latest(self) -> Answer | None:
        """Return the trials that the latest fit has completed."""
        new, self.told = range(self.told, self.complete), self.complete
        changes = self.changes[new.start : new.stop]
        return Answer(changes, error=self._errors(new)) if new else None

    def answers(self, failed: Sequence[Failed] = ()) -> Answers:
        """Return the changes of the trials that are complete."""
        changes = self.changes[: self.complete]
        fits = (replace(each, trial=int(self.split.fit(each.trial).trials[0])) for each in failed)
        failures = (*fits, *self.failures)[:MOST_FAILURES]
        n_failed = int(np.isnan(changes).any(axis=(1, 2)).sum())
        return Answers(changes, self._errors(range(self.complete)), failures, n_failed)

    def _errors(self, trials: range) -> Floats:
        """Return the error of the fit on all of D at the points of each trial."""
        T = self.design.points
        if self.split.is_jackknife or not self.before or self.before[0] is None:
            return np.full(len(trials), np.nan)
        parts = [(self.before[0][k * T : (k + 1) * T], self.split.tested[k]) for k in trials]
        return np.array([self.work.error(*pair) for pair in parts], dtype=np.float64)
