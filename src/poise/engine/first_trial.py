"""The look at the first trial: what could break the error level is found before it matters.

The full fit is repeated with its rows in another order; every point is predicted once more alone;
and where there is code that might remember earlier fits, a reduced fit is made here and in a
process that has fitted nothing. The fits of the trial itself are its answer, and not made again,
unless points are given up.
A shortcut is compared with fits of one trial instead.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from poise.algorithms.predictions import as_array
from poise.engine.execution import Report, WorkerDied, unpacked
from poise.engine.messages import Answer, Failure, Ids, Query, Trial, queries_of
from poise.engine.oracle import Oracle
from poise.engine.surroundings import one_thread
from poise.errors import AlgorithmError, PoiseWarning, note, safely
from poise.results.design import Design, GivenUp

if TYPE_CHECKING:
    from poise.data.split import Split
    from poise.engine.pool import Pool
    from poise.shortcuts.blocks import Shortcut

_SAME = 1e-9  # relative: sums in another order, code compiled for another processor
ALONE = 100  # fresh rows that are predicted alone, too, where one training set is given
_ROWS = 20  # training rows at which it is seen whether predictions depend on the row
_POINTS_COMPARED = 128
_TRIED = 8  # trials, of which a formula must be sure of one; where it chose R, of the first one

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
        the batch, "removals" if a formula chose them that does not serve.
    order_matters : bool or None
        Whether another order of the rows changes predictions; None if nobody knows.
    warnings : list of str
        Sentences about it.
    known : dict
        Answers to what was looked at; none where something was given up.
    """

    given_up: tuple[GivenUp, ...] = ()
    order_matters: bool | None = None
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
        seen: list[_Seen] = []
        for k in range(len(trials)):
            seen.append(_see(oracle, queries_of(trials[k]), len(trials[k].full[0].points), True))
            fits, alone = seen[-1].answers, len(trials[k].reduced) == 1
            usable = not (fits[0].failure or (alone and fits[-1].failure))
            if usable or oracle.execution.on_error == "raise":
                break
        first, last = trials[0], seen[-1]
        if usable:
            found.order_matters = last.order_matters
            if last.order_matters and position == "last":
                found.warnings.append(ORDER)
            if last.depends_on_batch:
                found.given_up = ("points",)
                found.warnings.append(BATCH)
            if last.constant:
                found.warnings.append(CONSTANT.format(f"{len(first.full[0].train):,}"))
        too_few = found.order_matters and len(first.full) < len(first.reduced)  # full fits
        if not (found.given_up or too_few):
            work, count = oracle.work(()), len(first.full)
            found.known = {
                k: work.compared(trials[k], each.answers[:count], each.answers[count:])
                for k, each in enumerate(seen)
            }
    return found


def look_at_fits(oracle: Oracle, fits: Sequence[Query], in_order: bool, alone: int = ALONE) -> Look:
    """Look at the first two fits about one training set; they are known then.

    The first one is made with its rows in another order, too, if that is asked for; ``alone`` is
    the number of points that are predicted by themselves, too.
    """
    with _beside_a_fresh_fit(oracle, Trial((fits[0],), (fits[1],))) as found:
        two = _see(oracle, fits[:2], alone, in_order)
    found.order_matters = two.order_matters
    if two.constant:
        found.warnings.append(f"{CONSTANT.partition('. ')[0]}.".format(len(fits[0].train)))
    if two.depends_on_batch:
        found.given_up = ("together",)
        found.warnings.append(_TOGETHER)
    else:
        found.known = dict(enumerate(two.answers))
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


@dataclass
class _Seen:
    """Some fits, and what the first one shows."""

    answers: list[Answer] = field(default_factory=list)
    depends_on_batch: bool = False  # in any of them, at any point: all are looked at alike
    constant: bool = False
    order_matters: bool | None = None


def _see(oracle: Oracle, queries: Sequence[Query], alone: int, in_order: bool) -> _Seen:
    """Make fits, predict points alone, too, and make the first fit in another order, too."""
    together = oracle.algorithm.at_once is None  # else points know nothing of each other
    most = alone if together and not oracle.distance.panel else 0
    apart = [_singly(query.points, most) for query in queries]
    rows = [queries[0].train[:_ROWS]] if together and in_order else []
    asked = [replace(q, also=(*q.also, *each)) for q, each in zip(queries, apart, strict=True)]
    asked[0] = replace(asked[0], also=(*asked[0].also, *rows))
    if in_order:
        asked.append(replace(asked[0], train=asked[0].train[::-1].copy()))
    found, seen = oracle.ask(asked), _Seen()
    for answer, query, points in zip(found, queries, apart, strict=False):
        own = len(query.also)
        singles = answer.also[own : own + len(points)]
        seen.answers.append(replace(answer, also=answer.also[:own]))
        seen.depends_on_batch |= bool(singles) and not same(
            answer.values[: len(singles)], _joined(singles)
        )
    first, other = (_with_last(each, len(rows)) for each in (found[0], found[-1]))
    train = queries[0].train
    seen.constant = oracle.distance.name != "label" and _is_constant(oracle, train, first)
    if in_order:
        seen.order_matters = not same(first, other)
    return seen


def _with_last(answer: Answer, calls: int) -> Any:
    """Return predictions together with those of the last calls, where these can be joined."""
    last = [each for each in answer.also[len(answer.also) - calls :] if not each.failure]
    joined = _joined([answer, *last])
    return answer.values if joined is None else joined


def _is_constant(oracle: Oracle, train: Ids, values: Any) -> bool:
    """Whether a fit predicts one number everywhere, though its responses are not all the same."""
    if values is None or values.dtype.kind != "f" or len(values) < 2:
        return False
    y = as_array(oracle.sample.responses(train))
    varied = (y != y[:1]).any()  # of two fitted models, there are none
    return bool(varied and (values == values[0]).all() and np.isfinite(values).all())


def _singly(points: Ids, most: int) -> list[Ids]:
    """Return points by themselves, where there are others."""
    return [points[t : t + 1] for t in range(min(most, len(points)))] if len(points) > 1 else []


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
        self.here = Answer(failure=Failure("not made"))  # the same fit in this run
        self.report: Future[Report] = Future()
        self.pool: Pool = Pool(1, oracle.execution.fit_timeout)
        try:
            self.pool.share(oracle.work([self.asked]))
            self.report = self.pool.submit(range(1))
        except AlgorithmError as error:
            self.report.set_exception(error)

    def repeat_here(self) -> None:
        """Make the fit where others were made, right after those of the trial."""
        self.here = self.oracle.ask([*self.before, self.asked])[-1]

    def compared(self) -> list[str]:
        """Wait for it, and say what is wrong."""
        try:
            if self.here.failure:
                return []
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


def compare(oracle: Oracle, shortcut: Shortcut, split: Split, chosen: bool) -> Look:
    """Compute a trial both ways: with all rows, without the last one and the R-th last.

    Where the shortcut does not serve, it goes, and with it removals that were ``chosen`` for its
    sake.
    """
    seen = Look()
    why_not = _why_not(oracle, shortcut, split, 1 if chosen else _TRIED, seen)
    if why_not:
        oracle.algorithm.prepared(oracle.sample)  # refuses rows that nobody has read yet
        oracle.shortcut, seen.given_up = None, ("removals",) if chosen else ()
        only = ", and only the last row of each trial is removed" if chosen else ""
        note(PoiseWarning, f"The exact formula is not used: {why_not}. Models are fitted{only}.")
    return seen


def _why_not(oracle: Oracle, shortcut: Shortcut, split: Split, within: int, seen: Look) -> str:
    """Compare with fits of the first trial that the shortcut is sure of, at many points.

    A shortcut that differs at all, because a parameter is read in another way or scikit-learn has
    changed, differs at some of them. An algorithm for which nobody has proved that the order of
    rows is nothing is fitted in another order, too.
    """
    with one_thread():
        first = range(min(within, len(split)))
        certain = (k for k in first if not shortcut.table(*split.block(k, k + 1))[2].any())
        if (k := next(certain, -1)) < 0:
            several = "s" if len(first) > 1 else ""
            return f"rounding, or a tie, may decide the first trial{several}"
        [train], points = split.block(k, k + 1)
        needed = min(len(split) - k, -(-_POINTS_COMPARED // points.shape[1]))
        some = split.block(k, k + needed)[1].T.reshape(-1)[:_POINTS_COMPARED]
        predicted, tolerance, sure = shortcut.predictions(train, some)
    removed = sorted({1, shortcut.removals})
    rows = [train, *(np.delete(train, len(train) - j) for j in removed)]
    mine = list(predicted[[0, *removed]])
    if not oracle.algorithm.ignores_row_order:
        rows.append(train[::-1].copy())
        mine.append(predicted[0])
    here = replace(oracle, execution=replace(oracle.execution, n_jobs=1, progress=False))
    fits = here.ask([Query(each, some, 0) for each in rows])
    for formula, fit in zip(mine, fits, strict=True):
        if fit.failure:
            return f"a fit of trial {k} fails ({fit.failure.message})"
        numbers = formula.dtype.kind == fit.values.dtype.kind == "f"
        near = np.abs(formula - fit.values) <= tolerance if numbers else formula == fit.values
        wrong = sure & ~near
        if wrong.any():
            one, other = formula[wrong][0], fit.values[wrong][0]
            return f"it gives {one} in trial {k}, and a fit predicts {other}"
    seen.order_matters = None if oracle.algorithm.ignores_row_order else False
    if shortcut.labels is None and _is_constant(oracle, train, fits[0].values):
        seen.warnings.append(CONSTANT.format(f"{len(train):,}"))
    return ""


def same(one: Any, other: Any) -> bool:
    """Tell whether two arrays of predictions agree, up to the last digits of numbers."""
    if one is None or other is None or one.shape != other.shape:
        return False
    if one.dtype.kind != "f" or other.dtype.kind != "f":
        return safely(lambda: bool(np.array_equal(one, other)), instead=False)
    size = np.abs(one[np.isfinite(one)]).max(initial=0.0)
    slack = max(_SAME, 100 * float(np.finfo(one.dtype).eps)) * float(size)
    return bool(np.allclose(one, other, rtol=0, atol=slack, equal_nan=True))


def _joined(calls: Sequence[Answer]) -> Any:
    """Return the predictions of several calls as one array, None if there is none."""
    if calls and not any(each.failure for each in calls):
        with suppress(ValueError):  # a vector for one row, numbers for several
            return np.concatenate([each.values for each in calls])
    return None
