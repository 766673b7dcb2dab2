"""Choose the fast path of some trials, if it agrees with the fits."""

from __future__ import annotations

from typing import cast

import numpy as np

from poise.algorithms.algorithm import BatchAlgorithm
from poise.algorithms.distance import DISTANCES
from poise.data.tables import array_of
from poise.protocol.work import FitByFit
from poise.shortcuts.batched import FEWEST_TRIALS, BatchedWork
from poise.shortcuts.batched_tables import WorkOfTables, batched_tables
from poise.shortcuts.equal_trials import EqualTrials, EqualTrialsOfPoints

__all__ = ["batched"]


def batched(
    work: FitByFit, batch: BatchAlgorithm | None, decision_points: tuple[float, ...]
) -> BatchedWork | None:
    """Return the batched form of fit-by-fit work if it applies and agrees; else None."""
    sample, tasks = work.data
    if batch is None or not isinstance(tasks, EqualTrials) or not _applies(work, batch):
        return None
    if isinstance(tasks, EqualTrialsOfPoints):
        return batched_tables(cast("WorkOfTables", work), batch, decision_points)
    fast = BatchedWork(work, batch, sample, tasks, work.distance, decision_points)
    return fast if not batch.exact or fast.agrees() else None


def _applies(work: FitByFit, batch: BatchAlgorithm) -> bool:
    """Batches need plain numbers, a split into equal trials, and a distance known here."""
    at_least = FEWEST_TRIALS if batch.exact else 1
    sample, tasks = work.data
    tables = [sample.X, sample.X_unlabeled]
    features = [array_of(table) for table in tables if table is not None]
    return (
        len(tasks) >= at_least
        and work.distance in DISTANCES.values()
        and all(_plain(array, 2, "f8") for array in features)
        and _plain(array_of(sample.y), 1)
        # A shortcut itself leaves every trial with a NaN or an infinity to the fits.
        and (batch.exact or sample.all_finite)
    )


def _plain(array: object, dimensions: int, kind: str | None = None) -> bool:
    if not isinstance(array, np.ndarray) or array.ndim != dimensions:
        return False
    return kind is None or array.dtype == np.dtype(kind)
