"""Explore some of the data, test on the rest: adaptive and still valid."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from poise import arguments
from poise.data.sample import Sample
from poise.errors import ArgumentError
from poise.procedures.binomial import BinomialTest
from poise.procedures.exploration import Explored, Explorer
from poise.procedures.part_of_sample import Part
from poise.protocol.messages import Answers, Batch
from poise.protocol.randomness import Randomness
from poise.results import ProcedureResult

__all__ = ["ExploreThenTest"]

_REASON = (
    "Valid: the Binomial test ran on rows that exploration never saw, so whatever exploration "
    "chose was fixed before the first tested row was looked at."
)


@dataclass(frozen=True)
class ExploreThenTest:
    """Choose the question on some rows, then test it on the others (Theorem 1 on the rest).

    P(verdict "stable") ≤ α unless (A, P, n) is (ε, δ)-stable, for the ε that
    exploration chose: given the explored rows ε is a constant, and the tested
    rows are still independent draws. The price is κ of the rest instead of κ
    of everything; unlabelled rows are all kept for the test.

    Parameters
    ----------
    n : int
        Training size, at least 2.
    delta : float
        Allowed probability of a larger change, in [0, 1).
    epsilon : float or None
        Allowed change, >= 0. None lets exploration choose it: the
        (1 − δ/2)-quantile of the changes it sees.
    alpha : float
        Error level, in (0, 1).
    share : float
        Share of the labelled rows to explore on, in (0, 1).
    explorations : int
        Comparisons to make there, at least 1.
    randomized : bool
        Toss the coin of the Binomial test in a tie.

    Examples
    --------
    >>> import numpy as np, poise
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(800, 2)), rng.normal(size=800)
    >>> test = ExploreThenTest(n=10, delta=0.2)
    >>> result = poise.run(test, Ridge(), X, y, random_state=0).result
    >>> result.certifies, result.n_trials, result.verdict.value
    (True, 54, 'stable')
    """

    n: int
    delta: float
    epsilon: float | None = None
    alpha: float = 0.05
    share: float = 0.25
    explorations: int = 200
    randomized: bool = False

    needs_independent_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        arguments.training_size(self.n)
        arguments.delta(self.delta)
        arguments.alpha(self.alpha)
        arguments.count("explorations", self.explorations, 1)
        if self.epsilon is not None:
            arguments.epsilon(self.epsilon)
        if not 0 < self.share < 1:
            raise ArgumentError(f"share must be in (0, 1), got {self.share}")

    def ask(
        self, sample: Sample, randomness: Randomness
    ) -> Generator[Batch, Answers, ProcedureResult]:
        """Yield the exploration, then the Binomial test on the rest; return its verdict."""
        explored, tested = self._divide(sample, randomness)
        explorer = Explorer(self.n, explored, explored, randomness)
        seen = yield from explorer.explore(self.explorations)
        epsilon = self._chosen(seen) if self.epsilon is None else self.epsilon
        test = BinomialTest(self.n, epsilon, self.delta, self.alpha, self.randomized)
        unlabeled = np.arange(sample.n_unlabeled) + sample.n_labeled
        rest = Part(tested, unlabeled, sample.n_classes, sample.n_points)
        result = yield from rest.ask(test, randomness)
        return ProcedureResult.from_test(
            self,
            result,
            certifies=True,
            reason=_REASON,
            epsilon_was_chosen=self.epsilon is None,
            rows_explored=len(explored),
            kappa=result.kappa,
            delta_hat=result.delta_hat,
            **seen.report(),
        )

    def _divide(
        self, sample: Sample, randomness: Randomness
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Put the labelled rows in random order; the first go to exploration."""
        count = max(self.n + 1, int(self.share * sample.n_labeled))
        if sample.n_labeled - count < self.n:
            raise ArgumentError(
                f"n must leave {self.n} rows to test on after {count} to explore on, got n = "
                f"{self.n} with {sample.n_labeled} labelled rows; ask about a smaller n"
            )
        order = randomness.generator("rows to explore").permutation(sample.n_labeled)
        return order[:count], order[count:]

    def _chosen(self, seen: Explored) -> float:
        """Choose an ε that the rest will probably pass; failed trials never count as small."""
        finite = seen.changes[np.isfinite(seen.changes)]
        quantile = np.quantile(seen.changes, 1 - self.delta / 2, method="higher")
        largest = finite.max() if len(finite) else 0.0
        return float(quantile if np.isfinite(quantile) else largest)
