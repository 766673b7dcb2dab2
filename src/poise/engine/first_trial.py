"""The look at the first trial: what could break the error level is found before it matters.

The full fit is repeated with its rows in another order; every point is predicted once more alone;
and where there is code that might remember earlier fits, a reduced fit is made here and in a
process that has fitted nothing. The fits of the trial itself are its answer, and not made again.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    with _beside_a_fresh_fit(oracle, trials[0]) as found:
        seen = _Seen.first(oracle, trials)
        last, work = seen[-1], oracle.work(())
        train = last.trial.full[0].train
        if last.usable:
            found.order_matters = last.order_matters
            found.given_up = ("points",) if last.depends_on_batch else ()
            found.constant = _is_constant(oracle, train, last.full[0], *last.full[0].also[-1:])
        said = {ORDER: found.order_matters and position == "last", BATCH: found.given_up}
        said[CONSTANT.format(f"{len(train):,}")] = found.constant
        found.warnings = [text for text, is_so in said.items() if is_so]
        if not (found.order_matters and len(last.full) < len(last.reduced)):
            alone = bool(found.given_up)
            found.known = {k: each.answer(work, alone) for k, each in enumerate(seen)}
    return found


def look_at_fits(
    oracle: Oracle, fits: Sequence[Query], ordered: Query | None, alone: int = ALONE
) -> Look:
    """Look at the first two fits about one training set; they are known then.

    ``ordered`` is a fit that is made with its rows in another order, too, and ``alone`` the number
    of points that are predicted by themselves, too.
    """
    whole = oracle.distance.panel or oracle.algorithm.at_once is not None
    asked = [each if whole else _singly(each, alone) for each in fits[:2]]
    both = [ordered, _backwards(ordered)] if ordered else []
    with _beside_a_fresh_fit(oracle, Trial((fits[0],), (fits[1],))) as found:
        two = oracle.ask([*asked, *both])
    found.order_matters = not same(two[2].values, two[3].values) if both else None
    if _is_constant(oracle, fits[0].train, two[0]):
        found.constant = True
        found.warnings.append(f"{CONSTANT.partition('. ')[0]}.".format(len(fits[0].train)))
    if not whole and any(_differs_alone(each, len(each.also)) for each in two[:2]):
        found.given_up = ("together",)
        found.warnings.append(_TOGETHER)
        return found
    known = two[:2] if whole else [replace(each, also=()) for each in two[:2]]
    found.known = dict(enumerate(known))
    return found


@contextmanager
def _beside_a_fresh_fit(oracle: Oracle, trial: Trial) -> Iterator[Look]:
    """Begin a fit of a trial in a fresh process before the first fit here; make it here at last."""
    own = oracle.algorithm.has_own_code and not oracle.algorithm.device  # one process can have it
    found = Look(_fresh=FreshFit(oracle, trial) if own else None)
    try:
        yield found
        if found._fresh is not None:
            found._fresh.repeat_here()
    except BaseException:
        found.close()
        raise


def _singly(query: Query, points: int, *more: Ids) -> Query:
    """Predict some points by themselves, too."""
    each = (query.points[t : t + 1] for t in range(min(points, len(query.points))))
    return replace(query, also=(*each, *more))


def _backwards(query: Query) -> Query:
    return replace(query, train=query.train[::-1].copy())


def _differs_alone(answer: Answer, points: int) -> bool:
    """Whether the first points have other predictions by themselves."""
    if answer.failure or not points:
        return False
    return not same(answer.values[:points], _joined(answer.also[:points]))


def _is_constant(oracle: Oracle, train: Ids, *answers: Answer) -> bool:
    """Whether a fit predicts one number everywhere, though its responses are not all the same."""
    values = _joined([each for each in answers if not each.failure])
    if oracle.distance.name == "label" or values is None or values.dtype.kind != "f":
        return False
    y = as_array(oracle.sample.responses(train))
    varied = (y != y[:1]).any()  # of two fitted models, there are none
    same_everywhere = len(values) > 1 and (values == values[0]).all() and np.isfinite(values).all()
    return bool(varied and same_everywhere)


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
        rows = (trial.full[0].train[:_ROWS],) if together else ()
        first = _singly(trial.full[0], alone, *rows)
        others = [_singly(query, alone) for query in (*trial.full[1:], *trial.reduced)]
        *found, reordered = oracle.ask([first, *others, _backwards(first)])
        count = len(trial.full)
        return cls(trial, found[:count], found[count:], reordered, alone)

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
        return any(_differs_alone(each, self.alone) for each in (*self.full, *self.reduced))

    def answer(self, work: Work, one_point: bool) -> Answer:
        """Return the trial's answer, of its first point alone if the others are given up."""
        trial, fits = self.trial, [self.full, self.reduced]
        if one_point:
            fits = [[each if each.failure else each.also[0] for each in part] for part in fits]
            parts = [
                tuple(replace(query, points=query.points[:1]) for query in part)
                for part in (trial.full, trial.reduced)
            ]
            trial = Trial(*parts)
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
    if not answers or any(each.failure for each in answers):
        return None
    try:
        return np.concatenate([each.values for each in answers])
    except ValueError:  # a vector for one row, numbers for several
        return None
