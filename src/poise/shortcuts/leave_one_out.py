"""All n leave-one-out models of a linear or kernel fit at once.

These fits are linear in the responses. With B the matrix that turns responses into
coefficients, h_i the weight of row i in its own prediction and e_i its residual, the model
without row i predicts

    A[D without i](x) = A[D](x) - w_i(x)·e_i/(1 - h_i),

where w_i(x) is the weight of row i in the prediction at x. So n models cost one fit, and
their predictions at a new point one product of a row and a matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.shortcuts.kernel_ridge import KernelRidgeShortcut, find_kernel_ridge
from poise.shortcuts.ridge_and_least_squares import find_least_squares, find_ridge
from poise.shortcuts.shortcut import Floats

__all__ = ["FEWEST_ROWS", "ROWS_COMPARED", "LeftOutModels", "find_left_out"]

ROWS_COMPARED = 8  # fits that check a closed form
FEWEST_ROWS = 4 * ROWS_COMPARED  # with fewer rows, n fits are faster than the check

_LARGEST_AMPLIFICATION = 1e5
"""Rounding grows by the condition number over the smallest 1 - h; beyond this, fit instead."""


@dataclass(frozen=True)
class LeftOutModels:
    """The n models that were fitted without one row, as one formula.

    Attributes
    ----------
    name : str
        What is done instead of n fits.
    level, coefficients : float, array
        The full fit in the features, or in the kernel functions of the rows.
    weights : array
        Column i turns features into the weight of row i.
    share : float
        What every row weighs by the intercept: 1/n or 0.
    errors : array of length n
        e_i/(1 - h_i), the residual of row i without itself.
    features : callable
        From rows to the features that the fit is linear in.
    """

    name: str
    level: float
    coefficients: Floats
    weights: Floats
    share: float
    errors: Floats
    features: Callable[[Floats], Floats]

    def __call__(self, X: Floats) -> Floats:
        """Predict at rows by every model: an array of shape (rows, n)."""
        inputs = self.features(np.asarray(X, dtype=np.float64))
        full = self.level + inputs @ self.coefficients
        return full[:, None] - (self.share + inputs @ self.weights) * self.errors

    def changes(self, X: Floats) -> Floats:
        """Return |A[D](x) - A[D without i](x)| for rows x and all i, of shape (rows, n)."""
        inputs = self.features(np.asarray(X, dtype=np.float64))
        return np.abs((self.share + inputs @ self.weights) * self.errors)


def find_left_out(estimator: Any, X: Any, y: Any) -> LeftOutModels | None:
    """Return the leave-one-out models in closed form, or None where fits are needed.

    None also where rows are not a plain array of finite floats, or the problem is too
    ill-conditioned for two correct computations to agree.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso, Ridge
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    >>> models = find_left_out(Ridge(), X, y)
    >>> without_first = Ridge().fit(X[1:], y[1:]).predict(X[:1])
    >>> bool(np.isclose(models(X[:1])[0, 0], without_first[0], rtol=1e-12))
    True
    >>> find_left_out(Lasso(), X, y) is None
    True
    """
    if not type(estimator).__module__.startswith("sklearn.") or not _plain(X, y):
        return None
    ridge = find_ridge(estimator)
    if ridge is not None:
        return _linear(X, y, ridge.penalty, ridge.intercept, "closed form of ridge")
    squares = find_least_squares(estimator)
    if squares is not None:
        return _linear(X, y, 0.0, squares.intercept, "closed form of least squares")
    kernel = find_kernel_ridge(estimator)
    return None if kernel is None else _kernel(X, y, kernel)


def _plain(X: Any, y: Any) -> bool:
    """Tell whether these are arrays of finite numbers, as the formulas need."""
    arrays = isinstance(X, np.ndarray) and isinstance(y, np.ndarray)
    return (
        arrays
        and X.dtype == np.float64
        and y.dtype.kind in "fiu"
        and (X.ndim, y.ndim) == (2, 1)
        and bool(np.isfinite(X).all() and np.isfinite(y).all())
    )


def _linear(
    X: Floats, y: Floats, penalty: float, intercept: bool, name: str
) -> LeftOutModels | None:
    """Solve in the form with the smaller matrix; without a penalty only where rows are many."""
    n, d = X.shape
    if penalty == 0 and d + intercept >= n:
        return None
    middle = X.mean(axis=0) if intercept else np.zeros(d)
    level = float(y.mean()) if intercept else 0.0
    rows, responses = X - middle, y - level
    system = (rows.T @ rows if d < n else rows @ rows.T) + penalty * np.eye(min(n, d))
    condition = _condition(system)
    if not condition <= _LARGEST_AMPLIFICATION:
        return None
    solved = np.linalg.solve(system, rows.T) if d < n else np.linalg.solve(system, rows).T
    weights: Floats = np.asarray(solved, dtype=np.float64)
    share = 1.0 / n if intercept else 0.0
    coefficients = weights @ responses
    gap = 1.0 - share - np.einsum("ij,ji->i", rows, weights)
    if not condition <= _LARGEST_AMPLIFICATION * gap.min():
        return None
    errors = (responses - rows @ coefficients) / gap
    centred = _Centred(middle)
    return LeftOutModels(name, level, coefficients, weights, share, errors, centred)


def _kernel(X: Floats, y: Floats, shortcut: KernelRidgeShortcut) -> LeftOutModels | None:
    """Solve (K + λI)a = y; without row i, k'a loses (k'He_i)·a_i/H_ii."""
    functions = _KernelFunctions(X, shortcut)
    system = functions(X) + shortcut.penalty * np.eye(len(X))
    if not _condition(system) <= _LARGEST_AMPLIFICATION:
        return None
    inverse: Floats = np.asarray(np.linalg.inv(system), dtype=np.float64)
    coefficients = inverse @ y
    errors = coefficients / np.diag(inverse)
    name = "closed form of kernel ridge"
    return LeftOutModels(name, 0.0, coefficients, inverse, 0.0, errors, functions)


def _condition(system: Floats) -> float:
    """Return the condition number of a positive matrix, whatever the units of its columns."""
    size = np.sqrt(np.diag(system))
    if not (size > 0).all():
        return np.inf
    eigenvalues = np.linalg.eigvalsh(system / np.outer(size, size))
    return float(eigenvalues[-1] / eigenvalues[0]) if eigenvalues[0] > 0 else np.inf


@dataclass(frozen=True)
class _Centred:
    """Rows about the mean of the training rows."""

    middle: Floats

    def __call__(self, X: Floats) -> Floats:
        return X - self.middle


@dataclass(frozen=True)
class _KernelFunctions:
    """Kernel functions of the training rows, at other rows, as scikit-learn computes them."""

    rows: Floats
    shortcut: KernelRidgeShortcut

    def __call__(self, X: Floats) -> Floats:
        from sklearn.metrics.pairwise import pairwise_kernels

        settings = self.shortcut
        kernel: Floats = pairwise_kernels(
            X,
            self.rows,
            metric=settings.kernel,
            filter_params=True,
            gamma=settings.gamma,
            degree=settings.degree,
            coef0=settings.constant,
        )
        return kernel
