"""The reference: scikit-learn itself, fitted twice for every trial."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone


def _fit_twice(estimator: Any, X: Any, y: Any, x: Any) -> tuple[list[Any], list[Any]]:
    """Predict at x from all rows and from all rows but the last; None where a fit fails."""
    full, reduced = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows, responses, point in zip(X, y, x, strict=True):
            for answers, stop in ((full, len(rows)), (reduced, len(rows) - 1)):
                try:
                    model = clone(estimator).fit(rows[:stop].copy(), responses[:stop].copy())
                    answers.append(model.predict(point[None].copy())[0])
                except (ValueError, TypeError, IndexError, np.linalg.LinAlgError):
                    answers.append(None)
    return full, reduced


@pytest.fixture(scope="session")
def fit_twice() -> Callable[..., tuple[list[Any], list[Any]]]:
    return _fit_twice
