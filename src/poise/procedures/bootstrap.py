"""The bootstrapped-sample test (Example 2)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from poise import arguments
from poise.data.sample import Sample
from poise.procedures.checked_question import Question
from poise.protocol.messages import Answers, Batch, Comparison
from poise.protocol.randomness import Coupling, Randomness, as_coupling
from poise.results import ProcedureResult

__all__ = ["BootstrapTest"]

_REASON = (
    "Heuristic: rows drawn with replacement from the sample are neither fresh nor independent "
    "across resamples, so the count is not Binomial, and what the sample does not hold "
    "(a rare row that upsets the algorithm) is never seen."
)


@dataclass(frozen=True)
class BootstrapTest(Question):
    """Count changes in bootstrapped samples and compare as the Binomial test does (Example 2).

    Certifies nothing: no P(false "stable") ≤ α holds. More resamples measure
    the sample better, not the distribution it came from.

    Parameters
    ----------
    n, epsilon, delta, alpha
        The question; see :class:`~poise.procedures.checked_question.Question`.
    resamples : int
        R, at least 1. Each costs two fits.
    coupling : str or Coupling
        How the two fits of a resample share randomness.

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    >>> test = BootstrapTest(n=30, epsilon=0.5, delta=0.1, resamples=50)
    >>> result = poise.run(test, Ridge(), X, y, random_state=0).result
    >>> result.verdict.value, result.certifies
    ('stable', False)
    """

    resamples: int = 1000
    coupling: str | Coupling = "shared"

    def __post_init__(self) -> None:
        super().__post_init__()
        arguments.count("resamples", self.resamples, 1)
        as_coupling(self.coupling)

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, ProcedureResult]:
        """Yield all resamples at once; return what their count says."""
        answers = yield Batch(
            self._comparisons(sample, randomness), decision_points=(0.0, self.epsilon)
        )
        return self.judge(
            answers.changes, certifies=False, reason=_REASON, n_failures=len(answers.failures)
        )

    def _comparisons(self, sample: Sample, randomness: Randomness) -> list[Comparison]:
        rng = randomness.generator("resamples")
        rows = rng.integers(sample.n_labeled, size=(self.resamples, self.n))
        first, last = _test_rows(sample)
        points = rng.integers(first, last, size=(self.resamples, 1))
        words = randomness.block("xi", 0, self.resamples)
        xi, xi_reduced = as_coupling(self.coupling).pairs(words)
        return [
            Comparison.without_last(rows[r], points[r], xi[r], xi_reduced[r])
            for r in range(self.resamples)
        ]


def _test_rows(sample: Sample) -> tuple[int, int]:
    """Return the range of rows that test points come from: the unlabelled ones if there are any."""
    first = sample.n_labeled if sample.n_unlabeled else 0
    return first, sample.n_labeled + sample.n_unlabeled
