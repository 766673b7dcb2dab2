"""A test that reads linear models (Definition 3, Theorem 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise.data.randomness import Randomness
from poise.data.sample import Sample
from poise.engine.messages import Batch, Floats, Query, Trial
from poise.errors import AlgorithmError, DataError
from poise.procedures.own import Asking, Asks, orders

_FRESH = "each model is judged at a fresh row of its own, as in the Binomial test."
_KNOWN = "each model is judged at a fresh point of the law of the features, which was given."
_BALL = "the largest change over the ball bounds that at a fresh row, for linear models in it."


@dataclass(frozen=True, kw_only=True)
class TransparentLinearTest(Asks):
    """Read the coefficients of linear models instead of predicting.

    With ``feature_law`` or ``radius`` no row is spent on test points: there are as many trials as
    sets of n labelled rows. Run with ``models="transparent"``.

    Parameters
    ----------
    n, epsilon, delta, alpha, coupling
        The question, and how the two fits of a trial share randomness.
    feature_law : function, optional
        ``(rng, size) -> X`` draws features from their law, where it is known.
    radius : float, optional
        A bound for the Euclidean norm of the features; "unstable" is never said then.
    """

    feature_law: Callable[[np.random.Generator, int], Any] | None = None
    radius: float | None = None

    def ask(self, sample: Sample, randomness: Randomness) -> Asking:
        """Ask for the coefficients of the models with and without the last row of each set."""
        trials = self._trials(sample, randomness)
        if not trials:
            return self.judge([], certified=True, reason=_FRESH)
        read = [Query(q.train, _some(sample), q.xi, look=coefficients) for q in _queries(trials)]
        answers = yield Batch(read)
        width = 1 + np.reshape(sample.points(np.arange(1)), (1, -1)).shape[1]
        models = [np.full(width, np.nan) if w is None else w for w in answers.predictions]
        gaps = np.array(models[::2]) - np.array(models[1::2])
        if self.radius is not None:
            changes = self.radius * np.linalg.norm(gaps[:, :-1], axis=1) + np.abs(gaps[:, -1])
            return self.judge(changes, certified=True, reason=_BALL, upper=True)
        points = self._points(sample, trials, randomness)
        changes = np.abs((gaps[:, :-1] * points).sum(axis=1) + gaps[:, -1])
        return self.judge(changes, certified=True, reason=_KNOWN if self.feature_law else _FRESH)

    def _trials(self, sample: Sample, randomness: Randomness) -> list[Trial]:
        """Return as many trials as the rows hold; the labelled ones alone if X is known."""
        if self.feature_law is None and self.radius is None:
            return self.split(sample, randomness)
        labeled, _ = orders(sample, randomness)
        rows = np.arange(sample.n_labeled + sample.n_unlabeled)
        norms = np.linalg.norm(np.reshape(sample.points(rows), (len(rows), -1)), axis=1)
        if self.radius is not None and norms.max() > self.radius:
            at = int(norms.argmax())
            raise DataError(
                f"radius = {self.radius:g} is not a bound: row {at} has norm {norms[at]:g}"
            )
        return self.trials(labeled, labeled[: len(labeled) // self.n], randomness)  # points unused

    def _points(
        self, sample: Sample, trials: list[Trial], randomness: Randomness
    ) -> NDArray[np.float64]:
        if self.feature_law is None:
            drawn = sample.points(np.concatenate([trial.full[0].points for trial in trials]))
        else:
            drawn = self.feature_law(randomness.generator("features"), len(trials))
        return np.reshape(np.asarray(drawn, dtype=np.float64), (len(trials), -1))


def coefficients(predict: Any, X: Any) -> Floats:
    """Return (w, b) of a linear model; refuse one that does not predict w·x + b."""
    model = getattr(predict, "__self__", predict)
    if not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        raise AlgorithmError(
            f"a linear model has coef_ and intercept_, {type(model).__name__} has not"
        )
    read = np.append(np.ravel(model.coef_), np.ravel(model.intercept_)).astype(np.float64)
    rows = np.asarray(X, dtype=np.float64).reshape(len(X), -1)
    said = np.ravel(predict(X))
    if rows.shape[1] + 1 != len(read) or not np.allclose(
        said, rows @ read[:-1] + read[-1], rtol=1e-6, atol=1e-8
    ):
        raise AlgorithmError("the model does not predict coef_ · x + intercept_, as linear ones do")
    return read


def _queries(trials: list[Trial]) -> list[Query]:
    return [query for trial in trials for query in (trial.full[0], trial.reduced[0])]


def _some(sample: Sample) -> Any:
    """Return rows at which coefficients are compared with predictions."""
    return np.arange(min(20, sample.n_labeled))
