"""The simulated-sample test (Example 3)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from poise import arguments
from poise.data.sample import Sample
from poise.data.synthetic_rows import SyntheticRows
from poise.errors import DataError
from poise.procedures.checked_question import Question
from poise.procedures.estimated_laws import Draw, as_law
from poise.protocol.messages import Answers, Batch, Comparison
from poise.protocol.randomness import Coupling, Randomness, as_coupling
from poise.results import ProcedureResult
from poise.running.workers.inner_threads import one_inner_thread

__all__ = ["SimulationTest"]

_REASON = (
    "Heuristic: simulated rows come from an estimate of the distribution, and stability under "
    "the estimate says nothing certain about stability under the truth; more simulations do not "
    "change that."
)


@dataclass(frozen=True)
class SimulationTest(Question):
    """Estimate P, count changes in simulated samples, and compare as Example 1 does (Example 3).

    Certifies nothing: no P(false "stable") ≤ α holds.

    Parameters
    ----------
    n, epsilon, delta, alpha
        The question; see :class:`~poise.procedures.checked_question.Question`. Here n
        may exceed the number of labelled rows.
    estimate : {"gaussian", "smoothed-bootstrap"}, density or function
        The estimate of P: a joint normal law of (X, y); resampled rows with
        kernel noise; anything with ``fit`` and ``sample``, such as
        scikit-learn's ``KernelDensity`` or ``GaussianMixture``, fitted to
        [X | y]; or a function ``(X, y, rng, size) -> (X, y)``.
    simulations : int
        R, at least 1. Each costs two fits.
    coupling : str or Coupling
        How the two fits of a simulation share randomness.

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    >>> test = SimulationTest(n=30, epsilon=0.5, delta=0.1, simulations=50)
    >>> result = poise.run(test, Ridge(), X, y, random_state=0).result
    >>> result.verdict.value, result.certifies
    ('stable', False)
    """

    estimate: Any = "gaussian"
    simulations: int = 1000
    coupling: str | Coupling = "shared"

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.count("simulations", self.simulations, 1)
        as_coupling(self.coupling)
        as_law(self.estimate)

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, ProcedureResult]:
        """Estimate P, yield all simulations at once, return what their count says."""
        with one_inner_thread():  # sums added up by several threads differ in their last bits
            comparisons = self._comparisons(sample, randomness)
        answers = yield Batch(comparisons, decision_points=(0.0, self.epsilon))
        return self.judge(
            answers.changes, certifies=False, reason=_REASON, n_failures=len(answers.failures)
        )

    def _comparisons(self, sample: Sample, randomness: Randomness) -> list[Comparison]:
        draw = as_law(self.estimate).fit(sample)
        words = randomness.block("xi", 0, self.simulations)
        xi, xi_reduced = as_coupling(self.coupling).pairs(words)
        comparisons = []
        for r in range(self.simulations):
            made = self._made(draw, randomness, r)
            train, point = made.take(0, self.n), made.take(self.n, self.n + 1)
            comparisons.append(
                Comparison.without_last(train, SyntheticRows(point.X), xi[r], xi_reduced[r])
            )
        return comparisons

    def _made(self, draw: Draw, randomness: Randomness, index: int) -> SyntheticRows:
        """Draw n rows to train on and one more to be evaluated at."""
        made = SyntheticRows(*draw(randomness.generator("simulated rows", index), self.n + 1))
        if len(made) != self.n + 1 or len(made.y) != self.n + 1:
            raise DataError(
                f"the estimate of P must draw as many rows as asked for ({self.n + 1}), got "
                f"{len(made)} rows of X and {len(made.y)} of y"
            )
        return made
