"""Training rows and fresh rows, numbered together, and what is refused before the first fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.arguments import counted
from poise.data.duplicates import copies_among
from poise.data.responses import check_responses
from poise.data.sample import Sample
from poise.data.tables import Table, as_table, concatenate
from poise.data.used_rows import equal_rows
from poise.errors import ArgumentError, DataError, warn_of_validity

__all__ = ["TrainingAndFresh", "warn_of_copied_points"]

_FEWEST_TRAINING_ROWS = 2


@dataclass(frozen=True)
class TrainingAndFresh:
    """The rows of a question about one training set.

    Attributes
    ----------
    given : Sample
        The training rows; its unlabelled rows are the fresh ones.
    fresh : tuple of Table
        The fresh rows: their features and, if these are known, their responses.
    sample : Sample
        The rows that fits refer to: training rows, then fresh rows. It is ``given`` itself, unless
        fresh rows need their responses.

    Examples
    --------
    >>> data = {"X": [[1.0], [2.0]], "y": [1.0, 2.0], "X_fresh": [[3.0]], "y_fresh": [4.0]}
    >>> rows = TrainingAndFresh.of(data, labelled=True)
    >>> rows.n, rows.n_fresh, rows.sample.n_labeled
    (2, 1, 3)
    """

    given: Sample
    fresh: tuple[Table, ...]
    sample: Sample

    @classmethod
    def of(cls, data: Mapping[str, Any], *, labelled: bool) -> TrainingAndFresh:
        """Check the rows, and put them into one sample; two, if fresh rows need responses.

        Fresh rows that are training rows are refused, as far as their digests tell: the model has
        seen them, and they are not fresh draws.

        Parameters
        ----------
        data : mapping
            X, y and X_fresh; y_fresh and fit_params if there are any.
        labelled : bool
            Whether the responses of the fresh rows are needed.

        Examples
        --------
        >>> data = {"X": [[1.0], [2.0]], "y": [1.0, 2.0], "X_fresh": [[2.0]]}
        >>> TrainingAndFresh.of(data, labelled=False)
        Traceback (most recent call last):
        poise.errors.DataError: 1 row of X_fresh is a training row (row 0 (counting from 0) is ...
        """
        fresh = _fresh_tables(data["X_fresh"], data.get("y_fresh"))
        if labelled:
            _require_responses(fresh, data.get("fit_params"))
        given = _with_points(data)
        if given.n_labeled < _FEWEST_TRAINING_ROWS:
            raise DataError(
                f"X must hold at least 2 training rows to remove one, got {given.n_labeled}"
            )
        _refuse_training_rows(given, fresh)
        if not labelled:
            return cls(given, fresh, given)
        X = concatenate(given.X.native, fresh[0].native)
        return cls(given, fresh, Sample(X, _joined(data["y"], data["y_fresh"])))

    @property
    def n(self) -> int:
        """Number of training rows."""
        return self.given.n_labeled

    @property
    def n_fresh(self) -> int:
        """Number of fresh rows."""
        return self.given.n_unlabeled


def _fresh_tables(X_fresh: Any, y_fresh: Any) -> tuple[Table, ...]:
    """Return the tables of fresh rows; their responses are checked, needed or not."""
    rows = as_table(X_fresh, "X_fresh")
    if y_fresh is None:
        return (rows,)
    answers = as_table(y_fresh, "y_fresh")
    if len(answers) != len(rows):
        raise DataError(
            "X_fresh and y_fresh must have the same number of rows, got "
            f"{len(rows)} and {len(answers)}"
        )
    check_responses(answers, "y_fresh")
    return rows, answers


def _require_responses(fresh: tuple[Table, ...], fit_params: Mapping[str, Any] | None) -> None:
    """Refuse fresh rows without responses, and arguments of ``fit`` that they do not have."""
    if len(fresh) == 1:
        raise ArgumentError(
            "y_fresh must hold the responses of X_fresh: this notion, or the change of a loss, "
            "needs labelled fresh rows; notion='deployed' with predictions needs none"
        )
    if fit_params is not None:
        raise ArgumentError(
            "fit_params must be None where fresh rows are labelled: they have no weights"
        )


def _with_points(data: Mapping[str, Any]) -> Sample:
    """Return the training rows, with the fresh rows as points."""
    more = data.get("fit_params")
    try:
        return Sample(data["X"], data["y"], data["X_fresh"], fit_params=more)
    except DataError as error:
        raise DataError(str(error).replace("X_unlabeled", "X_fresh")) from None


def _joined(y: Any, y_fresh: Any) -> Any:
    """Join responses; those of different containers become arrays."""
    same = type(y) is type(y_fresh)
    return concatenate(y if same else np.asarray(y), y_fresh if same else np.asarray(y_fresh))


def _refuse_training_rows(given: Sample, fresh: tuple[Table, ...]) -> None:
    """Refuse fresh rows that are training rows; where columns take few values, some may be."""
    training = [given.X, given.y][: len(fresh)]
    again, by_chance = equal_rows(training, list(fresh))
    if len(again) > by_chance:
        verb = "is a training row" if len(again) == 1 else "are training rows"
        raise DataError(
            f"{counted(len(again), 'row')} of X_fresh {verb} (row {again[0]} (counting from 0) is "
            "one): fresh rows must not have been used for training; leave them out of the training "
            "rows, or out of X_fresh"
        )


def warn_of_copied_points(rows: TrainingAndFresh) -> None:
    """Warn if fresh rows occur more than once and chance does not explain it."""
    found = copies_among(*rows.fresh)
    if found.beyond_chance:
        warn_of_validity(
            f"{found.rows:,} of the {found.looked_at:,} fresh rows have an equal among them. "
            "Copies of one observation are not independent, and the error level does not hold; "
            "drop all but one of them",
            stacklevel=4,
        )
