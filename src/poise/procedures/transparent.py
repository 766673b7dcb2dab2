"""A test that reads linear models (Definition 3, Theorem 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from poise.data.randomness import Randomness
from poise.data.sample import Sample
from poise.engine.messages import Batch, Floats, Query, queries_of
from poise.errors import AlgorithmError
from poise.procedures.own import Asking, Asks, orders

_FRESH = "each model is judged at a fresh row of its own, as in the Binomial test."
_KNOWN = "each model is judged at a fresh point of the law of the features, which was given."


@dataclass(frozen=True, kw_only=True)
class TransparentLinearTest(Asks):
    """Read the coefficients of linear models instead of predicting.

    With ``feature_law`` no row is spent on test points: there are as many trials as sets of n
    labelled rows. Run with ``models="transparent"``.

    Parameters
    ----------
    n, epsilon, delta, alpha, coupling
        The question, and how the two fits of a trial share randomness.
    feature_law : function, optional
        ``(rng, size) -> X`` draws features from their law, where it is known.
    """

    feature_law: Callable[[np.random.Generator, int], Any] | None = None

    def ask(self, sample: Sample, randomness: Randomness) -> Asking:
        """Ask for the coefficients of the models with and without the last row of each set."""
        labeled, spare = orders(sample, randomness)
        law = self.feature_law
        if law is not None:  # these points are not used: as many trials as sets of n rows
            spare = labeled[: len(labeled) // self.n]
        trials = self.trials(labeled, spare, randomness)
        if not trials:
            return self.judge([], certified=True, reason=_FRESH)
        some = np.arange(min(20, sample.n_labeled))  # where they are compared with predictions
        fits = [query for trial in trials for query in queries_of(trial)]
        answers = yield Batch([Query(q.train, some, q.xi, look=coefficients) for q in fits])
        if law is None:
            drawn = sample.points(np.concatenate([fit.points for fit in fits[::2]]))
        else:
            drawn = law(randomness.generator("features"), len(trials))
        points = np.reshape(np.asarray(drawn, dtype=np.float64), (len(trials), -1))
        unknown = np.full(points.shape[1] + 1, np.nan)
        models = [unknown if w is None else w for w in answers.predictions]
        gaps = np.array(models[::2]) - np.array(models[1::2])
        changes = np.abs((gaps[:, :-1] * points).sum(axis=1) + gaps[:, -1])
        return self.judge(changes, certified=True, reason=_FRESH if law is None else _KNOWN)


def coefficients(predict: Any, X: Any) -> Floats:
    """Return (w, b) of a linear model; refuse one that does not predict w·x + b."""
    model = getattr(predict, "__self__", predict)
    if not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        name = type(model).__name__
        raise AlgorithmError(f"a linear model has coef_ and intercept_, {name} has not")
    read = np.append(np.ravel(model.coef_), np.ravel(model.intercept_)).astype(np.float64)
    rows = np.asarray(X, dtype=np.float64).reshape(len(X), -1)
    alike = rows.shape[1] + 1 == len(read) and np.allclose(
        np.ravel(predict(X)), rows @ read[:-1] + read[-1], rtol=1e-6, atol=1e-8
    )
    if not alike:
        raise AlgorithmError("the model does not predict coef_ · x + intercept_, as linear ones do")
    return read
