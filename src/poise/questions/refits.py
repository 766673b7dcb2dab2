"""Estimators that fit copies of another one to many parts of their rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

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
_SECONDS_AT_ONCE = 1.0  # that one of many parts should take


class Part(NamedTuple):
    """Rows to fit with a random term, and their name for errors."""

    rows: Ids
    xi: int
    name: str


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
    heard, found = Heard(), list[Predict]()
    shown = False if Surroundings.depth else None
    with Progress(len(parts), shown, "fits") as progress:
        for models, said in _in_turn(algorithm, sample, parts, n_jobs):
            found += models
            heard.add(len(models), said)
            progress.advance_to(len(found))
    heard.warn()
    return found


Fitted = tuple[list[Predict], list[Said]]


def _in_turn(
    algorithm: Algorithm, sample: Sample, parts: Sequence[Part], n_jobs: int | None
) -> Iterator[Fitted]:
    """Begin here; what is left after a while goes to other processes."""
    from joblib import Parallel, delayed, effective_n_jobs

    settings, began = Settings.here(), time.monotonic()
    workers = effective_n_jobs(n_jobs)  # type: ignore[arg-type]
    patience = np.inf if workers == 1 else _PATIENCE
    done, size = 0, 1
    while done < len(parts) and (not done or time.monotonic() - began < patience):
        yield _fit_some(algorithm, sample, parts[done : done + size], settings)
        done += size
        pace = (time.monotonic() - began) / done
        size = int(np.clip(_SECONDS_AT_ONCE / 4 / pace, 1, len(parts)))
    if done < len(parts):
        size = int(np.clip(_SECONDS_AT_ONCE / pace, 1, -(-(len(parts) - done) // workers)))
        run: Callable[..., Any] = delayed(_fit_some)
        pool: Any = Parallel(n_jobs=n_jobs, return_as="generator")
        yield from pool(
            run(algorithm, sample, parts[k : k + size], settings)
            for k in range(done, len(parts), size)
        )


def _fit_some(
    algorithm: Algorithm, sample: Sample, parts: Sequence[Part], settings: Settings
) -> Fitted:
    models: list[Predict] = []
    said: list[Said] = []
    with Surroundings(settings) as around:
        for rows, xi, name in parts:
            X, y, more = sample.training(rows)
            around.before_fit(xi)
            try:
                models.append(algorithm.fit(X, y, xi, **more))
            except Exception as error:
                error.add_note(f"This happened in {name}.")
                raise
            said += around.after_fit()
    return models, said


def floats(predict: Predict, X: Any) -> NDArray[np.float64]:
    """Predict one number a row."""
    return np.asarray(predict(X), dtype=np.float64).reshape(-1)
