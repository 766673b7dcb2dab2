"""The interface of shortcuts: the predictions of many trials."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AGREEMENT",
    "Array",
    "Floats",
    "Pairs",
    "PlainShortcut",
    "Shortcut",
    "TableShortcut",
    "Tables",
]

Array = Any
"""An array of any namespace of the array API standard: NumPy's, or JAX's."""

Floats = NDArray[np.float64]

AGREEMENT = 1e-9
"""Largest difference between shortcut and algorithm, relative to the size of the predictions."""


class Pairs(NamedTuple):
    """Predictions of the model on n rows and of the model on the first n−1, per trial.

    ``full`` and ``reduced`` hold numbers for regressors and class labels for
    classifiers. Where ``trusted`` is False the other two have no meaning: the data are
    tied, degenerate or too ill-conditioned for two correct computations to agree, and the
    trial is left to the estimator.
    """

    full: NDArray[Any]
    reduced: NDArray[Any]
    trusted: NDArray[np.bool_]

    @property
    def scale(self) -> Floats:
        """Size of the predictions of each trial; agreement is relative to it.

        Two class labels agree or they do not, so their scale is 0.
        """
        if self.full.dtype.kind != "f":
            return np.zeros(len(self.full))
        return np.asarray(np.maximum(np.abs(self.full), np.abs(self.reduced)))


class Shortcut(Protocol):
    """An exact way to fit one known estimator on n and n−1 rows, for many trials at once."""

    @property
    def name(self) -> str:
        """Say in a few words what is done instead of two fits."""

    def pairs(self, X: Floats, y: NDArray[Any], x: Floats) -> Pairs:
        """Predict at ``x`` from all rows and from all rows but the last.

        Parameters
        ----------
        X : array of shape (trials, n, d), float64
            Training rows; the last one of each trial is the one that is removed.
        y : array of shape (trials, n)
            Responses, or class labels of any sortable type.
        x : array of shape (trials, d), float64
            The point at which each trial predicts.
        """

    def workspace_bytes(self, n: int, d: int) -> int:
        """Estimate the memory that one trial needs beside its own rows."""


class Tables(NamedTuple):
    """Predictions at all points of a trial, by the full model and by that of each removal.

    Removal j takes the j-th row from the end. ``trusted`` is as in :class:`Pairs`. A change
    is computed with an error of ``slack`` at most; one that is 0 is exactly 0.
    """

    full: NDArray[Any]  # (trials, points)
    reduced: NDArray[Any]  # (trials, removals, points)
    slack: Floats  # (trials, points)
    trusted: NDArray[np.bool_]  # (trials,)


@runtime_checkable
class TableShortcut(Shortcut, Protocol):
    """A shortcut that removes every row in turn for hardly more than the price of one fit."""

    def removes_all(self, n: int, d: int) -> bool:
        """Tell whether :meth:`tables` serves trials of n rows with d columns."""

    @property
    def seldom_needs_fits(self) -> bool:
        """Whether hardly any trial is left to the fits, whatever the rows are."""

    def tables(self, X: Floats, y: NDArray[Any], points: Floats, removals: int) -> Tables:
        """Predict at several points, without each of the last ``removals`` rows in turn.

        Parameters
        ----------
        X, y : arrays of shape (trials, n, d) and (trials, n)
            Rows and responses, as in :meth:`pairs`.
        points : array of shape (trials, points, d), float64
            Where each trial predicts.
        removals : int
            How many rows are removed, one at a time.
        """


class PlainShortcut(Shortcut, Protocol):
    """A shortcut that can follow a scaler in a pipeline."""

    def on_rounded_rows(self, roundings: Floats) -> Self:
        """Return the shortcut for rows with so many roundings of a unit in each trial."""
