"""Estimators that fit copies of another one to many parts of their rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import InputTags, get_tags
from sklearn.utils.validation import validate_data

from poise.algorithms.algorithm import Algorithm, Predict
from poise.data.randomness import Ids
from poise.data.sample import Sample
from poise.engine.messages import Said
from poise.engine.surroundings import Heard, Settings, Surroundings
from poise.progress import Progress

_PATIENCE = 2.0  # seconds in which fits are made here: worker processes take as long to start

Fitted = tuple[Predict, tuple[Said, ...]]
Part = tuple[Ids, int, str]  # rows, their random term, and a name for errors


class Refitting(BaseEstimator):  # type: ignore[misc]
    """Takes the rows that ``estimator`` takes, and checks them as scikit-learn does."""

    estimator: Any

    def _rows(self, X: Any, *y: Any, numeric: bool = True) -> Any:
        """Check rows; frames stay frames. With y this is the fit."""
        tags, fitting = self._inner_tags(), bool(y)
        given = {"X": X, "reset": fitting} | dict(zip(("y",), y, strict=False))
        if hasattr(X, "iloc"):
            validate_data(self, X, reset=fitting, skip_check_array=True)
            return (X, np.asarray(*y)) if fitting else X
        text = tags.string or tags.categorical or hasattr(self.estimator, "steps")
        options: dict[str, Any] = {"dtype": None if text else "numeric"}
        options |= {"accept_sparse": ["csr"] if tags.sparse else False}
        options |= {"ensure_all_finite": not tags.allow_nan}
        options |= {"y_numeric": numeric, "ensure_min_samples": 2} if fitting else {}
        return validate_data(self, **given, **options)

    def _inner_tags(self) -> InputTags:
        known = hasattr(self.estimator, "__sklearn_tags__")
        found: InputTags = get_tags(self.estimator).input_tags if known else InputTags()
        return found

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), self._inner_tags()
        tags.input_tags.allow_nan, tags.input_tags.sparse = inner.allow_nan, inner.sparse
        return tags


def fit_each(
    algorithm: Algorithm, sample: Sample, parts: Sequence[Part], n_jobs: int | None
) -> list[Predict]:
    """Fit every part, in ``n_jobs`` processes if that takes longer than they take to start.

    The models do not depend on the number of processes. A bar says how long the rest takes, but
    not inside the fit of another run.
    """
    heard, models = Heard(), list[Predict]()
    fit = partial(_fitted, algorithm, sample, Settings.here())
    with Progress(len(parts), False if Surroundings.depth else None, "fits") as progress:
        for model, said in _in_turn(fit, parts, n_jobs):
            models.append(model)
            heard.add(1, said)
            progress.advance_to(len(models))
    heard.warn()
    return models


def _in_turn(
    fit: Callable[[Part], Fitted], parts: Sequence[Part], n_jobs: int | None
) -> Iterator[Fitted]:
    """Begin here; what is left after a while goes to other processes."""
    from joblib import Parallel, delayed, effective_n_jobs

    workers = effective_n_jobs(n_jobs)  # type: ignore[arg-type]
    began, left = time.monotonic(), iter(parts)
    for part in left:
        yield fit(part)
        if workers > 1 and time.monotonic() - began > _PATIENCE:
            break
    run, pool = delayed(fit), Parallel(n_jobs=n_jobs, return_as="generator")
    yield from pool(run(part) for part in left)


def _fitted(algorithm: Algorithm, sample: Sample, settings: Settings, part: Part) -> Fitted:
    rows, xi, name = part
    with Surroundings(settings) as around:
        X, y, more = sample.training(rows)
        around.before_fit(xi)
        try:
            return algorithm.fit(X, y, xi, **more), around.after_fit()
        except Exception as error:
            error.add_note(f"This happened in {name}.")
            raise


def floats(predict: Predict, X: Any) -> NDArray[np.float64]:
    """Predict one number a row."""
    return np.asarray(predict(X), dtype=np.float64).reshape(-1)
