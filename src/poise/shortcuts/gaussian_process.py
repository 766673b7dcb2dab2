"""The shortcut for GaussianProcessRegressor with a fixed kernel."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.shortcuts.kernel_functions import (
    Covariance,
    combined,
    gaussian,
    inner_products,
    to_power,
)
from poise.shortcuts.kernel_ridge import kernel_workspace
from poise.shortcuts.kernel_systems import remove_last
from poise.shortcuts.parameter_types import is_flag, is_number
from poise.shortcuts.rounding_bounds import ROUNDING, Estimate, RegressorShortcut
from poise.shortcuts.shortcut import Floats

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
        n = X.shape[1]
        system, test, sensitivity, blur = evaluate(self.kernel, X, x)
        system[:, np.arange(n), np.arange(n)] += self.noise
        level = y.mean(axis=1) if self.normalize else np.zeros(len(y))
        centred = y - level[:, None]
        constant = np.ones_like(y) if self.normalize else np.zeros_like(y)
        responses = np.stack([centred, constant], axis=1)
        found = remove_last(system, responses, test, blur, sensitivity)
        # The standard deviation of y cancels. Its mean does not: without the last row the
        # centre of the responses is `moved` higher, and the model returns part of that.
        moved = centred[:, :-1].mean(axis=1) if self.normalize else np.zeros(len(y))
        full = level + found.full[:, 0]
        reduced = level + found.reduced[:, 0] + moved * (1.0 - found.reduced[:, 1])
        error = found.error[:, 0] + np.abs(moved) * found.error[:, 1]
        shift = np.abs(level) * (1.0 + math.sqrt(n) * found.reach)
        return Estimate(full, reduced, error + ROUNDING * shift)

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return kernel_workspace(n, d)


def evaluate(kernel: Any, X: Floats, x: Floats) -> Covariance:
    """Evaluate a kernel of scikit-learn on every trial, its sums and products term by term."""
    from sklearn.gaussian_process import kernels

    trials, n, d = X.shape
    kind = type(kernel)
    if kind is kernels.Sum or kind is kernels.Product:
        return combined(evaluate(kernel.k1, X, x), evaluate(kernel.k2, X, x), kind is kernels.Sum)
    if kind is kernels.Exponentiation:
        return to_power(evaluate(kernel.kernel, X, x), kernel.exponent)
    if kind is kernels.RBF and np.size(kernel.length_scale) in (1, d):
        return gaussian(X, x, np.squeeze(kernel.length_scale), expands=False)
    if kind is kernels.DotProduct:
        return inner_products(X, x, kernel.sigma_0**2)
    if kind is kernels.WhiteKernel:
        noise = np.tile(kernel.noise_level * np.eye(n), (trials, 1, 1))
        return Covariance.of(noise, np.zeros((trials, n)), np.ones(trials))
    return _one_by_one(kernel, X, x)


def _one_by_one(kernel: Any, X: Floats, x: Floats) -> Covariance:
    """Call the kernel once per trial; the two fits would call it twice."""
    trials, n, _ = X.shape
    rows, test = np.full((trials, n, n), np.nan), np.full((trials, n), np.nan)
    # A kernel may refuse the data (wrong number of length scales); the fit then reports it.
    with contextlib.suppress(ValueError):
        for trial in range(trials):
            rows[trial] = kernel(X[trial])
            test[trial] = kernel(x[trial : trial + 1], X[trial])[0]
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
