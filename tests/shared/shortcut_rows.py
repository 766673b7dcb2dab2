"""Rows that are hard for a shortcut, and Gaussian processes, which have one.

Each function changes the training rows X and the points x of many trials in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor

Rng = np.random.Generator


def gp(kernel: Any, **parameters: Any) -> GaussianProcessRegressor:
    """A Gaussian process whose kernel stays as it is."""
    return GaussianProcessRegressor(kernel, optimizer=None, **parameters)


def plain(rng: Rng, X: Any, x: Any) -> None:
    """Standard normal columns."""


def unequal_scales(rng: Rng, X: Any, x: Any) -> None:
    scales = 10.0 ** rng.uniform(-5, 5, size=X.shape[2])
    X *= scales
    x *= scales


def constant_column(rng: Rng, X: Any, x: Any) -> None:
    X[..., 0] = rng.choice([0.0, 1 / 3, 1e8])


def huge(rng: Rng, X: Any, x: Any) -> None:
    """Squares overflow, or underflow."""
    X *= 10.0 ** rng.choice([-200, -160, 150, 200])
