"""The shortcut for scikit-learn's KernelRidge."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.shortcuts import kernel_functions
from poise.shortcuts.kernel_functions import Covariance
from poise.shortcuts.kernel_removals import remove_each
from poise.shortcuts.kernel_systems import remove_last
from poise.shortcuts.parameter_types import is_number
from poise.shortcuts.rounding_bounds import (
    Estimate,
    RegressorShortcut,
    as_numbers,
    trusted_tables,
)
from poise.shortcuts.shortcut import Floats, Tables

__all__ = ["KernelRidgeShortcut", "find_kernel_ridge", "kernel_workspace"]

_KERNELS = ("linear", "rbf", "poly", "polynomial", "laplacian")


@dataclass(frozen=True)
class KernelRidgeShortcut(RegressorShortcut):
    """Both kernel ridge fits of every trial from one factorisation."""

    kernel: str
    penalty: float
    gamma: float | None
    degree: float
    constant: float
    name: str = "bordered update of kernel ridge"

    def estimate(self, X: Floats, y: Floats, x: Floats) -> Estimate:
        """See :meth:`poise.shortcuts.rounding_bounds.RegressorShortcut.estimate`."""
        system, test, sensitivity, blur = self._system(X, x[:, None, :])
        found = remove_last(system, y[:, None, :], test[:, 0], blur[:, 0], sensitivity)
        return Estimate(found.full[:, 0], found.reduced[:, 0], found.error[:, 0])

    def removes_all(self, n: int, d: int) -> bool:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.removes_all`."""
        return True

    @np.errstate(all="ignore")
    def tables(self, X: Floats, y: NDArray[Any], points: Floats, removals: int) -> Tables:
        """See :meth:`poise.shortcuts.shortcut.TableShortcut.tables`."""
        responses = as_numbers(y)
        found = remove_each(self._system(X, points), responses[:, None, :], removals)
        alone = found.full[:, 0], found.reduced[:, 0], found.error[:, 0]
        return trusted_tables(*alone, responses, points)

    def _system(self, X: Floats, points: Floats) -> Covariance:
        return self._covariance(X, points).with_penalty(self.penalty)

    def _covariance(self, X: Floats, points: Floats) -> Covariance:
        gamma = 1.0 / X.shape[2] if self.gamma is None else self.gamma
        match self.kernel:
            case "linear":
                return kernel_functions.inner_products(X, points)
            case "rbf":
                return kernel_functions.gaussian(X, points, math.sqrt(0.5 / gamma), expands=True)
            case "laplacian":
                return kernel_functions.laplacian(X, points, gamma)
            case _:
                return kernel_functions.polynomial(X, points, gamma, self.constant, self.degree)

    def workspace_bytes(self, n: int, d: int) -> int:
        """See :meth:`poise.shortcuts.shortcut.Shortcut.workspace_bytes`."""
        return kernel_workspace(n, d)


def kernel_workspace(n: int, d: int) -> int:
    """Two kernel matrices and three copies of the rows."""
    return 8 * (2 * n * n + 3 * n * (d + 2))


def find_kernel_ridge(estimator: Any) -> KernelRidgeShortcut | None:
    """Return the shortcut of a ``KernelRidge`` with one penalty and a kernel known by name."""
    from sklearn.kernel_ridge import KernelRidge

    if type(estimator) is not KernelRidge or not _is_plain(estimator):
        return None
    return KernelRidgeShortcut(
        kernel=estimator.kernel,
        penalty=float(estimator.alpha),
        gamma=None if estimator.gamma is None else float(estimator.gamma),
        degree=float(estimator.degree),
        constant=float(estimator.coef0),
    )


def _is_plain(estimator: Any) -> bool:
    return (
        isinstance(estimator.kernel, str)
        and estimator.kernel in _KERNELS
        and is_number(estimator.alpha, 0)
        # A kernel that ignores its arguments (gamma = 0) needs no shortcut.
        and (estimator.gamma is None or is_number(estimator.gamma, 1e-300))
        and is_number(estimator.degree, 0)
        and is_number(estimator.coef0, -math.inf)
    )
