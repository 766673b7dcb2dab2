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
_DEPENDS = {"points": BATCH, "together": _TOGETHER}
CONSTANT = (
    "In the first trial the prediction is the same for every row: trained on {:,} rows, the "
    "algorithm ignores their features."
)
_LARGER = " You may want a larger n."
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

    Given up are "points" (of one training set: "together") if predictions depend on the batch, and
    "removals" if a formula chose them that does not serve.
    """

    given_up: tuple[GivenUp, ...] = ()
    order_matters: bool | None = None  # to predictions; None if nobody knows
    warnings: list[str] = field(default_factory=list)
    known: dict[int, Answer] = field(default_factory=dict)  # unless something was given up
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
    with _beside_a_fresh_fit(oracle, trials[0]) as fresh:
        fits: list[list[Answer]] = []
        for trial in trials:
            seen = _see(oracle, queries_of(trial), len(trial.full[0].points), True, "points")
            fits.append([*seen.known.values()])
            alone = len(trial.reduced) == 1
            usable = not (fits[-1][0].failure or (alone and fits[-1][-1].failure))
            if usable or oracle.execution.on_error == "raise":
                break
        found = Look(seen.given_up, seen.order_matters, seen.warnings) if usable else Look()
        found._fresh = fresh
        if found.order_matters and position == "last":
            found.warnings.insert(0, ORDER)
        count, work = len(trial.full), oracle.work(())
        if not (found.given_up or (found.order_matters and count < len(trial.reduced))):
            found.known = {
                k: work.compared(trials[k], each[:count], each[count:])
                for k, each in enumerate(fits)
            }
    return found


def look_at_fits(oracle: Oracle, fits: Sequence[Query], in_order: bool, alone: int = ALONE) -> Look:
    """Look at the first two fits about one training set; they are known then.

    The first one is made with its rows in another order, too, if that is asked for; where it fails,
    the next one that can be made. ``alone`` is the number of points that are predicted by
    themselves, too.
    """
    with _beside_a_fresh_fit(oracle, Trial((fits[0],), (fits[1],))) as fresh:
        found = _see(oracle, fits[:2], alone, in_order, "together")
        found._fresh = fresh
        for fit in fits[1:] if in_order and oracle.execution.on_error == "record" else ():
            if found.order_matters is not None:
                break
            found.order_matters = _see(oracle, [fit], 0, True, "together").order_matters
    if found.given_up:
        found.known = {}
    return found


@contextmanager
def _beside_a_fresh_fit(oracle: Oracle, trial: Trial) -> Iterator[FreshFit | None]:
    """Begin a fit of a trial in a fresh process before the first fit here; make it here at last."""
    own = oracle.algorithm.has_own_code and not oracle.algorithm.device  # one process can have it
    fresh = FreshFit(oracle, trial) if own else None
    try:
        yield fresh
        if fresh is not None:
            fresh.repeat_here()
    except BaseException:
        if fresh is not None:
            fresh.close()
        raise


def _see(
    oracle: Oracle, queries: Sequence[Query], alone: int, in_order: bool, together: GivenUp
) -> Look:
    """Make fits, predict points alone, too, and make the first fit in another order, too.

    Predictions that depend on the batch, in any fit, at any point (all are looked at alike), give
    up what is made ``together``. What is known are the fits.
    """
    stacked = oracle.algorithm.at_once is not None  # then points know nothing of each other
    apart = [_singly(q.points, 0 if stacked or oracle.distance.panel else alone) for q in queries]
    rows = [queries[0].train[:_ROWS]] if in_order and not stacked else []
    asked = [replace(q, also=(*q.also, *each)) for q, each in zip(queries, apart, strict=True)]
    asked[0] = replace(asked[0], also=(*asked[0].also, *rows))
    if in_order:
        asked.append(replace(asked[0], train=asked[0].train[::-1].copy()))
    made, seen = oracle.ask(asked), Look()
    for k, (answer, query, points) in enumerate(zip(made, queries, apart, strict=False)):
        own = len(query.also)
        singles = answer.also[own : own + len(points)]
        seen.known[k] = replace(answer, also=answer.also[:own])
        if singles and not same(answer.values[: len(singles)], _joined(singles)):
            seen.given_up = (together,)
    seen.warnings = [_DEPENDS[each] for each in seen.given_up]
    train = queries[0].train
    first, other = (_with_last(each, len(rows)) for each in (made[0], made[-1]))
    if oracle.distance.name != "label" and _is_constant(oracle, train, first):
        larger = _LARGER * (together == "points")
        seen.warnings.append(CONSTANT.format(len(train)) + larger)
    if in_order and not made[0].failure:
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
        seen.warnings.append(CONSTANT.format(len(train)) + _LARGER)
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
