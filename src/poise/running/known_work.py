"""Fits that are compared with predictions that are known already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.algorithms.distance import Undefined, absolute, euclidean, needs_response
from poise.algorithms.global_state import GlobalGenerators
from poise.protocol.known_predictions import KnownPredictions
from poise.protocol.messages import Failure, Query, Removals, Task
from poise.running.removals_work import ChangeTable, RemovalsWork, points_of

__all__ = ["KnownWork"]


@dataclass(frozen=True)
class KnownWork(RemovalsWork):
    """The changes between fits of a batch and predictions that are known already.

    A failed fit leaves its row of the table without changes, a prediction that is not a number
    one place of it.

    Parameters
    ----------
    known : KnownPredictions
        What is compared with, by row of the sample.
    """

    known: KnownPredictions

    def compute(self, task: Task, generators: GlobalGenerators) -> NDArray[np.float64] | Failure:
        """Return the changes of one task; a failure that holds what is known, if one failed."""
        assert isinstance(task, Removals)
        table = ChangeTable(np.full(task.shape, np.nan))
        for j, query in enumerate(task.reduced):
            before, failed = self.known.at(points_of(query))
            if failed.all():
                table.reason = table.reason or Undefined(_NOTHING_KNOWN)
                continue
            now = table.attempt(self._predictions, query, generators)
            if now is not None:
                table.changes[j] = self._changes(table, query, before, now)
                table.changes[j, failed] = np.nan
                if failed.any():
                    table.reason = table.reason or Undefined(_NOTHING_KNOWN)
        return table.answer

    def _changes(
        self, table: ChangeTable, query: Query, before: NDArray[Any], now: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return the change at each point, nan where there is none."""
        if self.distance in (absolute, euclidean) and _plain_numbers(before, now):
            return np.asarray(np.abs(now - before))
        found = (
            table.attempt(self._change, before[k], now[k], int(row))
            for k, row in enumerate(points_of(query))
        )
        return np.array([np.nan if change is None else change for change in found])

    def _change(self, before: Any, now: Any, row: int) -> float:
        if needs_response(self.distance):
            return self.distance(before, now, self.sample.response(row))
        return self.distance(before, now)


_NOTHING_KNOWN = "the fit to compare with failed"


def _plain_numbers(before: NDArray[Any], now: NDArray[Any]) -> bool:
    """Tell whether single finite floats are compared: then all at once give the same changes."""
    return all(
        array.ndim == 1 and array.dtype == np.float64 and bool(np.isfinite(array).all())
        for array in (before, now)
    )
