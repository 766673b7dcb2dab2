"""Shortcuts for scikit-learn's Ridge and LinearRegression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.centred_moments import Centred
from poise.shortcuts.linear_narrow import LinearPairs, narrow_pairs, orthogonal_pairs
from poise.shortcuts.linear_removals import linear_tables
from poise.shortcuts.linear_wide import wide_pairs
from poise.shortcuts.parameter_types import is_flag, is_number
from poise.shortcuts.rounding_bounds import Estimate, RegressorShortcut, as_numbers
from poise.shortcuts.shortcut import Floats, Tables

__all__ = [
    "LARGEST_SVD_CONDITION",
    "LeastSquaresShortcut",
    "RidgeShortcut",
    "find_least_squares",
    "find_ridge",
    "is_plain_ridge",
    "linear_workspace",
    "ridge_pairs",
]

_LARGEST_CONDITION = 1e4
"""Beyond this, correct solvers of least squares begin to disagree."""

_DIRECT_SOLVERS = ("auto", "cholesky", "svd")
"""The others iterate to a tolerance, so their answer is not the exact one."""

LARGEST_SVD_CONDITION = 1e6
"""Beyond this, a singular value decomposition loses small columns that Cholesky keeps."""


@dataclass(frozen=True)
class RidgeShortcut(RegressorShortcut):
    """Both ridge fits of every trial from one factorisation."""

    penalty: float
    intercept: bool
    largest_condition: float = math.inf
    name: str = "rank-one downdate of ridge"

    def estimate(self, X: Floats, y: Floats, x: Floats) -> Estimate:
        """See :meth:`poise.shortcuts.rounding_bounds.RegressorShortcut.estimate`."""
        found = ridge_pairs(X, y[:, None, :], x, self.penalty, self.intercept)
        return _single_response(found, self.largest_condition)

    def removes_all(self, n: int, d: int) -> bool:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.removes_all`."""
        return d < n

    @property
    def seldom_needs_fits(self) -> bool:
        """The penalty keeps the systems regular, also where columns depend on each other."""
        return self.penalty > 0

    @np.errstate(all="ignore")
    def tables(self, X: Floats, y: NDArray[Any], points: Floats, removals: int) -> Tables:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.tables`."""
        data = Centred.of(X, as_numbers(y)[:, None, :], self.intercept)
        return linear_tables(data, points, removals, self.penalty, self.largest_condition)

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return linear_workspace(n, d)


@dataclass(frozen=True)
class LeastSquaresShortcut(RegressorShortcut):
    """Both least-squares fits of every trial from one factorisation."""

    intercept: bool
    largest_condition: float = _LARGEST_CONDITION
    name: str = "rank-one downdate of least squares"

    def estimate(self, X: Floats, y: Floats, x: Floats) -> Estimate:
        """See :meth:`poise.shortcuts.rounding_bounds.RegressorShortcut.estimate`."""
        n, d = X.shape[1:]
        narrow = d + self.intercept < n
        fit = narrow_pairs if narrow else wide_pairs
        found = fit(X, y[:, None, :], x, 0.0, self.intercept)
        answer = _single_response(found, self.largest_condition)
        hopeful = ~answer.is_accurate & (found.condition <= self.largest_condition)
        if narrow and hopeful.any():
            better = orthogonal_pairs(X[hopeful], y[hopeful, None, :], x[hopeful], self.intercept)
            answer = answer.replaced(hopeful, _single_response(better, self.largest_condition))
        return answer

    def removes_all(self, n: int, d: int) -> bool:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.removes_all`."""
        return d + self.intercept < n

    @property
    def seldom_needs_fits(self) -> bool:
        """Columns that depend on each other leave every trial to the fits."""
        return False

    @np.errstate(all="ignore")
    def tables(self, X: Floats, y: NDArray[Any], points: Floats, removals: int) -> Tables:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.tables`."""
        data = Centred.of(X, as_numbers(y)[:, None, :], self.intercept)
        return linear_tables(data, points, removals, 0.0, self.largest_condition)

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return linear_workspace(n, d)


def _single_response(found: LinearPairs, largest_condition: float) -> Estimate:
    """Take the only response; where the solver demands it, from well-conditioned trials."""
    error = np.where(found.condition <= largest_condition, found.error[:, 0], np.inf)
    return Estimate(found.full[:, 0], found.reduced[:, 0], error)


def ridge_pairs(X: Floats, Y: Floats, x: Floats, penalty: float, intercept: bool) -> LinearPairs:
    """Use the same form (narrow or wide) as scikit-learn, so that both round in the same way."""
    n, d = X.shape[1:]
    if d < n:
        return narrow_pairs(X, Y, x, penalty, intercept)
    found = wide_pairs(X, Y, x, penalty, intercept)
    if d == n:  # the larger fit is still done in the narrow form, the smaller in the wide one
        narrow = narrow_pairs(X, Y, x, penalty, intercept)
        return found._replace(error=np.maximum(found.error, narrow.error))
    if penalty == 0:  # a singular system, for which scikit-learn tries one solver after the other
        return found._replace(error=np.full_like(found.error, np.inf))
    return found


def linear_workspace(n: int, d: int) -> int:
    """Count three square matrices of the smaller size, and the rows again if data are wide.

    Rows of narrow data are centred a few trials at a time.
    """
    return 8 * (3 * (min(n, d) + 3) ** 2 + (n * d if d >= n else 0))


def find_ridge(estimator: Any) -> RidgeShortcut | None:
    """Return the shortcut of a ``Ridge`` with one penalty and a direct solver."""
    from sklearn.linear_model import Ridge

    if type(estimator) is not Ridge or not is_plain_ridge(estimator):
        return None
    limit = LARGEST_SVD_CONDITION if estimator.solver == "svd" else math.inf
    return RidgeShortcut(float(estimator.alpha), bool(estimator.fit_intercept), limit)


def is_plain_ridge(estimator: Any) -> bool:
    """Tell whether the parameters ask for the exact solution with one penalty."""
    return (
        is_number(estimator.alpha, 0)
        and is_flag(estimator.fit_intercept)
        and estimator.solver in _DIRECT_SOLVERS
        and estimator.positive is False
    )


def find_least_squares(estimator: Any) -> LeastSquaresShortcut | None:
    """Return the shortcut of a ``LinearRegression`` without sign constraints.

    scikit-learn drops singular values below ``tol`` times the largest; the shortcut is used
    only if all are at least 100 times as large.
    """
    from sklearn.linear_model import LinearRegression

    if type(estimator) is not LinearRegression or estimator.positive is not False:
        return None
    cutoff = getattr(estimator, "tol", 0.0)  # no such parameter before version 1.7
    if not is_flag(estimator.fit_intercept) or not is_number(cutoff, 0):
        return None
    limit = min(_LARGEST_CONDITION, 0.01 / cutoff if cutoff else math.inf)
    return LeastSquaresShortcut(bool(estimator.fit_intercept), limit)
