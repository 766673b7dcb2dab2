"""Training rows and fresh rows in one sample, and what is refused before the first fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from poise.arguments import counted
from poise.data.duplicates import find_copies
from poise.data.sample import Sample
from poise.data.tables import as_table, concatenate
from poise.data.used_rows import equal_rows
from poise.errors import ArgumentError, DataError, warn_of_validity

__all__ = ["sample_with_fresh", "warn_of_copied_points"]


def sample_with_fresh(
    data: Mapping[str, Any], *, responses: bool, fit_params: Mapping[str, Any] | None = None
) -> Sample:
    """Return a sample of the training rows followed by the fresh rows.

    Fresh rows that are training rows are refused, as far as their digests tell: the model has
    seen them, and they are not fresh draws.

    Parameters
    ----------
    data : mapping
        X, y, X_fresh and y_fresh.
    responses : bool
        Whether the responses of the fresh rows are needed; otherwise they are left out.
    fit_params : mapping, optional
        Further arguments of ``fit``.

    Examples
    --------
    >>> data = {"X": [[1.0], [2.0]], "y": [1.0, 2.0], "X_fresh": [[2.0]], "y_fresh": None}
    >>> sample_with_fresh(data, responses=False)
    Traceback (most recent call last):
    poise.errors.DataError: 1 row of X_fresh is a training row (row 0 (counting from 0) is ...
    """
    X, y, X_fresh, y_fresh = (data[name] for name in ("X", "y", "X_fresh", "y_fresh"))
    fresh = as_table(X_fresh, "X_fresh")
    answers = None if y_fresh is None else as_table(y_fresh, "y_fresh")
    if answers is not None and len(answers) != len(fresh):
        raise DataError(
            "X_fresh and y_fresh must have the same number of rows, got "
            f"{len(fresh)} and {len(answers)}"
        )
    if responses and answers is None:
        raise ArgumentError(
            "y_fresh must hold the responses of X_fresh: this notion, or the change of a loss, "
            "needs labelled fresh rows; notion='deployed' with predictions needs none"
        )
    if responses and fit_params is not None:
        raise ArgumentError(
            "fit_params must be None where fresh rows are labelled: they have no weights"
        )
    sample = _unlabeled(X, y, X_fresh, fit_params)
    _refuse_training_rows(sample, answers)
    if not responses:
        return sample
    return Sample(concatenate(sample.X.native, fresh.native), _joined(y, y_fresh))


def _unlabeled(X: Any, y: Any, X_fresh: Any, fit_params: Mapping[str, Any] | None) -> Sample:
    try:
        return Sample(X, y, X_fresh, fit_params=fit_params)
    except DataError as error:
        raise DataError(str(error).replace("X_unlabeled", "X_fresh")) from None


def _joined(y: Any, y_fresh: Any) -> Any:
    """Join responses; those of different containers become arrays."""
    same = type(y) is type(y_fresh)
    return concatenate(y if same else np.asarray(y), y_fresh if same else np.asarray(y_fresh))


def _refuse_training_rows(sample: Sample, answers: Any) -> None:
    """Refuse fresh rows that are training rows; where columns take few values, some may be."""
    assert sample.X_unlabeled is not None
    beside = answers is not None
    training = [sample.X, sample.y] if beside else [sample.X]
    fresh = [sample.X_unlabeled, answers] if beside else [sample.X_unlabeled]
    again, by_chance = equal_rows(training, fresh)
    if len(again) > by_chance:
        verb = "is a training row" if len(again) == 1 else "are training rows"
        raise DataError(
            f"{counted(len(again), 'row')} of X_fresh {verb} (row {again[0]} (counting from 0) is "
            "one): fresh rows must not have been used for training; leave them out of the training "
            "rows, or out of X_fresh"
        )


def warn_of_copied_points(X_fresh: Any, y_fresh: Any) -> None:
    """Warn if fresh rows occur more than once and chance does not explain it."""
    rows = as_table(X_fresh, "X_fresh")
    found = find_copies(Sample(X_fresh, np.zeros(len(rows)) if y_fresh is None else y_fresh))
    if found.beyond_chance:
        warn_of_validity(
            f"{found.rows:,} of the {found.looked_at:,} fresh rows have an equal among them. "
            "Copies of one observation are not independent, and the error level does not hold; "
            "drop all but one of them",
            stacklevel=4,
        )
