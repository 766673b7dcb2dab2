"""The changes of linear and kernel models without n fits.

A formula is used only if it agrees with a few fits. Changes that are so close to ε that rounding
could decide about them are computed by fits too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.arguments.printed_numbers import at_most
from poise.data.sample import Sample
from poise.errors import PoiseWarning
from poise.procedures.conditional_changes import (
    ConditionalChanges,
    DeployedChanges,
    JackknifeChanges,
)
from poise.results.conditional_trials import ConditionalTrials
from poise.shortcuts.leave_one_out import FEWEST_ROWS, ROWS_COMPARED, find_left_out
from poise.shortcuts.shortcut import AGREEMENT

__all__ = ["ClosedForm", "find_closed_form"]

Floats = NDArray[np.float64]
Formulable = DeployedChanges | JackknifeChanges


@dataclass(frozen=True)
class ClosedForm:
    """All changes of a notion by a formula.

    Attributes
    ----------
    name : str
        What is done instead of the fits.
    changes : ndarray of shape (trials, changes of a trial)
        In the order of the trials.
    scale : float
        Size of the responses, which rounding is compared with.
    """

    name: str
    changes: Floats
    scale: float

    def checked(
        self,
        plan: Formulable,
        run: Callable[[Formulable], ConditionalTrials],
        decision_points: tuple[float, ...],
    ) -> ConditionalTrials | None:
        """Compare with a few fits, and fit what is close to a decision; None if they differ.

        Parameters
        ----------
        plan : DeployedChanges or JackknifeChanges
            The fits that the formula replaces.
        run : callable
            Makes the fits of a plan.
        decision_points : tuple of float
            Changes at which a decision turns.
        """
        axis = 1 if isinstance(plan, DeployedChanges) else 0  # fits are of training rows, or trials
        which = self._to_fit(axis, decision_points)
        if 2 * len(which) > self.changes.shape[axis]:
            return None
        record = run(plan.only(which))
        fitted = np.take(record.changes, which, axis=1) if axis else record.changes
        gaps = np.abs(fitted - np.take(self.changes, which, axis=axis))
        apart = float(np.max(gaps[~np.isnan(gaps)], initial=0.0))
        if apart > AGREEMENT * self.scale:
            warnings.warn(
                f"the {self.name} differs from the fits by up to {at_most(apart)}; "
                "every model is fitted instead",
                PoiseWarning,
                stacklevel=2,
            )
            return None
        table = self.changes.copy()
        table[(slice(None), which) if axis else (which,)] = fitted
        known = plan.record(table, record.n_fits, record.failures)
        return replace(known, design=replace(known.design, path=self.name))

    def _to_fit(self, axis: int, decision_points: tuple[float, ...]) -> list[int]:
        """Choose what is fitted: a few rows to compare with, and all close to a decision."""
        size, other = self.changes.shape[axis], 1 - axis
        near = np.zeros(size, dtype=bool)
        for point in decision_points:
            near |= (np.abs(self.changes - point) <= AGREEMENT * self.scale).any(axis=other)
        some = np.linspace(0, size - 1, min(ROWS_COMPARED if axis else 1, size)).astype(int)
        chosen: list[int] = np.union1d(np.flatnonzero(near), some).tolist()
        return chosen


def find_closed_form(estimator: Any, sample: Sample, plan: ConditionalChanges) -> ClosedForm | None:
    """Return all changes by a formula; None where fits are needed.

    Parameters
    ----------
    estimator : object
        The user's estimator.
    sample : Sample
        Training rows, then fresh rows.
    plan : ConditionalChanges
        What is to be fitted.
    """
    n = plan.design.n
    X, y = sample.X.native, sample.y.native
    if n < FEWEST_ROWS or not isinstance(X, np.ndarray) or not isinstance(y, np.ndarray):
        return None
    found = find_left_out(estimator, X[:n], y[:n])
    if found is None:
        return None
    scale = float(np.abs(y[:n]).max())
    if isinstance(plan, DeployedChanges):
        points = sample.points(n + plan.order)
        plain = isinstance(points, np.ndarray) and points.dtype == np.float64
        if not (plain and np.isfinite(points).all()):
            return None
        return ClosedForm(found.name, found.changes(points), scale)
    if not isinstance(plan, JackknifeChanges):
        return None
    changes = np.empty((plan.design.n_trials, n))
    for trial, row in enumerate(n + plan.fresh):
        more = find_left_out(estimator, np.vstack([X[:n], X[row]]), np.append(y[:n], y[row]))
        if more is None:
            return None
        # The prediction of a row by the model without it is its response minus its error.
        changes[trial] = np.abs(more.errors[:n] - found.errors)
    return ClosedForm(found.name, changes, scale)
