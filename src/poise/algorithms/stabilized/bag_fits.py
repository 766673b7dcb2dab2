"""Fit all bags and average their predictions, in one order for all workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from poise.algorithms.bag_members import SeededMembers
from poise.algorithms.coupled_bags import draw_subbag
from poise.data.tables import Table

__all__ = ["average", "draw_bags", "fit_bags"]

# Bags that one task fits or asks. A fixed number, so that sums are the same sums
# of the same terms with one worker and with sixty.
_BAGS_PER_TASK = 32


def fit_bags(
    estimator: Any,
    bags: Sequence[NDArray[np.int64]],
    seed: int,
    data: tuple[Table, NDArray[Any]],
    n_jobs: int | None,
) -> list[Any]:
    """Fit one copy of the estimator to each bag of rows."""
    with np.errstate(), warnings.catch_warnings():  # a fit may change them, for everybody
        tasks = Parallel(n_jobs=n_jobs)(
            delayed(_fit_some)(estimator, bags[start : start + _BAGS_PER_TASK], seed, start, *data)
            for start in range(0, len(bags), _BAGS_PER_TASK)
        )
    return [member for members in tasks for member in members]


def _fit_some(
    estimator: Any,
    bags: Sequence[NDArray[np.int64]],
    seed: int,
    first: int,
    features: Table,
    responses: NDArray[Any],
) -> list[Any]:
    members = SeededMembers(estimator, seed)
    return [
        _fit_one(members.unfitted(first + at), features.take(rows), responses[rows])
        for at, rows in enumerate(bags)
    ]


def _fit_one(member: Any, X: Any, y: NDArray[Any]) -> Any:
    """Fit one bag; classifiers that refuse a single class need not see one."""
    from sklearn.base import is_classifier
    from sklearn.dummy import DummyClassifier

    if is_classifier(member) and (y == y[0]).all():
        return DummyClassifier().fit(X, y)
    try:
        return member.fit(X, y)
    except Exception as error:
        error.add_note(f"This happened in a bag of {len(y)} of the training rows.")
        raise


def draw_bags(seed: int, n_bags: int, n_rows: int, size: int) -> list[NDArray[np.int64]]:
    """Draw all bags of an ensemble."""
    return [draw_subbag(seed, bag, n_rows, size) for bag in range(n_bags)]


def average(
    members: Sequence[Any],
    says: Callable[[Any, Any], NDArray[np.float64]],
    X: Any,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Average the predictions of the members at X."""
    with np.errstate():
        sums = Parallel(n_jobs=n_jobs, require="sharedmem")(
            delayed(_sum)(members[start : start + _BAGS_PER_TASK], says, X)
            for start in range(0, len(members), _BAGS_PER_TASK)
        )
    total: NDArray[np.float64] = np.sum(np.stack(list(sums)), axis=0)
    return total / len(members)


def _sum(
    members: Sequence[Any], says: Callable[[Any, Any], NDArray[np.float64]], X: Any
) -> NDArray[np.float64]:
    total: NDArray[np.float64] = np.sum(np.stack([says(member, X) for member in members]), axis=0)
    return total
