"""Choose the fast path of some trials, if it agrees with the fits."""

from __future__ import annotations

import numpy as np

from poise.algorithms.algorithm import BatchAlgorithm
from poise.algorithms.distance import DISTANCES, Distance
from poise.data.sample import Sample
from poise.data.tables import array_of
from poise.protocol.work import FitByFit, TablesFitByFit
from poise.shortcuts.batched import FEWEST_TRIALS, BatchedWork, rows_of
from poise.shortcuts.batched_tables import TableBatch, batched_tables
from poise.shortcuts.equal_trials import EqualTrials, EqualTrialsOfPoints

__all__ = ["are_numbers", "batched", "removals_cost_no_fits"]


def batched(
    work: FitByFit, batch: BatchAlgorithm | None, decision_points: tuple[float, ...]
) -> BatchedWork | None:
    """Return the batched form of fit-by-fit work if it applies and agrees; else None."""
    sample, tasks = work.data
    if batch is None or not _applies(work, batch):
        return None
    if isinstance(tasks, EqualTrialsOfPoints):
        assert isinstance(work, TablesFitByFit)  # such trials are computed in no other way
        return batched_tables(work, tasks, batch, decision_points)
    if not isinstance(tasks, EqualTrials):
        return None
    fast = BatchedWork(work, batch, sample, tasks, work.distance, decision_points)
    return fast if not batch.exact or fast.agrees() else None


def _applies(work: FitByFit, batch: BatchAlgorithm) -> bool:
    """Batches need enough trials, plain numbers, and a distance known here."""
    sample, tasks = work.data
    at_least = FEWEST_TRIALS if batch.exact else 1
    # A shortcut itself leaves every trial with a NaN or an infinity to the fits.
    usable = batch.exact or sample.all_finite
    return len(tasks) >= at_least and usable and are_numbers(sample, work.distance)


def are_numbers(sample: Sample, distance: Distance) -> bool:
    """Tell whether rows are plain numbers, and compared by a distance that is known here."""
    tables = [sample.X, sample.X_unlabeled]
    features = [array_of(table) for table in tables if table is not None]
    return (
        distance in DISTANCES.values()
        and all(_plain(array, 2, "f8") for array in features)
        and _plain(array_of(sample.y), 1)
    )


def removals_cost_no_fits(
    batch: BatchAlgorithm | None, sample: Sample, distance: Distance, n: int, trials: int
) -> bool:
    """Tell, before the first fit, whether one fit of a trial will serve all of its removals."""
    if not isinstance(batch, TableBatch) or trials < FEWEST_TRIALS:
        return False
    if not (batch.seldom_needs_fits and are_numbers(sample, distance)):
        return False
    return batch.removes_all(n, rows_of(sample.X).shape[1])


def _plain(array: object, dimensions: int, kind: str | None = None) -> bool:
    if not isinstance(array, np.ndarray) or array.ndim != dimensions:
        return False
    return kind is None or array.dtype == np.dtype(kind)
