"""The reference: scikit-learn itself, fitted twice for every trial."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from threadpoolctl import threadpool_limits


def _fit_twice(
    estimator: Any, X: Any, y: Any, x: Any, where: Any = None
) -> tuple[list[Any], list[Any]]:
    """Predict at x from all rows and from all rows but the last.

    None where a fit fails, and in trials that are not to be compared: where ``where`` is False.
    """
    full, reduced = [], []
    estimator = clone(estimator)
    with warnings.catch_warnings(), sklearn.config_context(skip_parameter_validation=True):
        warnings.simplefilter("ignore")
        compared = np.ones(len(X), bool) if where is None else where
        for rows, responses, point, needed in zip(X, y, x, compared, strict=True):
            for answers, stop in ((full, len(rows)), (reduced, len(rows) - 1)):
                if not needed:
                    answers.append(None)
                    continue
                try:
                    model = estimator.fit(rows[:stop].copy(), responses[:stop].copy())
                    answers.append(model.predict(point[None].copy())[0])
                except (ValueError, TypeError, IndexError, np.linalg.LinAlgError):
                    answers.append(None)
    return full, reduced


@pytest.fixture(scope="session")
def fit_twice() -> Callable[..., tuple[list[Any], list[Any]]]:
    return _fit_twice


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Use one thread, as poise does: those of OpenMP wait for each other in busy loops."""
    with threadpool_limits(1):
        yield
