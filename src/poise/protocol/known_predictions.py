"""Predictions that are known already, which the fits of a batch are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["KnownPredictions"]


@dataclass(frozen=True)
class KnownPredictions:
    """One prediction for each of some rows of the sample that follow each other.

    A training set that stays the same is fitted once, and every other fit is compared with
    its predictions.

    Attributes
    ----------
    first : int
        The first of these rows.
    values : ndarray
        The predictions, one per row.
    failed : ndarray of bool
        Where there is no prediction, because its fit failed.

    Examples
    --------
    >>> known = KnownPredictions.of(10, np.array([0.5, 1.5, 2.5]))
    >>> known.at(np.array([12, 10]))
    (array([2.5, 0.5]), array([False, False]))
    """

    first: int
    values: NDArray[Any]
    failed: NDArray[np.bool_]

    @classmethod
    def of(cls, first: int, values: NDArray[Any]) -> KnownPredictions:
        """Keep the predictions of a fit that did not fail."""
        return cls(first, values, np.zeros(len(values), dtype=bool))

    def at(self, rows: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Return the predictions at these rows, and where there are none."""
        places = rows - self.first
        return self.values[places], self.failed[places]
