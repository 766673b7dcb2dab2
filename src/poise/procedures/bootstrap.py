"""Examples 2 and 3 of the paper: samples from the sample, or from an estimate of its law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poise import checks
from poise.data.randomness import Randomness
from poise.data.sample import Sample
from poise.engine.messages import Made
from poise.errors import DataError
from poise.procedures.own import Asking, Asks, asked

_RESAMPLED = (
    "rows drawn from the sample are not fresh, so the count is not Binomial, and a rare row that "
    "the sample does not hold is never seen."
)
_SIMULATED = (
    "stability under an estimate of the distribution says nothing certain about stability under "
    "the distribution."
)


@dataclass(frozen=True, kw_only=True)
class BootstrapTest(Asks):
    """Count changes in samples drawn with replacement from the sample. Certifies nothing.

    Parameters
    ----------
    n, epsilon, delta, alpha, coupling
        The question, and how the two fits of a comparison share randomness.
    resamples : int
        Each costs two fits. Test points are unlabelled rows if there are any.
    """

    resamples: int = 1000

    def ask(self, sample: Sample, randomness: Randomness) -> Asking:
        """Ask for all resamples at once."""
        count = checks.count("resamples", self.resamples, 1)
        rng = randomness.generator("resamples")
        trains = rng.integers(sample.n_labeled, size=(count, self.n))
        first = sample.n_labeled if sample.n_unlabeled else 0
        points = rng.integers(first, sample.n_labeled + sample.n_unlabeled, size=(count, 1))
        changes = yield from asked(self.pairs(list(trains), list(points), randomness))
        return self.judge(changes, certified=False, reason=_RESAMPLED)


@dataclass(frozen=True, kw_only=True)
class SimulationTest(Asks):
    """Count changes in samples from an estimate of P. Certifies nothing.

    Parameters
    ----------
    n, epsilon, delta, alpha, coupling
        The question; n may exceed the number of rows.
    estimate : function, optional
        ``(X, y, rng, size) -> (X, y)``; by default a joint normal law of features and response.
    simulations : int
        Each costs two fits.
    """

    estimate: Callable[..., Any] | None = None
    simulations: int = 1000

    def ask(self, sample: Sample, randomness: Randomness) -> Asking:
        """Estimate P and ask for all simulations at once."""
        count = checks.count("simulations", self.simulations, 1)
        X, y, _ = sample.training(np.arange(sample.n_labeled))
        draw, trains, points = self.estimate or gaussian, [], []
        for r in range(count):
            rows = draw(X, y, randomness.generator("simulated rows", r), self.n + 1)
            made_X, made_y = (np.asarray(part) for part in rows)
            if not len(made_X) == len(made_y) == self.n + 1:
                raise DataError(
                    f"the estimate of P must draw the {self.n + 1} rows that are asked for"
                )
            trains.append(Made(made_X[:-1], made_y[:-1]))
            points.append(Made(made_X[-1:]))
        changes = yield from asked(self.pairs(trains, points, randomness))
        return self.judge(changes, certified=False, reason=_SIMULATED)


def gaussian(
    X: Any, y: Any, rng: np.random.Generator, size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw rows jointly normal, with the mean and the covariance of these rows."""
    rows = np.column_stack([np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)])
    spread, axes = np.linalg.eigh(np.cov(rows, rowvar=False))
    root = axes * np.sqrt(
        np.clip(spread, 0.0, None)
    )  # columns that do not vary are not an obstacle
    made = rows.mean(axis=0) + rng.standard_normal((size, rows.shape[1])) @ root.T
    return made[:, :-1], made[:, -1]
