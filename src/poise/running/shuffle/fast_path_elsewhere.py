"""Shortcuts for rows that lie elsewhere: they are compared with fits on a few trials here."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from poise.algorithms.algorithm import BatchAlgorithm
from poise.running.shuffle.gather import in_this_process
from poise.running.tasks import ComparisonWork
from poise.shortcuts.batched import FEWEST_TRIALS, BatchedWork, compared_trials, rows_of
from poise.shortcuts.equal_trials import EqualTrials
from poise.shortcuts.fast_path import are_numbers, batched

__all__ = ["batched_anywhere"]


def batched_anywhere(
    work: ComparisonWork, batch: BatchAlgorithm | None, decision_points: tuple[float, ...]
) -> BatchedWork | None:
    """Return the batched form of fit-by-fit work if it applies and agrees; else None.

    Of rows that lie elsewhere those of the trials that are computed both ways are brought here.
    """
    sample, tasks = work.data
    if batch is None or not sample.rows_elsewhere:
        return batched(work, batch, decision_points)
    if not _may_apply(work, batch):
        return None
    trials_elsewhere = cast("EqualTrials", tasks)
    columns = rows_of(sample.for_checks.X).shape[1]
    trials = compared_trials(trials_elsewhere, columns) if batch.exact else [0]
    here = work.with_data(*in_this_process(sample, tasks, trials))
    found = batched(here, batch, decision_points)
    if found is None:
        return None
    # Workers compute with the rows that they get. Here only their columns are needed, and the
    # rows that were compared would stay in memory for the whole run.
    return replace(found, fit_by_fit=work, sample=sample.for_checks, tasks=trials_elsewhere)


def _may_apply(work: ComparisonWork, batch: BatchAlgorithm) -> bool:
    sample, tasks = work.data
    at_least = FEWEST_TRIALS if batch.exact else 1
    numbers = are_numbers(sample.for_checks, work.distance)
    return isinstance(tasks, EqualTrials) and len(tasks) >= at_least and numbers
