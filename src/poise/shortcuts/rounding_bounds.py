"""The base class of shortcuts for regressors, with an error bound.

A shortcut and the estimator that it replaces compute the same number in two ways, and
each way rounds. To first order their difference is at most the unit roundoff times a
factor that depends on the data. Every shortcut computes an upper bound on this factor
for each trial. A trial whose bound is too large is left to the estimator.
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.shortcut import AGREEMENT, Floats, Pairs, Tables

__all__ = [
    "LARGEST",
    "ROUNDING",
    "SMALLEST",
    "Estimate",
    "RegressorShortcut",
    "Rows",
    "as_numbers",
    "finite_trials",
    "sums_are_exact",
    "trusted_tables",
]

ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""Unit roundoff with room for the constants that a first-order bound leaves out."""

SMALLEST, LARGEST = 1e-140, 1e140
"""Range of numbers whose squares are sure to neither vanish nor overflow."""


Rows = tuple[Floats, Floats]
"""Training rows and test point of each trial, as one of the two fits sees them."""


class Estimate(NamedTuple):
    """Both predictions of every trial, and a bound on their distance from the estimator's."""

    full: Floats
    reduced: Floats
    error: Floats  # absolute; infinite or NaN where nothing is known

    @property
    def is_accurate(self) -> NDArray[np.bool_]:
        """Whether the error is within the promised agreement, for numbers of an ordinary size."""
        scale = np.maximum(np.abs(self.full), np.abs(self.reduced))
        return np.asarray((self.error <= AGREEMENT * scale) & _ordinary(scale))

    def replaced(self, where: NDArray[np.bool_], better: Estimate) -> Estimate:
        """Return the same with the trials marked in ``where`` estimated anew."""
        fields = [values.copy() for values in self]
        for values, improved in zip(fields, better, strict=True):
            values[where] = improved
        return Estimate(*fields)


class RegressorShortcut(abc.ABC):
    """A shortcut that predicts numbers; it trusts a trial if the bound of the subclass is small."""

    @abc.abstractmethod
    def estimate(self, X: Floats, y: Floats, x: Floats) -> Estimate:
        """Compute both predictions and a bound on their error; shapes as in :meth:`pairs`."""

    @abc.abstractmethod
    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""

    @property
    def vouches_for_zero(self) -> bool:
        """Whether predictions are equal because the removed row matters for neither.

        Otherwise two fits may differ by rounding where the two predictions of a shortcut do not.
        """
        return False

    def add_up_alike(self, full: Rows, reduced: Rows, y: Floats) -> NDArray[np.bool_]:
        """Tell in which trials equal predictions add the same responses in the same order.

        Only for a shortcut with ``vouches_for_zero``, when the two fits get different rows and
        test points.
        """
        return np.zeros(len(y), dtype=np.bool_)

    @property
    def seldom_needs_fits(self) -> bool:
        """See :attr:`poise.shortcuts.shortcut.TableShortcut.seldom_needs_fits`."""
        return False

    def on_rounded_rows(self, roundings: Floats) -> Self:
        """Return the shortcut for rows that were rounded before; the caller adds that error."""
        return self

    @final
    @np.errstate(all="ignore")
    def pairs(self, X: Floats, y: NDArray[Any], x: Floats) -> Pairs:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.pairs`."""
        found = self.estimate(X, as_numbers(y), x)
        trusted = found.is_accurate & finite_trials(y, x)
        if not self.vouches_for_zero:
            trusted &= (found.full != found.reduced) | (found.error == 0)
        return Pairs(found.full, found.reduced, trusted)


def trusted_tables(full: Floats, reduced: Floats, error: Floats, *given: NDArray[Any]) -> Tables:
    """Trust a trial if all of its predictions are accurate and the numbers given are finite.

    Predictions that are equal may differ by rounding in the fits, unless they have no error.
    """
    size = np.maximum(np.abs(full).max(axis=1), np.abs(reduced).max(axis=(1, 2)))
    trusted = (error <= AGREEMENT * size[:, None]).all(axis=1) & _ordinary(size)
    differ = (reduced != full[:, None, :]).all(axis=1) | (error == 0)
    return Tables(full, reduced, error, trusted & differ.all(axis=1) & finite_trials(*given))


def _ordinary(size: Floats) -> NDArray[np.bool_]:
    return np.asarray((size < LARGEST) & ((size > SMALLEST) | (size == 0)))


def as_numbers(y: NDArray[Any]) -> Floats:
    """Turn whole numbers into floating-point ones, and anything else into NaN.

    With responses in single precision some estimators compute in single precision.
    """
    if y.dtype == np.float64 or y.dtype.kind in "iu":
        return y.astype(np.float64, copy=False)
    return np.full(y.shape, np.nan)


def sums_are_exact(y: Floats) -> NDArray[np.bool_]:
    """Tell in which trials responses add up without rounding, in whatever order.

    Whole numbers do, if floating point can represent their sum.
    """
    return np.asarray((y == np.rint(y)).all(axis=1) & (np.abs(y).sum(axis=1) < 2.0**53))


def finite_trials(*arrays: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which trials have only finite numbers; estimators refuse all others."""
    # One infinity or NaN makes a sum infinite or NaN, and summing is faster than testing each.
    finite = np.ones(len(arrays[0]), dtype=np.bool_)
    for array in arrays:
        if array.dtype.kind == "f":
            finite &= np.isfinite(array.reshape(len(array), -1).sum(axis=1))
    return finite
