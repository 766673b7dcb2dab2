"""The look at the first trial: what could break the error level is found before it matters.

The full fit is repeated with its rows in another order; every point is predicted once more alone;
and where there is code that might remember earlier fits, a reduced fit is made here and in a
process that has fitted nothing. The fits of the trial itself are its answer, and not made again.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from poise.algorithms.predictions import as_array
from poise.engine.execution import WorkerDied
from poise.engine.messages import Answer, Ids, Query, Trial
from poise.engine.oracle import Oracle
from poise.engine.work import Work
from poise.errors import AlgorithmError
from poise.results.design import Design, GivenUp

_SAME = 1e-9  # relative: sums in another order, code compiled for another processor
ALONE = 100  # fresh rows that are predicted alone, too, where one training set is given
_ROWS = 20  # training rows at which it is seen whether predictions depend on the row

ORDER = (
    "The first trial gives other predictions when its rows are put in another order, so the "
    "verdict is about removing the last row; position='uniform' removes one drawn at random "
    "instead."
)
BATCH = (
    "In the first trial the prediction for a row depends on the rows that are predicted with it, "
    "so only one point of each trial is used."
)
_TOGETHER = (
    "The prediction for a row depends on the rows that are predicted with it, so each fresh row is "
    "predicted by itself."
)
CONSTANT = (
    "In the first trial the prediction is the same for every row: trained on {} rows, the "
    "algorithm ignores their features. You may want a larger n."
)
STATE = (
    "{}: it is not a function of its rows and its seed (it draws random numbers that the seed does "
    "not set, or remembers earlier fits), so the error level may not hold."
)
_AFRESH = "A fit of the first trial, repeated in a process that had fitted nothing before, {}"
NOT_REPEATED = "The first fit could not be repeated in a process that had fitted nothing before"
_NOT_KNOWN = NOT_REPEATED + " ({}), so it is not known whether fits remember earlier ones."


@dataclass
class Look:
    """What was seen.

    Attributes
    ----------
    given_up : tuple of str
        What does not survive: "points" (of one training set: "together") if predictions depend on
        the batch, "removals" never.
    order_matters : bool or None
        Whether another order of the rows changes predictions; None if nobody knows.
    constant : bool
        Whether the prediction is the same for every row.
    warnings : list of str
        Sentences about it.
    known : dict
        Answers to the trials that were looked at, without what was given up.
    """

    given_up: tuple[GivenUp, ...] = ()
    order_matters: bool | None = None
    constant: bool = False
    warnings: list[str] = field(default_factory=list)
    known: dict[int, Answer] = field(default_factory=dict)
    _fresh: FreshFit | None = None

    @classmethod
    def of(cls, found: Design, planned: Design) -> Look:
        """Return what was seen when a planned design became the one that was found."""
        told = found.order_free != planned.order_free
        return cls(found.given_up, not found.order_free if told else None)

    def finish(self) -> list[str]:
        """Wait for the process that had fitted nothing; return what it shows, in sentences."""
        fresh, self._fresh = self._fresh, None
        return [] if fresh is None else fresh.compared()

    def close(self) -> None:
        """End that process, if nobody waits for it any more."""
        if self._fresh is not None:
            self._fresh.close()


def look(
    oracle: Oracle, trials: Sequence[Trial], position: Literal["last", "uniform"] = "last"
) -> Look:
    """Look at the first trial that can be fitted; ``finish`` must be called, or ``close``."""
    if not len(trials):
        return Look()
    own = oracle.algorithm.has_own_code and not oracle.algorithm.device  # one process can have it
    fresh = FreshFit(oracle, trials[0]) if own else None
    try:
        seen = _Seen.first(oracle, trials)
        if fresh is not None:
            fresh.repeat_here()
        return _judged(oracle, seen, position, fresh)
    except BaseException:
        if fresh is not None:
            fresh.close()
        raise


def look_at_fits(
    oracle: Oracle, fits: Sequence[Query], ordered: Query | None, alone: int = ALONE
) -> Look:
    """Look at the first two fits about one training set; they are known then.

    ``ordered`` is a fit that is made with its rows in another order, too, and ``alone`` the number
    of points that are predicted by themselves, too.
    """
    trial = Trial((fits[0],), (fits[1],))
    own = oracle.algorithm.has_own_code and not oracle.algorithm.device
    fresh = FreshFit(oracle, trial) if own else None
    found = Look(_fresh=fresh)
    whole = oracle.distance.panel or oracle.algorithm.at_once is not None
    try:
        singly = [replace(each, also=_singly(each.points[:alone])) for each in fits[:2]]
        asked = fits[:2] if whole else singly
        both = [ordered, replace(ordered, train=ordered.train[::-1].copy())] if ordered else []
        one, other, *pair = oracle.ask([*asked, *both])
        if fresh is not None:
            fresh.repeat_here()
    except BaseException:
        found.close()
        raise
    if pair:
        found.order_matters = not same(pair[0].values, pair[1].values)
    seen = _Seen(trial, [replace(one, also=())], [other], one, 0)
    if seen.constant and oracle.distance.name != "label" and _varied(oracle, seen):
        found.constant = True
        found.warnings.append(f"{CONSTANT.partition('. ')[0]}.".format(len(fits[0].train)))
    if not whole and any(_differs_alone(each) for each in (one, other)):
        found.given_up = ("together",)
        found.warnings.append(_TOGETHER)
    else:
        answers = [each if whole else replace(each, also=()) for each in (one, other)]
        found.known = dict(enumerate(answers))
    return found


def _singly(points: Ids) -> tuple[Ids, ...]:
    return tuple(points[t : t + 1] for t in range(len(points)))


def _differs_alone(answer: Answer) -> bool:
    """Whether the first points have other predictions by themselves."""
    if answer.failure:
        return False
    return not same(answer.values[: len(answer.also)], _joined(answer.also))


def _judged(oracle: Oracle, seen: list[_Seen], position: str, fresh: FreshFit | None) -> Look:
    last, work = seen[-1], oracle.work(())
    found = Look(_fresh=fresh)
    if last.usable:
        found.order_matters = last.order_matters
        found.constant = last.constant and oracle.distance.name != "label" and _varied(oracle, last)
        found.given_up = ("points",) if last.depends_on_batch else ()
    if found.order_matters and position == "last":
        found.warnings.append(ORDER)
    if found.given_up:
        found.warnings.append(BATCH)
    if found.constant:
        found.warnings.append(CONSTANT.format(f"{len(last.trial.full[0].train):,}"))
    if not (found.order_matters and len(last.trial.full) < len(last.trial.reduced)):
        alone = bool(found.given_up)
        found.known = {k: each.answer(work, alone) for k, each in enumerate(seen)}
    return found


def _varied(oracle: Oracle, seen: _Seen) -> bool:
    """Whether the training rows have different responses: else one prediction for all is right."""
    y = as_array(oracle.sample.responses(seen.trial.full[0].train))
    return bool((y != y[:1]).any())  # of two fitted models, there are none


@dataclass
class _Seen:
    """The fits of one trial, and the full one with its rows in another order."""

    trial: Trial
    full: list[Answer]
    reduced: list[Answer]
    reordered: Answer
    alone: int  # how many points were predicted alone, too

    @classmethod
    def first(cls, oracle: Oracle, trials: Sequence[Trial]) -> list[_Seen]:
        """Fit one trial after the other, up to the first one that can be looked at."""
        seen: list[_Seen] = []
        for k in range(len(trials)):
            seen.append(cls.of(oracle, trials[k]))
            if seen[-1].usable or oracle.execution.on_error == "raise":
                break
        return seen

    @classmethod
    def of(cls, oracle: Oracle, trial: Trial) -> _Seen:
        """Make the fits of a trial in its own order, then the full one in another order."""
        points = trial.full[0].points
        together = oracle.algorithm.at_once is None  # else points know nothing of each other
        alone = len(points) if together and not oracle.distance.panel and len(points) > 1 else 0
        further = tuple(points[t : t + 1] for t in range(alone))
        rows = (trial.full[0].train[:_ROWS],) if together else ()
        first = replace(trial.full[0], also=(*further, *rows))
        full = [first, *(replace(query, also=further) for query in trial.full[1:])]
        reduced = [replace(query, also=further) for query in trial.reduced]
        backwards = replace(first, train=first.train[::-1].copy())
        *found, reordered = oracle.ask([*full, *reduced, backwards])
        return cls(trial, found[: len(full)], found[len(full) :], reordered, alone)

    @property
    def usable(self) -> bool:
        """Whether there is anything to look at."""
        alone = len(self.trial.reduced) == 1
        return not (self.full[0].failure or (alone and self.reduced[0].failure))

    @property
    def order_matters(self) -> bool:
        """Whether the full fit gives other predictions with its rows in another order."""
        full, reordered = self.full[0], self.reordered
        if reordered.failure:
            return True
        rows = 1 if full.also and not full.also[-1].failure else 0
        one, other = (_joined([each, *each.also[::-1][:rows]]) for each in (full, reordered))
        return not same(*((full.values, reordered.values) if one is None else (one, other)))

    @property
    def depends_on_batch(self) -> bool:
        """Whether any fit gives other predictions for any point alone: all are looked at alike."""
        fits = [each for each in (*self.full, *self.reduced) if not each.failure and self.alone]
        return any(not same(each.values, _joined(each.also[: self.alone])) for each in fits)

    @property
    def constant(self) -> bool:
        """Whether the full fit predicts one and the same number everywhere."""
        full = self.full[0]
        values = _joined([each for each in (full, *full.also[-1:]) if not each.failure])
        if values is None or values.dtype.kind != "f" or len(values) < 2:
            return False
        return bool((values == values[0]).all() and np.isfinite(values).all())

    def answer(self, work: Work, one_point: bool) -> Answer:
        """Return the trial's answer, of its first point alone if the others are given up."""
        trial, fits = self.trial, [self.full, self.reduced]
        if one_point:
            fits = [[each if each.failure else each.also[0] for each in part] for part in fits]
            queries = (trial.full, trial.reduced)
            trial = Trial(
                *(tuple(replace(q, points=q.points[:1]) for q in part) for part in queries)
            )
        return work.compared(trial, *fits)


class FreshFit:
    """A fit in a process that has fitted nothing, beside the run.

    It must be begun before the first fit: what user code remembers would travel with it. What it
    remembers of an earlier call does travel, so ξ is one that no call has used.
    """

    def __init__(self, oracle: Oracle, trial: Trial) -> None:
        from poise.engine.pool import Pool

        xi = secrets.randbits(64)
        self.oracle = oracle
        self.before = tuple(replace(q, xi=xi) for q in (trial.full[0], trial.reduced[0]))
        full, reduced = (query.train for query in self.before)
        others = full[max(1, len(full) - len(reduced)) :]  # what is remembered by size shows
        self.asked = replace(self.before[1], train=others)
        self.here: Answer | None = None  # the same fit in this run
        self.why_not = ""
        self.pool = Pool(1, oracle.execution.fit_timeout)
        try:
            self.pool.share(oracle.work([self.asked], relax=False))
            self.report = self.pool.submit(range(1))
        except AlgorithmError as error:
            self.why_not = error.problem

    def repeat_here(self) -> None:
        """Make the fit where others were made, right after those of the trial."""
        self.here = self.oracle.ask([*self.before, self.asked])[-1]

    def compared(self) -> list[str]:
        """Wait for it, and say what is wrong."""
        from poise.engine.transport import unpacked

        try:
            if self.here is None or self.here.failure:
                return []
            if self.why_not:
                return [_NOT_KNOWN.format(self.why_not)]
            [there] = unpacked(self.report.result()[1])
        except (WorkerDied, AlgorithmError) as error:
            how = error.how if isinstance(error, WorkerDied) else error.problem
            return [_NOT_KNOWN.format(how)]
        finally:
            self.close()
        if there.failure:
            return [STATE.format(_AFRESH.format(f"failed ({there.failure.message})"))]
        if same(self.here.values, there.values):
            return []
        return [STATE.format(_AFRESH.format("gives other predictions"))]

    def close(self) -> None:
        """End the process."""
        self.pool.close()


def same(one: Any, other: Any) -> bool:
    """Tell whether two arrays of predictions agree, up to the last digits of numbers."""
    if one is None or other is None or one.shape != other.shape:
        return False
    if one.dtype.kind != "f" or other.dtype.kind != "f":
        return _equal(one, other)
    size = np.abs(one[np.isfinite(one)]).max(initial=0.0)
    slack = max(_SAME, 100 * float(np.finfo(one.dtype).eps)) * float(size)
    return bool(np.allclose(one, other, rtol=0, atol=slack, equal_nan=True))


def _equal(one: Any, other: Any) -> bool:
    """Compare values of any type, such as arrays in an array; user code may do anything in ==."""
    try:
        return bool(np.array_equal(one, other))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return False


def _joined(answers: Sequence[Answer]) -> Any:
    """Return the predictions of several calls as one array, None if there is none."""
    if any(each.failure for each in answers):
        return None
    try:
        return np.concatenate([each.values for each in answers])
    except ValueError:  # a vector for one row, numbers for several
        return None
