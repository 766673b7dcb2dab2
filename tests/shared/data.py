"""Rows drawn from a linear model."""

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
