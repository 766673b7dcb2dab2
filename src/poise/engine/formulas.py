"""A shortcut in a run: compared with fits once, then asked for every trial; doubts are fitted."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from poise.checks import counted
from poise.engine.first_trial import CONSTANT, Look
from poise.engine.messages import Answer, Ids, Query, Trial
from poise.engine.surroundings import one_thread
from poise.errors import PoiseWarning, note
from poise.shortcuts.blocks import Block, Places, Shortcut

if TYPE_CHECKING:
    from collections.abc import Generator

    from poise.data.split import Split
    from poise.engine.oracle import Oracle

_POINTS_COMPARED = 128
_TRIED = 8  # trials, of which a formula must be sure of one; where it chose R, of the first one
_PATIENCE = 1.0  # seconds of unexpected fits before anybody is told


def compared(oracle: Oracle, shortcut: Shortcut, split: Split, chosen: bool) -> Look:
    """Compute a trial both ways: with all rows, without the last one and the R-th last.

    It is the first one that the shortcut is sure of; where the shortcut does not serve, it goes,
    and with it removals that were ``chosen`` for its sake.

    A shortcut that differs at all, because a parameter is read in another way or scikit-learn has
    changed, differs at some of so many points. An algorithm for which nobody has proved that the
    order of rows is nothing is fitted in another order, too.
    """
    seen = _compared(oracle, shortcut, split.block, len(split), 1 if chosen else _TRIED)
    if isinstance(seen, Look):
        return seen
    oracle.shortcut = None
    only = ", and only the last row of each trial is removed" if chosen else ""
    note(PoiseWarning, f"The exact formula is not used: {seen}. Models are fitted{only}.")
    return Look(("removals",) if chosen else ())


def _compared(
    oracle: Oracle, shortcut: Shortcut, places: Places, trials: int, within: int
) -> Look | str:
    """Return what was seen, or why the shortcut does not serve."""
    with one_thread():
        doubtful = next(shortcut.blocks(places, min(within, trials))).doubtful
        if doubtful.all():
            several = "s" if len(doubtful) > 1 else ""
            return f"rounding, or a tie, may decide the first trial{several}"
        k = int(doubtful.argmin())
        [train], points = places(k, k + 1)
        needed = min(trials - k, -(-_POINTS_COMPARED // points.shape[1]))
        some = places(k, k + needed)[1].T.reshape(-1)[:_POINTS_COMPARED]
        predicted, tolerance, sure = shortcut.predictions(train, some)
    removed = sorted({1, shortcut.removals})
    rows = [train, *(np.delete(train, len(train) - j) for j in removed)]
    mine = list(predicted[[0, *removed]])
    if not oracle.algorithm.ignores_row_order:
        rows.append(train[::-1].copy())
        mine.append(predicted[0])
    fits = replace(oracle, execution=replace(oracle.execution, n_jobs=1)).ask(
        [Query(each, some, 0) for each in rows]
    )
    for formula, fit in zip(mine, fits, strict=True):
        if fit.failure:
            return f"a fit of trial {k} fails ({fit.failure.message})"
        wrong = sure & ~_near(formula, fit.values, tolerance)
        if wrong.any():
            one, other = formula[wrong][0], fit.values[wrong][0]
            return f"it gives {one} in trial {k}, and a fit predicts {other}"
    return _seen(oracle, shortcut, train, fits[0].values)


def _near(formula: Any, fitted: Any, tolerance: Any) -> Any:
    if formula.dtype.kind == "f" and fitted.dtype.kind == "f":
        return np.abs(formula - fitted) <= tolerance
    return formula == fitted


def _seen(oracle: Oracle, shortcut: Shortcut, train: Ids, full: Any) -> Look:
    """Return what a look at the first trial would have seen."""
    seen = Look(order_matters=None if oracle.algorithm.ignores_row_order else False)
    seen.constant = shortcut.labels is None and len(full) > 1 and bool((full == full[0]).all())
    if seen.constant and np.ptp(shortcut.y[train]) > 0:
        seen.warnings.append(CONSTANT.format(f"{len(train):,}"))
    return seen


def by_formula(
    oracle: Oracle, shortcut: Shortcut, tasks: Sequence[Any], places: Places, start: int
) -> Iterator[Answer]:
    """Yield answers in plan order from a trial on, many trials in one answer."""
    began, total = time.perf_counter(), len(tasks)
    with one_thread():
        found = [np.concatenate(each) for each in zip(*shortcut.blocks(places, total), strict=True)]
    table, left = Block(*found), start + np.flatnonzero(found[-1][start:])
    work = oracle.work(Some(tasks, left.tolist()))
    fits = oracle.execution.compute(work, range(len(left)))
    formula, spent, done = time.perf_counter() - began, 0.0, start
    with closing(cast("Generator[Answer]", fits)):
        for k in [*left.tolist(), total]:
            if k > done:
                yield Answer(table.changes[done:k], error=table.errors[done:k])
            if k < total:
                began = time.perf_counter()
                yield next(fits)
                spent, before = spent + time.perf_counter() - began, spent
                limit = max(_PATIENCE, formula)
                if before <= limit < spent:
                    _warn(len(left), total)
            done = k + 1


def _warn(doubtful: int, total: int) -> None:
    note(
        PoiseWarning,
        f"{counted(doubtful, 'trial')} of {total:,} cannot be computed by a formula to nine "
        "digits, and are fitted; scaled columns and max_trials= make that faster",
    )


class Some(Sequence[Trial]):
    """Some of many trials, each made when it is looked up."""

    def __init__(self, trials: Sequence[Trial], chosen: list[int]) -> None:
        self.trials, self.chosen = trials, chosen

    def __len__(self) -> int:
        return len(self.chosen)

    @overload
    def __getitem__(self, k: int) -> Trial: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[Trial]: ...
    def __getitem__(self, k: int | slice) -> Trial | Sequence[Trial]:
        if isinstance(k, slice):
            return Some(self.trials, self.chosen[k])
        return self.trials[self.chosen[k]]
