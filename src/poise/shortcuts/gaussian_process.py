"""The shortcut for GaussianProcessRegressor with a fixed kernel."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts.kernel_functions import (
    Covariance,
    combined,
    gaussian,
    inner_products,
    to_power,
)
from poise.shortcuts.kernel_removals import remove_each
from poise.shortcuts.kernel_ridge import kernel_workspace
from poise.shortcuts.kernel_systems import remove_last
from poise.shortcuts.parameter_types import is_flag, is_number
from poise.shortcuts.rounding_bounds import (
    ROUNDING,
    Estimate,
    RegressorShortcut,
    as_numbers,
    trusted_tables,
)
from poise.shortcuts.shortcut import Floats, Tables

__all__ = ["GaussianProcessShortcut", "find_gaussian_process"]


@dataclass(frozen=True)
class GaussianProcessShortcut(RegressorShortcut):
    """Both posterior means of every trial from one factorisation."""

    kernel: Any
    noise: float
    normalize: bool
    name: str = "bordered update of a Gaussian process"

    def estimate(self, X: Floats, y: Floats, x: Floats) -> Estimate:
        """See :meth:`poise.shortcuts.rounding_bounds.RegressorShortcut.estimate`."""
        system, test, sensitivity, blur = self._system(X, x[:, None, :])
        level, centred, responses = self._responses(y)
        found = remove_last(system, responses, test[:, 0], blur[:, 0], sensitivity)
        moved = centred[:, :-1].mean(axis=1) if self.normalize else np.zeros(len(y))
        full = level + found.full[:, 0]
        reduced = level + found.reduced[:, 0] + moved * (1.0 - found.reduced[:, 1])
        error = found.error[:, 0] + np.abs(moved) * found.error[:, 1]
        return Estimate(full, reduced, error + self._shift(y) * _enlarged(found.reach, y))

    def removes_all(self, n: int, d: int) -> bool:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.removes_all`."""
        return True

    @np.errstate(all="ignore")
    def tables(self, X: Floats, y: NDArray[Any], points: Floats, removals: int) -> Tables:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.tables`."""
        numbers, n = as_numbers(y), y.shape[1]
        level, centred, responses = self._responses(numbers)
        found = remove_each(self._system(X, points), responses, removals)
        removed = centred[:, : -removals - 1 : -1]
        moved = removed / (1 - n) if self.normalize else np.zeros_like(removed)
        full = level[:, None] + found.full[:, 0]
        reduced = found.reduced[:, 0] + moved[:, :, None] * (1.0 - found.reduced[:, 1])
        farthest = np.abs(moved).max(axis=1, keepdims=True)
        error = found.error[:, 0] + farthest * found.error[:, 1]
        error += self._shift(numbers)[:, None] * _enlarged(found.reach, y)
        return trusted_tables(full, level[:, None, None] + reduced, error, numbers, points)

    def _system(self, X: Floats, points: Floats) -> Covariance:
        return evaluate(self.kernel, X, points).with_penalty(self.noise)

    def _responses(self, y: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the mean of the responses, the centred responses, and both right-hand sides.

        The standard deviation of y cancels. Its mean does not: without a row the centre of
        the responses is higher, and the model returns part of that.
        """
        level = y.mean(axis=1) if self.normalize else np.zeros(len(y))
        centred = y - level[:, None]
        constant = np.ones_like(y) if self.normalize else np.zeros_like(y)
        return level, centred, np.stack([centred, constant], axis=1)

    def _shift(self, y: Floats) -> Floats:
        """Bound the error of centring the responses: that of a mean, which may be near 0."""
        return np.asarray(self.normalize * ROUNDING * np.abs(y).mean(axis=1))

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return kernel_workspace(n, d)


def _enlarged(reach: Floats, y: NDArray[Any]) -> Floats:
    """Return how much an error that all responses share may grow."""
    return np.asarray(1.0 + math.sqrt(y.shape[1]) * reach)


def evaluate(kernel: Any, X: Floats, points: Floats) -> Covariance:
    """Evaluate a kernel of scikit-learn on every trial, its sums and products term by term."""
    from sklearn.gaussian_process import kernels

    trials, n, d = X.shape
    kind = type(kernel)
    if kind is kernels.Sum or kind is kernels.Product:
        parts = evaluate(kernel.k1, X, points), evaluate(kernel.k2, X, points)
        return combined(*parts, kind is kernels.Sum)
    if kind is kernels.Exponentiation:
        return to_power(evaluate(kernel.kernel, X, points), kernel.exponent)
    if kind is kernels.RBF and np.size(kernel.length_scale) in (1, d):
        return gaussian(X, points, np.squeeze(kernel.length_scale), expands=False)
    if kind is kernels.DotProduct:
        return inner_products(X, points, kernel.sigma_0**2)
    if kind is kernels.WhiteKernel:
        noise = np.tile(kernel.noise_level * np.eye(n), (trials, 1, 1))
        return Covariance.of(noise, np.zeros((*points.shape[:2], n)), np.ones(trials))
    return _one_by_one(kernel, X, points)


def _one_by_one(kernel: Any, X: Floats, points: Floats) -> Covariance:
    """Call the kernel once per trial; the two fits would call it twice."""
    trials, n, _ = X.shape
    rows, test = np.full((trials, n, n), np.nan), np.full((*points.shape[:2], n), np.nan)
    # A kernel may refuse the data (wrong number of length scales); the fit then reports it.
    with contextlib.suppress(ValueError):
        for trial in range(trials):
            rows[trial] = kernel(X[trial])
            test[trial] = kernel(points[trial], X[trial])
    return Covariance.of(rows, test, np.ones(trials))


def find_gaussian_process(estimator: Any) -> GaussianProcessShortcut | None:
    """Return the shortcut of a Gaussian process whose kernel is not tuned to the data."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    if type(estimator) is not GaussianProcessRegressor or not _is_plain(estimator):
        return None
    kernel = estimator.kernel
    if kernel is None:
        # Which of its own parameters are tuned depends on the version of scikit-learn.
        if estimator.optimizer is not None:
            return None
        kernel = ConstantKernel(1.0) * RBF(1.0)
    if not _is_known(kernel) or (estimator.optimizer is not None and kernel.n_dims > 0):
        return None
    kernel = _as_fitted(kernel)
    return GaussianProcessShortcut(kernel, float(estimator.alpha), bool(estimator.normalize_y))


def _as_fitted(kernel: object) -> Any:
    """Take exp(log) of the parameters, as fitting does: the last digit may change."""
    from sklearn.base import clone

    fitted = clone(kernel)
    with np.errstate(all="ignore"):
        fitted.theta = fitted.theta
    return fitted


def _is_plain(estimator: Any) -> bool:
    return (
        is_number(estimator.alpha, 0)
        and is_flag(estimator.normalize_y)
        and estimator.n_targets in (None, 1)
    )


def _is_known(kernel: Any) -> bool:
    """Tell whether each entry of the kernel matrix depends on its own two rows only."""
    from sklearn.gaussian_process import kernels

    if type(kernel) in (kernels.Sum, kernels.Product):
        return _is_known(kernel.k1) and _is_known(kernel.k2)
    if type(kernel) is kernels.Exponentiation:
        return _is_known(kernel.kernel)
    return type(kernel) in (
        kernels.ConstantKernel,
        kernels.WhiteKernel,
        kernels.RBF,
        kernels.DotProduct,
        kernels.Matern,
        kernels.RationalQuadratic,
        kernels.ExpSineSquared,
    )
