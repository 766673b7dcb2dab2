"""Rows drawn from a linear model, and shares that are 0 or 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def linear_rows(
    count: int, weights: Sequence[float], seed: int | np.random.Generator = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Normal features, and responses that are their weighted sum plus normal noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, len(weights)))
    return X, X @ weights + rng.normal(size=count)


def three_columns(
    count: int = 40, seed: int | np.random.Generator = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a linear model with three features."""
    return linear_rows(count, [1.0, -2.0, 0.5], seed)


def zeros_and_ones(seed: int, m: int, p: float) -> np.ndarray:
    """Shares of which each is 1 with probability p, else 0."""
    return (np.random.default_rng(seed).random(m) < p).astype(float)
